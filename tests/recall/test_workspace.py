"""A workspace is one repository with all its worktrees, or one folder."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.workspace import repository_root, workspace_key


def make_repository(folder: Path) -> Path:
    """What git needs to see a repository, without git."""
    git = folder / ".git"
    (git / "refs").mkdir(parents=True)
    (git / "objects").mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


def make_worktree(repository: Path, folder: Path) -> Path:
    """A linked worktree as `git worktree add` lays it out."""
    inner = repository / ".git" / "worktrees" / folder.name
    inner.mkdir(parents=True)
    (inner / "HEAD").write_text("ref: refs/heads/feature\n")
    (inner / "commondir").write_text("../..\n")
    (inner / "gitdir").write_text(f"{folder}/.git\n")
    folder.mkdir(parents=True)
    (folder / ".git").write_text(f"gitdir: {inner}\n")
    return folder


def test_a_key_is_ws_and_32_hex_digits_and_stays_the_same(tmp_path: Path) -> None:
    first = workspace_key(str(tmp_path))

    assert first.startswith("ws_") and len(first) == 35 and int(first[3:], 16) >= 0
    assert workspace_key(str(tmp_path)) == first


def test_a_start_in_a_subfolder_is_the_repository(tmp_path: Path) -> None:
    mono = make_repository(tmp_path / "mono")
    api = mono / "services" / "api"
    api.mkdir(parents=True)

    assert workspace_key(str(api)) == workspace_key(str(mono))
    assert repository_root(str(api)) == mono


def test_a_subfolder_that_is_gone_is_still_of_its_repository(tmp_path: Path) -> None:
    mono = make_repository(tmp_path / "mono")

    assert workspace_key(str(mono / "deleted" / "since")) == workspace_key(str(mono))


def test_a_symlinked_way_in_gives_the_same_key(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "real" / "repo")
    (tmp_path / "link").symlink_to(repository)

    assert workspace_key(str(tmp_path / "link")) == workspace_key(str(repository))
    assert repository_root(str(tmp_path / "link")) == repository


def test_a_worktree_shares_the_key_and_keeps_its_own_top(tmp_path: Path) -> None:
    shop = make_repository(tmp_path / "shop")
    feature = make_worktree(shop, tmp_path / "wt" / "feature-x")

    assert workspace_key(str(feature)) == workspace_key(str(shop))
    assert repository_root(str(feature)) == feature


def test_a_worktree_of_a_bare_repository_shares_its_key(tmp_path: Path) -> None:
    bare = tmp_path / "shop.git"
    (bare / "objects").mkdir(parents=True)
    (bare / "refs").mkdir()
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    inner = bare / "worktrees" / "main"
    inner.mkdir(parents=True)
    (inner / "HEAD").write_text("ref: refs/heads/main\n")
    (inner / "commondir").write_text("../..\n")
    checkout = tmp_path / "main"
    (inner / "gitdir").write_text(f"{checkout}/.git\n")
    checkout.mkdir()
    (checkout / ".git").write_text(f"gitdir: {inner}\n")

    assert workspace_key(str(checkout)) == workspace_key(str(bare)) != workspace_key(str(tmp_path))


def test_a_submodule_is_a_workspace_of_its_own(tmp_path: Path) -> None:
    outer = make_repository(tmp_path / "outer")
    inner = outer / ".git" / "modules" / "lib"
    (inner / "refs").mkdir(parents=True)
    (inner / "objects").mkdir()
    (inner / "HEAD").write_text("ref: refs/heads/main\n")
    (inner / "config").write_text("[core]\n\tbare = false\n\tworktree = ../../../lib\n")
    (outer / "lib").mkdir()
    (outer / "lib" / ".git").write_text("gitdir: ../.git/modules/lib\n")

    assert workspace_key(str(outer / "lib")) == workspace_key(str(inner)) != workspace_key(str(outer))
    assert repository_root(str(outer / "lib")) == outer / "lib"


def point(folder: Path, victim: Path) -> None:
    (folder / ".git").write_text(f"gitdir: {victim}/.git\n")


def point_at_a_worktree(folder: Path, victim: Path) -> None:
    make_worktree(victim, folder.parent / "real")
    (folder / ".git").write_text(f"gitdir: {victim}/.git/worktrees/real\n")


def link(folder: Path, victim: Path) -> None:
    (folder / ".git").symlink_to(victim / ".git")


def share(folder: Path, victim: Path) -> None:
    (make_repository(folder) / ".git" / "commondir").write_text(f"{victim}/.git\n")


def embed(folder: Path, victim: Path) -> None:
    """A bare repository as content: git checks such folders out like any other."""
    for name in ("refs", "objects"):
        (folder / name).mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "commondir").write_text(f"{victim}/.git\n")


def bring_a_git_directory(folder: Path, victim: Path) -> None:
    """A git directory as content, that points back to its checkout and names another's common directory."""
    inner = folder / "inner"
    inner.mkdir()
    (inner / "HEAD").write_text("ref: refs/heads/main\n")
    (inner / "gitdir").write_text(f"{folder}/.git\n")
    (inner / "commondir").write_text(f"{victim}/.git\n")
    (folder / ".git").write_text("gitdir: inner\n")


