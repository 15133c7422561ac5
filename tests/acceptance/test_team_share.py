"""Share over a real library: what was kept privately is promoted, and its own record leaves recall (team.md 6.4)."""

from pathlib import Path

import msgspec

from governance.formation.store import items
from governance.review import ItemKind, QueueItem, State
from governance.team import queueing
from governance.team.contracts.base import Bound
from governance.team.contracts.rows import CandidateState
from governance.team.contracts.staging import Adjudicated, AdjudicationResult, AdjudicationTask, Share
from governance.team.staging import Staging
from governance.team.store import bindings, candidates
from governance.team.syncing import Syncing
from governance.team.tree import read_tree
from host.team.privates import LibraryPrivates, scope_of
from recall.contracts import Status
from recall.workspace import workspace_key
from tests.support.asking import Asking
from tests.support.clock import START
from tests.support.formed import ON
from tests.support.team_recall import FORMATS, INSTALLATION, Recalled, a_bound, a_call
from tests.support.world import World, a_world

CALL = a_call(principal="user")
HERON = "The heron gateway retries a publish three times."


def staging_of(world: World) -> Staging:
    """Stage over the daemon's own parts."""
    parts = world.parts
    recalled = Recalled(database=parts.kept)
    return Staging(
        database=parts.kept,
        queue=parts.queue,
        syncing=Syncing(database=parts.kept, read=lambda bound: read_tree(bound.root, bound.binding.memory_root)),
        privates=LibraryPrivates(parts.library, parts.roots, parts.clock),
        sources=recalled.sources,
        formats=FORMATS,
        issue=recalled.issue,
    )


async def shared(world: World) -> tuple[Bound, Staging, str, AdjudicationTask]:
    """A kept memory, shared: where, by what, its id, and the task."""
    where = world.workspace("project")
    memory_id = await world.remember(HERON, where)
    bound = msgspec.structs.replace(a_bound(str(Path(where).resolve())), workspace_key=workspace_key(where))
    item = QueueItem(
        item_id="note_heron",
        kind=ItemKind.NOTE,
        pipeline="notes",
        workspace_key=bound.workspace_key,
        created_at=START,
        state=State.KEPT,
        record_id=memory_id,
    )
    await world.parts.kept.write(lambda c: items.insert(c, item))
    await world.parts.kept.write(lambda c: bindings.installation(c, INSTALLATION))
    staging = staging_of(world)
    document = Share(format=FORMATS.document("share"), item_ids=("note_heron",))
    task = await staging.share(bound, CALL, document)
    assert isinstance(task, AdjudicationTask)
    return bound, staging, memory_id, task


async def test_a_kept_memory_is_shared_and_its_private_record_is_superseded_in_its_file(tmp_path):
    async with a_world(tmp_path, formation=ON) as world:
        bound, staging, memory_id, task = await shared(world)
        assert [one.content for one in task.drafts] == [HERON]
        answer = AdjudicationResult(
            format=FORMATS.document("adjudication-result"),
            task_id=task.task_id,
            binding=task.binding,
            decisions=(Adjudicated(draft_ref=task.drafts[0].draft_ref, action="add"),),
        )
        done = await staging.adjudicate(bound, CALL, answer)
        (said,) = done.candidates
        assert (said.state, said.supersedes) == ("staged", (memory_id,))

        held = await world.parts.kept.read(lambda c: candidates.owned(c, bound.owner, said.candidate_id))
        await world.parts.kept.write(lambda c: queueing.promote(c, world.parts.queue, held, CALL))
        assert await world.parts.formation.projected() == 0

        found = await world.parts.library.get(memory_id, scope_of(bound))
        assert found is not None
        assert (found[0].status, found[0].superseded_by) == (Status.SUPERSEDED, held.memory_id)
        private = LibraryPrivates(world.parts.library, world.parts.roots, world.parts.clock)
        assert await private.near(bound, HERON, 5) == ()
        now = await world.parts.queue.get("note_heron")
        assert now is not None
        assert now.state is State.SUPERSEDED


async def test_a_memory_that_is_forgotten_leaves_no_word_in_what_was_made_of_it(tmp_path):
    async with a_world(tmp_path, formation=ON) as world:
        bound, _, memory_id, task = await shared(world)
        await Asking(world).ask("memory.forget", memoryId=memory_id, workspace=world.workspace("project"))
        held = await world.parts.kept.read(lambda c: candidates.owned(c, bound.owner, task.drafts[0].draft_ref))
        assert (held.state, held.reason) == (CandidateState.DISCARDED, "forgotten")
        dump = await world.parts.kept.read(lambda c: "\n".join(c.iterdump()))
        assert "heron gateway" not in dump.lower()
