"""Where the socket is, and whether its folder is safe. Standard library only: the hook client imports this.

`$XDG_RUNTIME_DIR` when it is ours alone, else a folder of the user's own under the temporary folder. A name that is
too long for a socket address gives way to a short one made of a checksum, the same for the daemon and its clients.
"""

import binascii
import os
import stat
from _collections_abc import Mapping  # loaded already; by its public name it costs a start of the hook 2 ms

from host.namespace import HTTP_SOCKET_FILE, SOCKET_FILE, env, name

ADDRESS_BYTES = 103  # macOS has room for 103 bytes and a NUL, Linux for 107
SHORT_FOLDER = "/tmp"
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def socket_path(environ: Mapping[str, str], uid: int) -> str:
    """The absolute path of the JSON-RPC socket for this environment and user."""
    chosen = environ.get(env("socket"), "")
    if chosen:
        folder, file = os.path.split(os.path.abspath(chosen))
        return _short(folder, file, uid)
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and folder_problem(runtime, uid) is None:
        return _short(os.path.join(runtime, name()), SOCKET_FILE, uid)
    temporary = environ.get("TMPDIR", "")
    base = temporary if os.path.isabs(temporary) else SHORT_FOLDER
    return _short(os.path.join(base, name(str(uid))), SOCKET_FILE, uid)


def folder_problem(folder: str, uid: int) -> str | None:
    """Why a socket must not be in this folder, or None. A symbolic link is never followed."""
    try:
        found = os.lstat(folder)
    except OSError:
        return "it does not exist"
    if not stat.S_ISDIR(found.st_mode):
        return "it is not a folder"
    if found.st_uid != uid:
        return "it belongs to another user"
    if found.st_mode & OTHERS_MAY_WRITE:
        return f"others may write there (mode {stat.S_IMODE(found.st_mode):04o})"
    return None


def _short(folder: str, file: str, uid: int) -> str:
    """`folder/file`, or where that does not fit beside the HTTP socket, a short folder of its own."""
    longest = max(len(os.fsencode(file)), len(HTTP_SOCKET_FILE))
    if len(os.fsencode(folder)) + 1 + longest <= ADDRESS_BYTES:
        return os.path.join(folder, file)
    checksum = binascii.crc32(os.fsencode(os.path.join(folder, file)))
    return os.path.join(SHORT_FOLDER, f"{name(str(uid))}-{checksum:08x}", SOCKET_FILE)
