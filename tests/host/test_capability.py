"""The table of hosts: what each takes, at which versions, and what becomes of one that it does not have."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.adapters import ADAPTERS
from host.capability import KEPT, ROWS, Capabilities, Client, Evidence, Row, capability, hosts, numbers, ranges, told
from host.contracts import Rollout, Surface
from recall.contracts import EventEnvelope, EventType
from tests.support.builders import a_prompt, an_event
from tests.support.runtimes import a_runtime, take

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "hosts.md").read_text("utf-8")
IN_PROCESS = ["claude-agent-sdk", "langchain", "pydantic-ai", "openai-agents"]
RUN = {  # the versions that were driven
    "claude-code": "2.1.332",
    "codex": "0.171.0",
    "gemini-cli": "0.61.0",
    "opencode": "1.18.33",
    "claude-agent-sdk": "2.1.332",  # of the client that it runs
    "langchain": "1.5.2",
    "pydantic-ai": "2.66.0",
    "openai-agents": "0.24.0",
}


def test_claude_code_takes_text_at_three_surfaces_and_does_not_acknowledge() -> None:
    claude = capability("claude-code")

    assert claude.surfaces == {Surface.SESSION_START, Surface.USER_PROMPT, Surface.POST_TOOL}
    assert claude.max_chars == 9_500
    assert not claude.acknowledges


def test_codex_has_a_limit_in_bytes() -> None:
    assert capability("codex", "0.171.0").max_bytes == 9_500


def test_nothing_is_said_at_the_start_where_that_would_cost_the_first_prompt() -> None:
    assert capability("gemini-cli").surfaces == {Surface.USER_PROMPT, Surface.POST_TOOL}


def test_a_program_on_the_socket_takes_text_anywhere_and_acknowledges() -> None:
    assert capability("socket").surfaces == set(Surface)
    assert capability("socket").acknowledges
    assert capability("socket", "0.0.1-whatever").most is Rollout.ACTIVE


@pytest.mark.parametrize("host", ["", "an-agent-of-tomorrow", "Claude-Code"])
def test_an_unknown_host_takes_nothing(host: str) -> None:
    assert capability(host).surfaces == capability(host, "2.1.332").surfaces == frozenset()
    assert not capability(host).acknowledges


def test_nothing_is_injected_into_subagents_by_default() -> None:
    assert not any(row.capability.subagents for row in ROWS)


def test_every_adapter_and_every_framework_has_a_row() -> None:
    assert {*ADAPTERS, *IN_PROCESS, "socket"} <= set(hosts())


# ------------------------------------------------------------------------------------------------------------ versions


@pytest.mark.parametrize(("host", "version"), RUN.items())
def test_a_version_that_was_run_is_in_the_table_as_such(host: str, version: str) -> None:
    number = numbers(version)
    assert number is not None
    covering = [row for row in ROWS if row.host == host and row.covers(number)]

    assert covering and all(row.evidence is Evidence.RUN for row in covering)
    assert capability(host, version).most is Rollout.ACTIVE


@pytest.mark.parametrize(
    ("host", "version"),
    [
        ("claude-code", "2.2.0"),
        ("claude-code", "3.0.0 (Claude Code)"),
        ("claude-code", "1.9.9"),
        ("claude-code", "dev"),
        ("claude-code", "2"),
        ("codex", "0.180.0"),
        ("codex", "0.170.4"),
        ("codex", "codex-cli 1.0.0"),
        ("gemini-cli", "0.70.0"),
        ("opencode", "1.20.0"),
        ("claude-agent-sdk", "0.2.189"),
        ("cursor", "4.0"),
        ("cursor", "2027.01.02"),
        ("langchain", "2.0.0"),
    ],
)
def test_a_version_outside_the_table_is_watched_only_and_says_why(host: str, version: str) -> None:
    found, ordinary = capability(host, version), capability(host)

    assert found.most is Rollout.SHADOW
    assert ranges(host) in found.why
    assert not (found.acknowledges or found.maintained or found.subagents)
    assert found.max_chars <= ordinary.max_chars
    assert found.surfaces and found.surfaces <= ordinary.surfaces  # passes go on being made, to be read in the audit


@pytest.mark.parametrize("host", list(RUN))
def test_a_version_that_was_not_told_yet_counts_as_the_ordinary_one(host: str) -> None:
    first = next(row for row in ROWS if row.host == host)

    assert capability(host) == first.capability
    assert first.capability.most is Rollout.ACTIVE


def test_the_kind_of_product_shows_in_its_version() -> None:
    assert capability("cursor", "3.12.17").surfaces == {Surface.POST_TOOL}
    assert capability("cursor", "2026.07.23").surfaces == {Surface.SESSION_START, Surface.POST_TOOL}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2.1.332 (Claude Code)", (2, 1, 332)),
        ("codex-cli 0.171.0", (0, 171, 0)),
        ("0.61.0-nightly.20260821", (0, 61, 0)),
        ("v1.18.33", (1, 18, 33)),
        ("2026.07.23-abc", (2026, 7, 23)),
        ("3", (3,)),
        ("1.2.3.4.5", (1, 2, 3, 4)),
        ("main", None),
        ("", None),
        ("a" * 1000 + " 1.2.3", None),
    ],
)
def test_a_version_is_the_first_number_of_what_is_said(text: str, number: tuple[int, ...] | None) -> None:
    assert numbers(text) == number


@given(st.text(max_size=300))
def test_whatever_a_product_says_of_itself_leads_to_a_row(text: str) -> None:
    for host in hosts():
        found = capability(host, text, text)
        assert found.host == host
        assert (found.most is Rollout.ACTIVE) is not bool(found.why)


@given(st.sampled_from(sorted(RUN)), st.lists(st.integers(0, 3000), min_size=1, max_size=4))
def test_ranges_of_a_host_do_not_contradict_each_other(host: str, parts: list[int]) -> None:
    """Rows that cover one version differ in the model alone, so that there is one answer for every model."""
    covering = [row for row in ROWS if row.host == host and row.before and row.covers(tuple(parts))]
    assert len({row.models for row in covering}) == len(covering)


# ------------------------------------------------------------------------------------------------------------- models


def _row(host: str, model: str) -> Row:
    found = capability(host, RUN[host], model)
    return next(row for row in ROWS if row.capability == found)


def test_a_model_that_no_row_names_has_the_row_without_one() -> None:
    assert capability("claude-code", "2.1.332", "a-model-of-tomorrow") == capability("claude-code", "2.1.332")
    assert not _row("claude-code", "a-model-of-tomorrow").models
    assert {row.models != () for row in ROWS if row.host == "claude-code"} == {True, False}
    assert capability("claude-code", "9.9", "claude-haiku-4-5").most is Rollout.SHADOW


# ------------------------------------------------------------------------------------------------- what a user allows


@pytest.mark.parametrize(
    ("entry", "version", "allowed"),
    [
        ("codex 0.181", "0.181.4", True),
        ("codex 0.181", "0.182.0", False),
        ("codex 0.18", "0.181.0", False),  # numbers, not letters
        ("codex 0", "0.999.0", True),
        ("codex *", "7.0.0", True),
        ("codex *", "nightly", True),
        ("codex 0.181", "nightly", False),
        ("claude-code *", "7.0.0", False),
    ],
)
def test_a_user_can_allow_a_version(entry: str, version: str, allowed: bool) -> None:
    found = Capabilities([entry]).of(Client(host="codex", version=version))

    assert (found.most is Rollout.ACTIVE) is allowed
    assert (found == capability("codex", "0.171.0")) is allowed


def test_an_allowed_version_is_taken_for_the_one_that_is_next_to_it() -> None:
    allowing = Capabilities(["cursor *"])

    assert allowing.of(Client(host="cursor", version="4.1")) == capability("cursor", "3.12.17")
    assert allowing.of(Client(host="cursor", version="2028.1.1")) == capability("cursor", "2026.07.23")
    assert allowing.of(Client(host="cursor", version="1.0")) == capability("cursor")


def test_nothing_makes_an_unknown_host_take_anything() -> None:
    assert not Capabilities(["an-agent *"]).of(Client(host="an-agent", version="1.0")).surfaces


def test_more_clients_than_are_kept_get_the_same_answers() -> None:
    table, clients = Capabilities(), [Client(host="codex", version=f"0.{number}.0") for number in range(2 * KEPT)]

    first = [table.of(client) for client in clients]

    assert first == [table.of(client) for client in clients] == [capability("codex", one.version) for one in clients]


def test_the_name_in_the_audit_holds_nothing_of_the_text_that_was_sent() -> None:
    assert told(Client(host="codex", version="codex 0.190.1 <script> /home/me")) == "codex/0.190.1"
    assert told(Client(host="codex", version="secret")) == "codex/a version without a number"


# ------------------------------------------------------------------------------------------------------- who speaks


def client_told(payload: object) -> EventEnvelope:
    return an_event(EventType.SESSION_CLIENT, payload)


@pytest.mark.parametrize(
    ("payloads", "version", "model"),
    [
        ([], "", ""),
        ([{"version": "2.1.332", "model": "m-1"}], "2.1.332", "m-1"),
        (
            [{"model": "m-1"}, {"version": "2.1.332"}],
            "2.1.332",
            "m-1",
        ),  # a hook tells the one, the transcript the other
        ([{"version": "2.1.332", "model": "m-1"}, {"version": "", "model": "m-2"}], "2.1.332", "m-2"),
        ([{"version": "2.1.332"}, {"version": "2.2.0"}], "2.2.0", ""),
        ([{"version": "2.1.332"}, {"version": 3}, ["x"], "no object"], "2.1.332", ""),
    ],
)
def test_a_session_is_spoken_from_by_who_told_last(payloads: list[object], version: str, model: str) -> None:
    runtime = a_runtime()
    runtime.host = "claude-code"

    take(runtime, *map(client_told, payloads), a_prompt())

    assert runtime.client == Client(host="claude-code", version=version, model=model)
    assert runtime.context_version == 1  # the prompt: it is nothing that was said


# --------------------------------------------------------------------------------------------------------------- page


def _cells(row: Row) -> list[str]:
    """How the page shows a row."""
    takes = row.capability
    limits = {"characters": takes.max_chars, "bytes": takes.max_bytes}
    limit = ", ".join(f"{number:,}".replace(",", " ") + f" {unit}" for unit, number in limits.items() if number)
    return [
        f"`{row.host}`",
        row.versions,
        ", ".join(f"`{one}…`" for one in row.models) or "all others" if _by_model(row) else "all",
        ", ".join(f"`{surface}`" for surface in Surface if surface in takes.surfaces),
        limit,
        "yes" if takes.acknowledges else "no",
        "yes" if takes.maintained else "no",
        str(row.evidence),
    ]


def _by_model(row: Row) -> bool:
    return any(other.models for other in ROWS if other.host == row.host)


def test_the_page_shows_the_table_as_it_is() -> None:
    shown = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.splitlines()
        if re.match(r"\| `[a-z-]+` \|.*\|.*\|.*\|.*\|.*\|", line)
    ]
    assert shown == [_cells(row) for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.host}-{row.versions}")
def test_the_page_says_where_the_text_lands(row: Row) -> None:
    assert row.lands in " ".join(PAGE.split())
