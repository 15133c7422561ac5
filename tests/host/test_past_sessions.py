"""Session files are found where the products keep them, known by their content, and read in the order of time."""

import json
import os
import shutil
from pathlib import Path

import pytest

from host import past_sessions
from host.homes import Homes
from host.past_sessions import PastSession, events, find, folder_of, opened, ordered

DATA = Path(__file__).resolve().parents[1] / "data" / "transcripts"
CLAUDE = DATA / "claude" / "cc-2.1.38-tool-heavy-queue.jsonl"
SUBAGENT = DATA / "claude" / "cc-2.1.39-session" / "subagents" / "agent-aac57f5.jsonl"
CODEX = DATA / "codex" / "codex-rollout-parent.jsonl"


def kept(source: Path, target: Path, at: int) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    os.utime(target, (at, at))
    return target


def test_the_files_of_both_products_are_found_oldest_first_and_subagents_last(tmp_path: Path) -> None:
    homes = Homes(home=tmp_path, claude=tmp_path / ".claude", codex=tmp_path / ".codex", gemini=tmp_path / ".gemini")
    assert find(homes) == []
    late = kept(CLAUDE, homes.claude / "projects" / "-w-app" / "s1.jsonl", 300)
    child = kept(SUBAGENT, homes.claude / "projects" / "-w-app" / "s1" / "subagents" / "agent-a.jsonl", 50)
    early = kept(CODEX, homes.codex / "sessions" / "2026" / "10" / "28" / "rollout-1-s.jsonl", 100)
    (homes.claude / "projects" / "-w-app" / "memory.md").write_text("no session")

    found = find(homes)

    assert [(one.path, one.host) for one in found] == [(early, "codex"), (late, "claude-code"), (child, "claude-code")]
    assert [one.size for one in found] == [path.stat().st_size for path in (early, late, child)]


def test_a_file_of_another_format_has_no_host_and_one_that_is_gone_is_passed_over(tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"type": "strange"}\n')
    assert [(one.path, one.host) for one in ordered([other, tmp_path / "gone.jsonl"])] == [(other, "")]


def test_a_pipe_or_a_device_is_no_session_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    pipe, device, nothing = tmp_path / "pipe.jsonl", tmp_path / "device.jsonl", tmp_path / "empty.jsonl"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    nothing.touch()
    assert [(one.path, one.host, one.size) for one in ordered([pipe, device, nothing])] == [
        (device, "", 0),
        (pipe, "", 0),
    ]
    with pytest.raises(OSError, match="Not a plain file"):
        opened(pipe)


def test_a_line_that_is_too_long_is_passed_over_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def line(number: int, text: str) -> str:
        told = {
            "type": "user",
            "uuid": f"u{number}",
            "sessionId": "s",
            "cwd": "/w",
            "timestamp": "2026-10-01T10:00:00Z",
        }
        return json.dumps(told | {"message": {"role": "user", "content": text}}) + "\n"

    file = tmp_path / "s.jsonl"
    file.write_text(line(1, "first") + line(2, "x" * 1_700) + line(3, "last").rstrip("\n"))
    monkeypatch.setattr(past_sessions, "LONGEST", 500)
    (past,) = ordered([file])
    with opened(file) as lines:
        said = [json.loads(bytes(event.payload)).get("text") for event in events(past, lines)]
    assert [text for text in said if text] == ["first", "last"]


def test_the_folder_of_a_session_is_that_of_its_first_event() -> None:
    for file in (CLAUDE, CODEX):
        (past,) = ordered([file])
        with file.open("rb") as lines:
            first = next(event for event in events(past, lines) if event.workspace)
        assert folder_of(past) == first.workspace != ""


def test_every_event_of_every_file_has_an_id_so_that_it_is_stored_once() -> None:
    for past in ordered(sorted(DATA.rglob("*.jsonl"))):
        if past.host:
            with past.path.open("rb") as lines:
                assert all(event.event_id or event.native_seq is not None for event in events(past, lines)), past.path


def test_a_forked_session_says_last_which_one_it_goes_on_from(tmp_path: Path) -> None:
    file = tmp_path / "fork.jsonl"
    record = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s-new",
        "forkedFrom": {"sessionId": "s-old", "messageUuid": "u0"},
        "timestamp": "2026-11-03T09:00:00.000Z",
        "cwd": "/w",
        "message": {"role": "user", "content": "go on"},
    }
    file.write_text(json.dumps(record) + "\n")
    with opened(file) as lines:
        told = list(events(PastSession(path=file, host="claude-code", size=1), lines))

    assert [event.event_type for event in told] == ["session/start", "user/message", "session/forked"]
    assert json.loads(bytes(told[-1].payload)) == {"parent": "s-old"}
    assert told[-1].session_id == "s-new"
