"""Memory folders as nobody should leave them: adopting one ends, says what it did not use, and touches nothing outside.

The layouts are those of `tests/data/adversarial/fs_layouts.jsonl`.
"""

import asyncio
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from recall.contracts import Origin, RecordState
from recall.files import LARGEST
from recall.library import Library, Root
from tests.support.builders import a_memory, a_memory_id, a_scope, a_workspace_scope
from tests.support.library import a_library, a_root, found, write_records

pytestmark = pytest.mark.promise("bounded-roots")

LAYOUTS = Path(__file__).parents[1] / "data" / "adversarial" / "fs_layouts.jsonl"
Layout = dict[str, Any]
M1, M2 = a_memory_id(1), a_memory_id(2)
ENDS = 30  # seconds: far beyond what any of these takes, and short of for ever

REPORTED = {  # kind of layout -> file -> why nothing of it is used
    "symlink-file-outside": {"a.md": "link-outside-root"},
    "symlink-dir-outside": {"sub": "link-outside-root"},
    "symlink-absolute": {"h.md": "link-outside-root"},
    "symlink-dangling": {"new.md": "link-outside-root"},
    "hardlink-outside": {"h.md": "hard-link"},
    "fifo": {"f.md": "not-a-file"},
    "socket": {"s.md": "no-access"},
}
READ = {"world-writable-root": {"a.md"}, "root-is-symlink": {"a.md"}}  # of which there are records
OURS_TO_READ = {"unreadable": {"u.md"}}  # unless its mode counts for us: it does not for root


def layouts() -> Iterator[Layout]:
    for line in LAYOUTS.read_text("utf-8").splitlines():
        yield json.loads(line)


@contextmanager
def laid_out(top: Path, layout: Layout) -> Iterator[Path]:
    """Make the entries in order; the memory root."""
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        made: dict[str, Callable[[Path, Layout], object]] = {
            "dir": lambda path, entry: path.mkdir(),
            "file": lambda path, entry: path.write_text(entry["c"], "utf-8"),
            "symlink": lambda path, entry: path.symlink_to(entry["to"]),
            "hardlink": lambda path, entry: path.hardlink_to(top / entry["to"]),
            "fifo": lambda path, entry: os.mkfifo(path),
            "socket": lambda path, entry: _bound(listening, path),
        }
        for entry in layout["layout"]:
            made[entry["t"]](top / entry["p"], entry)
            if "mode" in entry:
                (top / entry["p"]).chmod(int(entry["mode"], 8))
        yield top / layout["root"]


