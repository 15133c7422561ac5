"""`replay`: a transcript in, its passes out; the same every time, and nothing kept."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli.main import main
from tests.support.world import FAILURE, LESSON

MEMORY = "mem_0123456789abcdef0123456789abcdef"


def record(number: int, kind: str, content: Any, **fields: Any) -> str:
    base = {
        "type": kind,
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "parentUuid": f"00000000-0000-4000-8000-{number - 1:012d}" if number > 1 else None,
        "sessionId": "11111111-1111-4111-8111-111111111111",
        "timestamp": f"2026-01-06T09:15:{number:02d}.000Z",
        "cwd": "/nowhere/shop",
        "version": "2.1.0",
        "isSidechain": False,
        "userType": "external",
        "message": {"role": kind, "content": content},
    }
    return json.dumps(base | fields)


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """A session of Claude Code: a prompt, a command that fails, a word on it."""
    use = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make integration-test"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": FAILURE, "is_error": True}
    lines = [
        record(1, "user", "Please have a look at the weekly report."),
        record(2, "assistant", [{"type": "text", "text": "I will look."}]),
        record(3, "assistant", [use]),
        record(4, "user", [result], toolUseResult=f"Error: {FAILURE}"),
        record(5, "assistant", [{"type": "text", "text": "It fails."}]),
    ]
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "lesson.md").write_text(f"<!-- memory:{MEMORY} -->\n{LESSON}\n")
    return folder


def replay(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["replay", *map(str, arguments)])


def test_the_memory_that_would_have_helped_is_handed_over_after_the_failure(transcript: Path, memory: Path) -> None:
    said = json.loads(replay(transcript, "--memory", memory, "--json").output)

    (handed,) = said["handedOver"]
    assert handed["memories"] == [MEMORY] and "pg-fixture" in handed["rendered"]
    spoken = [line for line in said["passes"] if line["outcome"] == "packet"]
    assert [line["trigger"] for line in spoken] == ["result:failed"]


def test_the_same_file_and_memories_give_the_same_output(transcript: Path, memory: Path) -> None:
    first, again = (replay(transcript, "--memory", memory, "--json") for _ in range(2))

    assert first.exit_code == 0 and first.output == again.output
    digests = [line["decisionDigest"] for line in json.loads(first.output)["passes"]]
    assert digests and all(len(digest) == 64 for digest in digests)


def test_a_session_can_be_replayed_at_each_point_of_attention(transcript: Path, memory: Path) -> None:
    said = [
        json.loads(replay(transcript, "--memory", memory, "--json", *point).output)["passes"]
        for point in ((), ("--attention", "normal"), ("--attention", "quiet"), ("--attention", "eager"))
    ]

    usual, normal, quiet, eager = ([line["decisionDigest"] for line in passes] for passes in said)
    assert usual == normal
    assert len({tuple(normal), tuple(quiet), tuple(eager)}) == 3  # the policy that decided stands in each decision


def test_without_memories_everything_is_silent_and_told_when_asked(transcript: Path) -> None:
    short, long = replay(transcript), replay(transcript, "--all")

    assert short.output.endswith("passes, 0 packets handed over.\n")
    assert "silence" in long.output and "silence" not in short.output


def test_people_see_the_packet_and_the_pass_that_made_it(transcript: Path, memory: Path) -> None:
    shown = replay(transcript, "--memory", memory).output

    assert "result:failed" in shown and "handed over at event" in shown and MEMORY in shown


def test_an_event_that_cannot_be_used_is_left_out_and_told(transcript: Path, memory: Path) -> None:
    odd = record(6, "assistant", [{"type": "text", "text": "And more."}], uuid="not an id")
    transcript.write_text(transcript.read_text() + odd + "\n")

    said, as_json = replay(transcript, "--memory", memory), replay(transcript, "--memory", memory, "--json")

    assert said.exit_code == as_json.exit_code == 0
    assert said.output.endswith("Events that could not be used were left out: 1 invalid-params.\n")
    assert json.loads(as_json.output)["leftOut"] == {"invalid-params": 1}
    assert len(json.loads(as_json.output)["handedOver"]) == 1


def test_what_is_no_transcript_is_refused_with_what_is_known(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a transcript\n")

    result = replay(file)

    assert result.exit_code == 1
    assert "claude-code" in result.output and "Traceback" not in result.output


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    assert replay(tmp_path / "none.jsonl").exit_code == 2
