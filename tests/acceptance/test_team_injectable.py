"""What was promoted is given by the next pass, in this worktree and its siblings, and leaves recall with its branch.

How long that takes is measured by a bench."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from host.contracts import Claimed, Silence
from recall.team_entry import superseded
from recall.workspace import workspace_key
from tests.support.library import following, until
from tests.support.repositories import GitRepository
from tests.support.team_entries import an_entry, path_of
from tests.support.team_trust import adopted, bound_in, hits, needed, receive, reread
from tests.support.world import LESSON, World, a_world

ENTRY = an_entry(LESSON)
QUERY = "integration-test pg-fixture container"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data") as opened:
        yield opened


@pytest.fixture
def main(tmp_path: Path) -> GitRepository:
    return GitRepository(tmp_path / "main")


async def promoted(world: World, where: GitRepository) -> None:
    """As the last steps of a promotion leave it."""
    bound = await bound_in(world, where.folder)
    where.write({path_of(ENTRY): ENTRY})
    await receive(world, bound, where.folder / path_of(ENTRY))
    await reread(world).promoted(bound, [path_of(ENTRY)], [])


async def given(world: World, where: GitRepository, session: str, call_id: str = "call-1") -> list[tuple[str, str]]:
    """What a session there gets when it needs it: (memory id, level)."""
    await needed(world, where.folder, session, call_id)
    claim = await world.claim(session=session)
    return [(item.memory_id, item.level) for item in claim.packet.items] if isinstance(claim, Claimed) else []


async def known(world: World, where: GitRepository, ids: list[str]) -> bool:
    return [hit.memory_id for hit in await hits(world, where.folder, QUERY)] == ids


@pytest.mark.promise("team-injectable")
async def test_the_next_pass_gives_it_here_and_in_every_worktree(
    world: World, main: GitRepository, tmp_path: Path
) -> None:
    """Also in sessions that were open before, and though the repository had no memory."""
    sibling = main.worktree(tmp_path / "sibling", "feature")
    assert workspace_key(str(main.folder)) == workspace_key(str(sibling.folder))
    for number, where in enumerate((main, sibling)):
        assert await given(world, where, f"session-{number}") == []

    await promoted(world, main)

    for number, where in enumerate((main, sibling)):
        assert await given(world, where, f"session-{number}", "call-2") == [(ENTRY.id, "excerpt")]
    assert main.git("status", "--porcelain", "--untracked-files=all") == f"?? {path_of(ENTRY)}\n"


@pytest.mark.promise("team-injectable")
async def test_a_checkout_of_a_branch_without_it_takes_it_out_and_one_back_brings_it(
    world: World, main: GitRepository
) -> None:
    await adopted(world, main.folder)
    async with following(world.parts.library):
        main.git("checkout", "--quiet", "-b", "feature")
        await promoted(world, main)
        main.commit("An entry")
        assert await known(world, main, [ENTRY.id])

        for _ in range(2):
            main.git("checkout", "--quiet", "main")
            assert not (main.folder / path_of(ENTRY)).parents[2].exists()  # git takes empty folders along
            await until(lambda: known(world, main, []))
            main.git("checkout", "--quiet", "feature")
            await until(lambda: known(world, main, [ENTRY.id]))
    assert await given(world, main, "session-1") == [(ENTRY.id, "excerpt")]


@pytest.mark.promise("team-injectable")
async def test_what_left_with_its_branch_is_not_handed_over_though_nobody_has_looked_yet(
    world: World, main: GitRepository
) -> None:
    """The packet was made before, and no notification has come: the claim looks at the file itself."""
    main.git("checkout", "--quiet", "-b", "feature")
    await promoted(world, main)
    main.commit("An entry")
    await needed(world, main.folder)

    main.git("checkout", "--quiet", "main")

    assert isinstance(await world.claim(), Silence)


@pytest.mark.promise("team-injectable")
async def test_one_entry_on_two_branches_in_two_worktrees_is_no_conflict(
    world: World, main: GitRepository, tmp_path: Path
) -> None:
    await promoted(world, main)
    main.commit("An entry")
    sibling = main.worktree(tmp_path / "sibling", "feature")
    sibling.write({path_of(ENTRY): an_entry(f"{LESSON} Then wait.")})
    await adopted(world, main.folder, sibling.folder)

    for where in (main, sibling):
        assert await known(world, where, [ENTRY.id])
    assert (await world.parts.library.status()).findings == ()
    assert await given(world, sibling, "session-1") == [(ENTRY.id, "excerpt")]


@pytest.mark.promise("team-11")
async def test_an_entry_that_was_replaced_on_one_branch_is_given_in_no_worktree(
    world: World, main: GitRepository, tmp_path: Path
) -> None:
    """What took its place is seen from both; when that branch goes, the old one is back."""
    await promoted(world, main)
    main.commit("An entry")
    sibling = main.worktree(tmp_path / "sibling", "feature")
    new = an_entry(f"{LESSON} Then wait for its health check.", number=2)
    sibling.write({path_of(new): new, path_of(ENTRY): superseded(ENTRY, new.id)})
    sibling.commit("A better one")
    await adopted(world, main.folder, sibling.folder)
    for where in (main, sibling):
        assert await known(world, where, [new.id])

    sibling.git("reset", "--quiet", "--hard", "HEAD~1")
    await world.parts.library.refresh(str((sibling.folder / path_of(new)).parents[1]))
    for where in (main, sibling):
        assert await known(world, where, [ENTRY.id])
