"""What one run would write: what git tracks is left alone, shared files are edited once, worktrees share one list."""

import subprocess
from pathlib import Path

import pytest

from host.namespace import name
from host.setup import REGISTRARS
from host.setup.edits import Edits
from host.setup.gather import NO_HTTP, TRACKED, TRACKED_TOKEN, Gathered, Scene, connect, connected, take_back
from host.setup.records import Records
from host.setup.registrar import Level, Places
from tests.support.settings import WANTED

ALL = tuple(REGISTRARS)


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q", ".")
    return folder


def scene(shop: Path, level: Level = "project", **how: bool) -> Scene:
    where = Places(home=shop.parent / "home", repository=shop, environ={})
    return Scene(level=level, places=where, records=Records(shop.parent / "state"), **how)


def write(gathered: Gathered, at: Scene) -> None:
    Edits(files=gathered.edits).write(at.records)


def names(gathered: Gathered, shop: Path) -> set[str]:
    return {edit.path.relative_to(shop).as_posix() for edit in gathered.edits if edit.differs}


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_products_are_connected_and_taken_back_and_git_sees_nothing(shop: Path) -> None:
    before = files(shop)
    write(connect(ALL, scene(shop), WANTED), scene(shop))
    assert git(shop, "status", "--short", "--untracked-files=all") == ""
    assert set(connected(scene(shop))) == set(ALL)

    again = connect(ALL, scene(shop), WANTED)
    assert names(again, shop) == set()

    write(take_back(ALL, scene(shop)), scene(shop))
    assert files(shop) == before and connected(scene(shop)) == ()


def test_at_user_level_nothing_of_the_repository_is_written(shop: Path) -> None:
    before = files(shop)
    write(connect(ALL, scene(shop, "user"), WANTED), scene(shop, "user"))
    assert files(shop) == before and connected(scene(shop)) == ()

    write(take_back(ALL, scene(shop, "user")), scene(shop, "user"))
    assert not (shop.parent / "home").exists()


def test_what_git_tracks_is_left_alone(shop: Path) -> None:
    (shop / ".mcp.json").write_text("{}")
    (shop / ".claude").mkdir()
    (shop / ".claude" / "settings.local.json").write_text("{}")
    git(shop, "add", ".")

    gathered = connect(["claude-code", "cursor"], scene(shop), WANTED)

    assert {(left.path.name, left.why) for left in gathered.left} == {
        (".mcp.json", TRACKED),
        ("settings.local.json", TRACKED_TOKEN),
    }
    assert names(gathered, shop) == {".cursor/mcp.json", ".cursor/hooks.json", ".git/info/exclude"}


def test_a_token_is_never_written_through_a_link_into_what_another_repository_tracks(shop: Path) -> None:
    dotfiles = shop.parent / "dotfiles"
    (dotfiles / "claude").mkdir(parents=True)
    (dotfiles / "claude" / "settings.json").write_text("{}")
    git(dotfiles, "init", "-q", ".")
    (shop.parent / "home").mkdir()
    (shop.parent / "home" / ".claude").symlink_to(dotfiles / "claude")

    untracked = connect(["claude-code"], scene(shop, "user"), WANTED)
    write(untracked, scene(shop, "user"))
    assert untracked.left == () and git(dotfiles, "status", "--short", "--untracked-files=all") == ""
    write(take_back(["claude-code"], scene(shop, "user")), scene(shop, "user"))
    assert git(dotfiles, "status", "--short", "--untracked-files=all") == "?? claude/settings.json\n"

    git(dotfiles, "add", ".")
    tracks = connect(["claude-code"], scene(shop, "user"), WANTED)
    assert [(left.path.name, left.why) for left in tracks.left] == [("settings.json", TRACKED_TOKEN)]


def test_a_link_within_the_project_to_what_git_tracks_is_left_alone(shop: Path) -> None:
    (shop / "shared.json").write_text("{}")
    git(shop, "add", ".")
    (shop / ".mcp.json").symlink_to("shared.json")
    gathered = connect(["claude-code"], scene(shop), WANTED)
    assert [(left.path.name, left.why) for left in gathered.left] == [(".mcp.json", TRACKED)]


