"""Starting a daemon: waiting ends when it answers, when it died, and when patience ends."""

from pathlib import Path

import pytest

from host import launch
from host.client import DaemonAbsent
from host.errors import RemoraError

ABSENT = DaemonAbsent.__new__(DaemonAbsent)


class FakeProcess:
    """A process that ends with `code` at the given look; None: it goes on."""

    def __init__(self, code: int | None = None) -> None:
        self.code = code

    def poll(self) -> int | None:
        return self.code


class Looks:
    """Stands in for `call_sync`: absent so many times, then there. Counts the pauses between."""

    def __init__(self, absent: int) -> None:
        self.absent = absent
        self.pauses = 0

    def call(self, *_: object) -> bytes:
        if self.absent:
            self.absent -= 1
            raise ABSENT
        return b"{}"

    def pause(self, _: float) -> None:
        self.pauses += 1


def wait(monkeypatch: pytest.MonkeyPatch, looks: Looks, process: FakeProcess, log: Path) -> None:
    monkeypatch.setattr(launch, "call_sync", looks.call)
    monkeypatch.setattr(launch.time, "sleep", looks.pause)
    launch.wait_until_ready(process, Path("s"), log)  # type: ignore[arg-type]  # all that is used is `poll`


def test_it_waits_until_the_daemon_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    looks = Looks(absent=3)

    wait(monkeypatch, looks, FakeProcess(), tmp_path / "log")

    assert looks.pauses == 3


def test_a_daemon_that_left_the_place_to_another_is_no_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    looks = Looks(absent=2)

    wait(monkeypatch, looks, FakeProcess(code=0), tmp_path / "log")

    assert looks.pauses == 2


def test_a_daemon_that_died_is_told_with_its_last_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("\n".join(f"line {number}" for number in range(20)))

    with pytest.raises(RemoraError, match="code 3") as told:
        wait(monkeypatch, Looks(absent=9), FakeProcess(code=3), log)

    assert "line 19" in str(told.value) and "line 14" not in str(told.value)


def test_a_daemon_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    looks = Looks(absent=10_000)

    with pytest.raises(RemoraError, match="within 10 s"):
        wait(monkeypatch, looks, FakeProcess(), tmp_path / "log")

    assert looks.pauses == launch.PATIENCE
