"""Give a file another name only where that name is free, or swap two names: in one step, where the system can
(team.md 9).

Linux and macOS can, on most file systems. Nothing that stands there is ever gone before it was looked at.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Callable

_FLAGS = {"linux": ("renameat2", 1), "darwin": ("renameatx_np", 4)}  # RENAME_NOREPLACE, RENAME_EXCL
_SWAP = 2  # RENAME_EXCHANGE, RENAME_SWAP
_CANNOT = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})

Rename = Callable[[int, bytes, int, bytes, int], int]


def found(platform: str) -> tuple[Rename, int] | None:
    """The system's function with its flag; None: this system has none."""
    name, flag = _FLAGS.get(platform, ("", 0))
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None) if name else None
    if function is None:
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    rename: Rename = function
    return rename, flag


_system = found(sys.platform)


def rename_free(folder: int, name: str, free: str) -> bool:
    """Whether the file of that folder has the free name now. False: the system, or its file system, cannot do it.

    Raises FileExistsError when the name is taken, FileNotFoundError when there is no such file, and other OSErrors.
    """
    return _system is not None and _renamed(_system[0], folder, (name, free), _system[1])


def swapped(folder: int, one: str, other: str) -> bool:
    """Whether the two names of that folder have each other's file now. False: as for `rename_free`.

    Raises FileNotFoundError when one of them is not there, and other OSErrors.
    """
    return _system is not None and _renamed(_system[0], folder, (one, other), _SWAP)


def _renamed(rename: Rename, folder: int, names: tuple[str, str], flag: int) -> bool:
    if rename(folder, os.fsencode(names[0]), folder, os.fsencode(names[1]), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), names[1])
