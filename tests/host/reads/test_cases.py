"""Results of real clients: the bytes of each file that they showed are exact, and none once a shown line was edited."""

import pytest

from tests.host.reads.cases import CASES, FILES, Case, shows

EVERY = [pytest.param(case, id=f"{host}: {case.name}") for host, cases in CASES.items() for case in cases]


@pytest.mark.promise("coverage-exact")
@pytest.mark.parametrize("case", EVERY)
def test_a_captured_result_showed_exactly_these_bytes(case: Case) -> None:
    assert shows(case, FILES) == case.expected


def test_there_are_enough_of_them_and_each_kind_is_there() -> None:
    assert sum(bool(case.expected) for cases in CASES.values() for case in cases) >= 30
    assert {host: len(cases) for host, cases in CASES.items()} == {"claude-code": 102, "codex": 72, "gemini-cli": 23}


@pytest.mark.promise("coverage-exact")
@pytest.mark.parametrize("case", [param for param in EVERY if param.values[0].expected])
def test_once_a_shown_line_was_edited_it_is_not_covered(case: Case) -> None:
    for name, ranges in case.expected.items():
        start, end = ranges[0]
        changed = bytearray(FILES[name])
        place = next(place for place in range(start, end) if chr(changed[place]).isalnum())
        changed[place] = ord("#")

        for first, last in shows(case, FILES | {name: bytes(changed)}).get(name, ()):
            assert not first <= place < last
