"""Lint: each rule finds what it is for and nothing else, says what to do, and tells the worst first."""

import json
from pathlib import Path

import pytest

from recall.code_anchors import AnchorState, Found
from recall.contracts import CodeAnchor, MemoryRecord, RecordState, ScopeRef, Status
from recall.lint import (
    LONGEST,
    RULES,
    Flaw,
    Severity,
    Spot,
    Twins,
    flaw,
    in_order,
    of_anchor,
    of_index_file,
    of_record,
    of_report,
    of_successor,
    of_update,
)
from recall.providers import MEMORY_BYTES, MEMORY_LINES
from tests.support.builders import a_memory, a_memory_id, a_user_scope
from tests.support.clock import START

CASES = Path(__file__).parents[1] / "data" / "cases"
HERE = Spot(file="/m/records/2026-05.md", line=7, memory_id=a_memory_id(1))
INDEX = Spot(file="/home/u/.claude/projects/p/memory/MEMORY.md")


def rules(flaws: object) -> list[str]:
    return [one.rule for one in flaws]  # type: ignore[attr-defined]


def test_every_rule_says_what_to_do() -> None:
    assert all(rule.next.endswith(".") for rule in RULES.values())


@pytest.mark.parametrize(
    ("state", "rule", "severity"),
    [
        ("malformed-anchor", "malformed-anchor", "error"),
        ("duplicate-anchor", "duplicate-anchor", "error"),
        ("orphan-anchor", "orphan-anchor", "warning"),
        ("orphan-content", "orphan-content", "warning"),
        ("malformed-entry", "malformed-entry", "error"),
        ("identity-mismatch", "identity-mismatch", "error"),
        ("not-utf-8", "unusable-file", "error"),
        ("too-large", "unusable-file", "error"),
        ("conflict-markers", "unusable-file", "error"),
        ("no-access", "unusable-file", "error"),
        ("link-outside-root", "link-outside", "error"),
        ("something-new", "unusable-file", "error"),
    ],
)
def test_what_the_index_reports_has_its_rule_and_its_place(state: str, rule: str, severity: str) -> None:
    found = of_report(state, HERE, "Two words.")

    assert (found.rule, found.severity, found.file, found.line) == (rule, severity, HERE.file, 7)
    assert (found.memory_id, found.next) == (HERE.memory_id, RULES[rule].next)
    assert found.problem.endswith(".")


