"""Where memory files lie, whose they are, and what is made searchable of them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from host.namespace import REPOSITORY_FOLDER
from host.roots import Roots
from recall.contracts import Origin, RuntimeScope, Scope, ScopeRef
from recall.library import Library
from recall.workspace import workspace_key
from tests.support.builders import WORKSPACE, a_memory, a_memory_id, a_user_scope, a_workspace_scope
from tests.support.library import a_library, found, write_records


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with a_library(tmp_path / "index") as opened:
        yield opened


@pytest.fixture
def roots(tmp_path: Path, library: Library) -> Roots:
    return Roots(tmp_path / "data", library)


def a_repository(folder: Path, *names: str) -> Path:
    """A git checkout, and what lies in its memory folder."""
    for made in (folder / ".git" / "refs", folder / ".git" / "objects"):
        made.mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
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
