"""What a read of a memory file covered: which records, how much of each, and whether as they are now."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from governance.evidence import WHOLE, Covered
from governance.screen import redact
from host import reading
from host.observer import GAP
from host.reading import covered, meant, reads_files, shown_by, understood
from host.reads.printings import printings, searched
from recall.canonical import bytes_digest
from recall.contracts import EventPayload, ReadWindow, Segment, SegmentKind
from recall.library import Library
from tests.support.builders import a_memory, a_memory_id, a_segment
from tests.support.library import a_library, a_root, write_records
from tests.support.reading import window

FIRST, SECOND, THIRD = a_memory_id(1), a_memory_id(2), a_memory_id(3)
# line 1: marker; 2 and 3: the first record; 4: empty; 5: marker; 6: the second record
RECORDS = [
    a_memory("The cache lives in Redis 7.\nIts port is 6380.", memory_id=FIRST),
    a_memory("The queue lives in Postgres.", memory_id=SECOND),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "notes" / "a.md"


@pytest.fixture
async def library(tmp_path: Path, file: Path) -> AsyncIterator[Library]:
    write_records(file, RECORDS)
    async with a_library(tmp_path / "data") as opened:
        await opened.adopt(a_root(file.parent))
        yield opened


def ratios(shown: list[Covered]) -> dict[str, tuple[int, bool]]:
    return {one.memory_id: (one.ratio, one.fresh) for one in shown}


async def test_a_whole_file_shows_every_record_in_full(library: Library, file: Path) -> None:
    shown = await covered(library, window(file))

    assert ratios(shown) == {FIRST: (WHOLE, True), SECOND: (WHOLE, True)}
    located = {locator.memory_id: locator for locator in await library.locators(str(file))}
    assert all(one.record_digest == located[one.memory_id].record_digest for one in shown)
    assert all(one.source_version == located[one.memory_id].source_version for one in shown)


async def test_a_part_of_a_record_is_its_share_and_untouched_records_are_not_mentioned(
    library: Library, file: Path
) -> None:
    shown = await covered(library, window(file, first=1, count=2))

    ((memory_id, (ratio, fresh)),) = ratios(shown).items()
    assert (memory_id, fresh) == (FIRST, True)
    assert 0 < ratio < WHOLE


@pytest.mark.promise("read-is-no-citation")
@pytest.mark.parametrize(("first", "count"), [(1, 1), (4, 1), (4, 2), (1000, 0)])
async def test_a_marker_an_empty_line_or_nothing_at_all_covers_no_record(
    library: Library, file: Path, first: int, count: int
) -> None:
    """A record's marker is not its text."""
    assert await covered(library, window(file, first, count)) == []


async def test_a_file_that_changed_since_the_index_saw_it_is_not_fresh(library: Library, file: Path) -> None:
    file.write_text(file.read_text("utf-8").replace("6380", "6381"), "utf-8")

    shown = await covered(library, window(file))

    assert ratios(shown) == {FIRST: (0, False), SECOND: (0, False)}


async def test_a_file_that_changed_since_it_was_read_is_not_fresh(library: Library, file: Path) -> None:
    read = window(file)
    file.write_text("Something else entirely.\n", "utf-8")

    assert ratios(await covered(library, read)) == {FIRST: (0, False), SECOND: (0, False)}


async def test_a_window_that_cannot_say_what_it_showed_is_not_fresh(library: Library, file: Path) -> None:
    silent = msgspec.structs.replace(window(file), content_digest=None)

    assert ratios(await covered(library, silent)) == {FIRST: (0, False), SECOND: (0, False)}


async def test_a_file_that_is_not_of_the_library_is_not_even_opened(library: Library, tmp_path: Path) -> None:
    missing = ReadWindow(path=str(tmp_path / "elsewhere.md"), line_start=1, line_count=1, content_digest="0")

    assert await covered(library, missing) == []


async def test_a_file_that_is_gone_covers_nothing(library: Library, file: Path) -> None:
    read = window(file)
    file.unlink()

    assert await covered(library, read) == []


async def test_a_file_that_cannot_be_looked_at_covers_nothing(library: Library, file: Path) -> None:
    read = window(file)
    file.unlink()
    file.symlink_to(file.name)  # a circle

    assert await covered(library, read) == []


