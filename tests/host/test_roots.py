"""Where memory files lie, whose they are, and what is made searchable of them."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from host.compose import Setup
from host.namespace import REPOSITORY_FOLDER
from host.roots import Roots
from recall.analyzer import distinct
from recall.contracts import Origin, RuntimeScope, Scope, ScopeRef
from recall.documents import PROVIDER_FILES
from recall.library import Library, Root
from recall.providers import slug
from recall.workspace import workspace_key
from tests.support.builders import WORKSPACE, a_memory, a_memory_id, a_user_scope, a_workspace_scope
from tests.support.checkouts import a_checkout, a_worktree, write
from tests.support.clock import START
from tests.support.library import a_library, following, found, until, write_records
from tests.support.team_entries import an_entry, write_entry


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with a_library(tmp_path / "index") as opened:
        yield opened


@pytest.fixture
def roots(tmp_path: Path, library: Library) -> Roots:
    return Roots(tmp_path / "data", library)


def a_repository(folder: Path, *names: str) -> Path:
    """A git checkout, and what lies in its memory folder."""
    a_checkout(folder)
    for number, name in enumerate(names, start=50):
        record = a_memory("The heron gateway is ours.", memory_id=a_memory_id(number))
        write_records(folder / REPOSITORY_FOLDER / "memory" / name, [record])
    return folder


def seen_from(folder: Path | str) -> RuntimeScope:
    return RuntimeScope(session_id="", agent_id="", workspace=workspace_key(str(folder)), user="user")


async def seen(library: Library, folder: Path | str) -> list[str]:
    return await found(library, "heron gateway", seen_from(folder))


def test_a_workspaces_own_folder_is_private_and_ours_to_write(roots: Roots, tmp_path: Path) -> None:
    root = roots.private(WORKSPACE)

    assert Path(root.path) == tmp_path / "data" / "memory" / WORKSPACE
    assert (root.scope, root.origin, root.writable) == (a_workspace_scope(), Origin.USER, True)


def test_a_users_own_folder_holds_everywhere(roots: Roots, tmp_path: Path) -> None:
    root = roots.user()

    assert Path(root.path) == tmp_path / "data" / "memory" / "user"
    assert (root.scope, root.origin, root.writable) == (a_user_scope(), Origin.USER, True)


def test_a_repositorys_folder_is_read_as_imported_and_left_to_git(roots: Roots, tmp_path: Path) -> None:
    top = a_repository(tmp_path / "checkout", "team.md")
    deep = top / "src" / "deep"
    deep.mkdir(parents=True)

    root = roots.repository(str(deep), WORKSPACE)

    assert root is not None
    assert Path(root.path) == top / REPOSITORY_FOLDER / "memory"
    assert (root.scope, root.origin, root.writable) == (
        ScopeRef(kind=Scope.WORKSPACE, key=WORKSPACE),
        "imported",
        False,
    )
    assert root.inside == str(top)


def test_a_plain_folder_can_have_memory_files_as_well(roots: Roots, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / REPOSITORY_FOLDER / "memory").mkdir(parents=True)

    assert roots.repository(str(folder), WORKSPACE) is not None
    assert roots.repository(str(tmp_path), WORKSPACE) is None


def test_a_path_that_means_nothing_here_names_no_folder(
    roots: Roots, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path is one of the producer's process: it must not be looked for in ours."""
    monkeypatch.chdir(a_repository(tmp_path / "checkout", "team.md"))

    assert [roots.repository(path, WORKSPACE) for path in ("", ".", "checkout", "/no/such/folder")] == [None] * 4


def test_the_data_folder_is_the_one_given(roots: Roots, tmp_path: Path) -> None:
    assert roots.data == tmp_path / "data"


