"""team.md 10, 15 (items 1, 22, 23): a patch from synthesize to promote, over real files, and the next run after it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.team.contracts.consolidating import ConsolidationTask, PatchOperation, Synthesis
from governance.team.contracts.results import DiscardRequest
from governance.team.contracts.rows import Candidate, CandidateState, RunState
from governance.team.contracts.staging import Staged
from governance.team.discarding import Discarding
from governance.team.errors import Kind
from governance.team.files import Scene, parse_scene
from governance.team.store import runs
from tests.support.consolidating import MEMORY, operation, patch_of
from tests.support.team_promoting import Promotions
from tests.support.team_recall import FORMATS
from tests.support.team_running import Runner, a_runner, promotions

pytestmark = pytest.mark.promise("team-22", "team-23")


class Loop:
    """Synthesize, patch, review, prepare, promote. `made`: the last three."""

    def __init__(self, runner: Runner, made: Promotions) -> None:
        self.runner = runner
        self.made = made
        self.stage = runner.stage

    async def synthesize(self, mode: str = "incremental") -> Synthesis:
        return await self.runner.consolidating.synthesize(self.stage.bound, self.stage.call(), mode)

    async def task(self, mode: str = "incremental") -> ConsolidationTask:
        asked = await self.synthesize(mode)
        assert asked.task is not None, asked.note
        return asked.task

    async def patch(self, *operations: PatchOperation) -> Candidate:
        task = await self.task()
        staged: Staged = await self.runner.consolidating.patch(
            self.stage.bound, self.stage.call(), patch_of(task, operations)
        )
        return await self.stage.candidate(staged.candidates[0].candidate_id)

    async def run(self) -> RunState:
        found = await self.stage.database.read(lambda connection: runs.last(connection, self.key))
        assert found is not None
        return found.state

    @property
    def key(self) -> str:
        return self.stage.bound.owner.worktree_key

    def scene(self, name: str) -> Scene:
        path = self.stage.root / MEMORY / "scenes" / f"{name}.md"
        found = parse_scene(str(path), path.read_bytes())
        assert isinstance(found, Scene)
        return found


@pytest.fixture
async def loop(tmp_path: Path) -> AsyncIterator[Loop]:
    async with a_runner(tmp_path) as runner:
        await runner.trust()
        runner.stage.approve("Builds are cached.", 1)
        runner.stage.approve("Tests run first.", 2)
        yield Loop(runner, promotions(runner.stage, tmp_path))


async def test_a_patch_is_written_as_it_was_reviewed_and_its_entries_are_not_offered_again(loop: Loop) -> None:
    ids = tuple(one.id for one in (await loop.task()).entries)
    rule = operation(
        name="doctrine", target="doctrine", new_content="Test first.", summary="", based_on_entry_ids=ids[1:]
    )
    candidate = await loop.patch(operation(name="builds", based_on_entry_ids=ids[:1]), rule)
    review = await loop.made.desk.review("consolidation")
    (item,) = review.items
    assert [one.strength for one in item.statements] == ["contextual", "contextual"]
    assert [[ref.evidence_id for ref in one.evidence] for one in item.statements] == [[ids[0]], [ids[1]]]
    assert review.approval is not None
    shown = {one.target_path: one.content for one in review.approval.changes}

    plan = await loop.made.desk.prepare(review.approval.prepare_request)
    assert (await loop.made.promote(plan)).applied

    for path, content in shown.items():
        assert (loop.stage.root / path).read_text() == content
    assert (loop.scene("builds").heat, loop.scene("builds").body) == (1, "How builds goes.")
    assert (await loop.stage.candidate(candidate.candidate_id)).state is CandidateState.PROMOTED
    assert await loop.run() is RunState.APPLIED
    again = await loop.synthesize()
    assert again.task is None and again.pending_run_id is None and again.due == 0


async def test_the_next_patch_finds_the_scene_as_it_is_and_makes_it_hotter(loop: Loop) -> None:
    await loop.made.promote(await loop.made.planned(await loop.patch(operation(name="builds"))))
    loop.stage.approve("Builds take an hour.", 3)
    task = await loop.task()
    assert [(one.name, one.heat) for one in task.scenes] == [("builds", 1)]
    update = operation("update", "builds", new_content="Builds are cached and take an hour.")
    await loop.made.promote(await loop.made.planned(await loop.patch(update)))
    assert loop.scene("builds").heat == 2


async def test_a_scene_that_was_edited_after_staging_is_not_written_over(loop: Loop) -> None:
    await loop.made.promote(await loop.made.planned(await loop.patch(operation(name="builds"))))
    loop.stage.approve("Builds take an hour.", 3)
    candidate = await loop.patch(operation("update", "builds", new_content="Builds take an hour."))
    plan = await loop.made.planned(candidate)
    path = loop.stage.root / MEMORY / "scenes" / "builds.md"
    path.write_text(path.read_text() + "\nBy hand.\n")
    before = path.read_bytes()
    assert (await loop.made.refused(plan)).kind in (Kind.BINDING_DRIFT, Kind.TARGET_DRIFT)
    assert path.read_bytes() == before
    (broken,) = (await loop.made.desk.review("consolidation")).broken
    assert broken.candidate_id == candidate.candidate_id and broken.kind == "binding-drift"
    waiting = await loop.synthesize()
    assert waiting.pending_run_id is not None and "Discard" in waiting.note


async def test_what_was_discarded_can_be_asked_for_again(loop: Loop) -> None:
    candidate = await loop.patch(operation(name="builds"))
    discarding = Discarding(loop.stage.database, FORMATS, loop.made.promoting().closed)
    request = DiscardRequest(candidate_id=candidate.candidate_id, revision=candidate.revision, reason="Not so.")
    await discarding.discard(loop.stage.bound, loop.stage.call(), request)
    assert await loop.run() is RunState.STALE
    again = await loop.patch(operation(name="builds"))
    assert again.candidate_id != candidate.candidate_id
    assert (await loop.made.promote(await loop.made.planned(again))).applied