async def test_a_path_that_the_system_refuses_covers_nothing(library: Library, file: Path) -> None:
    winding = f"{file.parent}/{'down/../' * 600}{file.name}"  # the same file, if anybody could say it

    assert await library.locators(winding)
    assert await covered(library, msgspec.structs.replace(window(file), path=winding)) == []


async def test_a_file_larger_than_what_is_indexed_covers_nothing(
    library: Library, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LARGEST", 10)

    assert await covered(library, window(file)) == []


def ran(command: str, output: str, cwd: Path) -> EventPayload:
    """The result of a command of the shell."""
    return EventPayload(tool="shell", ok=True, text=output, printed=printings(command, output, str(cwd)))


def a_call_to(command: str, call_id: str = "c") -> Segment:
    return a_segment(command, kind=SegmentKind.CALL, call_id=call_id)


async def stays(*_: object) -> None:
    """The index is not brought up to date."""


async def shares(library: Library, payload: EventPayload) -> dict[str, tuple[int, bool]]:
    return ratios(await shown_by(library, payload))


async def test_a_printed_file_shows_every_record_in_full(library: Library, file: Path) -> None:
    text = file.read_text("utf-8")

    for command in ("cat a.md", f"cat {file}", "sed -n '1,200p' ./a.md", "cat *.md", "cd .. && cat notes/a.md"):
        assert await shares(library, ran(command, text.strip(), file.parent)) == {
            FIRST: (WHOLE, True),
            SECOND: (WHOLE, True),
        }


async def test_parts_that_were_shown_at_several_places_add_up(library: Library, file: Path) -> None:
    first, second = file.read_text("utf-8").split("\n")[1:3]
    half = await shares(library, ran("sed -n 2p a.md", first, file.parent))

    assert 0 < half[FIRST][0] < WHOLE
    assert await shares(library, ran("sed -n '2p;3p' a.md", f"{first}\n{second}", file.parent)) == {
        FIRST: (WHOLE, True)
    }
    search = EventPayload(text=f"a.md:3:{second}\na.md:2:{first}", printed=searched((), "a.md:3:", (str(file.parent),)))
    assert await shares(library, search) == {FIRST: (WHOLE, True)}


@pytest.mark.promise("read-is-no-citation")
@pytest.mark.parametrize("command", ["ls a.md", "cat a.md > b.md", "wc -l a.md", "grep -c Redis a.md", "echo a.md"])
async def test_a_command_that_only_names_a_file_covers_nothing(library: Library, file: Path, command: str) -> None:
    payload = ran(command, file.read_text("utf-8"), file.parent)

    assert not reads_files(payload)
    assert await shown_by(library, payload) == []


@pytest.mark.promise("coverage-exact")
@pytest.mark.parametrize("command", ["cat a.md", "head -n 6 a.md", "nl -ba a.md | sed -n '1,6p'", "grep -n lives a.md"])
async def test_a_file_edited_before_it_was_printed_is_not_fresh(
    library: Library, file: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Library, "look_again", stays)
    before = file.read_text("utf-8")
    file.write_text(before.replace("6380", "6381"), "utf-8")
    printed = {
        "cat a.md": file.read_text("utf-8"),
        "head -n 6 a.md": file.read_text("utf-8"),
        "nl -ba a.md | sed -n '1,6p'": "".join(
            f"{number:6d}\t{line}\n" for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        ),
        "grep -n lives a.md": "2:The cache lives in Redis 7.\n6:The queue lives in Postgres.",
    }[command]

    for text in (printed, before):  # as it is, and as it was
        shown = await shares(library, ran(command, text, file.parent))
        assert all(not fresh for _, fresh in shown.values())
        assert sum(ratio for ratio, _ in shown.values()) == 0


@pytest.mark.parametrize(
    ("payload", "call", "printed"),
    [
        (EventPayload(tool="shell", text="x"), a_call_to("cat a.md"), True),
        (EventPayload(tool="shell", text="x"), a_call_to("cat a.md", "other"), False),
        (EventPayload(tool="shell", text="x"), a_segment("cat a.md", kind=SegmentKind.PROMPT, call_id="c"), False),
        (
            EventPayload(tool="shell", text="x"),
            a_call_to(f"cat a.md{GAP}b.md"),
            False,
        ),
        (
            EventPayload(tool="shell", text="x", args="cat a.md"),
            a_call_to("ls"),
            True,
        ),
        (EventPayload(text="x", args="cat a.md"), a_call_to("cat a.md"), False),
    ],
)
def test_what_a_producer_does_not_say_its_call_may(payload: EventPayload, call: Segment, printed: bool) -> None:
    result = a_segment("x", kind=SegmentKind.RESULT, call_id="c")

    assert bool(understood(payload, result, [call], "/p").printed) is printed
    assert understood(payload, call, [call], "/p") is payload


async def test_a_stale_read_has_the_file_indexed_again(library: Library, file: Path) -> None:
    file.write_text(file.read_text("utf-8").replace("6380", "6381"), "utf-8")
    payload = ran("cat a.md", file.read_text("utf-8"), file.parent)
    assert all(not fresh for _, fresh in (await shares(library, payload)).values())

    async with asyncio.timeout(5):
        while await library.file_digest(str(file)) != bytes_digest(file.read_bytes()):
            await asyncio.sleep(0)

    assert await shares(library, payload) == {FIRST: (WHOLE, True), SECOND: (WHOLE, True)}


async def test_of_two_folders_the_file_counts_that_was_printed(library: Library, file: Path) -> None:
    below = file.parent / "below" / "a.md"
    write_records(below, [a_memory("Another file of the same name.", memory_id=THIRD)])
    await library.refresh(str(below))

    shown = await shares(library, ran("cd below && cat a.md", below.read_text("utf-8"), file.parent))

    assert shown == {THIRD: (WHOLE, True)}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("notes/*.md", ["notes/a.md", "notes/b.md"]),
        ("notes/[b]*", ["notes/b.md"]),
        ("notes/.*", ["notes/.c.md"]),
        ("*/a.md", []),  # folders are not looked for
        ("nowhere/*.md", []),
        ("notes/*\0.md", []),
    ],
)
def test_a_pattern_stands_for_the_memory_files_of_one_folder(tmp_path: Path, pattern: str, names: list[str]) -> None:
    (tmp_path / "notes").mkdir()
    for name in ("b.md", "a.md", ".c.md", "d.py"):
        (tmp_path / "notes" / name).touch()
    absolute = f"{tmp_path}/{pattern}"

    for base, asked in ((str(tmp_path), pattern), ("/elsewhere", absolute)):
        printed = EventPayload(printed=printings(f"cat {asked}", "", base)).printed
        found = [one.paths[0].removeprefix(f"{tmp_path}/") for each in printed for one, _ in meant(each, "")]
        assert [name for name in found if name in names or "*" not in name] == names


