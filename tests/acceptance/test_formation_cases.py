"""Faults that tools of this kind had in the field, where formation begins: `tests/data/cases`, our own words (CC0)."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from governance.formation.contracts import RangeStatus
from host.cli.history import _descended
from host.formation.lineage import Lineage
from host.formation.ports import Ask
from host.frame import close_line, open_line
from host.transcripts import READERS, read
from recall.contracts import EventEnvelope
from tests.support.builders import a_prompt, an_event
from tests.support.checkpoints import ScriptedModel, item, worded
from tests.support.clock import START
from tests.support.formed import ON
from tests.support.world import World, a_world

DATA = Path(__file__).resolve().parents[1] / "data"
TAG = "0123456789abcdef"
pytestmark = pytest.mark.promise("field-cases", "formation-21")


def case(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / "cases" / f"{name}.json").read_text(encoding="utf-8"))
    return found


async def log(world: World, events: list[EventEnvelope]) -> None:
    for event in events:
        await world.parts.eventlog.append([event], START, past=True)


async def test_case_what_we_injected_is_no_evidence_however_often_it_is_looked_at(tmp_path: Path) -> None:
    wanted = case("loop-injected-text-is-not-evidence")
    raw = (DATA / wanted["given"]["transcript"]).read_text(encoding="utf-8")
    raw = raw.replace("@@OWN_BLOCK_OPEN@@", open_line(TAG)).replace("@@OWN_BLOCK_CLOSE@@", close_line(TAG))
    lines = [line.encode() for line in raw.splitlines(keepends=True)]
    async with a_world(tmp_path / "data", formation=msgspec.structs.replace(ON, min_sessions=0)) as world:
        texts = [one["text"] for one in wanted["given"]["memories"]]
        here = world.workspace()
        for text in texts:
            await world.remember(text, here)
        events = [msgspec.structs.replace(one, workspace=here) for one in read(READERS["claude-code"]("q09"), lines)]
        await log(world, events)
        session = events[0].session_id
        # A model that repeats whatever it was told: only what was shown to it can be quoted.
        refs = [f"{session}#{number}" for number in range(1, len(events) + 1)]
        repeats = [item(text, (ref, text)) for ref in refs for text in texts]
        answers = [{"status": "complete", "items": repeats[:20]}] * 20
        model = world.parts.formation.driver = ScriptedModel(*answers)

        for number in range(wanted["when"]["repeat"]):
            await log(world, [an_event("session/compacting", {"n": number}, session_id=session, workspace=here)])
            results = await world.parts.formation.run(Ask(session_id=session))
            assert all(not one.committed and not one.pending for one in results)

        shown = json.dumps([[one.content for one in request.messages] for request in model.requests])
        assert "config/flags.toml." not in shown.replace("Added fast_export to config/flags.toml.", "")
        assert await world.parts.queue.depths() == {}
        scope = world.parts.sessions.scope("", "", world.parts.places.key(here))
        found = [one.text for one in (await world.parts.library.listed(scope, 50)).records]
        assert sorted(found) == sorted(texts) and len(found) == wanted["then"]["memory_count"]


async def test_case_a_session_resumed_under_a_new_id_is_the_same_conversation_and_repeats_nothing(
    tmp_path: Path,
) -> None:
    wanted = case("session-resumed-new-id")
    old, new = wanted["given"]["sessions"]
    async with a_world(tmp_path / "data", formation=ON) as world:
        here = world.workspace()
        told = [
            a_prompt(f"We ship on Thursdays: {one}.", event_id=f"msg:{one}", session_id=session["id"], workspace=here)
            for session in (old, new)
            for one in session["records"]
        ]
        await log(world, [event for _, event in _descended(enumerate(told), {})])

        assert await Lineage(world.parts.eventlog).root(new["id"]) == wanted["then"]["s-new_continues"]
        repeated = wanted["then"]["checkpoints_do_not_repeat"]
        texts = [one.text for one in await world.parts.formation.material.read(new["id"], -1, 99)]
        assert texts == ["We ship on Thursdays: u2."] and not any(one in text for one in repeated for text in texts)


@pytest.mark.promise("formation-15")
async def test_a_fact_that_is_said_again_in_the_resumed_session_has_one_witness(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", formation=ON) as world:
        here = {"workspace": world.workspace()}
        first = a_prompt("We ship on Thursdays.", event_id="msg:1", session_id="s-old", **here)
        told = [
            first,
            msgspec.structs.replace(first, session_id="s-new"),
            a_prompt("As I said, we ship on Thursdays.", event_id="msg:2", session_id="s-new", **here),
            a_prompt("We ship on Thursdays.", event_id="msg:3", session_id="s-other", **here),
        ]
        await log(world, [event for _, event in _descended(enumerate(told), {})])
        world.parts.formation.driver = ScriptedModel(
            *[
                answer
                for ref in ("s-old#1", "s-new#2", "s-other#1")
                for answer in (
                    {"status": "complete", "items": [item("We ship on Thursdays.", (ref, "ship on Thursdays"))]},
                    worded("We ship on Thursdays."),
                )
            ]
        )
        statuses = []
        for session in ("s-old", "s-new", "s-other"):
            results = await world.parts.formation.run(Ask(session_id=session))
            statuses.append(results[-1].status)

        assert statuses[:2] == [RangeStatus.DEFERRED, RangeStatus.DEFERRED]
        assert statuses[2] is RangeStatus.EXTRACTED