def test_a_users_own_file_is_not_hidden_from_git_but_one_with_the_token_is(shop: Path) -> None:
    for path in (".mcp.json", ".claude/settings.local.json", ".gemini/settings.json"):
        (shop / path).parent.mkdir(exist_ok=True)
        (shop / path).write_text("{}")
    write(connect(["claude-code", "gemini-cli"], scene(shop), WANTED), scene(shop))

    shown = git(shop, "status", "--short", "--untracked-files=all")
    assert ".mcp.json" in shown and ".gemini/settings.json" in shown and "settings.local.json" not in shown


def test_without_http_the_hooks_that_need_it_are_left_out(shop: Path) -> None:
    gathered = connect(["claude-code"], scene(shop, http=False), WANTED)
    assert [left.why for left in gathered.left] == [NO_HTTP]
    assert ".mcp.json" in names(gathered, shop)


def test_a_file_that_its_product_cannot_read_is_named(shop: Path) -> None:
    (shop / ".claude").mkdir()
    (shop / ".claude" / "settings.local.json").write_text("{} // mine\n")
    gathered = connect(["claude-code"], scene(shop), WANTED)
    assert [one.path.name for one in gathered.unread] == ["settings.local.json"]


def test_a_file_that_two_products_share_by_a_link_is_written_once(shop: Path) -> None:
    (shop / ".cursor").mkdir()
    (shop / ".mcp.json").write_text('{"mcpServers": {}}')
    (shop / ".cursor" / "mcp.json").symlink_to("../.mcp.json")

    gathered = connect(["claude-code", "cursor"], scene(shop), WANTED)
    assert len([edit for edit in gathered.edits if edit.path.name in (".mcp.json", "mcp.json")]) == 1
    write(gathered, scene(shop))
    assert (shop / ".mcp.json").read_text().count(f'"{name()}"') == 1
    assert names(connect(["claude-code", "cursor"], scene(shop), WANTED), shop) == set()

    write(take_back(["claude-code", "cursor"], scene(shop)), scene(shop))
    assert (shop / ".mcp.json").read_text() == '{"mcpServers": {}}'
    assert (shop / ".cursor" / "mcp.json").is_symlink()


def test_a_broken_file_of_another_product_is_no_obstacle_to_taking_back(shop: Path) -> None:
    write(connect(["cursor"], scene(shop), WANTED), scene(shop))
    (shop / ".gemini").mkdir()
    (shop / ".gemini" / "settings.json").write_text("{")

    assert connected(scene(shop)) == ("cursor",)


def test_worktrees_are_connected_each_by_itself_and_share_one_list(shop: Path) -> None:
    git(shop, "commit", "-q", "--allow-empty", "-m", "one")
    other = shop.parent / "fix"
    git(shop, "worktree", "add", "-q", str(other))
    exclude = shop / ".git" / "info" / "exclude"
    before = exclude.read_text()
    for checkout in (shop, other):
        write(connect(["claude-code"], scene(checkout), WANTED), scene(checkout))
        assert git(checkout, "status", "--short", "--untracked-files=all") == ""

    write(take_back(["claude-code"], scene(other)), scene(other))
    assert git(shop, "status", "--short", "--untracked-files=all") == ""  # its token is still hidden
    assert not (other / ".claude").exists() and (shop / ".claude").exists()

    write(take_back(["claude-code"], scene(shop)), scene(shop))
    assert exclude.read_text() == before


def test_a_list_that_was_not_there_goes_again(shop: Path) -> None:
    exclude = shop / ".git" / "info" / "exclude"
    exclude.unlink()
    exclude.parent.rmdir()
    write(connect(["codex"], scene(shop), WANTED), scene(shop))
    assert exclude.exists()

    write(take_back(["codex"], scene(shop)), scene(shop))
    assert not exclude.parent.exists()


def test_outside_git_there_is_no_list(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    gathered = connect(["gemini-cli"], scene(folder), WANTED)
    assert names(gathered, folder) == {".gemini/settings.json"}


def test_tokens_in_what_is_there_are_known(shop: Path) -> None:
    write(connect(["claude-code"], scene(shop), WANTED), scene(shop))
    assert WANTED.token in take_back(["claude-code"], scene(shop)).secrets
