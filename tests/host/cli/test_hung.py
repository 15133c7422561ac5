"""The end of a daemon that does not answer: real processes, and none but the daemon itself."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.cli import hung
from host.errors import RemoraError

# Holds the lock and listens, and answers nothing. "deaf": hears no SIGTERM either.
PROGRAM = (
    "import signal, socket, sys, time\n"
    "from pathlib import Path\n"
    "from host.sockets import Lock\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN if sys.argv[3] == 'deaf' else lambda *_: sys.exit(7))\n"
    "lock = Lock(Path(sys.argv[2]))\n"
    "assert sys.argv[3] == 'lockless' or lock.take()\n"
    "listens = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)\n"
    "listens.bind(sys.argv[1]); listens.listen(8)\n"
    "print('ready', flush=True)\n"
    "time.sleep(60)\n"
)


@contextlib.contextmanager
def daemon(run_dir: Path, how: str = "plain") -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", PROGRAM, str(run_dir / "d.sock"), str(run_dir / "d.lock"), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process
        process.kill()


def test_one_that_still_hears_a_signal_ends_by_itself(run_dir: Path) -> None:
    with daemon(run_dir) as process:
        assert hung.end(run_dir / "d.sock", run_dir / "d.lock") is False
        assert process.wait(10) == 7


@pytest.mark.parametrize("how", ["deaf", "stopped"])
def test_one_that_hears_nothing_is_killed(run_dir: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hung, "PAUSE_SECONDS", 0.01)
    with daemon(run_dir, how) as process:
        if how == "stopped":
            process.send_signal(signal.SIGSTOP)
        assert hung.end(run_dir / "d.sock", run_dir / "d.lock") is True
        assert process.wait(10) == -signal.SIGKILL


@pytest.mark.parametrize("written", ["", "1", "no pid"])
def test_who_listens_and_does_not_hold_the_lock_is_left_alone(run_dir: Path, written: str) -> None:
    (run_dir / "d.lock").write_text(written)
    with daemon(run_dir, "lockless") as process:
        with pytest.raises(RemoraError, match=r"left alone: .* remora-pre doctor"):
            hung.end(run_dir / "d.sock", run_dir / "d.lock")
        assert process.poll() is None


def test_who_holds_the_lock_and_does_not_listen_is_left_alone(run_dir: Path) -> None:
    with daemon(run_dir) as process:
        with pytest.raises(RemoraError, match="left alone"):
            hung.end(run_dir / "other.sock", run_dir / "d.lock")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:  # another process: ours
            other.bind(str(run_dir / "other.sock"))
            other.listen()
            with pytest.raises(RemoraError, match="left alone"):
                hung.end(run_dir / "other.sock", run_dir / "d.lock")
        assert process.poll() is None


def test_what_the_system_does_not_let_us_end_is_told(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(pid: int, sign: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    with daemon(run_dir):
        monkeypatch.setattr(os, "kill", refuses)
        with pytest.raises(RemoraError, match=r"cannot be ended: Operation not permitted\. End it by hand\."):
            hung.end(run_dir / "d.sock", run_dir / "d.lock")
        monkeypatch.undo()
