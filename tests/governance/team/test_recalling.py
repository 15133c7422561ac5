"""Recall: what is planned, claimed and handed out, and what is let go of."""

import json
from typing import Any

import msgspec
import pytest

from governance.team import leases
from governance.team.contracts.recalling import TaskContext
from governance.team.contracts.rows import ChunkState, TaskState
from governance.team.contracts.turns import Commit, Ineligible
from governance.team.errors import Kind, TeamFault
from governance.team.store import tasks
from tests.support.clock import START
from tests.support.team_recall import (
    AT,
    FORMATS,
    INSTALLATION,
    Recalled,
    a_call,
    a_request,
    a_tool,
    a_turn,
    an_event,
    filling,
)

SECOND = 1000


async def state(recalled: Recalled, task_id: str) -> Any:
    return await recalled.database.read(lambda connection: tasks.get(connection, task_id))


async def extracted(recalled: Recalled, task_id: str, holder: str = "one") -> None:
    """As an empty batch leaves it."""

    def work(connection: Any) -> None:
        task = tasks.needed(connection, task_id, recalled.bound.owner)
        task = leases.claim(connection, task, a_call(holder), recalled.issue)
        leases.submitted(connection, task, START)
        tasks.move_chunk(connection, task_id, ChunkState.EXTRACTED, START)

    await recalled.database.write(work)


async def test_a_task_has_all_that_its_format_asks() -> None:
    recalled = Recalled(a_turn(0), a_turn(1))
    answer = await recalled.ask()
    assert answer["format"] == "remora-pre-agent-recall@v1"
    (task,) = answer["sources"]
    assert task["format"] == "remora-pre-extraction-task@v1"
    assert task["taskId"] == f"extract-{task['binding']['sourceInputDigest']}"
    assert task["session"] == "session-a"
    assert task["binding"]["databaseUuid"] == INSTALLATION.uuid
    assert task["binding"]["owner"] == msgspec.to_builtins(recalled.bound.owner)
    assert task["binding"]["turnRevisions"] == [1, 1]
    assert task["binding"]["payloadDigests"] == [a_turn(n).turn.payload_digest for n in (0, 1)]
    assert len(task["binding"]["edgeRevisions"]) == 2
    assert task["binding"]["provenance"] == {"snapshotSeq": 11, "evaluatedAt": "2026-05-28T20:26:40.000Z"}
    assert task["chunk"]["turnRange"] == {"first": 0, "last": 1}
    ids = [one["evidenceId"] for one in task["evidenceCatalog"]]
    assert [one["evidenceId"] for one in task["chunk"]["turnEvidence"]] == ids
    for evidence_id in ids:
        assert f" {evidence_id}>>" in task["chunk"]["transcript"]
    assert task["lease"]["epoch"] == 1
    assert set(task["contract"]) == {"draftSchema", "prompts"}
    assert answer["selection"]["matchedTurns"] == 2
    assert answer["guidance"]["rules"]


async def test_what_was_said_is_not_kept_with_the_task() -> None:
    recalled = Recalled(a_turn(0, an_event("user", "The word is xylophone.", 1), a_tool("xylophone again", 2)))
    recalled.context.context = TaskContext(digest="c" * 64)
    (task_id,) = await recalled.tasks()
    row = await state(recalled, task_id)
    kept = json.loads(row.document)
    assert kept["chunk"]["transcript"] == ""
    assert kept["context"]["digest"] == "c" * 64
    assert kept["lease"]["token"] == ""
    assert "xylophone again" not in row.document
    assert recalled.context.asked == ["The word is xylophone."]


async def test_the_same_request_gives_the_same_documents_again() -> None:
    recalled = Recalled(a_turn(0), filling(1), a_turn(2, session="session-b"))
    assert await recalled.ask() == await recalled.ask()
    first = (await recalled.ask())["sources"]
    later = (await recalled.ask(now=START + 10 * SECOND))["sources"]
    for one, two in zip(first, later, strict=True):
        assert one["lease"].pop("expiresAt") < two["lease"].pop("expiresAt")
    assert first == later


async def test_a_task_is_bound_as_when_it_was_made_whatever_it_is_asked_for_by() -> None:
    recalled = Recalled(a_turn(0))
    (before,) = (await recalled.ask())["sources"]
    (after,) = (await recalled.ask(a_request("number", days=3), now=START + SECOND))["sources"]
    assert after["binding"] == before["binding"]


