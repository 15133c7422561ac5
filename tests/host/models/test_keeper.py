"""The keeper: tells how its command ended, and ends when the other end is closed."""

import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing

import pytest

from host.models.command import KEEPER


def kept(command: Sequence[str]) -> tuple[subprocess.Popen[bytes], socket.socket]:
    ours, theirs = socket.socketpair()
    with closing(theirs):
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(KEEPER), str(theirs.fileno()), *command],
            stdout=subprocess.PIPE,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
    return process, ours


def said(line: socket.socket) -> bytes:
    with closing(line):
        return b"".join(iter(lambda: line.recv(64), b""))


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ([sys.executable, "-c", "print('x')"], b"exit 0\n"),
        ([sys.executable, "-c", "raise SystemExit(7)"], b"exit 7\n"),
        ([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], b"exit -9\n"),
        (["/no/such/program"], b"missing\n"),
        (["/"], b"missing\n"),
    ],
)
def test_how_the_command_ended_is_told(command: Sequence[str], told: bytes) -> None:
    process, line = kept(command)

    assert said(line) == told
    process.communicate()
    assert process.returncode == -signal.SIGKILL  # its whole group ends, itself included


def test_it_ends_when_the_other_end_is_closed() -> None:
    process, line = kept([sys.executable, "-c", "import time; print('x', flush=True); time.sleep(600)"])
    assert process.stdout is not None
    process.stdout.readline()

    line.close()

    assert process.stdout.read() == b""  # the command, which held it, is gone
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def test_its_command_does_not_inherit_the_line() -> None:
    process, line = kept([sys.executable, "-c", "import os; print(sorted(os.listdir('/dev/fd'))[:3])"])

    assert said(line) == b"exit 0\n"  # an inherited end would still be open
    assert process.communicate()[0].startswith(b"['0', '1', '2'")
