"""A socket that is ours alone: its folder, the lock before the bind, the peer's uid, and a watch over the file.

Order matters. The folder is checked, then the lock is taken, then a stale file is removed, then the socket is bound by
hand with a mask that lets nobody else in. A socket that somebody serves is never replaced, and a file that we did not
make is never unlinked.
"""

import asyncio
import errno
import fcntl
import os
import socket
import stat
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from host.errors import SocketFault
from host.namespace import LATE_FILE, SCRIPT, STOPPED_FILE
from host.paths import ADDRESS_BYTES, folder_problem

BACKLOG = 1024
PROBE_SECONDS = 0.5
SO_PEERCRED = getattr(socket, "SO_PEERCRED", 17)
LOCAL_PEERCRED = 1  # macOS: level 0, a struct xucred
_XUCRED = struct.Struct("@IIh16I")
_UCRED = struct.Struct("=iII")


class Credentials(NamedTuple):
    """Who is at the other end; None where the system does not say."""

    uid: int | None
    pid: int | None


class Inode(NamedTuple):
    """The identity of a file."""

    device: int
    number: int


def ensure_folder(folder: Path) -> None:
    """Make the socket's folder if it is not there; raise SocketFault unless it is ours and closed to others."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SocketFault(
            f"The socket folder {folder} cannot be made: {error.strerror}.", "Make it yourself."
        ) from error
    check_folder(folder)


def check_folder(folder: Path) -> None:
    """Raise SocketFault unless the folder exists, is ours and is closed to others."""
    problem = folder_problem(str(folder), os.getuid())
    if problem is not None:
        raise SocketFault(
            f"The socket folder {folder} is not safe: {problem}.", "Remove it, or give it to yourself with mode 0700."
        )


class Lock:
    """An exclusive lock on a file, held until `release` or the end of the process. The file stays."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._number = -1

    def take(self) -> bool:
        """Whether it is ours now. The holder's pid is written down for people; nobody is ever killed by it."""
        try:
            number = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise SocketFault(
                f"The lock {self.path} cannot be opened: {error.strerror}.", "Look at the file."
            ) from error
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(number)
            return False
        if inode(self.path) != _identity(os.fstat(number)):  # the file was replaced between the two calls
            os.close(number)
            return False
        os.ftruncate(number, 0)
        os.write(number, f"{os.getpid()}\n".encode())
        self._number = number
        return True

    def holder(self) -> str:
        """The pid that the holder wrote down, for a message; "?" when there is none."""
        try:
            return self.path.read_text("ascii", "replace").strip()[:20] or "?"
        except OSError:
            return "?"

    def release(self) -> None:
        """Let it go. The file is left: removing it would let two processes hold two locks of one name."""
        if self._number >= 0:
            os.ftruncate(self._number, 0)
            os.close(self._number)
            self._number = -1


