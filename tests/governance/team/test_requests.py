"""Requests of recall: one form of each, and what is refused."""

from typing import Any

import msgspec
import pytest

from governance.team.contracts.recalling import ExtractionRequest, Filters, Window
from governance.team.contracts.turns import ResultEvidence, TerminalState
from governance.team.errors import Kind, TeamFault
from governance.team.requests import bounds, checked_limit, normalised, request_digest, spoken
from governance.team.times import written
from tests.support.clock import START
from tests.support.team_recall import FORMATS, PROVIDERS, a_request

DAY = 86_400_000


def windowed(after: str, before: str) -> ExtractionRequest:
    return ExtractionRequest(format=FORMATS.document("extraction-request"), window=Window(after=after, before=before))


def refused(request: ExtractionRequest) -> str:
    with pytest.raises(TeamFault) as found:
        normalised(request, PROVIDERS)
    assert found.value.kind is Kind.REQUEST_INVALID
    assert found.value.next_step
    return found.value.problem


def test_a_window_of_366_days_is_taken_and_one_a_millisecond_longer_is_not() -> None:
    whole = windowed(written(START - 366 * DAY), written(START))
    assert bounds(normalised(whole, PROVIDERS).window) == (START - 366 * DAY, START)
    assert "366.0 days" in refused(windowed(written(START - 366 * DAY - 1), written(START)))
    assert "367.0 days" in refused(windowed(written(START - 367 * DAY), written(START)))


@pytest.mark.parametrize("before", [START, START - 1])
def test_a_window_that_is_empty_or_ends_before_it_begins_is_refused(before: int) -> None:
    assert "empty" in refused(windowed(written(START), written(before)))


@pytest.mark.parametrize("text", ["2026-05-28T20:26:40.007", "2026-05-28", "2026-05-28T20:26:40Z", "yesterday"])
def test_a_time_without_its_form_is_refused_with_its_field(text: str) -> None:
    assert "window.after" in refused(windowed(text, written(START)))
    assert "window.before" in refused(windowed(written(START - DAY), text))


def test_what_is_written_in_two_ways_is_one_request() -> None:
    one = a_request("  release failure ", tool_keys=("b", "a"), providers=("codex", "claude-code"))
    two = a_request("release failure", tool_keys=("a", "b"), providers=("claude-code", "codex"))
    assert normalised(one, PROVIDERS) == normalised(two, PROVIDERS)
    assert request_digest(normalised(one, PROVIDERS)) == request_digest(normalised(two, PROVIDERS))
    assert normalised(one, PROVIDERS).filters == Filters(tool_keys=("a", "b"), providers=("claude-code", "codex"))


def test_a_query_of_blanks_and_filters_of_nothing_say_nothing() -> None:
    plain = msgspec.structs.replace(a_request("  \n"), filters=Filters())
    assert normalised(plain, PROVIDERS) == a_request()


def test_a_query_may_have_8192_bytes() -> None:
    assert normalised(a_request("字" * 2730 + "ab"), PROVIDERS).query == "字" * 2730 + "ab"
    assert "8193" in refused(a_request("字" * 2731))


@pytest.mark.parametrize(
    "filters",
    [
        {"providers": ("codex", "codex")},
        {"providers": ("no-such-agent",)},
        {"session_keys": tuple(f"s{number}" for number in range(65))},
        {"tool_keys": ("",)},
        {"tool_keys": ("t" * 513,)},
        {"skill_keys": ("a", "a")},
        {"result_evidence": (ResultEvidence.UNKNOWN, ResultEvidence.UNKNOWN)},
        {"terminal_states": (TerminalState.FAILED,)},
    ],
)
def test_filters_that_name_twice_too_much_or_what_is_not_there_are_refused(filters: dict[str, Any]) -> None:
    assert "filters." in refused(a_request(**filters))


def test_states_are_asked_for_with_a_tool_or_a_skill() -> None:
    for beside in ({"tool_keys": ("bash",)}, {"skill_keys": ("release",)}):
        asked = a_request(terminal_states=(TerminalState.FAILED, TerminalState.CANCELLED), **beside)
        found = normalised(asked, PROVIDERS).filters
        assert found is not None
        assert found.terminal_states == (TerminalState.CANCELLED, TerminalState.FAILED)


def test_the_first_word_of_a_product_names_it() -> None:
    assert normalised(a_request(providers=("claude",)), PROVIDERS).filters == Filters(providers=("claude",))
    refused(a_request(providers=("clau",)))


@pytest.mark.parametrize("limit", [0, 9, -1])
def test_a_limit_is_from_1_to_8(limit: int) -> None:
    assert [checked_limit(number) for number in (1, 8)] == [1, 8]
    with pytest.raises(TeamFault) as found:
        checked_limit(limit)
    assert found.value.kind is Kind.REQUEST_INVALID


@pytest.mark.parametrize(
    ("since", "until", "after", "before"),
    [
        ("14d", "", START - 14 * DAY, START),
        ("", "", START - 14 * DAY, START),
        ("6h", "90m", START - 6 * 3_600_000, START - 90 * 60_000),
        ("2w", "now", START - 14 * DAY, START),
        ("2026-05-01", "2026-05-02T09:30Z", 1_777_593_600_000, 1_777_714_200_000),
        ("2026-05-01 09:30:15", "2026-05-01T09:30:15.5Z", 1_777_627_815_000, 1_777_627_815_500),
    ],
)
def test_a_person_says_a_window_in_short(since: str, until: str, after: int, before: int) -> None:
    assert spoken(since, until, START) == Window(after=written(after), before=written(before))


@pytest.mark.parametrize(
    "since", ["14", "d", "-3d", "0d", "2026-02-30", "2026-05-01T09:30+02:00", "last week", "9999999d"]
)
def test_what_is_no_time_is_refused_by_its_name(since: str) -> None:
    with pytest.raises(TeamFault) as found:
        spoken(since, "", START)
    assert found.value.kind is Kind.REQUEST_INVALID
    assert "--since" in found.value.problem


@pytest.mark.parametrize("query", ["???", "the", "的", "()"])
def test_a_query_without_a_word_would_match_everything_and_is_refused(query: str) -> None:
    assert "no word" in refused(a_request(query))
