"""Material: what a task is named by, and whether it is still as it was."""

import asyncio
import threading

import msgspec
import pytest

from governance.team import catalogue
from governance.team.chunking import Shown
from governance.team.collecting import AT_ONCE
from governance.team.contracts.rows import EvidenceRow
from governance.team.contracts.turns import Commit, Edge, Turn, TurnContent
from governance.team.errors import Kind, TeamFault
from governance.team.store import tasks
from tests.support.team_recall import AT, Recalled, a_tool, a_turn, an_event, filling

COMMIT = Commit(commit="1a2b3c4d" + "0" * 32, at=AT, paths=("src/a.py",))


def tool_turn(text: str = "done", revision: int = 1):  # type: ignore[no-untyped-def]
    return a_turn(0, an_event("user", "go", 1), a_tool(text, 2), revision=revision)


async def drift(recalled: Recalled, task_id: str) -> str:
    task = await recalled.database.read(lambda connection: tasks.get(connection, task_id))
    assert task is not None
    return await recalled.sources.drift(recalled.bound, task)


async def test_what_is_as_it_was_has_not_drifted() -> None:
    recalled = Recalled(tool_turn(f"[main {COMMIT.commit}] done"), a_turn(1), filling(2), commits=[COMMIT])
    for task_id in await recalled.tasks():
        assert await drift(recalled, task_id) == ""


async def test_a_turn_that_is_gone_taken_back_or_changed_is_drift() -> None:
    gone, rewound, changed = (Recalled(tool_turn(), a_turn(1)) for _ in range(3))
    ids = [(await recalled.tasks())[0] for recalled in (gone, rewound, changed)]
    del gone.history.contents["turn-session-a-0"]
    back = a_turn(1)
    rewound.history.put(msgspec.structs.replace(back, turn=msgspec.structs.replace(back.turn, active=False)))
    changed.history.put(tool_turn("failed", revision=2))
    assert "gone" in await drift(gone, ids[0])
    assert "gone" in await drift(rewound, ids[1])
    assert await drift(changed, ids[2]) == "a turn of it has changed"


async def test_a_turn_that_reads_otherwise_under_the_same_revision_is_drift() -> None:
    recalled = Recalled(tool_turn())
    (task_id,) = await recalled.tasks()
    recalled.history.put(tool_turn("failed"))
    assert await drift(recalled, task_id) == "a turn of it has changed"


async def test_other_evidence_is_drift() -> None:
    recalled = Recalled(tool_turn(f"[main {COMMIT.commit}] done"), commits=[COMMIT])
    (task_id,) = await recalled.tasks()
    recalled.commits.commits = ()
    assert "evidence" in await drift(recalled, task_id)


async def test_a_task_of_another_version_is_drift() -> None:
    recalled = Recalled(tool_turn())
    (task_id,) = await recalled.tasks()
    older = msgspec.structs.replace(recalled.collector.versions, chunker="whole-turns@0")
    object.__setattr__(recalled.collector, "versions", older)
    assert "version" in await drift(recalled, task_id)


async def test_what_is_not_whole_is_told_and_not_taken_for_drift() -> None:
    recalled = Recalled(tool_turn())
    (task_id,) = await recalled.tasks()
    later = tool_turn("failed", revision=2)

    async def none(_: object) -> None:
        raise TeamFault(Kind.COVERAGE_INCOMPLETE, "A part is missing.", "Try again.")

    recalled.history.content = none  # type: ignore[assignment, method-assign]
    recalled.history.put(later)
    with pytest.raises(TeamFault) as found:
        await drift(recalled, task_id)
    assert found.value.kind is Kind.COVERAGE_INCOMPLETE


async def test_material_is_collected_again_as_one_chunk_of_one_session() -> None:
    recalled = Recalled(a_turn(0), a_turn(1), filling(2))
    keys = ["turn-session-a-0", "turn-session-a-1"]
    material = await recalled.collector.again(recalled.bound, keys)
    assert material is not None
    assert [one.turn_key for one in material.turns] == keys
    assert material.task_id == (await recalled.tasks())[0]
    assert await recalled.collector.again(recalled.bound, [*keys, "turn-session-a-2"]) is None  # two chunks
    assert await recalled.collector.again(recalled.bound, []) is None


async def test_turns_are_read_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """All at once, each of their steps is ready in the same round of the event loop: hooks wait for all of them."""
    recalled, reading, most = Recalled(*(a_turn(number) for number in range(40))), 0, 0
    content = recalled.history.content

    async def watched(turn: Turn) -> TurnContent:
        nonlocal reading, most
        reading, most = reading + 1, max(most, reading + 1)
        await asyncio.sleep(0)
        reading -= 1
        return await content(turn)

    monkeypatch.setattr(recalled.history, "content", watched)
    assert await recalled.tasks()
    assert 1 < most <= AT_ONCE


async def test_the_loop_is_not_held_by_making_the_material(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole conversations are cut, scrubbed and digested there."""
    recalled, threads = Recalled(tool_turn(), a_turn(1)), list[int]()
    made = catalogue.rows

    def watched(shown: tuple[Shown, ...], edges: dict[str, tuple[Edge, ...]]) -> tuple[EvidenceRow, ...]:
        threads.append(threading.get_ident())
        return made(shown, edges)

    monkeypatch.setattr(catalogue, "rows", watched)
    assert await recalled.tasks()
    assert threads and threading.get_ident() not in threads
