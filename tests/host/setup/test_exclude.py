"""Git's private list: our lines go in once, come out without a trace, and never reach the index."""

import subprocess
from pathlib import Path

import pytest

from host.setup.exclude import MARK, checkouts, exclude_path, with_line, without_line

PATTERN = "/.claude/settings.local.json"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.mark.parametrize("text", [None, "", "# theirs\n*.log\n", "no end"])
def test_a_line_goes_in_once_and_comes_out_without_a_trace(text: str | None) -> None:
    after = with_line(text, PATTERN)

    assert after.startswith(text or "") and PATTERN in after.splitlines() and MARK in after
    assert with_line(after, PATTERN) == after
    assert without_line(after, PATTERN) == (text or "")


def test_one_of_several_lines_can_go() -> None:
    both = with_line(with_line("no end", "/a"), "/b")

    assert without_line(without_line(both, "/b"), "/a") == "no end"
    assert "/b" in (without_line(both, "/a") or "").splitlines()


@pytest.mark.parametrize("text", [None, "", "# theirs\n*.log\n", "no end", "*.log\r\n"])
def test_several_lines_have_one_mark_and_go_in_any_order(text: str | None) -> None:
    patterns = ["/a", "/b c", "/.d/e"]
    after: str | None = text
    for pattern in patterns:
        after = with_line(after, pattern)

    assert after is not None and after.count(MARK) == 1
    for order in (patterns, patterns[::-1], ["/b c", "/a", "/.d/e"]):
        left: str | None = after
        for pattern in order:
            left = without_line(left, pattern)
        assert left == (text or "")


def test_what_others_add_below_stays(tmp_path: Path) -> None:
    after = with_line(with_line("*.log\n", "/a"), "/b")
    for added in ("*.tmp\n", "\n/mine\n", "# mine\n/c\n"):
        assert without_line(without_line(after + added, "/a"), "/b") == "*.log\n" + added


def test_lists_of_earlier_versions_with_a_mark_for_each_line_are_taken_back_too() -> None:
    old = f"*.log\n{MARK}\n/a\n{MARK}\n/b\n"

    assert with_line(old, "/a") == with_line(old, "/b") == old
    assert with_line(old, "/c") == f"{old}/c\n"
    assert without_line(without_line(old, "/a"), "/b") == "*.log\n"


def test_a_line_that_is_not_ours_stays() -> None:
    assert without_line(f"{PATTERN}\n", PATTERN) == f"{PATTERN}\n"
    assert without_line(None, PATTERN) is None


def test_the_list_is_one_for_a_repository_and_its_worktrees(tmp_path: Path) -> None:
    main, other = tmp_path / "shop", tmp_path / "shop-fix"
    main.mkdir()
    git(main, "init", "-q", ".")
    git(main, "commit", "-q", "--allow-empty", "-m", "one")
    git(main, "worktree", "add", "-q", str(other))

    assert exclude_path(main) == exclude_path(other) == main / ".git" / "info" / "exclude"
    assert checkouts(main) == (other,) and checkouts(other) == (main,)

    (main / ".git" / "info" / "exclude").write_text(with_line("", PATTERN))
    (other / ".claude").mkdir()
    (other / ".claude" / "settings.local.json").write_text("{}")
    assert git(other, "status", "--short") == ""


def test_outside_git_there_is_no_list(tmp_path: Path) -> None:
    assert exclude_path(tmp_path) is None and checkouts(tmp_path) == ()
