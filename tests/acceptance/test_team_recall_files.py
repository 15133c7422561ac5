"""Item 27, for recall: an entry that is not as it must be is reported and out of recall, and no byte of it is changed.
Item 11: of an entry and the one that took its place, recall gives the new one alone."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from recall.team_entry import parse, render, superseded
from recall.team_front import EntryFault
from tests.support.asking import Asking
from tests.support.builders import a_memory_id
from tests.support.repositories import GitRepository
from tests.support.team_entries import an_entry, path_of
from tests.support.team_trust import adopted, bound_in, hits, needed, receive, reread
from tests.support.world import LESSON, a_world

BROKEN: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "field-order": (
        lambda data: data.replace(b"scope: repo\n", b"").replace(b"type:", b"scope: repo\ntype:"),
        "malformed-entry",
    ),
    "extra-field": (lambda data: data.replace(b"scope: repo\n", b"scope: repo\nweight: 1\n"), "malformed-entry"),
    "hash-sign": (lambda data: data.replace(b"scope: repo", b"scope: repo # ours"), "malformed-entry"),
    "byte-order-mark": (lambda data: b"\xef\xbb\xbf" + data, "malformed-entry"),
    "carriage-return": (lambda data: data.replace(b"scope: repo\n", b"scope: repo\r\n"), "malformed-entry"),
    "two-blocks": (lambda data: data.replace(b"---\n<!--", b"---\n---\nscope: repo\n---\n<!--"), "malformed-entry"),
    "another-id": (lambda data: data.replace(b"\n<!-- memory:mem_0", b"\n<!-- memory:mem_f"), "identity-mismatch"),
    "conflict": (
        lambda data: data.replace(
            b"priority: 60\n", b"<<<<<<< HEAD\npriority: 60\n=======\npriority: 70\n>>>>>>> other\n"
        ),
        "malformed-entry",
    ),
}


@pytest.fixture
async def remora(tmp_path: Path) -> AsyncIterator[Asking]:
    async with a_world(tmp_path / "data") as world:
        yield Asking(world)


@pytest.mark.promise("team-27")
@pytest.mark.parametrize("how", BROKEN)
async def test_item_27_such_a_file_is_reported_and_out_of_recall_and_its_bytes_stay(
    remora: Asking, tmp_path: Path, how: str
) -> None:
    change, state = BROKEN[how]
    bad, good = an_entry("The heron gateway is theirs.", number=1), an_entry(number=2)
    data = change(render(bad))
    assert isinstance(parse(data), EntryFault)
    repository = GitRepository(tmp_path / "shop")
    repository.write({path_of(bad): data, path_of(good): good})
    repository.commit("Memory")

    await adopted(remora.world, repository.folder)
    reported = (await remora.ask("memory.lint", workspace=str(repository.folder)))["findings"]

    assert [hit.memory_id for hit in await hits(remora.world, repository.folder)] == [good.id]
    file = str(repository.folder / path_of(bad))
    (known,) = (await remora.world.parts.library.status()).findings
    assert (known.state, known.file) == (state, file) and known.line >= 1 and known.problem
    assert [(one["file"], one["severity"]) for one in reported] == [(file, "error")]
    assert reported[0]["problem"] and reported[0]["next"]
    assert (repository.folder / path_of(bad)).read_bytes() == data
    assert repository.git("status", "--porcelain") == ""


@pytest.mark.promise("team-27")
async def test_item_27_a_file_that_was_well_and_breaks_leaves_recall_and_comes_back_mended(
    remora: Asking, tmp_path: Path
) -> None:
    repository, entry = GitRepository(tmp_path / "shop"), an_entry()
    repository.write({path_of(entry): entry})
    await adopted(remora.world, repository.folder)
    file = repository.folder / path_of(entry)
    for data, found in ((BROKEN["conflict"][0](render(entry)), []), (render(entry), [entry.id])):
        file.write_bytes(data)
        await remora.world.parts.library.refresh(str(file))
        assert [hit.memory_id for hit in await hits(remora.world, repository.folder)] == found


@pytest.mark.promise("team-27")
async def test_item_27_one_id_in_two_files_is_nobodys(remora: Asking, tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "shop")
    one, two = an_entry(number=1), an_entry("The heron gateway is theirs.", number=1)
    repository.write({path_of(one): one, path_of(two): two})
    await adopted(remora.world, repository.folder)

    reported = (await remora.ask("memory.lint", workspace=str(repository.folder)))["findings"]

    assert await hits(remora.world, repository.folder) == []
    assert {one["file"] for one in reported} == {str(repository.folder / path_of(one)) for one in (one, two)}
    assert {one["severity"] for one in reported} == {"error"}


@pytest.mark.promise("team-11")
async def test_item_11_recall_gives_the_new_one_alone_and_the_old_file_still_parses(
    remora: Asking, tmp_path: Path
) -> None:
    world, repository = remora.world, GitRepository(tmp_path / "shop")
    old, new = an_entry(LESSON, number=1), an_entry(f"{LESSON} Wait for its health check.", number=2)
    repository.write({path_of(old): old})
    await adopted(world, repository.folder)
    bound = await bound_in(world, repository.folder)

    repository.write({path_of(new): new, path_of(old): superseded(old, new.id)})
    await receive(world, bound, *(repository.folder / path_of(one) for one in (old, new)))
    await reread(world).promoted(bound, [path_of(new), path_of(old)], [old.id])

    assert [hit.memory_id for hit in await hits(world, repository.folder, "integration-test container")] == [new.id]
    await needed(world, repository.folder)
    claim = await world.claim()
    assert [item.memory_id for item in claim.packet.items] == [a_memory_id(2)]  # type: ignore[union-attr]
    left = parse((repository.folder / path_of(old)).read_bytes())
    assert not isinstance(left, EntryFault) and left.superseded_by == new.id