def bring_a_submodule(folder: Path, victim: Path) -> None:
    """The same in a submodule's way, which needs no absolute path."""
    bring_a_git_directory(folder, victim)
    (folder / "inner" / "gitdir").unlink()
    (folder / "inner" / "config").write_text("[core]\n\tworktree = ..\n")


@pytest.mark.promise("no-leak")
@pytest.mark.parametrize(
    "claim", [point, point_at_a_worktree, link, share, embed, bring_a_git_directory, bring_a_submodule]
)
def test_a_folder_that_only_claims_to_be_of_a_repository_is_not(
    tmp_path: Path, claim: Callable[[Path, Path], None]
) -> None:
    victim = make_repository(tmp_path / "victim")
    stranger = tmp_path / "unpacked"
    stranger.mkdir()

    claim(stranger, victim)

    assert workspace_key(str(stranger)) != workspace_key(str(victim))
    assert repository_root(str(stranger)) == stranger


def test_a_pipe_in_the_place_of_a_pointer_is_not_waited_for(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repo")
    feature = make_worktree(repository, tmp_path / "feature")
    entry = repository / ".git" / "worktrees" / "feature" / "gitdir"
    entry.unlink()
    os.mkfifo(entry)

    assert workspace_key(str(feature)) != workspace_key(str(repository))


def test_two_projects_of_one_name_have_two_keys(tmp_path: Path) -> None:
    first = make_repository(tmp_path / "clientA" / "app")
    second = make_repository(tmp_path / "clientB" / "app")

    assert workspace_key(str(first)) != workspace_key(str(second))


def test_a_start_inside_the_git_folder_is_the_repository(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repo")
    hooks = repository / ".git" / "hooks"
    hooks.mkdir()

    assert workspace_key(str(hooks)) == workspace_key(str(repository))
    assert repository_root(str(hooks)) == repository


def test_a_broken_git_entry_makes_no_repository(tmp_path: Path) -> None:
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    lost = tmp_path / "lost"
    (lost / "sub").mkdir(parents=True)
    (lost / ".git").write_text("gitdir: /nowhere/at/all\n")

    assert repository_root(str(tmp_path / "empty")) is None
    assert repository_root(str(lost / "sub")) == lost  # a worktree whose repository went away stays one workspace
    assert workspace_key(str(lost / "sub")) == workspace_key(str(lost))


def test_outside_git_the_folder_is_the_workspace_even_when_missing(tmp_path: Path) -> None:
    missing = tmp_path / "never" / "there"

    assert repository_root(str(missing)) is None
    assert workspace_key(str(missing)) != workspace_key(str(tmp_path / "never"))


@pytest.mark.parametrize("path", ["relative/folder", "nul\0inside", "."])
def test_a_path_that_cannot_be_resolved_is_a_key_of_its_own(path: str) -> None:
    assert workspace_key(path).startswith("ws_")
    assert workspace_key(path) != workspace_key(os.path.realpath(".") if "\0" in path else os.path.realpath(path))
    assert repository_root(path) is None


@pytest.mark.parametrize("path", ["/" + "a" * 5000, "/a" * 3000])
def test_a_path_that_is_too_long_to_look_at_is_a_folder_outside_git(path: str) -> None:
    assert workspace_key(path).startswith("ws_")
    assert repository_root(path) is None


def test_an_unset_path_sees_nothing() -> None:
    assert workspace_key("") == ""


def test_a_name_that_is_not_utf8_has_a_key(tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(str(tmp_path)) + b"/caf\xe9")

    assert workspace_key(odd).startswith("ws_")
