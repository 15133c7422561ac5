"""Kill -9 before every call of the document transaction: a memory file is old or new, whole, and the next start and the
next write find nothing amiss."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recall.contracts import MemoryLocator
from recall.library import Library
from tests.reliability.stopping import ACTS, CHANGED, GONE, HALF, KEPT, MONTH, later
from tests.support.builders import a_memory, a_scope
from tests.support.daemon import ROOT
from tests.support.library import a_library, a_root, write_records

pytestmark = [pytest.mark.reliability, pytest.mark.promise("files-survive-kills")]

Tree = Mapping[str, bytes]
Known = Mapping[str, tuple[str, MemoryLocator]]
SIGKILLED = -9


def start(folder: Path, *, empty: bool) -> Path:
    """A memory folder to begin with: a month of three records and a file of somebody else's, or nothing."""
    (folder / "memory").mkdir(parents=True)
    if not empty:
        texts = {KEPT: "This one stays.", CHANGED: "This one is to be changed.", GONE: "This one goes."}
        write_records(folder / "memory" / MONTH, [a_memory(text, memory_id=one) for one, text in texts.items()])
        (folder / "memory" / "notes.md").write_text("# By hand\n\nNobody else's.\n")
    return folder


def tree(folder: Path) -> Tree:
    """Every file below the memory folder with its bytes, hidden ones too."""
    top = folder / "memory"
    return {str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()}


def visible(files: Tree) -> Tree:
    return {name: data for name, data in files.items() if not Path(name).name.startswith(".")}


def stopped(source: Path, act: str) -> dict[str, Any]:
    """What `stopping` tells of an act that it stopped everywhere."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.reliability.stopping", str(source), act],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


async def known(library: Library, folder: Path) -> Known:
    """Every record of the library: its text, and where it is said to stand (file versions count what an index saw)."""
    found = {}
    for record in (await library.listed(a_scope(), 500)).records:
        got = await library.get(record.memory_id, a_scope())
        assert got is not None
        place = msgspec.structs.replace(
            got[1], source_version=0, source_file=str(Path(got[1].source_file).relative_to(folder))
        )
        data = (folder / place.source_file).read_bytes()
        assert data[place.byte_start : place.byte_end].decode() == record.text
        found[record.memory_id] = record.text, place
    return found


class Fresh:
    """What a library finds that reads files for the first time; asked once for each state of the files."""

    def __init__(self) -> None:
        self._found: dict[tuple[tuple[str, bytes], ...], Known] = {}

    async def of(self, folder: Path) -> Known:
        files = tuple(sorted(visible(tree(folder)).items()))
        if files not in self._found:
            async with a_library(folder / "fresh") as library:
                await library.adopt(a_root(folder / "memory"))
                self._found[files] = await known(library, folder)
        return self._found[files]


@dataclass(frozen=True)
class Ends:
    """The files before the act and after it, and what there is to find in them."""

    before: Tree
    after: Tree
    fresh: Fresh


async def judge(folder: Path, act: str, ends: Ends) -> None:
    """What must hold of a folder that a stop left behind: at once, at the next start, and at the next writes."""
    left = tree(folder)
    assert visible(left) in (visible(ends.before), visible(ends.after)), "a file is neither old nor new"
    hidden = left.keys() - visible(left).keys()
    assert all(Path(name).name.endswith(".md.tmp") for name in hidden) and len(hidden) <= 1

    async with a_library(folder) as library:
        await library.adopt(a_root(folder / "memory"))
        assert await known(library, folder) == await ends.fresh.of(folder), "the next start indexes something else"
        assert (await library.status()).findings == ()

        await ACTS[act](library, folder / "memory")
        assert visible(tree(folder)) == visible(ends.after), "done again, it does not end as it would have"
        assert await later(library, folder / "memory")
        assert tree(folder) == visible(tree(folder)), "what was left over is not cleaned at the next write"


def order(calls: Sequence[str], *wanted: str) -> bool:
    """Whether the wanted calls are made in this order, others between them."""
    rest = iter(calls)
    return all(one in rest for one in wanted)


@pytest.mark.parametrize(("act", "empty"), [*((act, False) for act in ACTS), ("remember", True)])
async def test_a_stop_before_any_call_leaves_the_file_old_or_new_and_the_next_start_and_write_whole(
    act: str, empty: bool, tmp_path: Path
) -> None:
    source = start(tmp_path / "start", empty=empty)
    before = tree(source)

    told = stopped(source, act)

    after, stops = tree(Path(told["whole"])), told["stops"]
    assert [stop["code"] for stop in stops] == [SIGKILLED] * len(stops)
    puts = "link" if empty else "exchange"  # nothing is overwritten unseen
    steps = ("open", "open", "write", "fsync", "open", puts, "unlink", "fsync", "open")
    assert order(told["calls"], *steps), told["calls"]
    assert {HALF, *steps} <= {stop["before"] for stop in stops}
    assert after != before and len(stops) >= 30
    ends = Ends(before, after, Fresh())
    for stop in stops:
        try:
            await judge(Path(stop["folder"]), act, ends)
        except AssertionError as error:
            raise AssertionError(f"{act}, stopped before {stop['before']} ({stop['folder']}): {error}") from error
