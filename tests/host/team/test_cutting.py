"""A session of the log, page by page, as turns; and turns whole."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.team.turns import payload_digest
from host.formation.lineage import Lineage
from host.team.cutting import PAGE, Cut, Cutter, Named
from tests.support.builders import a_reply, an_event
from tests.support.team_history import Histories, a_history

NAMED = Named(session_id="s-1", session_key="k", provider="codex")


@pytest.fixture
async def past(tmp_path: Path) -> AsyncIterator[Histories]:
    async with a_history(tmp_path) as made:
        yield made


async def cut(past: Histories) -> tuple[Cutter, Cut]:
    eventlog = past.world.parts.eventlog
    cutter = Cutter(eventlog=eventlog, lineage=Lineage(eventlog))
    return cutter, await cutter.cut(NAMED)


async def test_a_session_of_many_pages_is_cut_as_one(past: Histories) -> None:
    await past.log(past.talk().turns(PAGE // 2))

    _, found = await cut(past)

    assert len(found.turns) == PAGE // 2 and all(one.turn.complete for one in found.turns) and not found.subagent
    assert [one.turn.place for one in found.turns] == list(range(PAGE // 2))


async def test_a_turn_longer_than_a_page_is_read_whole(past: Histories) -> None:
    talk = past.talk()
    many = [
        event
        for step in range(1, PAGE + 5, 2)
        for event in (talk.call(0, f"make {step}", step=step), talk.result(0, "ok", step=step))
    ]
    await past.log([talk.prompt(0, "Do it all."), *many, *talk.turn(1)])

    cutter, found = await cut(past)
    contents = await cutter.contents(found.turns)

    first = contents[found.turns[0].turn.turn_key]
    assert len(first.events) == 1 + len(many) and first.events[-1].text == "ok"
    assert payload_digest(first.events) == found.turns[0].turn.payload_digest


async def test_digests_and_contents_are_of_the_same_events(past: Histories) -> None:
    talk = past.talk()
    back = an_event("session/rewound", {"events": ["reply:s-1:1:9"]}, session_id="s-1", workspace=str(past.root))
    await past.log([*talk.turns(3), back, a_reply("aside", session_id="s-1", agent_id="sub"), *talk.turn(3)])

    cutter, found = await cut(past)
    some = [found.turns[0], found.turns[1], found.turns[3]]
    digests, contents = await cutter.digests(some), await cutter.contents(some)

    assert digests == {one.turn.turn_key: one.turn.payload_digest for one in some}
    assert {key: payload_digest(one.events) for key, one in contents.items()} == digests
    assert [event.kind for event in contents[some[1].turn.turn_key].events] == ["user", "tool-call", "tool-result"]


async def test_nothing_is_read_of_no_turn(past: Histories) -> None:
    cutter, found = await cut(past)

    assert found == Cut(turns=(), subagent=False)
    assert await cutter.digests([]) == {} and await cutter.contents([]) == {}
