"""What git knows, read without git: full and short hashes, and the commits of a time with their paths."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.team.contracts.base import Bound
from host.team.commits import DulwichCommits
from tests.support.clock import START
from tests.support.team_history import HOUR, MINUTE, a_bound, a_repository, commit, git

EVER = 10**15


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return a_repository(tmp_path / "project")


@pytest.fixture
async def commits() -> AsyncIterator[DulwichCommits]:
    made = DulwichCommits()
    yield made
    await made.close()


async def test_a_full_hash_names_a_commit_with_what_it_changed(root: Path, commits: DulwichCommits) -> None:
    made = commit(root, {"src/a.py": "x\n", "README.md": "# New\n"}, "Change", START)

    (found,) = await commits.named(a_bound(root), f"[main {made[:7]}] Change\ncommit {made}\n{'0' * 40}")

    assert (found.commit, found.at, found.paths) == (made, START // 1000 * 1000, ("README.md", "src/a.py"))


async def test_a_hash_of_something_else_names_no_commit(root: Path, commits: DulwichCommits) -> None:
    tree, blob = git(root, "rev-parse", "HEAD^{tree}"), git(root, "rev-parse", "HEAD:README.md")
    head = git(root, "rev-parse", "HEAD")

    assert await commits.named(a_bound(root), f"{tree} {blob} x{head} {head}0 {head.upper()}") == ()


async def test_a_short_hash_counts_where_it_is_one_objects_alone(root: Path, commits: DulwichCommits) -> None:
    bound, head = a_bound(root), git(root, "rev-parse", "HEAD")
    assert [one.commit for one in await commits.abbreviated(bound, f"[main {head[:7]}] Begin")] == [head]
    assert (
        await commits.abbreviated(bound, f"{head[:6]} {head} 0123456 {git(root, 'rev-parse', 'HEAD:README.md')[:8]}")
        == ()
    )

    twin = root / ".git" / "objects" / head[:2] / (head[2:12] + ("0" if head[12] != "0" else "1") * 28)
    twin.write_bytes(b"")  # another object of the same beginning

    assert await commits.abbreviated(bound, head[:8]) == ()
    assert [one.commit for one in await commits.abbreviated(bound, head[:13])] == [head]


async def test_packed_objects_and_refs_are_read_as_well(root: Path, commits: DulwichCommits) -> None:
    made = [commit(root, {f"f{number}.txt": "x\n"}, f"Change {number}", START + number * MINUTE) for number in range(5)]
    bound = a_bound(root)
    assert len(await commits.between(bound, START - MINUTE, EVER, 9)) == 5

    git(root, "gc", "--quiet", "--prune=now")
    git(root, "pack-refs", "--all")

    assert [one.commit for one in await commits.between(bound, START - MINUTE, EVER, 9)] == made[::-1]
    assert [one.commit for one in await commits.abbreviated(bound, made[0][:9])] == [made[0]]
    assert (await commits.named(bound, made[2]))[0].paths == ("f2.txt",)


async def test_commits_of_a_time_come_newest_first_and_bounded(root: Path, commits: DulwichCommits) -> None:
    made = [commit(root, {"f.txt": f"{number}\n"}, f"Change {number}", START + number * HOUR) for number in range(4)]
    bound = a_bound(root)

    found = await commits.between(bound, START + HOUR, START + 2 * HOUR, 9)

    assert [one.commit for one in found] == [made[2], made[1]]
    assert [one.commit for one in await commits.between(bound, 0, EVER, 2)] == [made[3], made[2]]

    later = commit(root, {"f.txt": "9\n"}, "Later", START + 9 * HOUR)
    assert [one.commit for one in await commits.between(bound, START + 5 * HOUR, EVER, 9)] == [later]


async def test_a_commit_of_another_local_branch_is_found_whatever_is_checked_out(
    root: Path, commits: DulwichCommits
) -> None:
    git(root, "checkout", "--quiet", "-b", "topic")
    made = commit(root, {"topic.txt": "x\n"}, "Topic", START)
    git(root, "checkout", "--quiet", "main")

    assert [one.commit for one in await commits.between(a_bound(root), START - HOUR, EVER, 9)] == [made]


async def test_a_worktree_with_a_detached_head_is_read(root: Path, tmp_path: Path, commits: DulwichCommits) -> None:
    git(root, "worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"))
    made = commit(tmp_path / "tree", {"tree.txt": "x\n"}, "In the tree", START)

    assert [one.commit for one in await commits.between(a_bound(tmp_path / "tree"), START - HOUR, EVER, 9)] == [made]
    assert [one.commit for one in await commits.named(a_bound(root), made)] == [made]
    assert await commits.between(a_bound(root), START - HOUR, EVER, 9) == ()


async def test_a_merge_changed_nothing_itself(root: Path, commits: DulwichCommits) -> None:
    git(root, "checkout", "--quiet", "-b", "topic")
    commit(root, {"topic.txt": "x\n"}, "Topic", START)
    git(root, "checkout", "--quiet", "main")
    git(root, "merge", "--quiet", "--no-ff", "-m", "Merge", "topic", at=START + HOUR)

    found = await commits.between(a_bound(root), START - HOUR, EVER, 9)

    assert [one.paths for one in found] == [(), ("topic.txt",)]


async def test_a_repository_of_the_longer_hashes_is_read(tmp_path: Path, commits: DulwichCommits) -> None:
    root = tmp_path / "long"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main", "--object-format=sha256")
    made = commit(root, {"a.txt": "x\n"}, "Begin", START)

    assert len(made) == 64
    assert [one.commit for one in await commits.named(a_bound(root), made)] == [made]
    assert [one.paths for one in await commits.between(a_bound(root), 0, EVER, 9)] == [("a.txt",)]


async def test_a_shallow_clone_says_nothing_of_what_its_first_commit_changed(
    root: Path, tmp_path: Path, commits: DulwichCommits
) -> None:
    commit(root, {"a.txt": "x\n"}, "Second", START)
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{root}", "shallow")

    found = await commits.between(a_bound(tmp_path / "shallow"), 0, EVER, 9)

    assert [one.paths for one in found] == [()]


@pytest.mark.parametrize("broken", ["HEAD", "packed-refs", "objects/info/alternates", "refs/heads/other"])
async def test_a_pipe_where_git_has_a_file_makes_nobody_wait(root: Path, commits: DulwichCommits, broken: str) -> None:
    bound, head = a_bound(root), git(root, "rev-parse", "HEAD")
    path = root / ".git" / broken
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)

    assert await commits.between(bound, 0, EVER, 9) == () and await commits.named(bound, head) == ()


async def test_a_pipe_in_an_objects_place_is_no_object(root: Path, commits: DulwichCommits) -> None:
    bound, head = a_bound(root), git(root, "rev-parse", "HEAD")
    path = root / ".git" / "objects" / head[:2] / head[2:]
    path.unlink()
    os.mkfifo(path)

    assert await commits.named(bound, head) == () and await commits.between(bound, 0, EVER, 9) == ()


async def test_what_is_no_repository_any_more_has_no_commits(root: Path, commits: DulwichCommits) -> None:
    bound: Bound = a_bound(root)
    (root / ".git").rename(root / "away")

    assert await commits.between(bound, 0, EVER, 9) == () and await commits.named(bound, "0" * 40) == ()


async def test_damaged_objects_cost_only_what_needs_them(root: Path, commits: DulwichCommits) -> None:
    bound, head = a_bound(root), git(root, "rev-parse", "HEAD")
    (root / ".git" / "objects" / head[:2] / head[2:]).chmod(0o644)
    (root / ".git" / "objects" / head[:2] / head[2:]).write_bytes(b"not zlib")

    assert await commits.named(bound, head) == ()


async def test_nothing_in_the_repository_changes(root: Path, commits: DulwichCommits) -> None:
    def seen() -> dict[str, tuple[int, bytes]]:
        files = sorted(path for path in (root / ".git").rglob("*") if path.is_file())
        return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    before, bound = seen(), a_bound(root)
    await commits.between(bound, 0, EVER, 9)
    await commits.named(bound, git(root, "rev-parse", "HEAD"))

    assert seen() == before
