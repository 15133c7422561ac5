"""Sessions that are one conversation."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from host.eventlog import EventLog
from host.formation.lineage import Lineage
from host.transcripts.records import Place, forked
from recall.contracts import EventEnvelope
from tests.support.builders import a_prompt, a_start
from tests.support.clock import START
from tests.support.world import a_world


@pytest.fixture
async def eventlog(tmp_path: Path) -> AsyncIterator[EventLog]:
    async with a_world(tmp_path / "data") as world:
        yield world.parts.eventlog


def going_on(session: str, parent: str) -> EventEnvelope:
    return forked(Place(session_id=session, agent_id="main", workspace="/w", at=START), parent)


async def test_a_session_that_began_by_itself_is_its_own_conversation(eventlog: EventLog) -> None:
    await eventlog.append([a_start(session_id="a"), a_prompt("hello", session_id="a")], START)
    await eventlog.append([a_start(session_id="b"), a_prompt("hello", session_id="b")], START)

    assert await Lineage(eventlog).root("b") == "b"
    assert await Lineage(eventlog).parent("nobody") == ""


@pytest.mark.promise("formation-15")
async def test_a_fork_of_a_fork_has_the_first_ones_key(eventlog: EventLog) -> None:
    await eventlog.append([going_on("b", "a")], START)
    await eventlog.append([going_on("c", "b")], START)

    assert await Lineage(eventlog).root("c") == "a"


@pytest.mark.promise("formation-15")
async def test_a_copied_history_is_a_resumed_session_under_another_id(eventlog: EventLog) -> None:
    await eventlog.append([a_prompt("u1", session_id="a", event_id="msg:1")], START)
    await eventlog.append([a_prompt("u1", session_id="b", event_id="msg:1")], START)
    await eventlog.append([a_prompt("u2", session_id="b", event_id="msg:2")], START)

    assert await Lineage(eventlog).root("b") == "a"
    assert await Lineage(eventlog).copied("b") == {1}
    assert await Lineage(eventlog).copied("a") == frozenset()


@pytest.mark.parametrize(
    "other",
    [
        a_prompt("other words", session_id="b", event_id="e1"),
        a_prompt("u1", session_id="b", event_id="e1", timestamp=START + 1),
        a_prompt("u1", session_id="b"),
    ],
)
async def test_an_id_alone_makes_no_conversation(eventlog: EventLog, other: EventEnvelope) -> None:
    """Producers number their events as they like: the first event of two sessions may well be `e1`."""
    await eventlog.append([a_prompt("u1", session_id="a", event_id="e1")], START)
    await eventlog.append([other], START)

    assert await Lineage(eventlog).root("b") == "b"


async def test_a_circle_ends(eventlog: EventLog) -> None:
    await eventlog.append([going_on("a", "b")], START)
    await eventlog.append([going_on("b", "a")], START)

    assert await Lineage(eventlog).root("a") in ("a", "b")
    assert await Lineage(eventlog).copied("a") == frozenset()
