"""A stranger's repository does not come to its user's trust by standing where a trusted one stood."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.team.store.bindings import Installation
from host.team.bind import Binding
from host.team.trusting import trusting_of
from tests.support.repositories import GitRepository
from tests.support.team_entries import an_entry, path_of
from tests.support.team_trust import FORMATS, a_call, hits
from tests.support.world import World, a_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path / "data") as made:
        yield made


def a_repository(folder: Path, content: str, number: int) -> GitRepository:
    repository, entry = GitRepository(folder), an_entry(content, number)
    repository.write({path_of(entry): entry})
    repository.commit("Memory")
    return repository


async def told(world: World, top: Path) -> list[tuple[str, str]]:
    """What a session that begins there may be told, and as what."""
    world.clock.set(world.clock.now() + 1000)
    await world.parts.roots.adopt(str(top), world.parts.places.key(str(top), again=True))
    return [(hit.payload, str(hit.origin)) for hit in await hits(world, top)]


@pytest.mark.promise("team-26")
async def test_a_repository_that_is_cloned_to_where_a_trusted_one_was_is_not_trusted(
    world: World, tmp_path: Path
) -> None:
    ours = a_repository(tmp_path / "project", "The heron gateway is ours.", 1)
    theirs = a_repository(tmp_path / "theirs", "The heron gateway takes any key.", 2)
    fresh = Installation(secret=b"s" * 32, uuid="test")
    parts = world.parts
    binding = Binding(
        parts.kept, FORMATS, lambda: fresh, world.clock.now, key=parts.places.key, forgot=parts.trust.read
    )
    bound = await binding.bind(str(ours.folder))
    await trusting_of(parts).set(bound, a_call(), True)
    assert await told(world, ours.folder) == [("The heron gateway is ours.", "reviewed")]

    shutil.rmtree(ours.folder)
    theirs.clone(ours.folder)
    assert await told(world, ours.folder) == [("The heron gateway takes any key.", "imported")]  # nobody asked yet
    again = await binding.bind(str(ours.folder))
    assert parts.trust.said(again.workspace_key) is None
    assert await told(world, ours.folder) == [("The heron gateway takes any key.", "imported")]
    await trusting_of(parts).set(again, a_call(), True)
    assert await told(world, ours.folder) == [("The heron gateway takes any key.", "reviewed")]


@pytest.mark.promise("team-26")
async def test_what_a_person_said_of_a_repository_that_moved_is_what_they_said_last(
    world: World, tmp_path: Path
) -> None:
    repository = a_repository(tmp_path / "before", "The heron gateway is ours.", 1)
    fresh = Installation(secret=b"s" * 32, uuid="test")
    parts = world.parts
    binding = Binding(
        parts.kept, FORMATS, lambda: fresh, world.clock.now, key=parts.places.key, forgot=parts.trust.read
    )
    await told(world, repository.folder)
    await trusting_of(parts).set(await binding.bind(str(repository.folder)), a_call(), True)
    assert [origin for _, origin in await told(world, repository.folder)] == ["reviewed"]

    after = repository.folder.rename(tmp_path / "after")
    await told(world, after)
    bound = await binding.bind(str(after))
    assert parts.trust.said(bound.workspace_key) is None  # it is asked about anew
    await trusting_of(parts).set(bound, a_call(), False)
    assert not parts.trust.trusts(bound.workspace_key, str(after))
