"""The end of a daemon that does not answer: by a signal, and only when it is surely ours.

The kernel says which process listens at the socket, and the daemon's lock who holds it. They must be one: a pid in a
file alone may be somebody else's by now.
"""

import fcntl
import os
import signal
import socket
import time
from pathlib import Path

from host.errors import RemoraError
from host.namespace import SCRIPT
from host.sockets import Lock, credentials

PATIENCE = 100  # looks after each signal: 5 s to finish what is under way, and 5 s for the kernel
PAUSE_SECONDS = 0.05
CONNECT_SECONDS = 1.0


def end(path: Path, lock: Path) -> bool:
    """End the daemon that listens at `path` and holds `lock`; True when it had to be killed (SIGKILL). What it kept is
    safe: each change was on the disk before it was answered. Raises RemoraError when it cannot be ended, or is not
    surely ours."""
    holder = Lock(lock).holder()
    if not holder.isdecimal() or not _is_held(lock) or not _listens(path, int(holder)):
        raise RemoraError(
            f"What listens at {path} does not answer, and is left alone: it cannot be seen that it is the daemon.",
            f"Find out what it is with: {SCRIPT} doctor",
        )
    pid = int(holder)
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, sign)
        except ProcessLookupError:
            return False
        except PermissionError as error:
            problem = f"The daemon (pid {pid}) cannot be ended: {error.strerror}."
            raise RemoraError(problem, "End it by hand.") from error
        if _gone(lock, holder):
            return sign == signal.SIGKILL
    raise RemoraError(
        f"The daemon (pid {pid}) is still there after SIGKILL.", "Look what it waits for: ps -o stat,wchan"
    )


def _listens(path: Path, pid: int) -> bool:
    """Whether a process of this user listens there, and none but that one where the system says which."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connected:
        connected.settimeout(CONNECT_SECONDS)
        try:
            connected.connect(str(path))
        except OSError:
            return False
        who = credentials(connected)
    return who.uid == os.getuid() and who.pid in (pid, None)


def _is_held(lock: Path) -> bool:
    """Whether a process has a lock on the file. It is only tried, never made, and let go at once."""
    try:
        number = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(number)
    return False


def _gone(lock: Path, holder: str) -> bool:
    """Whether that process let go of the lock, within our patience."""
    for _ in range(PATIENCE):
        if Lock(lock).holder() != holder or not _is_held(lock):
            return True
        time.sleep(PAUSE_SECONDS)
    return False
