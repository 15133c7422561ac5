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


def wait(monkeypatch: pytest.MonkeyPatch, looks: Looks, process: FakeProcess, log: Path, older: int = 0) -> None:
    monkeypatch.setattr(launch, "call_sync", looks.call)
    monkeypatch.setattr(launch.time, "sleep", looks.pause)
    launched = launch.Launched(process=process, log=log, older=older)  # type: ignore[arg-type]  # only `poll` is used
    launch.wait_until_ready(launched, Path("s"))


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


@pytest.mark.parametrize(
    ("before", "since", "said"),
    [
        ("old woe\n", "new woe\n", "code 3:\nnew woe The log"),
        ("old woe\n", "", "code 3. The log"),
        ("much older than\nwhat is there\n", None, "code 3:\nrotated The log"),
    ],
)
def test_what_an_earlier_daemon_said_is_not_told_of_this_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, before: str, since: str | None, said: str
) -> None:
    log = tmp_path / "log"
    log.write_text("rotated\n" if since is None else before + since)

    with pytest.raises(RemoraError) as told:
        wait(monkeypatch, Looks(absent=9), FakeProcess(code=3), log, older=len(before))

    assert said in str(told.value)


def test_a_launch_knows_how_long_the_log_was_before(tmp_path: Path) -> None:
    log = tmp_path / "state" / "log"
    log.parent.mkdir()
    log.write_text("an earlier daemon\n")

    launched = launch.launch(["--no-such-option"], {"PATH": "/nowhere"}, log)

    assert launched.process.wait(20) == 2
    assert (launched.log, launched.older) == (log, len("an earlier daemon\n"))
    assert "--no-such-option" in log.read_text()[launched.older :]


def test_a_daemon_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    looks = Looks(absent=10_000)

    with pytest.raises(RemoraError, match="within 10 s"):
        wait(monkeypatch, looks, FakeProcess(), tmp_path / "log")

    assert looks.pauses == launch.PATIENCE


def test_a_data_folder_that_holds_the_state_is_its_owners_alone(tmp_path: Path) -> None:
    log = tmp_path / "data" / "state" / "daemon.log"

    launched = launch.launch(["--no-such-option"], {}, log)

    launched.process.wait()
    assert [folder.stat().st_mode & 0o777 for folder in (log.parent.parent, log.parent)] == [0o700, 0o700]
