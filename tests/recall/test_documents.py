"""Files on disk: what a scan sees, and a write that loses nothing of anybody's."""

import asyncio
import errno
import os
import stat
from pathlib import Path

import pytest

from recall import documents
from recall.canonical import bytes_digest
from recall.documents import PROVIDER_FILES, Document, Documents, Scan, Unreadable, read, scan, stamp
from recall.files import LARGEST, RefusalKind, Refused


async def test_a_new_file_and_its_folders_are_the_owners_alone(tmp_path: Path) -> None:
    base = tmp_path / "data" / "memory"

    digest = await Documents().transact(str(base), "records/2026-05.md", lambda data: data + b"one\n")

    file = base / "records" / "2026-05.md"
    assert digest == bytes_digest(b"one\n") and file.read_bytes() == b"one\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (tmp_path / "data", base, file.parent)} == {0o700}
    assert [entry.name for entry in file.parent.iterdir()] == ["2026-05.md"]  # no temporary file is left


async def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("a")
    file.chmod(0o644)

    await Documents().transact(str(tmp_path), "a.md", lambda data: data + b"b")

    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("ab", 0o644)


async def test_an_edit_made_by_someone_else_in_between_is_taken_in(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"A.\n")
    seen: list[bytes] = []

    def edit(data: bytes) -> bytes:
        if not seen:
            with file.open("ab") as other:  # an editor saves while we think
                other.write(b"Handwritten.\n")
        seen.append(data)
        return data.replace(b"A.", b"A2.")

    digest = await Documents().transact(str(tmp_path), "a.md", edit)

    assert seen == [b"A.\n", b"A.\nHandwritten.\n"]
    assert file.read_bytes() == b"A2.\nHandwritten.\n" and digest == bytes_digest(file.read_bytes())


async def test_an_edit_that_names_what_it_saw_is_refused_when_that_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"A.\n")
    saw = bytes_digest(b"A.\n")

    def edit(data: bytes) -> bytes:
        file.write_bytes(b"Other.\n")
        return b"Ours.\n"

    during = await Documents().transact(str(tmp_path), "a.md", edit, expected=saw)
    after = await Documents().transact(str(tmp_path), "a.md", edit, expected=saw)

    assert isinstance(during, Refused) and during.kind is RefusalKind.CONFLICT
    assert isinstance(after, Refused) and after.kind is RefusalKind.CONFLICT
    assert file.read_bytes() == b"Other.\n" and os.listdir(tmp_path) == ["a.md"]


async def test_a_file_that_changes_at_every_try_is_a_conflict(tmp_path: Path) -> None:
    file = tmp_path / "a.md"

    def edit(data: bytes) -> bytes:
        file.write_bytes(data + b"x")
        return b"Ours."

    result = await Documents().transact(str(tmp_path), "a.md", edit)

    assert isinstance(result, Refused) and result.kind is RefusalKind.CONFLICT
    assert set(file.read_bytes()) == {ord("x")}


async def test_twenty_writers_of_one_file_all_get_their_line(tmp_path: Path) -> None:
    documents = Documents()
    lines = [b"line %d\n" % number for number in range(20)]

    await asyncio.gather(
        *(documents.transact(str(tmp_path), "a.md", lambda data, line=line: data + line) for line in lines)
    )

    assert sorted((tmp_path / "a.md").read_bytes().splitlines(keepends=True)) == sorted(lines)


async def test_a_refused_edit_writes_nothing(tmp_path: Path) -> None:
    no = Refused(kind=RefusalKind.NOT_FOUND, problem="not there")

    assert await Documents().transact(str(tmp_path), "a.md", lambda data: no) == no
    assert os.listdir(tmp_path) == []


async def test_a_leftover_of_a_crash_is_replaced(tmp_path: Path) -> None:
    (tmp_path / ".a.md.tmp").write_text("half")

    await Documents().transact(str(tmp_path), "a.md", lambda data: b"whole")

    assert os.listdir(tmp_path) == ["a.md"] and (tmp_path / "a.md").read_text() == "whole"


@pytest.mark.promise("no-leak")
async def test_a_root_whose_way_has_become_a_symlink_is_gone(tmp_path: Path) -> None:
    repository, private = tmp_path / "repository", tmp_path / "data"
    base = repository / ".notes" / "memory"
    base.mkdir(parents=True)
    (private / "memory").mkdir(parents=True)
    (private / "memory" / "a.md").write_text("theirs")
    (repository / ".notes").rename(repository / "old")
    (repository / ".notes").symlink_to(private)  # as a checkout of another branch may bring it

    written = await Documents().transact(str(base), "a.md", lambda data: b"ours")

    assert scan(str(base)) is None
    assert read(str(base), "a.md") == Unreadable(reason="link")
    assert isinstance(written, Refused) and (private / "memory" / "a.md").read_text() == "theirs"


