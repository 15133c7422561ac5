"""Which files of agent products a session may see: by place, by links, by whose they are."""

from pathlib import Path

import pytest

from host.provided import Provided
from recall.contracts import Origin
from recall.providers import slug
from tests.support.builders import WORKSPACE, a_user_scope, a_workspace_scope
from tests.support.checkouts import a_checkout, a_worktree, homes_at, write


def provided(known: Provided, folder: Path, key: str = WORKSPACE) -> dict[str, str]:
    """Path below `folder`'s parent -> provider, of what exists."""
    found = {Path(root.path): root.provider for root in known.roots(str(folder), key)}
    return {str(path.relative_to(folder.parent)): kind for path, kind in found.items() if path.exists()}


def test_files_of_products_are_found_at_the_top_in_the_sessions_folder_and_between(tmp_path: Path) -> None:
    top = a_checkout(tmp_path / "checkout")
    for name in ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md"):
        write(top / name)
    for name in ("MEMORY.md", ".cursorrules", ".github/copilot-instructions.md", "src/deep/AGENTS.md", "src/CLAUDE.md"):
        write(top / name)
    for name in (".cursor/rules/a.mdc", ".claude/rules/b.md", "src/.cursor/rules/c.mdc", "docs/CLAUDE.md", "README.md"):
        write(top / name)
    known = Provided()

    found = known.roots(str(top / "src" / "deep"), WORKSPACE)

    assert {str(Path(root.path).relative_to(top)): root.provider for root in found if Path(root.path).exists()} == {
        "CLAUDE.md": "claude-md",
        "CLAUDE.local.md": "claude-md",
        ".claude/CLAUDE.md": "claude-md",
        "src/CLAUDE.md": "claude-md",
        ".claude/rules": "claude-rules",
        "AGENTS.md": "agents-md",
        "AGENTS.override.md": "agents-md",
        "src/deep/AGENTS.md": "agents-md",
        "GEMINI.md": "gemini-md",
        ".cursor/rules": "cursor-rules",
        ".cursorrules": "cursorrules",
        ".github/copilot-instructions.md": "copilot",
        "MEMORY.md": "memory-md",
    }
    assert {(root.scope, root.origin, root.writable, root.inside) for root in found} == {
        (a_workspace_scope(), Origin.IMPORTED, False, str(top))
    }


def test_a_file_with_two_names_is_what_both_are(tmp_path: Path) -> None:
    top = a_checkout(tmp_path / "checkout")
    write(top / "AGENTS.md")
    (top / "CLAUDE.md").symlink_to("AGENTS.md")
    (top / ".claude").mkdir()
    (top / ".claude" / "CLAUDE.md").symlink_to("../CLAUDE.md")

    assert provided(Provided(), top) == {"checkout/AGENTS.md": "agents-md claude-md"}


@pytest.mark.parametrize("text", ["@AGENTS.md\n", "See @./AGENTS.md first.\n"])
def test_what_a_claude_file_takes_in_is_loaded_with_it(tmp_path: Path, text: str) -> None:
    top = a_checkout(tmp_path / "checkout")
    write(top / "AGENTS.md")
    write(top / "GEMINI.md")
    write(top / "CLAUDE.md", text)

    found = provided(Provided(), top)

    assert (found["checkout/AGENTS.md"], found["checkout/GEMINI.md"]) == ("agents-md claude-md", "gemini-md")


def test_a_claude_file_in_its_own_folder_takes_in_from_there(tmp_path: Path) -> None:
    top = a_checkout(tmp_path / "checkout")
    write(top / "AGENTS.md")
    write(top / ".claude" / "CLAUDE.md", "@../AGENTS.md")

    assert provided(Provided(), top)["checkout/AGENTS.md"] == "agents-md claude-md"