async def test_a_context_may_change_and_the_kept_digest_follows() -> None:
    recalled = Recalled(a_turn(0))
    (task_id,) = await recalled.tasks()
    recalled.context.context = TaskContext(digest="e" * 64)
    (task,) = (await recalled.ask(now=START + SECOND))["sources"]
    assert task["context"]["digest"] == "e" * 64
    assert json.loads((await state(recalled, task_id)).document)["context"]["digest"] == "e" * 64


async def test_the_limit_bounds_what_is_claimed_and_the_rest_waits() -> None:
    recalled = Recalled(*(filling(place) for place in range(3)))
    answer = await recalled.ask(limit=1)
    assert len(answer["sources"]) == 1
    assert answer["selection"]["pendingChunks"] == 3
    states = [
        one.state for one in await recalled.database.read(lambda c: tasks.listed(c, recalled.bound.owner.worktree_key))
    ]
    assert sorted(states) == [TaskState.CLAIMED, TaskState.PENDING, TaskState.PENDING]
    assert (await recalled.tasks(limit=1)) == [answer["sources"][0]["taskId"]]


@pytest.mark.parametrize("limit", [0, 9])
async def test_a_limit_beyond_8_or_below_1_is_refused(limit: int) -> None:
    with pytest.raises(TeamFault) as found:
        await Recalled(a_turn(0)).ask(limit=limit)
    assert found.value.kind is Kind.REQUEST_INVALID


async def test_what_another_session_works_on_is_left_to_it() -> None:
    recalled = Recalled(filling(0), filling(1))
    (mine,) = await recalled.tasks(limit=1)
    other = await recalled.ask(holder="two")
    assert [one["taskId"] for one in other["sources"]] != [mine]
    assert len(other["sources"]) == 1
    assert other["selection"]["pendingChunks"] == 2
    assert "1 of them with another session" in other["note"]
    third = await recalled.ask(holder="three")
    assert third["sources"] == []
    assert "Another session" in third["guidance"]["nextAction"]
    late = await recalled.ask(holder="three", now=START + 300 * SECOND)
    assert [one["lease"]["epoch"] for one in late["sources"]] == [2, 2]


async def test_what_was_extracted_is_not_read_again() -> None:
    recalled = Recalled(a_turn(0), a_turn(1))
    (task_id,) = await recalled.tasks()
    await extracted(recalled, task_id)
    recalled.history.read.clear()
    answer = await recalled.ask()
    assert answer["sources"] == []
    assert answer["selection"]["pendingChunks"] == 0
    assert recalled.history.read == []
    assert "2 were read before" in answer["note"]


async def test_new_turns_of_a_session_that_was_extracted_are_offered_alone() -> None:
    recalled = Recalled(a_turn(0), a_turn(1))
    (task_id,) = await recalled.tasks()
    await extracted(recalled, task_id)
    recalled.history.put(a_turn(2))
    (task,) = (await recalled.ask())["sources"]
    assert task["chunk"]["turnRange"] == {"first": 2, "last": 2}


async def test_a_chunk_that_grew_takes_nothing_from_who_works_on_it() -> None:
    recalled = Recalled(a_turn(0))
    (first,) = await recalled.tasks()
    recalled.history.put(a_turn(1))
    (second,) = await recalled.tasks()
    assert first != second
    assert (await state(recalled, first)).state is TaskState.CLAIMED


async def test_a_turn_that_changed_is_another_task_and_lets_the_old_one_go() -> None:
    recalled = Recalled(a_turn(0, an_event("user", "go", 1), a_tool("one", 2)))
    (old,) = await recalled.tasks()
    recalled.history.put(a_turn(0, an_event("user", "go", 1), a_tool("two", 2), revision=2))
    (new,) = await recalled.tasks()
    assert new != old
    gone = await state(recalled, old)
    assert (gone.state, gone.reason) == (TaskState.STALE, "a turn of it has changed")
    assert await recalled.database.read(lambda c: tasks.chunk(c, old)) is ChunkState.STALE


async def test_other_evidence_of_the_same_turns_is_another_task_and_lets_the_old_one_go() -> None:
    commit = Commit(commit="1a2b3c4d" + "0" * 32, at=AT, paths=("src/a.py",))
    recalled = Recalled(a_turn(0, an_event("user", "go", 1), a_tool(f"[main {commit.commit}]", 2)))
    (old,) = await recalled.tasks()
    recalled.commits.commits = (commit,)
    (new,) = await recalled.tasks()
    assert new != old
    assert (await state(recalled, old)).reason == "its evidence has changed"
    task = (await recalled.ask())["sources"][0]
    assert [one["kind"] for one in task["evidenceCatalog"]] == ["turn", "commit"]