async def test_what_a_session_may_see_becomes_searchable(roots: Roots, library: Library, tmp_path: Path) -> None:
    folder = a_repository(tmp_path / "checkout", "team.md")
    key = workspace_key(str(folder))
    for number, root in enumerate((roots.user(), roots.private(key)), start=1):
        record = a_memory("The heron gateway is theirs.", memory_id=a_memory_id(number), scope=root.scope)
        write_records(Path(root.path) / "a.md", [record], root.scope)

    await roots.adopt(str(folder), key)

    assert set(await seen(library, folder)) == {a_memory_id(1), a_memory_id(2), a_memory_id(50)}
    assert await seen(library, tmp_path) == [a_memory_id(1)]


@pytest.mark.promise("no-leak")
async def test_a_session_without_a_workspace_sees_the_users_own_alone(
    roots: Roots, library: Library, tmp_path: Path
) -> None:
    """The folder of all workspaces' memories is not the folder of the workspace without a name."""
    private = roots.private(WORKSPACE)
    write_records(Path(private.path) / "a.md", [a_memory("The heron gateway is theirs.")], private.scope)

    await roots.adopt("", "")

    assert await seen(library, "") == []
    assert (await library.status()).records == 0


async def test_looking_makes_no_folder(roots: Roots, tmp_path: Path) -> None:
    folder = a_repository(tmp_path / "checkout")

    await roots.adopt(str(folder), workspace_key(str(folder)))

    assert not (tmp_path / "data").exists()
    assert not (folder / REPOSITORY_FOLDER).exists()


@pytest.mark.promise("no-leak")
async def test_a_repository_whose_memory_folder_leads_elsewhere_shows_nothing_of_it(
    roots: Roots, library: Library, tmp_path: Path
) -> None:
    theirs = a_repository(tmp_path / "theirs", "team.md")
    ours = a_repository(tmp_path / "ours")
    (ours / REPOSITORY_FOLDER).symlink_to(theirs / REPOSITORY_FOLDER, target_is_directory=True)

    await roots.adopt(str(ours), workspace_key(str(ours)))

    assert await seen(library, ours) == []
    assert [finding.state for finding in (await library.status()).findings] == ["link-outside-root"]


# ------------------------------------------------------------------------------------------ files of agent products


class Noting(Library):
    """A library that only notes what it is to adopt."""

    def __init__(self) -> None:
        self.adopted: list[Root] = []
        self.refreshed: list[str] = []

    async def adopt(self, root: Root) -> None:
        self.adopted.append(root)

    async def refresh(self, *paths: str) -> None:
        self.refreshed += paths


@pytest.mark.promise("no-leak")
async def test_unless_told_where_it_is_nobodys_home_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replay, the demo, evaluation and tests name no home: the person's real one stays out of them."""
    home, folder = tmp_path / "home", tmp_path / "work"
    folder.mkdir()
    write(home / ".claude" / "CLAUDE.md")
    write(home / ".claude" / "projects" / slug(str(folder)) / "memory" / "MEMORY.md")
    monkeypatch.setenv("HOME", str(home))
    noting = Noting()

    await Roots(tmp_path / "data", noting).adopt(str(folder), workspace_key(str(folder)))

    assert noting.adopted and not any(root.path.startswith(str(home)) for root in noting.adopted)
    assert Setup.__struct_defaults__[Setup.__struct_fields__.index("homes") - len(Setup.__struct_fields__)] is None


async def test_what_has_not_changed_is_not_looked_at_again(tmp_path: Path) -> None:
    top, noting = a_repository(tmp_path / "checkout"), Noting()
    write(top / "CLAUDE.md")
    roots = Roots(tmp_path / "data", noting)
    await roots.adopt(str(top), WORKSPACE)
    noting.adopted.clear()

    await roots.adopt(str(top), WORKSPACE)
    again = list(noting.adopted)
    write(top / "CLAUDE.md", "# Rules\nOthers, and longer.\n")
    write(top / ".cursorrules")
    await roots.adopt(str(top), WORKSPACE)

    assert [root for root in again if root.provider] == []
    assert [Path(root.path).name for root in noting.adopted if root.provider] == ["CLAUDE.md", ".cursorrules"]
    assert [Path(path).name for path in noting.refreshed] == ["CLAUDE.md"]


