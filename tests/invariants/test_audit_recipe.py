"""The program that the documents show finds what was done to an export, in a chain that was shortened too."""

import subprocess
import sys
from pathlib import Path

import pytest

from governance.audit import Audit
from governance.contracts import AuditEntry
from governance.export import first_line, json_line
from governance.migrations import schema
from governance.pruning import DAY, Limits, Pruning
from tests.support.clock import START, CountedIds
from tests.support.entries import a_full_pass, an_entry
from tests.support.fakes import FakeDatabase

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "check-the-audit.md"
NOW = START + 20 * DAY
OLD: list[AuditEntry] = [an_entry(at=START + number, note="Größe 漢字") for number in range(3)]


def program() -> str:
    """The twenty lines as the page has them."""
    text = PAGE.read_text("utf-8").split("<<'END'\n", 1)[1].split("> END", 1)[0]
    return "\n".join(line.removeprefix("> ") for line in text.splitlines())


def checked(lines: list[str]) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", program()], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


async def exported(*, pruned: bool) -> list[str]:
    database = FakeDatabase([schema(), schema(4)])
    audit = Audit(database, b"k" * 32, CountedIds())
    await audit.append([*OLD, a_full_pass(at=NOW - DAY), an_entry(at=NOW - DAY), an_entry(at=NOW - DAY)])
    if pruned:
        assert await Pruning(database, audit, audit.append, {}).run(Limits(), NOW) == len(OLD)
    kept = await audit.kept()
    lines = [] if kept is None else [first_line(kept).decode()]
    return [*lines, *(json_line(row).decode() for row in await audit.chunk(0, 100))]


def test_it_has_twenty_lines() -> None:
    assert sum(bool(line.strip()) for line in program().splitlines()) <= 20


@pytest.mark.promise("audit-recipe")
@pytest.mark.parametrize("pruned", [False, True])
async def test_a_whole_export_holds(pruned: bool) -> None:
    lines = await exported(pruned=pruned)
    code, said = checked(lines)

    assert (code, said.split(";")[0]) == (0, f"{len(lines)} lines hold")


@pytest.mark.promise("audit-recipe")
@pytest.mark.parametrize("pruned", [False, True])
async def test_whatever_is_removed_changed_swapped_or_put_in_is_found(pruned: bool) -> None:
    lines = await exported(pruned=pruned)
    first = int(pruned)  # line 0 of a shortened export is what is left of the entries before
    for place in range(first, len(lines) - 1):
        for touched in (
            [*lines[:place], *lines[place + 1 :]],
            [
                *lines[:place],
                lines[place].replace('"step":3', '"step":4').replace("retention", "other"),
                *lines[place + 1 :],
            ],
            [*lines[:place], lines[place + 1], lines[place], *lines[place + 2 :]],
            [*lines[: place + 1], lines[place], *lines[place + 1 :]],
        ):
            code, said = checked(touched)
            assert code == 1, (place, said)


@pytest.mark.promise("audit-recipe")
async def test_what_is_left_of_old_entries_cannot_be_changed_or_left_out() -> None:
    lines = await exported(pruned=True)

    assert checked([lines[0].replace('"entries":3', '"entries":2', 1), *lines[1:]])[0] == 1
    assert checked(lines[1:])[0] == 1
    assert "no entry vouches" in checked(lines[:-1])[1]
