"""Swap two names of a folder in one step, where the system can (M-06): what a write replaces can then be looked at
before it is gone. Linux and macOS can, on most file systems.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Callable

_SWAP = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_CANNOT = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM})

Rename = Callable[[int, bytes, int, bytes, int], int]


def _found(platform: str) -> Rename | None:
    name = {"linux": "renameat2", "darwin": "renameatx_np"}.get(platform)
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None) if name else None
    if function is None:
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    rename: Rename = function
    return rename


_rename = _found(sys.platform)


def exchange(folder: int, one: str, other: str) -> bool:
    """Whether the two names of that folder were swapped. False: the system, or its file system, cannot. Raises OSError
    when one of them is not there, say."""
    if _rename is None:
        return False
    if _rename(folder, os.fsencode(one), folder, os.fsencode(other), _SWAP) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), other)
