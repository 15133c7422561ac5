"""Git's private exclude list (`info/exclude`): our settings file holds a token and must not be committed. Pure.

Nothing is staged or committed by this (invariant 14); the list is the user's own and is not shared.
"""

from pathlib import Path

from host.namespace import name
from recall.workspace import common_directory

MARK = f"# {name()}: holds a token"


def exclude_path(repository: Path) -> Path | None:
    """Where the list is, or None outside git."""
    common = common_directory(str(repository))
    return None if common is None else common / "info" / "exclude"


def with_line(text: str | None, pattern: str) -> str:
    """The list with our mark and `pattern` at its end; unchanged when they are there."""
    before = text or ""
    if _ours(pattern) in before or _joined(pattern) in before:
        return before
    whole = not before or before.endswith("\n")
    return before + _ours(pattern) if whole else before + _joined(pattern)


def without_line(text: str | None, pattern: str) -> str | None:
    """The list without our two lines; None when there was no list."""
    if text is None:
        return None
    return text.replace(_joined(pattern), "", 1) if _joined(pattern) in text else text.replace(_ours(pattern), "", 1)


def _ours(pattern: str) -> str:
    return f"{MARK}\n{pattern}\n"


def _joined(pattern: str) -> str:
    """The same after a last line that had no end: the end that we add is ours too, and the mark says so."""
    return f"\n{MARK} (joined)\n{pattern}\n"