async def test_nothing_is_written_through_a_symlink(tmp_path: Path) -> None:
    outside, base = tmp_path / "outside", tmp_path / "base"
    outside.mkdir()
    base.mkdir()
    (outside / "a.md").write_text("theirs")
    (base / "sub").symlink_to(outside)
    (base / "b.md").symlink_to(outside / "a.md")

    for relative in ("sub/new.md", "b.md"):
        result = await Documents().transact(str(base), relative, lambda data: b"ours")
        assert isinstance(result, Refused) and result.kind is RefusalKind.OUTSIDE_ROOT
    assert os.listdir(outside) == ["a.md"] and (outside / "a.md").read_text() == "theirs"


@pytest.mark.parametrize("relative", ["../a.md", "sub/../../a.md", "/a.md"])
async def test_a_path_that_leaves_its_root_is_refused(tmp_path: Path, relative: str) -> None:
    result = await Documents().transact(str(tmp_path / "base"), relative, lambda data: b"ours")

    assert isinstance(result, Refused) and not (tmp_path / "a.md").exists()


async def test_a_root_that_is_itself_a_link_is_written_where_it_leads(tmp_path: Path) -> None:
    store = tmp_path / "vol" / "store"
    store.mkdir(parents=True)
    (tmp_path / "memory").symlink_to(store)

    result = await Documents().transact(os.path.realpath(tmp_path / "memory"), "a.md", lambda data: b"m1")

    assert isinstance(result, str) and (store / "a.md").read_bytes() == b"m1"


async def test_a_full_or_closed_place_is_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    result = await Documents().transact(str(tmp_path / "file" / "below"), "a.md", lambda data: b"x")
    large = await Documents().transact(str(tmp_path), "a.md", lambda data: b"x" * (LARGEST + 1))

    assert isinstance(result, Refused) and isinstance(large, Refused)
    assert not (tmp_path / "a.md").exists()


async def test_a_cancelled_caller_leaves_a_whole_file(tmp_path: Path) -> None:
    documents = Documents()
    first = asyncio.create_task(documents.transact(str(tmp_path), "a.md", lambda data: data + b"one\n"))
    await asyncio.sleep(0)
    first.cancel()

    await documents.transact(str(tmp_path), "a.md", lambda data: data + b"two\n")

    assert (tmp_path / "a.md").read_bytes().splitlines() in ([b"one", b"two"], [b"two"])


def test_a_scan_sees_markdown_below_the_root_and_says_what_it_passes_over(tmp_path: Path) -> None:
    base, outside = tmp_path / "base", tmp_path / "outside"
    (base / "sub").mkdir(parents=True)
    (base / ".git").mkdir()
    outside.mkdir()
    for name in ("a.md", "sub/b.mdc", ".git/c.md", ".hidden.md", "notes.txt", "../outside/d.md"):
        (base / name).write_text("x")
    (base / "link.md").symlink_to(outside / "d.md")
    (base / "linked").symlink_to(outside)
    (base / "inner.md").symlink_to(base / "a.md")

    found = scan(str(base))

    assert isinstance(found, Scan)
    assert sorted(found.files) == ["a.md", "sub/b.mdc"]
    assert found.passed_over == {"link.md": "link-outside-root", "linked": "link-outside-root"}
    assert scan(str(tmp_path / "missing")) is None


def test_a_read_takes_plain_files_only(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"A.")
    (tmp_path / "big.md").write_bytes(b"x" * (LARGEST + 1))
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    (tmp_path / "folder.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")

    found = {name: read(str(tmp_path), name) for name in ("a.md", "big.md", "link.md", "folder.md", "pipe.md", "no.md")}

    assert found["a.md"] == Document(data=b"A.", stamp=stamp(str(tmp_path), "a.md") or "")
    reasons = {name: one.reason for name, one in found.items() if isinstance(one, Unreadable)}
    assert reasons == {
        "big.md": "too-large",
        "link.md": "link",
        "folder.md": "not-a-file",
        "pipe.md": "not-a-file",
        "no.md": "gone",
    }
    assert stamp(str(tmp_path), "link.md") is None and stamp(str(tmp_path), "no.md") is None


def test_a_folder_that_anyone_may_have_filled_is_read_up_to_a_number_of_files(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"rule-{number:02}.mdc").write_text("x")

    some, all_of_them = scan(str(tmp_path), 20), scan(str(tmp_path), 31)

    assert some is not None and all_of_them is not None
    assert sorted(some.files) == [f"rule-{number:02}.mdc" for number in range(20)]
    assert some.passed_over == {"": "too-many-files"}
    assert len(all_of_them.files) == 30 and all_of_them.passed_over == {}


def test_a_folder_of_other_things_is_not_looked_through_to_the_end(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number}.bin").touch()

    found = scan(str(tmp_path), 2)

    assert found == Scan(files={}, passed_over={"": "too-many-files"})