def test_what_the_user_keeps_for_all_projects_is_the_users(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in (".claude/CLAUDE.md", ".claude/rules/a.md", ".codex/AGENTS.md", ".gemini/GEMINI.md"):
        write(home / name)
    known = Provided(homes_at(home))

    found = known.roots("", "")

    assert {str(Path(root.path).relative_to(home)): root.provider for root in found} == {
        ".claude/CLAUDE.md": "claude-md",
        ".claude/rules": "claude-rules",
        ".codex/AGENTS.md": "agents-md",
        ".gemini/GEMINI.md": "gemini-md",
    }
    assert {root.scope for root in found} == {a_user_scope()}


def test_a_session_in_the_home_folder_does_not_make_the_users_files_a_workspaces(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in (".claude/CLAUDE.md", ".claude/rules/a.md", "CLAUDE.md"):
        write(home / name)

    found = Provided(homes_at(home)).roots(str(home), WORKSPACE)

    scopes = {str(Path(root.path).relative_to(home)): root.scope for root in found if Path(root.path).exists()}
    assert scopes == {
        ".claude/CLAUDE.md": a_user_scope(),
        ".claude/rules": a_user_scope(),
        "CLAUDE.md": a_workspace_scope(),
    }


def test_a_users_file_may_be_a_link_to_where_the_user_keeps_such_files(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write(home / "dotfiles" / "rules.md")
    for name in (".claude/CLAUDE.md", ".codex/AGENTS.md"):
        (home / name).parent.mkdir(parents=True)
        (home / name).symlink_to(home / "dotfiles" / "rules.md")

    found = Provided(homes_at(home)).roots("", "")

    there = [root for root in found if Path(root.path).exists()]
    assert [(root.path, root.provider, root.inside) for root in there] == [
        (str(home / "dotfiles" / "rules.md"), "agents-md claude-md", str(home))
    ]


def test_what_claude_code_noted_about_a_project_is_the_projects(tmp_path: Path) -> None:
    home, top = tmp_path / "home", a_checkout(tmp_path / "my.checkout")
    (top / "src").mkdir()
    memory = write(home / ".claude" / "projects" / slug(str(top)) / "memory" / "MEMORY.md").parent
    known = Provided(homes_at(home))

    found = [root for root in known.roots(str(top / "src"), WORKSPACE) if Path(root.path).exists()]

    assert [(root.path, root.provider, root.scope) for root in found] == [
        (str(memory), "claude-memory", a_workspace_scope())
    ]


def test_a_worktree_has_its_own_notes_and_those_of_its_repository(tmp_path: Path) -> None:
    home, top, tree = tmp_path / "home", a_checkout(tmp_path / "main"), tmp_path / "tree"
    a_worktree(top, tree)
    notes = {write(home / ".claude/projects" / slug(str(one)) / "memory/MEMORY.md").parent for one in (top, tree)}

    found = Provided(homes_at(home)).roots(str(tree), WORKSPACE)

    assert {root.path for root in found if root.provider == "claude-memory" and Path(root.path).exists()} == {
        str(folder) for folder in notes
    }


@pytest.mark.promise("no-leak")
def test_of_two_projects_whose_folder_has_one_name_the_second_sees_nothing_of_it(tmp_path: Path) -> None:
    """Claude Code itself cannot tell them apart; a workspace must not see another's memory for all that."""
    home = tmp_path / "home"
    first, second = tmp_path / "a-b", tmp_path / "a" / "b"
    for folder in (first, second):
        folder.mkdir(parents=True)
    write(home / ".claude" / "projects" / slug(str(first)) / "memory" / "MEMORY.md")
    known = Provided(homes_at(home))

    of_first = known.roots(str(first), "ws_1")
    of_second = known.roots(str(second), "ws_2")

    assert slug(str(first)) == slug(str(second))
    assert ["claude-memory" in root.provider for root in of_first].count(True) == 1
    assert not any("claude-memory" in root.provider for root in of_second)


@pytest.mark.parametrize("path", ["", "relative", "/no/such/folder", "/a\0b", "/lone/\udc80"])
def test_a_path_that_is_no_folder_here_has_no_files_of_products(tmp_path: Path, path: str) -> None:
    found = Provided().roots(path, WORKSPACE)

    assert [root for root in found if Path(root.path).exists()] == []