async def test_a_screened_output_still_shows_the_records_beside_the_secret(library: Library, file: Path) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    write_records(file, [*RECORDS, a_memory(f"The token is {secret}.", memory_id=THIRD)])
    await library.refresh(str(file))
    text, (found,) = redact(file.read_text("utf-8"))
    assert found.family.startswith("secret.")

    shown = await shares(library, ran("cat a.md", text, file.parent))

    assert (shown[FIRST], shown[SECOND]) == ((WHOLE, True), (WHOLE, True))


async def test_several_windows_of_one_result_are_all_looked_at(library: Library, file: Path) -> None:
    other = file.parent / "b.md"
    write_records(other, [a_memory("Of the other file.", memory_id=THIRD)])
    await library.refresh(str(other))

    payload = EventPayload(read=window(file, 2, 1), reads=(window(file, 2, 2), window(other)))

    assert reads_files(payload)
    assert await shares(library, payload) == {FIRST: (WHOLE, True), THIRD: (WHOLE, True)}


async def test_files_that_are_not_of_the_library_are_not_even_opened(
    library: Library, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(reading, "_contents", opened.append)
    (file.parent.parent / "other.md").write_text("words\n", "utf-8")

    assert await shown_by(library, ran("cat other.md; cat *.md", "words\n", file.parent.parent)) == []
    assert opened == []
