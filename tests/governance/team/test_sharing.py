"""What the user keeps privately becomes drafts for the team."""

import msgspec
import pytest

from governance.formation.contracts import Life, MemoryType
from governance.formation.store import items, memories
from governance.review import QUOTE, Act, Citation, ItemFlag, ItemKind, QueueItem, State
from governance.team import payloads, queueing
from governance.team.contracts.ports import Private
from governance.team.contracts.rows import TaskKind, TaskState
from governance.team.contracts.staging import AdjudicationTask, Share
from governance.team.contracts.turns import Strength
from governance.team.errors import Kind
from tests.support.builders import a_memory_id
from tests.support.formed import a_formed, a_source
from tests.support.team_recall import FORMATS
from tests.support.team_stage import WORKSPACE, a_stage, refused, skip

HERON = "The heron gateway is ours."
QUOTED = Citation(
    kind=QUOTE, ref="m-1", quote="the heron is ours", end=17, session="s", seq=3, role="user", at=1_794_441_600_000
)


def an_item(number: int = 1, **fields) -> QueueItem:
    given = {
        "item_id": f"note_{number}",
        "kind": ItemKind.NOTE,
        "pipeline": "notes",
        "workspace_key": WORKSPACE,
        "created_at": 1,
        "state": State.KEPT,
        "text": "as it was proposed",
        "citations": (QUOTED,),
        "record_id": a_memory_id(number),
    }
    return QueueItem(**(given | fields))


def a_record(number: int = 1, text: str = HERON) -> Private:
    return Private(memory_id=a_memory_id(number), text=text, revision=f"r{number}")


def a_share(*item_ids: str) -> Share:
    return Share(format=FORMATS.document("share"), item_ids=item_ids)


async def put(stage, *found: QueueItem) -> None:
    await stage.database.write(lambda c: [items.insert(c, one) for one in found])
    await stage.tasks()  # binds the worktree


async def share(stage, *item_ids: str):
    return await stage.staging.share(stage.bound, stage.call(), a_share(*item_ids))


async def test_a_kept_item_becomes_a_draft_that_says_what_its_record_says_now(tmp_path):
    async with a_stage(tmp_path, privates=[a_record()]) as stage:
        await put(stage, an_item())
        await stage.database.write(
            lambda c: memories.put(c, a_formed(1, type=MemoryType.WORK_METHOD, priority=80, scene_name="Gateways"))
        )
        task = await share(stage, "note_1")
        assert isinstance(task, AdjudicationTask)
        (draft,) = task.drafts
        assert (draft.content, draft.type, draft.priority, draft.confidence, draft.scene) == (
            HERON,
            "work_method",
            80,
            "high",
            "Gateways",
        )
        assert task.pool == ()  # its own record is not what it is compared with
        candidate = await stage.candidate(draft.draft_ref)
        (made,) = await stage.assessments(draft.draft_ref)
        assert (made.strength, made.limitations) == (Strength.DIRECT, ("source-local-only",))
        assert payloads.entry(candidate).occurred == ("2026-11-12",)
        row = await stage.row(candidate.task_id)
        assert (row.kind, row.state) == (TaskKind.SHARE, TaskState.SUBMITTED)
        item = await stage.item("note_1")
        assert item is not None
        assert (item.state, item.decisions[-1].kind) == (State.KEPT, Act.SHARE)


async def test_a_promotion_supersedes_the_record_and_its_item(tmp_path):
    async with a_stage(tmp_path, privates=[a_record()]) as stage:
        await put(stage, an_item())
        await stage.database.write(lambda c: memories.put(c, a_formed(1)))
        task = await share(stage, "note_1")
        await stage.adjudicate(task)
        candidate = await stage.candidate(task.drafts[0].draft_ref)
        linked = await stage.item(candidate.candidate_id)
        assert linked is not None
        assert linked.related_to == (a_memory_id(1),)
        await stage.database.write(lambda c: queueing.promote(c, stage.queue, candidate, stage.call()))
        held = await stage.database.read(lambda c: memories.of(c, a_memory_id(1)))
        assert held is not None
        assert (held.state, held.superseded_by) == (Life.SUPERSEDED, candidate.memory_id)
        item = await stage.item("note_1")
        assert item is not None
        assert item.state is State.SUPERSEDED


