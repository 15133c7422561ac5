"""Memory follows the project, however an agent gets there: by the whole host, from a failing call to the packet."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from host.contracts import Claimed
from tests.support.builders import a_call, a_result
from tests.support.world import FAILURE, LESSON, World, a_world


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def a_folder(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def a_repository(folder: Path) -> Path:
    git(a_folder(folder), "init", "-q", ".")
    (folder / "a.txt").write_text("a\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def one_name_twice(top: Path) -> tuple[Path, Path]:
    return a_repository(top / "client-a" / "app"), a_repository(top / "client-b" / "app")


def a_worktree(top: Path) -> tuple[Path, Path]:
    shop = a_repository(top / "shop")
    git(shop, "worktree", "add", "-q", str(top / "feature"))
    return shop, top / "feature"


def from_a_worktree(top: Path) -> tuple[Path, Path]:
    shop, feature = a_worktree(top)
    return feature, shop


def a_symlink(top: Path) -> tuple[Path, Path]:
    repository, link = a_repository(top / "real" / "repo"), top / "link"
    link.symlink_to(repository)
    return repository, link


def a_subfolder(top: Path) -> tuple[Path, Path]:
    mono = a_repository(top / "mono")
    return mono, a_folder(mono / "services" / "api")


def a_submodule(top: Path) -> tuple[Path, Path]:
    library, app = a_repository(top / "library"), a_repository(top / "app")
    git(app, "submodule", "add", "-q", str(library), "vendored")
    return app, app / "vendored"


def a_clone(top: Path) -> tuple[Path, Path]:
    shop = a_repository(top / "shop")
    git(top, "clone", "-q", str(shop), "clone")
    return shop, top / "clone"


def other_case(top: Path) -> tuple[Path, Path]:
    one, two = a_repository(top / "Shop"), top / "shop"
    if two.exists():
        pytest.skip("this disk tells no case apart")
    return one, a_repository(two)


def no_git(top: Path) -> tuple[Path, Path]:
    notes = a_folder(top / "notes")
    return notes, notes


def beside_no_git(top: Path) -> tuple[Path, Path]:
    return a_folder(top / "notes"), a_folder(top / "notes-2")


@dataclass(frozen=True)
class Moved:
    """A folder that is moved once the workspace was met."""

    make: Callable[[Path], Path]
    under: str = "."

    def __call__(self, top: Path) -> tuple[Path, Path]:
        return self.make(top / "before" / "shop"), top / "after" / "store"


TOLD: list[Callable[[Path], tuple[Path, Path]]] = [
    *(a_worktree, from_a_worktree, a_symlink, a_subfolder, no_git),
    Moved(a_repository),
]
SILENT = [one_name_twice, a_submodule, a_clone, other_case, beside_no_git]


async def is_told(world: World, folder: Path, session: str) -> bool:
    """Whether a failing call there gets what the project's memory knows of it."""
    place = str(folder)
    await world.feed(
        a_call("make integration-test", call_id="c1", session_id=session, workspace=place),
        a_result(FAILURE, call_id="c1", session_id=session, workspace=place),
    )
    return isinstance(await world.claim(session=session), Claimed)


async def met(tmp_path: Path, way: Callable[[Path], tuple[Path, Path]]) -> bool:
    """Whether what was remembered in the first folder is told in the second, and still is after a restart."""
    remembered, met_in = way(a_folder(tmp_path / "work"))
    async with a_world(tmp_path / "data") as world:
        await world.remember(LESSON, workspace=str(remembered))
        assert await is_told(world, remembered, "first")
        if isinstance(way, Moved):
            a_folder(met_in.parent)
            remembered.rename(met_in)
        told = await is_told(world, met_in, "second")
    async with a_world(tmp_path / "data") as world:
        assert await is_told(world, met_in, "third") == told
    return told


@pytest.mark.promise("project-identity")
@pytest.mark.parametrize("way", TOLD, ids=lambda way: getattr(way, "__name__", "moved"))
async def test_a_project_is_told_what_it_knows_wherever_it_is_entered(
    tmp_path: Path, way: Callable[[Path], tuple[Path, Path]]
) -> None:
    assert await met(tmp_path, way)


@pytest.mark.promise("project-identity")
@pytest.mark.parametrize("way", SILENT, ids=lambda way: way.__name__)
async def test_a_project_is_not_told_what_a_like_one_knows(
    tmp_path: Path, way: Callable[[Path], tuple[Path, Path]]
) -> None:
    assert not await met(tmp_path, way)


async def test_what_is_made_where_a_project_was_is_told_nothing_of_it(tmp_path: Path) -> None:
    old = a_repository(tmp_path / "work" / "shop")
    async with a_world(tmp_path / "data") as world:
        await world.remember(LESSON, workspace=str(old))
        assert await is_told(world, old, "first")
        moved = old.rename(tmp_path / "work" / "moved")
        assert await is_told(world, moved, "second")
        assert not await is_told(world, a_repository(old), "third")
        assert await is_told(world, moved, "fourth")
