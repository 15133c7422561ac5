"""N-08: a tool's read result, and which bytes of the file it showed (pure).

A host counts lines in its own way; a `ReadWindow` counts them as the file has them. Claude Code takes what follows the
final newline for one more, empty line: a file of two lines has three, an empty one has one. The digest of the shown
text ties the window to the file's content: once the file changed there, the window says nothing about it.
"""

import re
from collections.abc import Mapping
from typing import TypeGuard

from recall.canonical import text_digest
from recall.contracts import ReadWindow

_SURROGATE = re.compile("[\ud800-\udfff]")


def claude_code_read(response: object) -> ReadWindow | None:
    """The window of a Read result (PostToolUse `tool_response`, a transcript's `toolUseResult`).

    None for what shows no lines of a text file: images, notebooks, failures, other tools. A page cut at the token
    cap is a smaller window, not a special one. An offset past the end and an empty file give a window of no lines.
    """
    if not isinstance(response, Mapping) or response.get("type", "text") != "text":
        return None
    file = response.get("file")
    if not isinstance(file, Mapping):
        return None
    path, content, start = file.get("filePath"), file.get("content"), file.get("startLine")
    count, total = file.get("numLines"), file.get("totalLines")
    if not (_is_text(path) and path and _is_text(content) and _is_count(start) and start and _is_count(count)):
        return None
    lines = _normal(content, start).split("\n") if count else []
    if len(lines) != count:
        return None
    known = total if _is_count(total) else None
    if lines and known is not None and lines[-1] == "" and start + count - 1 >= known:
        lines.pop()  # what follows the final newline is no line
        known -= 1
    return ReadWindow(
        path=path,
        line_start=start,
        line_count=len(lines),
        total_lines=known,
        content_digest=text_digest("\n".join(lines)),
    )


def window_bytes(data: bytes, window: ReadWindow) -> tuple[int, int] | None:
    """The half-open byte range of `data` that the window showed, its last line end included.

    `data` is the file as it is now. None when its lines there are not what was shown (the file changed since), or
    when the window has no digest to tell. A window of no lines covers an empty range.
    """
    if window.content_digest is None or window.line_start < 1 or window.line_count < 0:
        return None
    *ended, rest = data.split(b"\n")
    lines = [line + b"\n" for line in ended] + ([rest] if rest else [])
    first = window.line_start - 1
    shown = lines[first : first + window.line_count]
    text = _normal(b"".join(shown).decode("utf-8", "replace"), window.line_start)
    if len(shown) != window.line_count or text_digest(text.removesuffix("\n")) != window.content_digest:
        return None
    start = sum(map(len, lines[:first]))
    return start, start + sum(map(len, shown))


def _normal(text: str, line_start: int) -> str:
    """Text as both sides are compared: without a BOM in front of line 1, with "\\n" line ends."""
    text = text.removeprefix("\ufeff") if line_start == 1 else text
    return text.replace("\r\n", "\n")


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and not _SURROGATE.search(value)


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
