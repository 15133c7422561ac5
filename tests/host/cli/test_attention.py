"""`attention`: what holds, what each point is like, what feedback proposes; and the walk through a real daemon."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import attention
from host.cli.attention import advice_lines
from host.cli.main import main
from host.cli.memory_answers import Advice, Point, Proposal
from recall.contracts import Attention
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.builders import a_memory_id
from tests.support.prompt import Prompt

ID = a_memory_id(1)
QUIET, NORMAL, EAGER = Attention.QUIET, Attention.NORMAL, Attention.EAGER
POINTS = {
    "quiet": {"precision": 0.75, "recall": 0.2, "falsePer100": 0.5},
    "normal": {"precision": 0.625, "recall": 0.31, "falsePer100": 1.52},
    "eager": {"precision": 0.4, "recall": 0.35, "falsePer100": 4.0},
}
STANDING: dict[str, Any] = {"rollout": "active", "attention": "quiet", "chosen": True, "points": POINTS}


def run(monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], *arguments: str) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, attention, answers)
    return CliRunner().invoke(main, ["attention", *arguments]), daemon


def test_without_a_point_what_holds_is_shown_with_each_point_as_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, {"workspace.get": STANDING})

    assert daemon.params("workspace.get") == {"workspace": str(Path().resolve())}
    lines = [" ".join(line.split()) for line in result.output.splitlines()]
    assert lines[:2] == ["Quiet in this workspace.", "point right found wrong a 100 steps"]
    assert lines[2].startswith("* quiet 75% 20% 0.5 ")
    assert lines[3].startswith("normal 62% 31% 1.5 ") and lines[4].startswith("eager 40% 35% 4.0 ")
    assert lines[5].startswith("Measured on recorded sessions: right,")


def test_a_default_is_called_one(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"workspace.get": STANDING | {"attention": "normal", "chosen": False}})

    assert result.output.startswith("Normal in this workspace, by default.\n")


def test_a_point_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"workspaceKey": "ws", "rollout": "active", "attention": "eager", "chosen": True}
    result, daemon = run(monkeypatch, {"workspace.set": answer}, "eager")
    as_json, _ = run(monkeypatch, {"workspace.set": answer}, "eager", "--json")

    assert daemon.params("workspace.set") == {"workspace": str(Path().resolve()), "attention": "eager"}
    assert result.output == "Eager in this workspace, from the next step on.\n"
    assert json.loads(as_json.output)["attention"] == "eager"


def test_a_point_that_is_none_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, {}, "loud")

    assert (result.exit_code, daemon.asked) == (2, [])


def test_nothing_is_chosen_for_a_folder_that_is_not_there_but_it_can_be_looked_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = str(tmp_path / "gone")
    chosen, daemon = run(monkeypatch, {}, "quiet", "--workspace", gone)
    seen, _ = run(monkeypatch, {"workspace.get": STANDING}, "--workspace", gone)

    assert (chosen.exit_code, daemon.asked) == (2, []) and "There is no folder" in chosen.output
    assert seen.exit_code == 0 and "There is no folder" in seen.stderr


NOISY = Advice(
    judged=9,
    opinions={"noise": 7, "useful": 2},
    points=(
        Point(attention=QUIET, given=3, noise=1, useful=2),
        Point(attention=NORMAL, given=9, noise=7, useful=2),
        Point(attention=EAGER, given=9, noise=7, useful=2),
    ),
    proposals=(
        Proposal(kind="attention", count=7, attention=QUIET),
        Proposal(kind="mute", count=3, memory_id=ID),
        Proposal(kind="look", count=1, memory_id=ID),
    ),
)


def test_feedback_is_told_as_proposals_with_the_command_that_follows_them() -> None:
    assert list(advice_lines(NOISY, NORMAL)) == [
        "Feedback here: 7 noise, 2 useful.",
        "7 of 9 packets were called noise: quiet would have given 3 of 9, 1 of them noise. "
        "To change: remora-pre attention quiet",
        f"{ID} was called noise 3 times. To keep it back: remora-pre mute {ID}",
        f"{ID} was called wrong or harmful. To look at it: remora-pre show {ID}",
    ]


@pytest.mark.parametrize("points", [(), NOISY.points])
def test_what_was_missed_is_told_as_a_proposal_too(points: tuple[Point, ...]) -> None:
    advice = Advice(
        points=points, missed=4, reached=3, proposals=(Proposal(kind="attention", count=3, attention=EAGER),)
    )
    assert list(advice_lines(advice, NORMAL)) == [
        "4 memories should have come: 3 would clear the bar of eager. To change: remora-pre attention eager"
    ]


def test_what_was_said_of_memories_alone_is_told_without_a_packet() -> None:
    advice = Advice(opinions={"missed": 2, "wrong": 1}, missed=2)

    assert list(advice_lines(advice, NORMAL)) == ["Feedback here: 2 missed, 1 wrong."]


def test_without_feedback_nothing_is_told() -> None:
    assert list(advice_lines(Advice(), NORMAL)) == []


def test_proposals_are_shown_below_the_points(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"workspace.get": STANDING | {"attention": "normal", "advice": NOISY}})
    as_json, _ = run(monkeypatch, {"workspace.get": STANDING | {"attention": "normal", "advice": NOISY}}, "--json")

    assert result.output.splitlines()[6:] == list(advice_lines(NOISY, NORMAL))
    assert json.loads(as_json.output)["advice"]["judged"] == 9


def test_a_person_chooses_through_a_real_daemon(prompt: Prompt) -> None:
    assert prompt.ok("attention").startswith("Normal in this workspace, by default.\n")
    assert prompt.ok("attention", "quiet") == "Quiet in this workspace, from the next step on.\n"
    found = prompt.json("attention")
    assert (found["attention"], found["chosen"], list(found["points"])) == ("quiet", True, ["quiet", "normal", "eager"])
