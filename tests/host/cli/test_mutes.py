"""`mute`, `unmute`, `mutes`: what is asked of the daemon, what is said of its answer, and a walk through a real one."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import mutes
from host.cli.main import main
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.builders import a_memory_id
from tests.support.daemon import RunningDaemon
from tests.support.prompt import Prompt

ID = a_memory_id(1)
UNTIL = 1767690959901  # 2026-01-06 09:15:59 UTC
HERE = str(Path().resolve())


def run(monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], *arguments: str) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, mutes, answers)
    return CliRunner().invoke(main, list(arguments)), daemon


@pytest.mark.parametrize(
    ("arguments", "sent", "answer", "said"),
    [
        (
            ["mute", ID],
            {"muted": True},
            {"muted": True, "changed": True, "packetsPurged": 2},
            "It is muted now. Packets purged: 2.\n",
        ),
        (["mute", ID], {"muted": True}, {"muted": True, "changed": False}, "It was muted already.\n"),
        (
            ["mute", ID, "--for", "1h"],
            {"muted": True, "forMs": 3_600_000},
            {"muted": True, "changed": True, "until": UNTIL},
            "It is muted now, until 2026-01-06 09:15:59 UTC.\n",
        ),
        (["mute", ID, "--off"], {"muted": False}, {"muted": False, "changed": False}, "It was not muted.\n"),
        (["unmute", ID], {"muted": False}, {"muted": False, "changed": True}, "It is not muted now.\n"),
    ],
)
def test_a_memory_is_muted_and_let_go_again(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], sent: dict[str, Any], answer: dict[str, Any], said: str
) -> None:
    result, daemon = run(monkeypatch, {"memory.mute": {"memoryId": ID} | answer}, *arguments)
    as_json, _ = run(monkeypatch, {"memory.mute": {"memoryId": ID} | answer}, *arguments, "--json")

    assert daemon.params("memory.mute") == {"memoryId": ID, "workspace": HERE} | sent
    assert (result.exit_code, result.output) == (0, said)
    assert json.loads(as_json.output)["changed"] is answer["changed"]


@pytest.mark.parametrize(
    ("arguments", "sent", "answer", "said"),
    [
        (
            ["mute", "--for", "90m"],
            {"muted": True, "forMs": 5_400_000},
            {"kind": None, "muted": True, "changed": True, "until": UNTIL},
            "Everything is muted here now, until 2026-01-06 09:15:59 UTC.\n",
        ),
        (
            ["mute", "--kind", "episodic"],
            {"muted": True, "kind": "episodic"},
            {"kind": "episodic", "muted": True, "changed": True, "packetsPurged": 1},
            "Episodic memory is muted here now. Packets purged: 1.\n",
        ),
        (
            ["mute", "--kind", "episodic", "--for", "1d"],
            {"muted": True, "kind": "episodic", "forMs": 86_400_000},
            {"kind": "episodic", "muted": True, "changed": False, "until": UNTIL},
            "Episodic memory is muted here already, until 2026-01-06 09:15:59 UTC.\n",
        ),
        (
            ["mute", "--off"],
            {"muted": False},
            {"kind": None, "muted": False, "changed": True},
            "Everything is no longer muted here.\n",
        ),
        (
            ["unmute"],
            {"muted": False},
            {"kind": None, "muted": False, "changed": False},
            "Everything is not muted here.\n",
        ),
        (
            ["unmute", "--kind", "semantic"],
            {"muted": False, "kind": "semantic"},
            {"kind": "semantic", "muted": False, "changed": True},
            "Semantic memory is no longer muted here.\n",
        ),
    ],
)
def test_a_kind_or_everything_is_muted_and_let_go_again(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], sent: dict[str, Any], answer: dict[str, Any], said: str
) -> None:
    result, daemon = run(monkeypatch, {"workspace.mute": answer}, *arguments)
    as_json, _ = run(monkeypatch, {"workspace.mute": answer}, *arguments, "--json")

    assert daemon.params("workspace.mute") == {"workspace": HERE} | sent
    assert (result.exit_code, result.output) == (0, said)
    assert json.loads(as_json.output)["changed"] is answer["changed"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mute"], "Say what: a MEMORY, a --kind, or with --for everything"),
        (["mute", ID, "--kind", "episodic"], "not both"),
        (["unmute", ID, "--kind", "episodic"], "not both"),
        (["mute", ID, "--off", "--for", "1h"], "--off ends a mute now"),
        (["mute", ID, "--for", "soon"], "'soon' is no duration"),
        (["mute", "--kind", "prospective"], "is not one of"),
    ],
)
def test_wrong_usage_is_said_plainly_and_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    result, daemon = run(monkeypatch, {}, *arguments)

    assert (result.exit_code, said in " ".join(result.output.split())) == (2, True)
    assert daemon.asked == []


STANDING = {
    "rollout": "active",
    "attention": "normal",
    "mutes": [{"kind": None, "since": 1, "until": UNTIL}, {"kind": "episodic", "since": 1, "until": None}],
    "memories": [{"memoryId": ID, "text": "Use\nmake check.", "since": 1, "until": None}],
}


def test_what_is_muted_is_listed_with_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"workspace.get": STANDING}, "mutes")

    rows = [line.split("  ") for line in result.output.splitlines()]
    told = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert told == [
        ["muted", "until", "text"],
        ["everything", "2026-01-06 09:15:59 UTC"],
        ["episodic", "for good"],
        [ID, "for good", "Use make check."],
    ]


def test_what_is_muted_is_listed_as_json_and_nothing_is_said_to_be_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    as_json, _ = run(monkeypatch, {"workspace.get": STANDING}, "mutes", "--json")
    none, _ = run(monkeypatch, {"workspace.get": {"rollout": "active", "attention": "normal"}}, "mutes")

    assert json.loads(as_json.output) == {"mutes": STANDING["mutes"], "memories": STANDING["memories"]}
    assert none.output == "Nothing is muted here.\n"


def test_a_person_mutes_and_unmutes_through_a_real_daemon(prompt: Prompt) -> None:
    memory_id = prompt.keep("The release branch is cut on Fridays.")

    assert "until" in prompt.ok("mute", memory_id, "--for", "1d")
    assert "Procedural memory is muted here now." in prompt.ok("mute", "--kind", "procedural")
    quiet = prompt.json("mute", "--for", "1h")
    assert (quiet["kind"], quiet["changed"]) == (None, True)

    found = prompt.json("mutes")
    assert [one["kind"] for one in found["mutes"]] == [None, "procedural"]
    assert [one["memoryId"] for one in found["memories"]] == prompt.listed("--muted") == [memory_id]

    for arguments in (["unmute"], ["unmute", "--kind", "procedural"], ["unmute", memory_id]):
        assert prompt.json(*arguments)["changed"] is True
    assert prompt.ok("mutes") == "Nothing is muted here.\n"


def test_what_a_person_settled_outlives_a_daemon_that_is_killed(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    daemon = RunningDaemon(run_dir)
    for name, value in daemon.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    prompt = Prompt(tmp_path, monkeypatch)
    daemon.start()
    try:
        for arguments in (["attention", "eager"], ["mute", "--kind", "episodic"], ["mute", "--for", "1h"]):
            prompt.ok(*arguments)
        before = prompt.json("attention")
        daemon.kill()
        daemon.start()
        assert prompt.json("attention") == before
        assert [one["kind"] for one in prompt.json("mutes")["mutes"]] == [None, "episodic"]
        assert prompt.json("audit", "verify")["ok"] is True
    finally:
        daemon.kill()


@pytest.mark.parametrize("verb", ["mute", "unmute"])
def test_two_kinds_at_once_are_refused_and_the_last_does_not_win(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    result, daemon = run(monkeypatch, {}, verb, "--kind", "episodic", "--kind", "semantic")

    assert (result.exit_code, daemon.asked) == (2, [])
    assert "episodic and semantic cannot be given at once" in result.output


@pytest.mark.parametrize("what", [["--for", "1h"], ["--kind", "episodic"]])
def test_a_folder_that_is_not_there_is_not_muted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: list[str]
) -> None:
    result, daemon = run(monkeypatch, {}, "mute", *what, "--workspace", str(tmp_path / "gone"))

    assert (result.exit_code, daemon.asked) == (2, []) and "There is no folder" in result.output


@pytest.mark.parametrize("verb", [["unmute"], ["mute", "--off"], ["mute", ID], ["mutes"]])
def test_in_a_folder_that_is_gone_a_mute_can_be_seen_and_ended_and_a_memory_muted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verb: list[str]
) -> None:
    answers = {
        "workspace.mute": {"kind": None, "muted": False, "changed": True},
        "memory.mute": {"memoryId": ID, "muted": True, "changed": True},
        "workspace.get": STANDING,
    }

    result, daemon = run(monkeypatch, answers, *verb, "--workspace", str(tmp_path / "gone"))

    assert result.exit_code == 0, result.output
    assert daemon.asked[-1][1]["workspace"] == str(tmp_path / "gone")
