"""Past sessions come in as history: stored once, decided never, told as episodes, not mixed with what was heard."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from governance.contracts import AuditKind
from host.claims import Ask
from host.consolidating import Consolidation
from host.contracts import Claimed, Surface
from host.errors import ProtocolFault
from recall.contracts import EventEnvelope
from tests.support.asking import Asking, Json, asking
from tests.support.builders import AGENT, SESSION, a_call, a_prompt, a_result
from tests.support.clock import START
from tests.support.world import FAILURE, LESSON

FILE = "/home/dev/.claude/projects/-w/s.jsonl"
OLD = START - 86_400_000


def past(folder: str, session: str = SESSION) -> list[EventEnvelope]:
    at: dict[str, Any] = {"session_id": session, "workspace": folder}
    return [
        a_prompt("run the integration tests", timestamp=OLD, event_id="msg:1", **at),
        a_call("make integration-test", call_id="c1", timestamp=OLD + 1_000, **at),
        a_result(FAILURE, call_id="c1", timestamp=OLD + 2_000, **at),
        a_call("docker compose up -d pg-fixture", call_id="c2", timestamp=OLD + 3_000, **at),
        a_result("started", ok=True, call_id="c2", timestamp=OLD + 4_000, **at),
        a_call("make integration-test", call_id="c3", timestamp=OLD + 5_000, **at),
        a_result("12 passed", ok=True, call_id="c3", timestamp=OLD + 6_000, **at),
    ]


async def send(remora: Asking, events: list[EventEnvelope], through: int = 0, **more: Any) -> Json:
    told = [json.loads(msgspec.json.encode(event)) for event in events]
    given = {"file": FILE, "through": through or len(events), "events": told, "last": True} | more
    return await remora.ask("history.append", **given)


@pytest.mark.promise("history-is-history")
async def test_history_is_stored_at_its_own_times_and_nothing_is_decided_about_it(remora: Asking, folder: str) -> None:
    await remora.world.remember(LESSON)

    taken = await send(remora, past(folder))

    assert taken == {"accepted": 7, "duplicates": 0, "refused": 0, "live": False}
    stored = await remora.world.parts.eventlog.replay(SESSION)
    assert [event.observed_at for event in stored] == [event.timestamp for event in past(folder)]
    assert not await remora.world.audit(kind=AuditKind.PASS)
    (entry,) = await remora.world.audit()
    assert (entry.kind, entry.outcome, entry.reason) == (AuditKind.POLICY, "imported", "history")


@pytest.mark.promise("history-is-history")
async def test_what_is_sent_twice_is_stored_once_and_begin_tells_how_far_it_is(remora: Asking, folder: str) -> None:
    events = past(folder)
    assert await remora.ask("history.begin", file=FILE) == {"through": 0, "live": False}
    await send(remora, events[:4], last=False)
    assert await remora.ask("history.begin", file=FILE) == {"through": 4, "live": False}
    assert await remora.ask("history.begin", file=FILE + "2") == {"through": 0, "live": False}

    again = await send(remora, events)

    assert (again["accepted"], again["duplicates"]) == (3, 4)
    assert await remora.ask("history.begin", file=FILE) == {"through": 7, "live": False}


async def test_a_session_that_was_heard_live_is_left_as_it_is(remora: Asking, folder: str) -> None:
    await remora.append(a_prompt("hello", session_id=SESSION, workspace=folder, event_id="prompt:1"))

    assert (await send(remora, past(folder)))["live"] is True
    assert (await remora.ask("history.begin", file=FILE, sessionId=SESSION))["live"] is True
    assert (await remora.ask("history.begin", file=FILE, sessionId="other"))["live"] is False
    assert len(await remora.world.parts.eventlog.replay(SESSION)) == 1


async def test_one_that_went_on_live_takes_no_more_history_and_one_that_did_not_does(
    remora: Asking, folder: str
) -> None:
    events = past(folder)
    await send(remora, events[:3])
    assert (await send(remora, events[:5]))["accepted"] == 2
    remora.world.clock.set(START + 60_000)
    await remora.append(a_prompt("and now?", session_id=SESSION, workspace=folder, event_id="prompt:2"))

    assert (await send(remora, events))["live"] is True


@pytest.mark.promise("history-is-history")
async def test_a_session_that_goes_on_is_decided_from_there_on(tmp_path: Path) -> None:
    """History is folded in, after a restart too; only what is new gets a pass."""
    async with asking(tmp_path / "data") as remora:
        await send(remora, past(remora.world.workspace()))
        await remora.world.remember(LESSON)
    async with asking(tmp_path / "data") as remora:
        world = remora.world
        world.clock.set(START + 60_000)
        at: dict[str, Any] = {"session_id": SESSION, "workspace": world.workspace()}
        await world.feed(a_call("make integration-test", call_id="n1", **at), a_result(FAILURE, call_id="n1", **at))
        passes = await world.audit(kind=AuditKind.PASS)
        assert [entry.cursor.event_seq for entry in passes if entry.cursor] == [8, 9]
        runtime = await world.parts.sessions.find(SESSION, AGENT)
        assert runtime.prompts == 1  # of the past
        claim = await world.parts.claims.claim(runtime, Ask(surface=Surface.POST_TOOL, wait_ms=2000))
        assert isinstance(claim, Claimed)


async def test_a_whole_session_is_told_as_an_episode_of_its_day(remora: Asking, folder: str) -> None:
    parts = remora.world.parts
    await send(remora, past(folder))

    assert len(parts.sessions.endings) == 1
    (memory_id,) = await Consolidation(parts).session(SESSION)

    found = await parts.library.get(memory_id, parts.sessions.scope("", "", parts.places.key(folder)))
    assert found is not None
    assert found[0].created_at == OLD + 6_000
    assert found[0].text.startswith("`make integration-test` failed with OperationalError")


async def test_an_event_that_cannot_be_stored_is_counted_and_the_others_are(remora: Asking, folder: str) -> None:
    events = past(folder)
    secret = a_prompt("x", timestamp=OLD, event_id="ghp_" + "a1B2" * 9, session_id=SESSION, workspace=folder)

    taken = await send(remora, [*events[:2], secret, *events[2:]])

    assert (taken["accepted"], taken["refused"]) == (7, 1)


async def test_a_text_that_grew_since_stays_as_it_was_first_told(remora: Asking, folder: str) -> None:
    first = a_prompt("half", timestamp=OLD, event_id="msg:1", session_id=SESSION, workspace=folder)
    whole = a_prompt("half and whole", timestamp=OLD, event_id="msg:1", session_id=SESSION, workspace=folder)
    await send(remora, [first])

    assert await send(remora, [whole, *past(folder)[1:]]) == {
        "accepted": 6,
        "duplicates": 0,
        "refused": 1,
        "live": False,
    }


@pytest.mark.parametrize(
    ("given", "kind"),
    [({"file": ""}, "invalid-params"), ({"through": 0}, "invalid-params"), ({"events": []}, "invalid-params")],
)
async def test_a_call_that_makes_no_sense_is_refused(
    remora: Asking, folder: str, given: dict[str, Any], kind: str
) -> None:
    told = [json.loads(msgspec.json.encode(event)) for event in past(folder)]
    with pytest.raises(ProtocolFault) as refused:
        await remora.ask("history.append", **({"file": FILE, "through": 7, "events": told} | given))
    assert refused.value.kind == kind


async def test_events_of_two_sessions_are_refused_and_nothing_is_stored(remora: Asking, folder: str) -> None:
    with pytest.raises(ProtocolFault, match="several sessions"):
        await send(remora, [*past(folder), *past(folder, "other")])
    assert await remora.world.parts.eventlog.last("other") is None