async def test_the_same_share_is_the_same_task_until_all_of_it_was_discarded(tmp_path):
    async with a_stage(tmp_path, privates=[a_record()]) as stage:
        await put(stage, an_item())
        approved = stage.approve("The heron gateway is theirs.")
        first = await share(stage, "note_1")
        again = await share(stage, "note_1")
        assert again == msgspec.structs.replace(first, idempotent=True)
        await stage.adjudicate(first, skip(first.drafts[0].draft_ref, approved))
        anew = await share(stage, "note_1")
        assert isinstance(anew, AdjudicationTask)
        assert anew.task_id != first.task_id
        assert await stage.states() == {"discarded": 1, "draft": 1}


async def test_items_without_quotes_rest_on_their_messages(tmp_path):
    async with a_stage(tmp_path, privates=[a_record()]) as stage:
        await put(stage, an_item(kind=ItemKind.MEMORY, state=State.COMMITTED, citations=()))
        await stage.database.write(lambda c: memories.put(c, a_formed(1)))
        await stage.database.write(lambda c: memories.add_sources(c, a_memory_id(1), [a_source(1, quote="")]))
        task = await share(stage, "note_1")
        (made,) = await stage.assessments(task.drafts[0].draft_ref)
        assert (made.strength, len(made.citations)) == (Strength.CONTEXTUAL, 1)
        assert task.drafts[0].confidence == "medium"


async def test_two_items_are_two_drafts_of_one_task(tmp_path):
    async with a_stage(tmp_path, privates=[a_record(1), a_record(2, "The heron is a bird.")]) as stage:
        await put(stage, an_item(1), an_item(2))
        task = await share(stage, "note_1", "note_2")
        assert [one.content for one in task.drafts] == [HERON, "The heron is a bird."]
        done = await stage.adjudicate(task)
        assert [one.state for one in done.candidates] == ["staged", "staged"]


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        pytest.param({"state": State.PENDING}, Kind.CANDIDATE_STALE, id="pending"),
        pytest.param({"state": State.ARCHIVED}, Kind.CANDIDATE_STALE, id="archived"),
        pytest.param({"workspace_key": "ws_other"}, Kind.CANDIDATE_NOT_FOUND, id="another repository's"),
        pytest.param({"workspace_key": ""}, Kind.CANDIDATE_NOT_FOUND, id="the user's everywhere"),
        pytest.param({"item_id": "note_9"}, Kind.CANDIDATE_NOT_FOUND, id="unknown"),
        pytest.param({"kind": ItemKind.SKILL}, Kind.CANDIDATE_KIND_MISMATCH, id="a skill"),
        pytest.param({"flags": (ItemFlag.QUARANTINED,)}, Kind.UNVERIFIED_CLAIM, id="flagged"),
        pytest.param({"record_id": None}, Kind.CANDIDATE_STALE, id="without a record"),
        pytest.param({"record_id": a_memory_id(7)}, Kind.CANDIDATE_STALE, id="its record is gone"),
    ],
)
async def test_only_what_is_kept_or_committed_here_and_clear_is_shared(tmp_path, item, kind):
    async with a_stage(tmp_path, privates=[a_record()]) as stage:
        await put(stage, an_item(**item))
        await refused(kind, share(stage, "note_1"))
        assert await stage.states() == {}


async def test_the_list_of_items_is_bounded_and_without_repetition(tmp_path):
    async with a_stage(tmp_path, privates=[a_record()]) as stage:
        await put(stage, an_item())
        for wrong in ((), ("note_1", "note_1"), tuple(f"note_{n}" for n in range(65))):
            await refused(Kind.SCHEMA_INVALID, share(stage, *wrong))


async def test_a_record_with_a_secret_is_not_shared(tmp_path):
    async with a_stage(tmp_path, privates=[a_record(text="The token is ghp_" + "a1B2" * 9)]) as stage:
        await put(stage, an_item())
        fault = await refused(Kind.SCHEMA_INVALID, share(stage, "note_1"))
        assert "ghp_" not in str(fault)
        item = await stage.item("note_1")
        assert item is not None
        assert item.revision == 1