@pytest.mark.parametrize(
    ("families", "expected"),
    [
        ((), []),
        (("secret.github-token", "secret.password"), ["secret"]),
        (("pii.cn-id",), ["personal-data"]),
        (("injection.override", "hidden.encoded", "injection.role"), ["instruction-like", "hidden-text"]),
    ],
)
def test_what_the_screen_found_is_named_once_for_each_rule(families: tuple[str, ...], expected: list[str]) -> None:
    found = list(of_record(a_memory("Deploys are on Monday."), HERE, families, START))

    assert rules(found) == expected
    assert all(family in " ".join(one.problem for one in found) for family in families)
    assert "Monday" not in " ".join(one.problem for one in found)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (a_memory("x", expires_at=START), ["expired"]),
        (a_memory("x", expires_at=START + 1), []),
        (a_memory("x" * LONGEST), []),
        (a_memory("é" * (LONGEST // 2) + "x"), ["too-long"]),
        (a_memory("x" * (LONGEST + 1), state=RecordState.LEGACY), []),
    ],
)
def test_a_record_past_its_time_or_its_length_is_told(record: MemoryRecord, expected: list[str]) -> None:
    assert rules(of_record(record, HERE, (), START)) == expected


def test_a_successor_that_is_not_there_is_told() -> None:
    replaced = a_memory(status=Status.SUPERSEDED, superseded_by=a_memory_id(2))

    assert rules(of_successor(replaced, HERE, frozenset())) == ["dangling-successor"]
    assert rules(of_successor(replaced, HERE, frozenset({a_memory_id(2)}))) == []
    assert rules(of_successor(a_memory(), HERE, frozenset())) == []


def told_twice(*records: MemoryRecord) -> list[Flaw]:
    twins = Twins()
    places = [Spot(file="/m/a.md", line=number, memory_id=one.memory_id) for number, one in enumerate(records)]
    return [found for one, spot in zip(records, places, strict=True) for found in twins.see(one, spot, START)]


def test_the_second_of_two_records_that_say_the_same_is_told_with_the_first() -> None:
    found = told_twice(
        a_memory("Use uv.", memory_id=a_memory_id(1)),
        a_memory("use  UV", memory_id=a_memory_id(2)),
        a_memory("Use pip.", memory_id=a_memory_id(3)),
    )

    assert [(one.rule, one.memory_id) for one in found] == [("says-the-same", a_memory_id(2))]
    assert a_memory_id(1) in found[0].problem


@pytest.mark.parametrize(
    "other",
    [
        a_memory("Use uv.", memory_id=a_memory_id(2), status=Status.SUPERSEDED),
        a_memory("Use uv.", memory_id=a_memory_id(2), expires_at=START),
        a_memory("Use uv.", memory_id=a_memory_id(2), state=RecordState.LEGACY),
        a_memory("Use uv.", memory_id=a_memory_id(2), scope=a_user_scope()),
        a_memory("Use uv.", memory_id=a_memory_id(2), scope=ScopeRef(kind="Workspace", key="ws_other")),  # type: ignore[arg-type]
    ],
)
def test_a_record_that_does_not_stand_or_is_of_another_scope_says_nothing_twice(other: MemoryRecord) -> None:
    assert told_twice(a_memory("Use uv.", memory_id=a_memory_id(1)), other) == []


def test_an_older_record_is_told_what_the_newer_one_says() -> None:
    newer = a_memory("The limit is 20.", memory_id=a_memory_id(2))

    (found,) = of_update("The limit is 10.", HERE, newer)

    assert (found.rule, found.memory_id) == ("says-otherwise", HERE.memory_id)
    assert "The limit is 20." in found.problem and a_memory_id(2) in found.problem
    assert list(of_update("The limits are in ops/limits.md.", HERE, newer)) == []


def test_only_the_beginning_of_another_record_is_told() -> None:
    newer = a_memory("The limit is 20. " + "More of it. " * 50)

    (found,) = of_update("The limit is 10.", HERE, newer)

    assert len(found.problem) < 300


# ------------------------------------------------------------------------------------------------------- a host's caps


def an_index(lines: int, size: int) -> bytes:
    """An index file of that many lines and bytes."""
    each, rest = divmod(size, lines)
    made = [b"x" * (each - 1 + (number < rest)) + b"\n" for number in range(lines)]
    return b"".join(made)


@pytest.mark.promise("field-cases")
def test_lines_beyond_what_the_host_loads_are_warned_of_and_named() -> None:
    told = json.loads((CASES / "memory-index-host-caps.json").read_text("utf-8"))
    before = an_index(told["given"]["file"]["lines"], told["given"]["file"]["bytes"])
    after = before + b"".join(b"- " + b"y" * 197 + b"\n" for _ in range(3))
    assert list(of_index_file(INDEX, before)) == []

    (found,) = of_index_file(INDEX, after)

    assert (found.rule, found.severity, found.line) == ("host-cap", Severity.WARNING, 201)
    assert "lines 201 to 202" in found.problem


@pytest.mark.parametrize(
    ("data", "lost"),
    [
        (b"", None),
        (b"x\n" * MEMORY_LINES, None),
        (b"x\n" * MEMORY_LINES + b"\n\n", None),
        (b"x\n" * (MEMORY_LINES + 2), "lines 201 to 202"),
        (b"x" * MEMORY_BYTES, None),
        (b"x\n" + b"y" * MEMORY_BYTES, "lines 2 to 2"),
        (b"x" * (MEMORY_BYTES + 1), "lines 1 to 1"),
    ],
)
def test_the_cap_is_by_lines_and_by_bytes_whichever_comes_first(data: bytes, lost: str | None) -> None:
    found = list(of_index_file(INDEX, data))

    assert [lost in one.problem for one in found if lost] == ([True] if lost else [])
    assert bool(found) is bool(lost)


# -------------------------------------------------------------------------------------------------- places in the code


@pytest.mark.parametrize(
    ("found", "rule"),
    [
        (Found(state=AnchorState.UNCHANGED, lines=(3,)), None),
        (Found(state=AnchorState.MOVED, lines=(15,)), "code-moved"),
        (Found(state=AnchorState.GONE), "code-gone"),
        (Found(state=AnchorState.AMBIGUOUS, lines=(4, 7)), "code-ambiguous"),
    ],
)
def test_where_the_code_is_now_is_told(found: Found, rule: str | None) -> None:
    about = CodeAnchor(path="lib/money.py", line=3, snippet="def f():")

    flaws = list(of_anchor(about, HERE, found))

    assert rules(flaws) == ([rule] if rule else [])
    assert all(str(line) in flaws[0].problem for line in (found.lines if rule else ()))


# ---------------------------------------------------------------------------------------------------------- the report


def test_the_worst_comes_first_then_file_and_line_whatever_order_they_came_in() -> None:
    spots = [("expired", "/a.md", 1), ("secret", "/b.md", 9), ("secret", "/b.md", 2), ("too-long", "/a.md", 1)]
    flaws = [flaw(rule, Spot(file=file, line=line), "It is so.") for rule, file, line in spots]

    told = in_order(flaws)

    assert [(one.rule, one.line) for one in told] == [("secret", 2), ("secret", 9), ("expired", 1), ("too-long", 1)]
    assert in_order(flaws[::-1]) == told
