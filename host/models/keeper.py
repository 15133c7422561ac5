"""Runs one command for the command driver, and ends with whoever started it. A program of its own.

    python keeper.py LIFELINE COMMAND [ARGUMENT …]

LIFELINE is the number of an inherited socket. When its other end closes, however the daemon ended, the whole process
group is killed: this program, the command, and what that left running. When the command ends, its exit code is written
to the socket, and the group is killed all the same. Signals cannot do this: a killed daemon sends none.
"""

import os
import signal
import socket
import subprocess
import sys
import threading


def main(lifeline: int, command: list[str]) -> None:
    """Raises nothing: what happened is one line on the socket, `exit N` or `missing`."""
    line = socket.socket(fileno=lifeline)
    threading.Thread(target=_end_with, args=(line,), daemon=True).start()
    try:
        with subprocess.Popen(command) as running:
            told = f"exit {running.wait()}\n"
    except OSError:
        told = "missing\n"
    line.sendall(told.encode())
    _end()


def _end_with(line: socket.socket) -> None:
    """Wait until the other end is closed. Nothing is ever sent from there."""
    try:
        line.recv(1)
    except OSError:
        pass
    _end()


def _end() -> None:
    os.killpg(os.getpgid(0), signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
