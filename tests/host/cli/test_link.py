"""One request, a typed answer; a daemon is started when there is none, and only then."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from host.cli import link
from host.client import DaemonAbsent, Refused

ABSENT = DaemonAbsent.__new__(DaemonAbsent)


class FakeSocket:
    """Stands in for `call_sync`: raises what it is given, one a call, then answers."""

    def __init__(self, *raised: Exception) -> None:
        self.raised = list(raised)
        self.calls: list[tuple[str, Any]] = []

    def __call__(self, path: Path, method: str, params: Any, timeout: float = 0) -> msgspec.Raw:
        self.calls.append((method, params))
        if self.raised:
            raise self.raised.pop(0)
        return msgspec.Raw(b'{"n": 1}')


def linked(monkeypatch: pytest.MonkeyPatch, socket: FakeSocket) -> list[str]:
    started: list[str] = []
    monkeypatch.setattr(link, "call_sync", socket)
    monkeypatch.setattr(link, "start_daemon", lambda: started.append("once"))
    return started


def test_a_running_daemon_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    socket = FakeSocket()
    started = linked(monkeypatch, socket)

    assert link.ask("metrics", {"a": 1}, dict[str, int]) == {"n": 1}
    assert (socket.calls, started) == ([("metrics", {"a": 1})], [])


def test_without_a_daemon_one_is_started_and_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    socket = FakeSocket(ABSENT)
    started = linked(monkeypatch, socket)

    assert link.ask("metrics", {}, dict[str, int]) == {"n": 1}
    assert (len(socket.calls), started) == (2, ["once"])


def test_asking_a_running_one_never_starts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    started = linked(monkeypatch, FakeSocket(ABSENT))

    with pytest.raises(DaemonAbsent):
        link.ask_running("health", {}, dict[str, int])
    assert started == []


def test_a_refusal_is_not_taken_for_absence(monkeypatch: pytest.MonkeyPatch) -> None:
    started = linked(monkeypatch, FakeSocket(Refused("no-owner", -32602, "No owner.", "Name one.")))

    with pytest.raises(Refused):
        link.ask("memory.get", {}, dict[str, int])
    assert started == []


def test_what_to_do_about_a_refusal_is_said_in_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    linked(monkeypatch, FakeSocket(Refused("unknown-memory", -32000, "No memory.", "List them with memory.list.")))

    with pytest.raises(Refused) as refused:
        link.ask("memory.get", {}, dict[str, int])
    assert (refused.value.kind, str(refused.value)) == (
        "unknown-memory",
        "No memory. List what there is with: remora-pre list",
    )


def test_starting_passes_the_options_of_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(link, "launch", lambda *arguments: seen.append(arguments))
    monkeypatch.setattr(link, "wait_until_ready", lambda *arguments: seen.append(arguments))

    link.start_daemon()

    (options, _, log), (_, socket, same_log) = seen
    assert options == ["--background"] and log == same_log == link.paths().log_file
    assert socket == link.paths().socket
