"""One request, a typed answer; a daemon is started when there is none, and only then; another's is not asked."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from host.cli import link
from host.client import DaemonAbsent, DaemonSilent, Refused
from host.errors import RemoraError
from host.namespace import env

ABSENT = DaemonAbsent.__new__(DaemonAbsent)


class FakeSocket:
    """Stands in for `call_sync`: raises what it is given, one a call, then answers. `data`: the daemon's folder."""

    def __init__(self, *raised: Exception, data: Path | str = "") -> None:
        self.raised = list(raised)
        self.data = str(data)
        self.calls: list[tuple[str, Any]] = []

    def __call__(self, path: Path, method: str, params: Any, timeout: float = 0) -> msgspec.Raw:
        self.calls.append((method, params))
        if self.raised:
            raise self.raised.pop(0)
        if method == "health":
            return msgspec.Raw(msgspec.json.encode({"ready": True, "data": self.data, "pid": 77}))
        return msgspec.Raw(b'{"n": 1}')


def linked(monkeypatch: pytest.MonkeyPatch, socket: FakeSocket) -> list[str]:
    started: list[str] = []
    monkeypatch.setattr(link, "call_sync", socket)
    monkeypatch.setattr(link, "start_daemon", lambda: started.append("once"))
    return started


def test_a_running_daemon_is_asked_whose_data_it_keeps_and_then_once(monkeypatch: pytest.MonkeyPatch) -> None:
    socket = FakeSocket()
    started = linked(monkeypatch, socket)

    assert link.ask("metrics", {"a": 1}, dict[str, int]) == {"n": 1}
    assert (socket.calls, started) == ([("health", {}), ("metrics", {"a": 1})], [])


def test_without_a_daemon_one_is_started_and_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    socket = FakeSocket(ABSENT)
    started = linked(monkeypatch, socket)

    assert link.ask("metrics", {}, dict[str, int]) == {"n": 1}
    assert [method for method, _ in socket.calls] == ["health", "health", "metrics"]
    assert started == ["once"]


def test_a_daemon_that_keeps_other_data_is_refused_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(env("data"), str(tmp_path / "mine"))
    socket = FakeSocket(data=tmp_path / "theirs")
    started = linked(monkeypatch, socket)

    for asks in (lambda: link.ask("memory.list", {}, dict[str, int]), lambda: link.listen("a", "b", int, bool)):
        with pytest.raises(RemoraError) as refused:
            asks()
        assert str(tmp_path / "theirs") in refused.value.problem and str(tmp_path / "mine") in refused.value.problem
        assert "pid 77" in refused.value.problem and "remora-pre stop" in refused.value.next_step
    assert ([method for method, _ in socket.calls], started) == (["health", "health"], [])


def test_the_same_data_folder_by_another_name_is_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "data")
    monkeypatch.setenv(env("data"), str(tmp_path / "link"))
    linked(monkeypatch, FakeSocket(data=tmp_path / "data"))

    assert link.ask("metrics", {}, dict[str, int]) == {"n": 1}


def test_one_can_always_be_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    linked(monkeypatch, FakeSocket(data="/theirs"))

    assert link.ask_running("shutdown", {}, dict[str, int]) == {"n": 1}


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


@pytest.mark.parametrize("kind", ["not-found", "read-only", "unusable-file", "index-unavailable"])
def test_no_refusal_sends_a_person_to_a_method_of_the_wire(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    linked(monkeypatch, FakeSocket(Refused(kind, -32000, "No.", "memory.mute, index.rebuild.")))

    with pytest.raises(Refused, match=r"^No\. .*remora-pre (list|mute|lint|status)") as refused:
        link.ask("memory.get", {}, dict[str, int])
    assert "memory." not in str(refused.value) and "index." not in str(refused.value)


@pytest.mark.parametrize(("method", "seconds"), [("health", 3), ("shutdown", 3), ("memory.search", 30)])
def test_a_daemon_that_hangs_is_told_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, method: str, seconds: float
) -> None:
    asked: list[float] = []

    def hangs(path: Path, method: str, params: Any, timeout: float) -> msgspec.Raw:
        asked.append(timeout)
        raise DaemonSilent("It does not answer.", "Look.") from TimeoutError()

    monkeypatch.setattr(link, "call_sync", hangs)

    with pytest.raises(DaemonSilent, match=rf"within {seconds} s\. .* `remora-pre stop`, then: remora-pre start"):
        link.ask_running(method, {}, dict[str, int])
    assert asked == [seconds]


def test_what_listens_and_is_no_daemon_is_told_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    linked(monkeypatch, FakeSocket(DaemonSilent("It speaks otherwise.", "Look.")))

    with pytest.raises(DaemonSilent, match=r"^It speaks otherwise\. Look\.$"):
        link.ask("memory.list", {}, dict[str, int])


def test_starting_passes_the_options_of_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(link, "launch", lambda *arguments: seen.append(arguments))
    monkeypatch.setattr(link, "wait_until_ready", lambda *arguments: seen.append(arguments))

    link.start_daemon()

    (options, _, log), (_, socket) = seen
    assert options == ["--background"] and log == link.paths().log_file
    assert socket == link.paths().socket