@pytest.mark.promise("no-leak")
async def test_a_file_of_a_product_that_leads_out_of_the_repository_shows_nothing(
    roots: Roots, library: Library, tmp_path: Path
) -> None:
    top, secret = a_repository(tmp_path / "checkout"), write(tmp_path / "elsewhere" / "secret.md")
    (top / "CLAUDE.md").symlink_to(secret)
    (top / ".cursor").mkdir()
    (top / ".cursor" / "rules").symlink_to(secret.parent, target_is_directory=True)

    await roots.adopt(str(top), workspace_key(str(top)))

    assert await seen(library, top) == []
    assert {finding.state for finding in (await library.status()).findings} == {"link-outside-root"}


async def test_what_is_named_like_a_file_of_a_product_and_is_none_costs_nothing(
    roots: Roots, library: Library, tmp_path: Path
) -> None:
    top = a_repository(tmp_path / "checkout")
    os.mkfifo(top / "AGENTS.md")
    (top / "GEMINI.md").mkdir()
    with (top / "CLAUDE.md").open("wb") as file:
        file.truncate(5 * 1024**3)

    async with asyncio.timeout(10):
        await roots.adopt(str(top), workspace_key(str(top)))

    status = await library.status()
    assert status.records == 0
    assert [(Path(one.file).name, one.state) for one in status.findings] == [("CLAUDE.md", "too-large")]


async def test_of_ten_thousand_rules_a_repository_gets_as_many_read_as_people_write(
    roots: Roots, library: Library, tmp_path: Path
) -> None:
    top = a_repository(tmp_path / "checkout")
    rules = top / ".cursor" / "rules"
    rules.mkdir(parents=True)
    for number in range(PROVIDER_FILES + 100):
        (rules / f"{number:05}.mdc").write_text(f"The heron gateway is rule {number}.", "utf-8")

    await roots.adopt(str(top), workspace_key(str(top)))

    status = await library.status()
    assert status.records == PROVIDER_FILES
    assert [one.state for one in status.findings] == ["too-many-files"]


async def test_files_of_one_name_in_one_repository_are_all_found(
    roots: Roots, library: Library, tmp_path: Path
) -> None:
    top = a_repository(tmp_path / "checkout")
    for name in ("CLAUDE.md", "src/CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/a.md", ".cursor/rules/a.md"):
        write(top / name, f"# Rules\nThe heron gateway, says {name}.\n")

    await roots.adopt(str(top / "src"), workspace_key(str(top)))

    assert len(await seen(library, top)) == 5
    assert (await library.status()).findings == ()


async def test_two_worktrees_on_two_branches_lose_neither_ones_rules(
    roots: Roots, library: Library, tmp_path: Path
) -> None:
    """One repository, one scope, one place in it, two texts: derived ids are no clash that somebody made."""
    top, tree = a_repository(tmp_path / "main"), tmp_path / "tree"
    a_worktree(top, tree)
    write(top / "CLAUDE.md", "# Rules\nThe heron gateway is ours.\n")
    write(tree / "CLAUDE.md", "# Rules\nThe heron gateway is theirs now.\n")

    for folder in (top, tree):
        await roots.adopt(str(folder), workspace_key(str(folder)))

    assert len(await seen(library, tree)) == 1
    assert (await library.status()).findings == ()


async def test_a_file_of_a_product_that_comes_right_after_a_search_is_found_by_the_next(
    roots: Roots, library: Library, tmp_path: Path
) -> None:
    """Before the first tick has seen that it was not there."""
    top, stop = a_repository(tmp_path / "checkout"), asyncio.Event()
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(library.follow(stop))
        await asyncio.sleep(0)
        await roots.adopt(str(top), workspace_key(str(top)))
        write(top / "CLAUDE.md")

        await roots.adopt(str(top), workspace_key(str(top)))

        assert len(await seen(library, top)) == 1
        stop.set()