def bind(path: Path) -> socket.socket:
    """A listening socket at `path`, mode 0600. A stale one is replaced. Raises SocketFault when it is not stale."""
    if len(os.fsencode(path)) > ADDRESS_BYTES:
        raise SocketFault(
            f"The socket's name is longer than {ADDRESS_BYTES} bytes: {path}.", "Choose a shorter folder."
        )
    _clear(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        mask = os.umask(0o177)
        try:
            listening.bind(str(path))
        finally:
            os.umask(mask)
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        raise SocketFault(f"The socket {path} cannot be bound: {error.strerror}.", "Look at its folder.") from error
    return listening


def bind_loopback(port: int) -> socket.socket:
    """A listening socket on 127.0.0.1. Raises SocketFault when something else holds the port."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        problem = f"The port {port} cannot be had: {error.strerror}."
        raise SocketFault(problem, f"Stop what holds it, or have another one chosen: {SCRIPT} init.") from error
    return listening


class Listener:
    """A served Unix socket that keeps its name: bound anew when its file is gone or was replaced.

    `state`: "ok", or what is wrong. A file that we did not make is moved aside if nobody serves it, never unlinked.
    """

    def __init__(self, path: Path, factory: Callable[[], asyncio.Protocol]) -> None:
        self.path = path
        self.state = "closed"
        self._factory = factory
        self._server: asyncio.Server | None = None
        self._ours: Inode | None = None

    async def open(self) -> None:
        """Bind and accept. Raises SocketFault."""
        listening = bind(self.path)
        self._ours = inode(self.path)
        # as a plain server: the Unix one removes the file by itself at the end, on some versions whoever made it
        self._server = await asyncio.get_running_loop().create_server(self._factory, sock=listening, backlog=BACKLOG)
        self.state = "ok"

    async def watch(self) -> bool:
        """Look whether the name still leads to us, and take it back if not. True: it was bound anew."""
        found = inode(self.path)
        if self._server is None or found == self._ours:
            return False
        try:
            ensure_folder(self.path.parent)
            if found is not None:
                set_aside(self.path)
            before = self._server
            await self.open()
            before.close()
        except SocketFault as fault:
            self.state = str(fault)
            return False
        return True

    def close(self) -> None:
        """Accept no more; connections live on."""
        if self._server is not None:
            self._server.close()
            self._server = None
            self.state = "closed"

    def remove(self) -> None:
        """Take the file away, if it is still ours."""
        unlink(self.path, self._ours)
        self._ours = None


def well_again(folder: Path, now: float, seconds: float) -> bool:
    """Let hooks ask again: take away the mark that one of them left in the sockets' folder when an answer was late,
    once it is older than `seconds`. `now`: epoch seconds, the clock of file times. True: it was taken away. A mark of
    the future goes too, for its clock was set back; one of this second does not, for clocks round differently."""
    mark = folder / LATE_FILE
    try:
        if -1 <= now - os.lstat(mark).st_mtime < seconds:
            return False
        mark.unlink()
    except OSError:
        return False
    return True


def leave_stopped(folder: Path) -> None:
    """Leave a mark in the sockets' folder that a person stopped the daemon: what goes on by itself does not start it.
    Raises SocketFault."""
    ensure_folder(folder)
    try:
        os.close(os.open(folder / STOPPED_FILE, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise SocketFault(
            f"The mark {folder / STOPPED_FILE} cannot be made: {error.strerror}.", "Look at the folder."
        ) from error


def is_stopped(folder: Path) -> bool:
    """Whether a person stopped the daemon, and none was started since."""
    return os.path.lexists(folder / STOPPED_FILE)


def start_anew(folder: Path) -> None:
    """Take that mark away: a daemon starts."""
    try:
        os.unlink(folder / STOPPED_FILE)
    except OSError:  # it is not there
        pass


def unlink(path: Path, ours: Inode | None) -> None:
    """Remove the socket's file if it is still the one that we made."""
    if ours is not None and inode(path) == ours:
        path.unlink(missing_ok=True)


def inode(path: Path) -> Inode | None:
    """The identity of what is at `path`, not following links; None when nothing is there."""
    try:
        return _identity(os.lstat(path))
    except OSError:
        return None


def set_aside(path: Path) -> None:
    """Move a foreign file that nobody serves out of our name's way. Raises SocketFault when it is served."""
    if is_served(path):
        raise SocketFault(f"Another process serves {path}.", "Stop it, or choose another socket.")
    try:
        os.rename(path, path.with_name(f"{path.name}.foreign"))
    except OSError as error:
        raise SocketFault(f"{path} is not ours and cannot be moved: {error.strerror}.", "Move it away.") from error


def is_served(path: Path) -> bool:
    """Whether a process accepts connections at `path`. A full backlog counts: somebody holds it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(PROBE_SECONDS)
        try:
            probe.connect(str(path))
        except OSError as error:
            return error.errno in (errno.EAGAIN, errno.ETIMEDOUT, errno.EACCES) or isinstance(error, TimeoutError)
    return True


def credentials(connected: socket.socket) -> Credentials:
    """The uid and pid at the other end of a Unix socket, as the kernel saw them at connect."""
    try:
        if sys.platform == "darwin":
            _, uid, *_ = _XUCRED.unpack(connected.getsockopt(0, LOCAL_PEERCRED, _XUCRED.size))
            return Credentials(uid, None)
        pid, uid, _ = _UCRED.unpack(connected.getsockopt(socket.SOL_SOCKET, SO_PEERCRED, _UCRED.size))
    except (OSError, struct.error):
        return Credentials(None, None)
    return Credentials(uid, pid)


def _clear(path: Path) -> None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise SocketFault(f"{path} exists and is no socket.", "Move it away.")
    if is_served(path):
        raise SocketFault(f"Another process serves {path}.", "Stop it, or choose another socket.")
    path.unlink()


def _identity(found: os.stat_result) -> Inode:
    return Inode(found.st_dev, found.st_ino)
