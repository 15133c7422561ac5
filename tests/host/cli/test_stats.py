"""`audit stats`: a time and a place become parameters, numbers become lines."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import stats
from host.cli.main import main
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.prompt import Prompt

NOTHING: dict[str, Any] = {
    **{"share": 0.0, "steps": 10, "fewest": 20, "given": 0, "delivered": 0, "heldOut": 0},
    **{"outcomes": [], "leftOut": {}},
}
COUNTED: dict[str, Any] = {
    "since": None,
    "entries": 70,
    "sessions": 1,
    "passes": {"silence": 40, "packet": 20, "held-out": 10},
    "silences": {"no-confident-hit": 30, "empty-signal": 10},
    "packets": {"built": 30, "delivered": 18, "held-out": 10},
    "drops": {"expired": 2},
    "bytes": 8123,
    "measured": NOTHING,
}
MEASURED = NOTHING | {
    "share": 0.1,
    "given": 40,
    "delivered": 36,
    "heldOut": 25,
    "outcomes": [
        {
            "outcome": "command-used",
            "given": {"happened": 30, "of": 40},
            "heldOut": {"happened": 5, "of": 25},
            "difference": 0.55,
            "low": 0.3,
            "high": 0.71,
            "verdict": "more",
        },
        {
            "outcome": "failure-repeated",
            "given": {"happened": 1, "of": 9},
            "heldOut": {"happened": 0, "of": 0},
            "difference": None,
            "low": None,
            "high": None,
            "verdict": "too-few",
        },
    ],
}


def run(monkeypatch: pytest.MonkeyPatch, counted: dict[str, Any], *arguments: str) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, stats, {"audit.stats": counted})
    return CliRunner().invoke(main, ["audit", "stats", *arguments]), daemon


def flat(text: str) -> str:
    return re.sub(r" +", " ", text)


def test_counts_are_shown_by_outcome_and_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, COUNTED)

    assert result.exit_code == 0, result.output
    assert daemon.params("audit.stats") == {}
    shown = flat(result.output)
    for line in (
        "Entries: 70, of 1 session.",
        "held-out 10",
        "no-confident-hit 30",
        "delivered 18",
        "expired 2",
        "8123 bytes",
    ):
        assert line in shown
    assert "is not measured: nothing is held out" in shown and "evaluation.holdout" in shown


def test_a_share_that_drew_nothing_yet_is_told_from_none(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, COUNTED | {"measured": NOTHING | {"share": 0.1}})

    assert "10% is held out, and there is nothing to compare yet" in result.output


def test_a_difference_is_shown_with_its_numbers_its_interval_and_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, COUNTED | {"measured": MEASURED})

    shown = flat(result.output)
    assert "Packets 40 given (36 of them delivered) and 25 held out. In the 10 steps after:" in shown
    assert "a command that it names was used 30 of 40 (75%) 5 of 25 (20%) +55 +30 to +71 more often when given" in shown
    assert "the failure came again 1 of 9 (11%) - too few to tell" in shown
    assert "fewer than 20 of either kind" in shown


def test_where_nothing_is_recorded_nothing_more_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = {"entries": 0, "sessions": 0, "passes": {}, "silences": {}, "packets": {}, "drops": {}, "bytes": 0}

    result, _ = run(monkeypatch, COUNTED | empty)

    assert result.output == "Entries: 0, of 0 sessions.\n"


@pytest.mark.parametrize("measured", [MEASURED, NOTHING | {"share": 0.1}])
def test_packets_that_are_not_compared_are_counted_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, measured: dict[str, Any]
) -> None:
    left_out = {"no-step": 3, "erased": 1, "no-events": 2}

    result, _ = run(monkeypatch, COUNTED | {"measured": measured | {"leftOut": left_out}})

    assert result.output.splitlines()[-3:] == [
        "Not compared: 3 packets, as no step of the agent followed, so far as its product tells of steps.",
        "Not compared: 1 packet, as a memory in it was forgotten.",
        "Not compared: 2 packets, as the log does not hold its events any more.",
    ]


def test_json_is_the_daemons_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, COUNTED | {"measured": MEASURED}, "--json")

    assert json.loads(result.output) == COUNTED | {"measured": MEASURED}


class Clock:
    """It is always the same time."""

    def now(self) -> int:
        return 10_000_000_000


@pytest.mark.parametrize(
    ("since", "millis"),
    [
        ("30m", 10_000_000_000 - 30 * 60_000),
        ("12h", 10_000_000_000 - 12 * 3_600_000),
        ("7d", 10_000_000_000 - 7 * 86_400_000),
        ("2w", 10_000_000_000 - 14 * 86_400_000),
        ("1h30m", 10_000_000_000 - 90 * 60_000),
        ("1970-01-02", 86_400_000),
    ],
)
def test_a_time_is_a_span_or_a_day(monkeypatch: pytest.MonkeyPatch, since: str, millis: int) -> None:
    monkeypatch.setattr(stats, "SystemClock", Clock)

    result, daemon = run(monkeypatch, COUNTED | {"since": millis}, "--since", since)

    assert daemon.params("audit.stats") == {"since": millis}
    assert "Entries since 1970-0" in result.output


@pytest.mark.parametrize("since", ["yesterday", "7", "-1d", "400d", "2026-13-01", ""])
def test_another_time_is_wrong_usage(monkeypatch: pytest.MonkeyPatch, since: str) -> None:
    result, daemon = run(monkeypatch, COUNTED, "--since", since)

    assert result.exit_code == 2 and "2026-11-30" in result.output
    assert daemon.asked == []


def test_a_day_that_is_none_is_said_in_whole_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, COUNTED, "--since", "2026-13-40")

    assert "2026-13-40 is no day: month must be in 1..12. Or give a day, like 2026-11-30." in result.output


def test_a_folder_that_is_gone_can_be_asked_for_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone, here = {"workspace.get": {"rollout": "active", "attention": "normal"}}, tmp_path / "gone"
    daemon = answering(monkeypatch, stats, gone | {"audit.stats": COUNTED})

    result = CliRunner().invoke(main, ["audit", "stats", "--workspace", str(here)])

    assert daemon.params("audit.stats") == {"workspace": str(here)}
    assert result.exit_code == 0 and f"There is no folder {here}." in result.stderr


def test_a_workspace_is_asked_for_by_its_whole_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)

    _, daemon = run(monkeypatch, COUNTED, "--workspace", ".")

    assert daemon.params("audit.stats") == {"workspace": str(tmp_path.resolve())}


def test_a_real_daemon_answers(prompt: Prompt) -> None:
    answer = json.loads(prompt.run("audit", "stats", "--workspace", ".", "--json").output)

    assert (answer["entries"], answer["measured"]["share"]) == (0, 0.0)