async def test_what_changes_while_it_is_read_is_read_once_more_and_then_given_up() -> None:
    changed = a_turn(0, an_event("user", "go", 1), a_tool("two", 2), revision=2)
    recalled = Recalled(a_turn(0, an_event("user", "go", 1), a_tool("one", 2)))
    recalled.history.changes = [changed]
    (task,) = (await recalled.ask())["sources"]
    assert task["binding"]["turnRevisions"] == [2]

    class Restless(type(recalled.history)):  # type: ignore[misc]
        async def content(self, turn: Any) -> Any:
            raise TeamFault(Kind.PAYLOAD_CHANGED, "It is another now.", "Try again.")

    object.__setattr__(recalled.collector, "history", Restless(changed))
    with pytest.raises(TeamFault) as found:
        await recalled.ask()
    assert found.value.kind is Kind.PAYLOAD_CHANGED


async def test_sessions_that_cannot_be_recalled_are_counted_by_reason() -> None:
    recalled = Recalled(a_turn(0))
    recalled.history.rejected = {Ineligible.TOO_FEW_TURNS: 2, Ineligible.SUBAGENT: 1}
    assert (await recalled.ask())["selection"]["rejectedSessions"] == [
        {"reason": "too-few-turns", "count": 2},
        {"reason": "subagent", "count": 1},
    ]


async def test_a_turn_that_no_chunk_holds_is_listed() -> None:
    recalled = Recalled(a_turn(0), a_turn(4, an_event("user", "u" * 300_000, 40)))
    answer = await recalled.ask()
    assert answer["selection"]["tooLarge"] == ["session-a#4"]
    assert len(answer["sources"]) == 1
    assert "too large" in answer["note"]


async def test_nothing_that_matches_is_an_answer() -> None:
    answer = await Recalled().ask()
    assert answer["sources"] == []
    assert answer["selection"]["matchedTurns"] == 0
    assert "Nothing matched" in answer["guidance"]["nextAction"]


async def test_more_than_a_frame_takes_waits_for_the_next_call() -> None:
    """Control characters take six bytes each on the wire."""
    recalled = Recalled(*(a_turn(place, an_event("user", "\x01" * 250_000, place)) for place in range(8)))
    answer = await recalled.ask()
    size = len(json.dumps(answer, ensure_ascii=True, separators=(",", ":")))
    assert 0 < len(answer["sources"]) < 8
    assert size < 4 * 1024 * 1024
    assert answer["selection"]["pendingChunks"] == 8


async def test_a_kept_task_that_cannot_be_read_is_corrupt() -> None:
    recalled = Recalled(a_turn(0))
    (task_id,) = await recalled.tasks()
    await recalled.database.write(lambda connection: tasks.document(connection, task_id, "{}"))
    with pytest.raises(TeamFault) as found:
        await recalled.ask()
    assert found.value.kind is Kind.STATE_CORRUPT


async def test_the_same_turns_in_two_worktrees_are_two_tasks() -> None:
    recalled = Recalled(a_turn(0))
    (one,) = await recalled.tasks()
    owner = msgspec.structs.replace(recalled.bound.owner, worktree_key="f" * 64)
    recalled.bound = msgspec.structs.replace(recalled.bound, owner=owner)
    assert await recalled.tasks() != [one]
    assert FORMATS.prefix in (await recalled.ask())["format"]


async def test_evidence_that_comes_back_as_it_was_is_a_task_again_and_can_be_answered() -> None:
    """What was let go of is final: the same material has another name then, which is the same at every recall."""
    commit = Commit(commit="1a2b3c4d" + "0" * 32, at=AT, paths=("src/a.py",))
    recalled = Recalled(a_turn(0, an_event("user", "go", 1), a_tool(f"[main {commit.commit}]", 2)), commits=[commit])
    (first,) = await recalled.tasks()
    recalled.commits.commits = ()
    (second,) = await recalled.tasks()
    recalled.commits.commits = (commit,)
    (third,) = await recalled.tasks()
    assert len({first, second, third}) == 3
    assert await recalled.tasks() == [third]
    row = await state(recalled, third)
    assert row.state is TaskState.CLAIMED
    assert await recalled.sources.drift(recalled.bound, row) == ""
    recalled.commits.commits = ()
    assert await recalled.sources.drift(recalled.bound, row) == "its evidence has changed"
