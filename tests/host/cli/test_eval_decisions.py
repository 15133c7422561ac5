"""`eval decisions`: figures as tables and as JSON, predictions as lines, and plain words for what is wrong."""

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from host.cli.main import main
from tests.support.labelled import LESSON_ID, a_failure, a_folder, an_event


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """Two sessions: one in which a memory is needed, one in which nothing is."""
    made = a_failure()
    quiet = msgspec.structs.replace(
        made,
        name="quiet",
        events=(an_event(1, "user/message", "Thanks.", step=0), an_event(2, "assistant/message", "You are welcome.")),
        labels=msgspec.structs.replace(made.labels, gold=(), acceptable=(), quiet=()),
    )
    a_folder(made, tmp_path / "set")
    a_folder(quiet, tmp_path / "set")
    return tmp_path / "set"


def decide(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["eval", "decisions", *map(str, arguments), "--no-engine", "--jobs", "1"])


def test_the_figures_of_a_set_are_a_table(sessions: Path) -> None:
    said = decide(sessions)

    lines = said.output.splitlines()
    assert said.exit_code == 0, said.output
    assert lines[0] == "2 sessions, 11 events, 4 model steps, 1 need"
    shown = {line.split("  ")[0]: line.split()[-1] for line in lines if line}
    assert [line.split()[1] for line in lines if line.startswith(("F0.5", "precision", "recall"))] == ["1", "1", "1"]
    assert "bytes a session" in shown and "silent because" in said.output


def test_what_was_false_is_counted_with_its_verdicts(sessions: Path) -> None:
    labels = sessions / "made" / "labels.json"
    labels.write_text(labels.read_text().replace("[5,8]", "[9,9]"))

    said = decide(sessions).output

    (line,) = [line for line in said.splitlines() if line.startswith("precision")]
    assert "0 hits, 1 false (1 outside), 0 neutral" in line


def test_sessions_and_rows_are_shown_when_asked(sessions: Path) -> None:
    said = decide(sessions, "--per-session", "--rows").output

    (own,) = [line.split() for line in said.splitlines() if line.startswith("made") and "1/1" in line]
    assert own[:5] == ["made", "1", "1", "1", "1/1"]
    (row,) = [line.split() for line in said.splitlines() if line.startswith("made") and "1/1" not in line]
    assert row[:4] == ["made", "5", "1", "tool-failure"] and "hit" in row


def test_json_holds_the_set_its_sessions_and_the_passes(sessions: Path) -> None:
    report = json.loads(decide(sessions, "--json", "--rows").output)

    assert set(report) == {"set", "sessions", "engine", "attention", "passes", "triggers", "rows"}
    assert report["set"]["f0.5"] == 1.0 and report["set"]["f0.5_macro"] == 0.5
    assert report["sessions"]["made"]["hits"] == 1 and report["sessions"]["quiet"]["injections"] == 0
    passes = report["passes"]
    assert passes["decided"] == passes["packets"] + sum(passes["silences"].values()) and passes["delivered"] == 1
    assert report["triggers"]["tool-failure"]["hit"] == 1 and sum(report["triggers"]["tool-failure"].values()) == 1
    assert [(row["memory"], row["verdict"]) for row in report["rows"]] == [(LESSON_ID, "hit")]


def test_predictions_are_lines_and_the_same_to_the_byte_at_every_run(sessions: Path, tmp_path: Path) -> None:
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for file in files:
        assert decide(sessions, "--predictions", file).exit_code == 0

    (line,) = files[0].read_bytes().splitlines()
    row = json.loads(line)
    assert list(row) == ["session", "seq", "memories", "bytes"]
    assert (row["session"], row["seq"], row["memories"]) == ("made", 5, [LESSON_ID]) and row["bytes"] > 100
    assert files[0].read_bytes() == files[1].read_bytes()


def test_one_session_may_be_chosen_or_be_the_folder_itself(sessions: Path) -> None:
    chosen = json.loads(decide(sessions, "--sessions", "made", "--json").output)
    itself = json.loads(decide(sessions / "made", "--json").output)

    assert list(chosen["sessions"]) == ["made"] and chosen == itself


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--sessions", "gone"], "There are: made, quiet."),
        (["--predictions", "/nowhere/out.jsonl"], "/nowhere/out.jsonl cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(sessions: Path, arguments: list[str], said: str) -> None:
    result = decide(sessions, *arguments)

    assert result.exit_code == 1 and said in result.output and "Traceback" not in result.output


def test_a_broken_session_is_said_before_any_is_replayed(sessions: Path) -> None:
    (sessions / "quiet" / "memories.jsonl").write_text("not json\n")

    result = decide(sessions)

    assert result.exit_code == 1 and "memories.jsonl, line 1" in result.output


def test_predictions_that_could_not_be_kept_are_said_before_any_is_replayed(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replayed(*_: object) -> None:
        raise AssertionError("a session was replayed")

    events = sessions / "made" / "events.jsonl"
    before, locked = events.read_bytes(), tmp_path / "locked.jsonl"
    locked.touch()
    monkeypatch.setattr("host.cli.eval_decisions.run", replayed)
    monkeypatch.setattr("host.cli.eval_decisions.os.access", lambda path, mode: path != locked.resolve())

    said = [decide(sessions, "--predictions", file).output for file in (tmp_path / "no" / "o", locked, events)]

    assert "there is no folder" in said[0] and "is not yours to write" in said[1]
    assert "is a file of a session" in said[2] and events.read_bytes() == before


def test_a_session_without_labels_is_an_error_and_not_passed_over(sessions: Path) -> None:
    (sessions / "quiet" / "labels.json").unlink()

    result = decide(sessions)

    assert result.exit_code == 1 and "quiet/labels.json: it cannot be read" in result.output


def test_what_is_odd_about_a_session_is_said_beside_the_figures(sessions: Path) -> None:
    events = sessions / "made" / "events.jsonl"
    events.write_text(events.read_text().replace("tool/result", "tool/reslut"))

    result = decide(sessions, "--json")

    assert result.stderr.splitlines()[0] == "made: events of a type that is not known: seq 5, 8."
    assert result.exit_code == 0 and json.loads(result.stdout)["set"]["hits"] == 0


def test_the_engine_is_asked_for_only_where_it_is(sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.cli.eval_decisions.available", lambda: False)

    result = CliRunner().invoke(main, ["eval", "decisions", str(sessions), "--engine"])

    assert result.exit_code == 1 and "The extra semantic is not installed." in result.output
