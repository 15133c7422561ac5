"""`team status`: counts by state, and what needs somebody."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from governance.team.contracts.results import TeamStatus
from governance.team.errors import Kind, TeamFault
from governance.team.status import DUE, Status
from governance.team.store import trust
from governance.team.store.trust import Trusted
from governance.team.times import written
from tests.support.team_recall import FORMATS
from tests.support.team_stage import Stage, a_stage

WORDS = "Publish only from the release branch."


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(tmp_path) as made:
        yield made


async def trusts(stage: Stage, *, trusted: bool = True) -> None:
    said = Trusted(trusted=trusted, via="terminal", at=stage.now)
    await stage.database.write(lambda connection: trust.set_trust(connection, stage.bound.owner.repository_key, said))


async def status(stage: Stage, **asked: Any) -> TeamStatus:
    told = Status(stage.database, stage.syncing, FORMATS)
    return await told.status(stage.bound, stage.now, **({"everywhere": False, "checkpoints": 0} | asked))


async def test_a_repository_without_anything_says_so(stage: Stage) -> None:
    found = await status(stage)

    assert found == TeamStatus(
        format="remora-pre-team-status@v1",
        trusted=None,
        candidates=found.candidates,
        tasks={},
        plans={},
        entries=0,
        due=0,
        needed=DUE,
    )
    assert not any(found.candidates.values())


async def test_what_is_staged_and_approved_is_counted(stage: Stage) -> None:
    await trusts(stage)
    stage.approve("Tests run before a publish.")
    (one,) = await stage.staged(WORDS)

    found = await status(stage, checkpoints=3)

    assert (found.entries, found.due, found.checkpoints) == (1, 1, 3)
    assert found.candidates["staged"] == 1
    assert found.tasks == {"recall.submitted": 1, "adjudication.submitted": 1}
    assert [(each.id, each.state) for each in found.waiting] == [(one.candidate_id, "staged")]


async def test_what_a_person_needs_to_go_on_is_named(stage: Stage) -> None:
    (one,) = await stage.staged(WORDS)
    (waits,) = (await status(stage)).waiting
    assert (waits.kind, (await status(stage)).drafted) == ("entry", ())

    await stage.database.write(
        lambda c: c.execute("UPDATE team_candidate SET state = 'draft' WHERE candidate_id = ?", (one.candidate_id,))
    )
    (drafted,) = (await status(stage)).drafted

    assert (drafted.id, drafted.state, drafted.kind) == (one.candidate_id.rpartition("-c")[0], "draft", "entry")


async def test_an_empty_answer_is_seen(stage: Stage) -> None:
    task = await stage.task()
    await stage.staging.draft(stage.bound, stage.call(), stage.batch(task))

    (empty,) = (await status(stage)).empty

    assert (empty.task_id, empty.kind, empty.at, empty.source) == (
        task.task_id,
        "drafts",
        written(stage.now),
        task.session,
    )


@pytest.mark.parametrize("trusted", [True, False])
async def test_what_a_person_said_of_the_repository_is_told(stage: Stage, trusted: bool) -> None:
    await trusts(stage, trusted=trusted)

    assert (await status(stage)).trusted is trusted


async def test_a_deprecated_entry_is_not_counted(stage: Stage) -> None:
    await trusts(stage)
    stage.approve("An old way.", 1, status="deprecated", superseded_by="mem_" + "2" * 32)
    stage.approve("The new way.", 2)

    found = await status(stage)

    assert (found.entries, found.due) == (1, 1)


async def test_files_that_cannot_be_read_all_are_no_answer(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.approve("One.")
    folder = stage.root / ".remora-pre" / "memory" / "entries"
    (folder / "more").mkdir()
    for number in range(2):
        (folder / "more" / f"{number}.md").write_text("x")
    monkeypatch.setattr("governance.team.tree.MOST_NAMES", 1)

    with pytest.raises(TeamFault) as caught:
        await status(stage)

    assert caught.value.kind is Kind.SYNC_PARTIAL