def _bound(listening: socket.socket, path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # a socket's name has room for about a hundred bytes
    try:
        listening.bind(path.name)
    finally:
        os.chdir(before)


def everything(top: Path) -> dict[str, tuple[object, ...]]:
    """All that is below a folder: type, mode, times, and of plain files the contents."""
    seen: dict[str, tuple[object, ...]] = {}
    for path in sorted(top.rglob("*")):
        at = path.lstat()
        contents = path.read_bytes() if path.is_file() and not path.is_symlink() and at.st_size < 10_000 else b""
        seen[str(path.relative_to(top))] = (at.st_mode, at.st_mtime_ns, at.st_nlink, at.st_ino, contents)
    return seen


async def reported(library: Library, root: Path) -> dict[str, str]:
    """File, relative to the root -> why nothing of it is used."""
    findings = (await library.status()).findings
    return {str(Path(one.file).relative_to(os.path.realpath(root))): one.state for one in findings if not one.line}


@pytest.mark.parametrize("layout", list(layouts()), ids=lambda layout: layout["kind"])
async def test_an_adversarial_layout_is_adopted_reported_and_left_as_it_is(tmp_path: Path, layout: Layout) -> None:
    kind, top = layout["kind"], tmp_path / "top"
    top.mkdir()
    async with a_library(tmp_path / "data") as library, asyncio.timeout(ENDS):
        with laid_out(top, layout) as root:
            before = everything(top)

            await library.adopt(a_root(root, writable=False, origin=Origin.IMPORTED))
            await library.refresh(str(root))

            read = {
                str(Path(place.source_file).relative_to(os.path.realpath(root)))
                for record in (await library.listed(a_scope(), 500)).records
                for _, place in [await library.get(record.memory_id, a_scope()) or (None, None)]
                if place is not None
            }
            assert everything(top) == before
            assert await reported(library, root) == REPORTED.get(kind, {})
            assert read == READ.get(kind, OURS_TO_READ.get(kind, set()) if os.geteuid() == 0 else set())
            assert await found(library, "canary") == []


@pytest.mark.parametrize("layout", list(layouts()), ids=lambda layout: layout["kind"])
async def test_a_record_remembered_into_an_adversarial_layout_stays_inside_its_root(
    tmp_path: Path, layout: Layout
) -> None:
    top = tmp_path / "top"
    top.mkdir()
    async with a_library(tmp_path / "data") as library, asyncio.timeout(ENDS):
        with laid_out(top, layout) as root:
            before = everything(top)

            kept = await library.remember(a_memory("Use pnpm here.", memory_id=M1), a_root(root))

            assert kept and Path(kept.source_file).is_relative_to(os.path.realpath(root))
            inside = Path(os.path.realpath(root)).relative_to(top)
            added = {name for name in everything(top) if name not in before}
            assert added == {str(inside / "records"), str(inside / "records" / Path(kept.source_file).name)}
            outside = {name: seen for name, seen in before.items() if not Path(name).is_relative_to(inside)}
            assert {name: seen for name, seen in everything(top).items() if name in outside} == outside
            assert await found(library, "pnpm") == [M1]


# -- links and devices that take the place of a file of ours


@pytest.mark.parametrize("kind", ["symlink", "fifo", "folder", "hardlink"])
async def test_a_months_file_that_is_something_else_is_neither_followed_nor_waited_for(
    tmp_path: Path, kind: str
) -> None:
    outside, records = tmp_path / "outside.md", tmp_path / "memory" / "records"
    outside.write_text("Not ours.\n")
    records.mkdir(parents=True)
    month = records / "2026-05.md"
    match kind:
        case "symlink":
            month.symlink_to(outside)
        case "fifo":
            os.mkfifo(month)
        case "folder":
            month.mkdir()
        case _:
            month.hardlink_to(outside)
    async with a_library(tmp_path / "data") as library, asyncio.timeout(ENDS):
        await library.remember(a_memory("Use pnpm here.", memory_id=M1), a_root(tmp_path / "memory"))

    assert outside.read_text() == "Not ours.\n"


async def test_a_device_is_not_read(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    write_records(memory / "a.md", [a_memory("Use pnpm here.", memory_id=M1)])
    try:
        os.mknod(memory / "zero.md", 0o666 | 0o020000, os.makedev(1, 5))
    except OSError:
        pytest.skip("devices cannot be made here")
    async with a_library(tmp_path / "data") as library, asyncio.timeout(ENDS):
        await library.adopt(a_root(memory))

        assert await found(library, "pnpm") == [M1]
        assert await reported(library, memory) == {"zero.md": "not-a-file"}


@pytest.mark.parametrize("kind", ["fifo", "fifo.md", "file", "missing", "dangling", "loop", "socket.md"])
async def test_a_root_that_is_no_folder_ends_without_records(tmp_path: Path, kind: str) -> None:
    root = tmp_path / kind
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        match kind:
            case "fifo" | "fifo.md":
                os.mkfifo(root)
            case "file":
                root.write_text("# Not Markdown by its name\n\nText.\n")
            case "dangling":
                root.symlink_to(tmp_path / "nowhere")
            case "loop":
                root.symlink_to(root)
            case "socket.md":
                _bound(listening, root)
        async with a_library(tmp_path / "data") as library, asyncio.timeout(ENDS):
            await library.adopt(a_root(root))

            assert kind == "file" or (await library.status()).records == 0


async def test_a_repositorys_folder_that_leads_out_of_it_is_reported_and_not_read(tmp_path: Path) -> None:
    write_records(tmp_path / "private" / "a.md", [a_memory("Not yours.", memory_id=M1)])
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "memory").symlink_to("../private")
    root = Root(
        path=str(repository / "memory"), scope=a_workspace_scope(), origin=Origin.IMPORTED, inside=str(repository)
    )
    async with a_library(tmp_path / "data") as library, asyncio.timeout(ENDS):
        await library.adopt(root)

        assert (await library.status()).records == 0
        assert [one.state for one in (await library.status()).findings] == ["link-outside-root"]


# -- size, depth, number, names


async def test_huge_files_are_reported_and_cost_the_others_nothing(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    write_records(memory / "a.md", [a_memory("Use pnpm here.", memory_id=M1)])
    sparse = {"large.md": LARGEST + 1, "huge.md": 1 << 34}
    for name, size in sparse.items():
        with (memory / name).open("wb") as stream:
            stream.truncate(size)
    marker = "<!-- memory:mem_{:032x} -->\nText.\n"
    (memory / "crowded.md").write_text("".join(marker.format(number) for number in range(20_000)))
    (memory / "headings.md").write_text("# A\n\nb\n" * 20_000)
    (memory / "blank.md").write_text("\n" * 400_000 + "Nearly nothing about pnpm.\n")
    (memory / "fences.md").write_text("```\n~~~\n" * 40_000)
    (memory / "one-line.md").write_text("word " * 200_000)
    async with a_library(tmp_path / "data") as library, asyncio.timeout(ENDS):
        await library.adopt(a_root(memory))
        assert await reported(library, memory) == {
            "large.md": "too-large",
            "huge.md": "too-large",
            "crowded.md": "too-many-records",
            "headings.md": "too-many-records",
            "fences.md": "too-many-records",
        }
        assert (await found(library, "pnpm"))[0] == M1 and len(await found(library, "pnpm")) == 2


async def test_a_folder_two_hundred_levels_deep_is_read_to_its_ground(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    deep = memory.joinpath(*["d"] * 200)
    write_records(deep / "a.md", [a_memory("Use pnpm down here.", memory_id=M1)])
    async with a_library(tmp_path / "data") as library, asyncio.timeout(ENDS):
        await library.adopt(a_root(memory))

        assert await found(library, "pnpm") == [M1]
        (place,) = await library.locators(str(deep / "a.md"))
        assert place.source_file == str(deep / "a.md")


async def test_a_path_longer_than_the_system_names_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    write_records(memory / "a.md", [a_memory("Use pnpm here.", memory_id=M1)])
    handle = os.open(memory, os.O_RDONLY)
    for _ in range(40):  # 40 names of 200 bytes: twice what a path may be long
        os.mkdir("n" * 200, dir_fd=handle)
        inner = os.open("n" * 200, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(os.open("b.md", os.O_WRONLY | os.O_CREAT, dir_fd=handle))
    os.close(handle)
    async with a_library(tmp_path / "data") as library, asyncio.timeout(ENDS):
        await library.adopt(a_root(memory))

        assert await found(library, "pnpm") == [M1]
        assert list((await reported(library, memory)).values()) == ["no-access"]


NAMES = {
    "a space.md": True,
    "line\nend.md": True,
    "emoji-👍.md": True,
    "\u202eright-to-left.md": True,
    "-rf.md": True,
    "'; DROP TABLE record; --.md": True,
    "%s%n.md": True,
    "ü" * 120 + ".md": True,
    ".hidden.md": False,
    "no-suffix": False,
    "upper.MD": False,
    os.fsdecode(b"not-utf-8-\xff.md"): False,
}


async def test_files_of_odd_names_are_read_or_passed_over_and_named_as_they_are(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    for number, name in enumerate(NAMES, start=1):
        write_records(memory / name, [a_memory(f"Use pnpm in {number}.", memory_id=a_memory_id(number))])
    async with a_library(tmp_path / "data") as library, asyncio.timeout(ENDS):
        await library.adopt(a_root(memory))

        wanted = {a_memory_id(number) for number, read in enumerate(NAMES.values(), start=1) if read}
        assert set(await found(library, "pnpm")) == wanted
        for number, (name, read) in enumerate(NAMES.items(), start=1):
            if read:
                (place,) = await library.locators(str(memory / name))
                assert (place.memory_id, place.source_file) == (a_memory_id(number), str(memory / name))
        assert (await library.status()).findings == ()


@pytest.mark.parametrize(
    "files", [1_000, pytest.param(10_000, marks=pytest.mark.reliability)], ids=["a-thousand", "ten-thousand"]
)
async def test_a_root_of_many_files_is_adopted_to_the_end_and_every_file_is_found(tmp_path: Path, files: int) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    for number in range(files):
        (memory / f"{number}.md").write_text(f"<!-- memory:{a_memory_id(number)} -->\nHeron number h{number}x.\n")
    (memory / "broken.md").write_bytes(b"\xff\xfe")
    async with a_library(tmp_path / "data") as library, asyncio.timeout(2 * ENDS):
        await library.adopt(a_root(memory))
        while library.progress().stage != "idle":
            await asyncio.sleep(0)

        status = await library.status()
        assert (status.files, status.searchable) == (files + 1, files)
        assert [one.state for one in status.findings] == ["not-utf-8"]
        for number in (0, files // 2, files - 1):
            assert await found(library, f"h{number}x") == [a_memory_id(number)]


async def test_a_record_without_a_text_in_an_odd_file_is_a_finding_with_its_line(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    (memory / "a.md").write_text(f"<!-- memory:{M1} -->\n\n\n<!-- memory:{M2} -->\nText.\n")
    async with a_library(tmp_path / "data") as library:
        await library.adopt(a_root(memory))

        (finding,) = (await library.status()).findings
        assert (finding.line, finding.state, finding.memory_id) == (1, RecordState.ORPHAN_ANCHOR, M1)
