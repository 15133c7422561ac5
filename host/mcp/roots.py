"""Which folder a client works in, from the roots that it names and the folder it started us in. Pure."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit


def folder(roots: Sequence[str], cwd: str) -> str:
    """The root that holds `cwd`, the innermost if there are several; else the first root; without roots `cwd`.

    `roots`: `file:` URIs. Others, and paths that are not absolute, are left out.
    """
    paths = [path for root in roots if (path := _path(root))]
    holding = [path for path in paths if PurePosixPath(cwd).is_relative_to(path)]
    if holding:
        return max(holding, key=len)
    return paths[0] if paths else cwd


def _path(uri: str) -> str:
    """The path that a `file:` URI names on this machine, without a slash at its end; empty for others."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    path = unquote(parts.path)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not path.startswith("/") or "\0" in path:
        return ""
    return str(PurePosixPath(path))
