"""The table of states: each has its place, a name of one form, and a test that brings it about."""

import ast
import re
from pathlib import Path

import msgspec
import pytest

from host.doctor.findings import STATES, Finding, Level, finding, in_order, is_well

TESTS = Path(__file__).parent


def a_finding(state: str, where: str = "") -> Finding:
    return finding(state, "It is so.", "It matters.", "Do this.", where)


def test_a_state_has_its_level_from_the_table() -> None:
    assert {state: a_finding(state).level for state in STATES} == dict(STATES)


def test_a_state_that_is_not_in_the_table_is_none() -> None:
    with pytest.raises(KeyError):
        a_finding("all-is-lost")


def test_a_name_that_is_no_text_can_be_written() -> None:
    one = finding("memory-conflict", "In /p/\udcff.", "It matters.", "mv /p/\udcff away", "/p/\udcff")

    assert (one.what, one.todo, one.where) == ("In /p/\\udcff.", "mv /p/\\udcff away", "/p/\\udcff")
    assert msgspec.json.encode(one)


def test_the_gravest_come_first() -> None:
    found = [
        a_finding("sqlite-old"),
        a_finding("socket-stale", "b"),
        a_finding("key-missing"),
        a_finding("disk-nearly-full"),
    ]

    assert [one.state for one in in_order(found)] == ["key-missing", "disk-nearly-full", "socket-stale", "sqlite-old"]


@pytest.mark.parametrize(
    ("states", "well"), [([], True), (["sqlite-old"], True), (["sqlite-old", "socket-stale"], False)]
)
def test_notes_are_nothing_to_mend(states: list[str], well: bool) -> None:
    assert is_well(map(a_finding, states)) is well


def test_there_are_enough_of_them() -> None:
    assert sum(level is not Level.NOTE for level in STATES.values()) >= 25


@pytest.mark.promise("doctor-finds")
@pytest.mark.parametrize("state", STATES)
def test_a_state_is_brought_about_by_a_test(state: str) -> None:
    """A test beside this one names it as what it expects."""
    named = {
        node.value
        for file in TESTS.glob("test_*.py")
        if file.name != Path(__file__).name
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert state in named


def test_the_page_has_every_state_with_its_level_in_the_order_of_the_table() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "doctor.md").read_text("utf-8")
    told = {match[1]: match[2].lower() for match in re.finditer(r"^### (\S+)\n\n(\w+)\.", page, re.MULTILINE)}

    assert list(told.items()) == [(state, str(level)) for state, level in STATES.items()]