async def test_a_file_of_a_product_that_comes_during_a_session_is_found(
    roots: Roots, library: Library, tmp_path: Path
) -> None:
    top, stop = a_repository(tmp_path / "checkout"), asyncio.Event()
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(library.follow(stop))
        await roots.adopt(str(top), workspace_key(str(top)))
        assert await seen(library, top) == []

        write(top / "CLAUDE.md", "# Rules\nThe heron gateway is ours.\n")
        write(top / ".cursor" / "rules" / "a.mdc", "The heron gateway is theirs.")

        while len(await seen(library, top)) < 2:
            await asyncio.sleep(0)
        stop.set()


# ------------------------------------------------------------------------------- a repository's memory and its trust


@pytest.mark.promise("team-injectable")
async def test_a_memory_folder_that_a_pull_brings_or_a_checkout_takes_along_is_followed(
    roots: Roots, library: Library, tmp_path: Path
) -> None:
    top = a_repository(tmp_path / "checkout")
    async with asyncio.timeout(20), following(library):
        await roots.adopt(str(top), workspace_key(str(top)))
        assert await seen(library, top) == []

        write_entry(top, an_entry())
        await until(lambda: _sees(library, top, 1))
        shutil.rmtree(top / REPOSITORY_FOLDER)
        await until(lambda: _sees(library, top, 0))
        write_entry(top, an_entry())
        await until(lambda: _sees(library, top, 1))


@pytest.mark.promise("team-injectable")
async def test_what_left_with_a_branch_while_nobody_looked_is_gone(
    roots: Roots, library: Library, tmp_path: Path
) -> None:
    top = a_repository(tmp_path / "checkout")
    write_entry(top, an_entry())
    await roots.adopt(str(top), workspace_key(str(top)))
    assert await seen(library, top) == [a_memory_id(1)]
    shutil.rmtree(top / REPOSITORY_FOLDER)

    await Roots(tmp_path / "data", library).adopt(str(top), workspace_key(str(top)))

    assert await seen(library, top) == []
    assert (await library.status()).missing == ()


async def test_a_repository_that_is_trusted_speaks_as_reviewed_in_all_its_worktrees(
    library: Library, tmp_path: Path
) -> None:
    top, tree = a_repository(tmp_path / "main"), tmp_path / "tree"
    a_worktree(top, tree)
    other = a_repository(tmp_path / "other", "team.md")
    write_entry(top, an_entry("The heron gateway is ours.", number=1))
    write_entry(tree, an_entry("The heron gateway is theirs.", number=2))
    trusted: set[str] = set()
    roots = Roots(tmp_path / "data", library, trusts=lambda workspace, top: workspace in trusted)
    for folder in (top, tree, other):
        await roots.adopt(str(folder), workspace_key(str(folder)))

    async def origins(*folders: Path) -> list[str]:
        hits = [
            await library.snapshot(START).match(distinct("heron gateway"), seen_from(folder), 50) for folder in folders
        ]
        return [hit.origin for found in hits for hit in found]

    assert await origins(top, other) == ["imported"] * 3
    trusted.add(workspace_key(str(top)))
    await roots.trust_again(workspace_key(str(top)))
    assert await origins(top, other) == ["reviewed", "reviewed", "imported"]
    trusted.clear()
    await roots.trust_again()
    assert await origins(top, tree, other) == ["imported"] * 5


async def test_a_repository_is_adopted_alone(library: Library, tmp_path: Path) -> None:
    noting, top = Noting(), a_repository(tmp_path / "checkout")
    roots = Roots(tmp_path / "data", noting)

    await roots.adopt_repository(str(top), WORKSPACE)
    await roots.adopt_repository(str(tmp_path), WORKSPACE)

    assert [root.path for root in noting.adopted] == [str(top / REPOSITORY_FOLDER / "memory")]


async def _sees(library: Library, folder: Path, count: int) -> bool:
    return len(await seen(library, folder)) == count
