"""What a turn holds is what the log holds: a change is noticed, a hole is refused, what is gone is gone."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.team.errors import Kind, TeamFault
from tests.support.builders import an_event
from tests.support.team_history import Histories, a_history, a_request

pytestmark = [pytest.mark.promise("team-03"), pytest.mark.promise("team-06")]


@pytest.fixture
async def past(tmp_path: Path) -> AsyncIterator[Histories]:
    async with a_history(tmp_path) as made:
        yield made


def change(past: Histories, seq: int, payload: bytes) -> None:
    connection = sqlite3.connect(past.world.folder / "log.db")
    connection.execute("UPDATE event SET payload = ? WHERE event_seq = ?", (payload, seq))
    connection.commit()
    connection.close()


async def test_a_payload_that_changed_is_another_revision(past: Histories) -> None:
    await past.log(past.talk().turns(4))
    (first, *rest) = await past.turns()

    change(past, first.last_seq - 1, b'{"tool":"shell","ok":true,"text":"something else"}')
    (changed, *others) = await past.turns()

    assert (first.revision, changed.revision) == (1, 2) and first.payload_digest != changed.payload_digest
    assert changed.turn_key == first.turn_key and others == rest


async def test_what_changes_between_selecting_and_reading_is_said_and_found_anew(past: Histories) -> None:
    await past.log(past.talk().turns(4))
    first = (await past.turns())[0]
    change(past, first.last_seq - 1, b'{"tool":"shell","ok":true,"text":"something else"}')

    with pytest.raises(TeamFault) as fault:
        await past.history.content(first)

    again = (await past.turns())[0]
    assert fault.value.kind is Kind.PAYLOAD_CHANGED and again.revision == 2
    assert "something else" in [event.text for event in (await past.history.content(again)).events]


async def test_a_turn_with_a_hole_is_not_read(past: Histories) -> None:
    await past.log(past.talk().turns(4))
    first = (await past.turns())[0]
    connection = sqlite3.connect(past.world.folder / "log.db")
    connection.execute("DELETE FROM event WHERE event_seq = ?", (first.last_seq - 1,))
    connection.commit()
    connection.close()

    with pytest.raises(TeamFault) as fault:
        await past.select()

    assert fault.value.kind is Kind.COVERAGE_INCOMPLETE


async def test_a_payload_that_cannot_be_read_is_a_hole(past: Histories) -> None:
    await past.log(past.talk().turns(4))
    first = (await past.turns())[0]
    change(past, first.last_seq - 1, b"\xff")

    with pytest.raises(TeamFault) as fault:
        await past.select()

    assert fault.value.kind is Kind.COVERAGE_INCOMPLETE


async def test_turns_as_they_are_now(past: Histories) -> None:
    talk = past.talk()
    await past.log(talk.turns(5))
    turns = await past.turns()
    keys = [turn.turn_key for turn in turns]

    assert list(await past.history.current([*keys, "turn_unknown"])) == turns

    change(past, turns[1].last_seq - 1, b'{"tool":"shell","ok":true,"text":"something else"}')
    back = an_event("session/rewound", {"events": ["prompt:s-1:2"]}, session_id="s-1", workspace=str(past.root))
    await past.log([back])
    now = await past.history.current(keys)

    assert [turn.active for turn in now] == [True, True, False, True]
    assert [turn.revision for turn in now] == [1, 2, 1, 1]


async def test_what_the_log_has_let_go_of_is_gone_and_forgotten(past: Histories) -> None:
    await past.log(past.talk().turns(4))
    turns = await past.turns(a_request(query="question"))
    connection = sqlite3.connect(past.world.folder / "log.db")
    connection.execute("DELETE FROM event")
    connection.commit()
    connection.close()

    assert list(await past.history.current([turn.turn_key for turn in turns])) == []
    with pytest.raises(TeamFault) as fault:
        await past.history.content(turns[0])
    assert fault.value.kind is Kind.COVERAGE_INCOMPLETE

    assert (await past.select()).sessions == ()
    kept = await past.world.parts.kept.read(lambda c: c.execute("SELECT count(*) FROM team_turn").fetchone()[0])
    assert kept == 0
