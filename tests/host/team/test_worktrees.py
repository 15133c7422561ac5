"""Where a folder is, seen from a worktree."""

import shutil
from pathlib import Path

from host.team.worktrees import Where, Worktrees
from recall.workspace import workspace_key
from tests.support.team_history import a_bound, a_repository, git


async def test_folders_are_here_in_a_sibling_our_own_or_elsewhere(tmp_path: Path) -> None:
    root, other = a_repository(tmp_path / "project"), a_repository(tmp_path / "other")
    git(root, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    (root / "below").mkdir()
    nested = a_repository(root / "vendor")
    (tmp_path / "link").symlink_to(root)
    worktrees = Worktrees(workspace_key, [str(tmp_path / "scratch")])

    found = await worktrees.placed(
        a_bound(root),
        [
            *(str(root), str(root / "below"), str(root / "gone" / "deep"), str(tmp_path / "link" / "below")),
            *(str(tmp_path / "tree"), str(tmp_path / "scratch" / "1"), str(other), str(nested), "", "relative"),
        ],
    )

    assert list(found.values()).count(Where.HERE) == 4
    assert found[str(tmp_path / "tree")] is Where.SIBLING and found[str(tmp_path / "scratch" / "1")] is Where.OWN
    assert {found[str(other)], found[str(nested)], found[""], found["relative"]} == {Where.ELSEWHERE}


async def test_seen_from_the_sibling_it_is_the_other_way_round(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "project")
    git(root, "worktree", "add", "--quiet", str(tmp_path / "tree"))

    found = await Worktrees(workspace_key).placed(a_bound(tmp_path / "tree"), [str(root), str(tmp_path / "tree")])

    assert found == {str(root): Where.SIBLING, str(tmp_path / "tree"): Where.HERE}


async def test_what_was_done_where_the_repository_was_before_was_done_here(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "before")
    shutil.move(root, tmp_path / "after")
    moved = a_bound(tmp_path / "after")

    def key(folder: str) -> str:
        """As one who has seen it move."""
        return workspace_key(str(tmp_path / "after")) if folder == str(root) else workspace_key(folder)

    assert await Worktrees(key).placed(moved, [str(root)]) == {str(root): Where.HERE}
    assert await Worktrees(workspace_key).placed(moved, [str(root)]) == {str(root): Where.ELSEWHERE}
    assert Worktrees(key).key(str(root)) == workspace_key(str(tmp_path / "after"))