def test_a_few_large_files_fill_such_a_folder_too(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "c.md", "d.md"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(LARGEST)
    with (tmp_path / "0.md").open("wb") as file:
        file.truncate(1024 * LARGEST)  # never read, so it takes nobody's place

    found = scan(str(tmp_path), PROVIDER_FILES)

    assert found is not None and sorted(found.files) == ["0.md", "a.md", "b.md"]
    assert found.passed_over == {"": "too-many-files"}


def test_of_a_file_far_too_large_no_byte_is_read(tmp_path: Path) -> None:
    with (tmp_path / "CLAUDE.md").open("wb") as file:
        file.truncate(5 * 1024**3)

    assert read(str(tmp_path), "CLAUDE.md") == Unreadable(reason="too-large")


def test_a_file_with_a_second_name_is_read_where_nobody_else_can_have_made_it(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"theirs")
    (tmp_path / "a.md").hardlink_to(tmp_path / "secret")

    assert read(str(tmp_path), "a.md", alone=True) == Unreadable(reason="hard-link")
    assert isinstance(read(str(tmp_path), "a.md"), Document)  # a backup may have linked it


@pytest.mark.parametrize("there", [True, False])
async def test_where_names_cannot_be_swapped_or_linked_a_write_still_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    def refuses(*arguments: object, **named: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(documents, "exchange", lambda folder, one, other: False)
    monkeypatch.setattr(documents.os, "link", refuses)
    if there:
        (tmp_path / "a.md").write_bytes(b"old")

    done = await Documents().transact(str(tmp_path), "a.md", lambda data: data + b"new")

    assert done == bytes_digest((tmp_path / "a.md").read_bytes())
    assert os.listdir(tmp_path) == ["a.md"]


async def test_a_file_that_is_deleted_while_we_write_is_a_change_by_someone_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"old")
    swap = documents.exchange

    def gone_first(folder: int, one: str, other: str) -> bool:
        file.unlink()
        return swap(folder, one, other)

    monkeypatch.setattr(documents, "exchange", gone_first)

    done = await Documents().transact(str(tmp_path), "a.md", lambda data: b"ours", expected=bytes_digest(b"old"))

    assert isinstance(done, Refused) and done.kind is RefusalKind.CONFLICT
    assert os.listdir(tmp_path) == []


async def test_a_file_is_taken_away_under_the_digest_that_was_seen(tmp_path: Path) -> None:
    file = tmp_path / "in" / "a.md"
    file.parent.mkdir()
    file.write_bytes(b"A")

    other = await Documents().remove(str(tmp_path), "in/a.md", bytes_digest(b"B"))
    assert isinstance(other, Refused) and other.kind is RefusalKind.CONFLICT and file.read_bytes() == b"A"
    assert await Documents().remove(str(tmp_path), "in/a.md", bytes_digest(b"A")) is None
    assert list(file.parent.iterdir()) == []
    assert await Documents().remove(str(tmp_path), "in/a.md", bytes_digest(b"A")) is None  # it is gone already
    assert await Documents().remove(str(tmp_path), "never/a.md", bytes_digest(b"A")) is None


async def test_what_somebody_writes_while_a_file_is_taken_away_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"A")
    rename = os.rename

    def late(source: str, target: str, **fds: int) -> None:
        file.write_bytes(b"theirs")  # between the look and the step
        rename(source, target, **fds)

    monkeypatch.setattr(os, "rename", late)

    refused = await Documents().remove(str(tmp_path), "a.md", bytes_digest(b"A"))

    assert isinstance(refused, Refused) and refused.kind is RefusalKind.CONFLICT
    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [b"theirs"]


async def test_what_a_crash_left_of_a_file_that_was_taken_away_goes_the_next_time(tmp_path: Path) -> None:
    (tmp_path / ".a.md.tmp").write_bytes(b"A")
    (tmp_path / ".b.md.tmp").write_bytes(b"somebody's")

    assert await Documents().remove(str(tmp_path), "a.md", bytes_digest(b"A")) is None
    await Documents().remove(str(tmp_path), "b.md", bytes_digest(b"B"))

    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [b"somebody's"]


async def test_nothing_is_taken_away_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.md").write_bytes(b"A")
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "in").symlink_to(tmp_path / "out")
    (tmp_path / "base" / "a.md").symlink_to(tmp_path / "out" / "a.md")

    for relative in ("in/a.md", "a.md", "../out/a.md"):
        refused = await Documents().remove(str(tmp_path / "base"), relative, bytes_digest(b"A"))
        assert isinstance(refused, Refused) and refused.kind is RefusalKind.OUTSIDE_ROOT
    assert (tmp_path / "out" / "a.md").read_bytes() == b"A"
