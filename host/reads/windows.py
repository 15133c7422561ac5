"""N-08: which lines of a file a tool's read result showed, and which bytes of it those are (pure).

A host counts lines in its own way; a `ReadWindow` counts them as the file has them: most hosts take what follows the
final newline for one more, empty line. The digest of the shown text ties the window to the file's content: once the
file changed there, the window says nothing about it (invariant 4).
"""

from collections.abc import Sequence

from recall.canonical import text_digest
from recall.contracts import ReadWindow


def window(path: str, start: int, lines: Sequence[str], total: int | None) -> ReadWindow:
    """The window of the lines of a file from `start` on, as a host counts them; `total`: how many it counts in all."""
    shown = list(lines)
    if shown and total is not None and shown[-1] == "" and start + len(shown) - 1 >= total:
        shown.pop()  # what follows the final newline is no line
        total -= 1
    return ReadWindow(
        path=path,
        line_start=start,
        line_count=len(shown),
        total_lines=total,
        content_digest=text_digest("\n".join(shown)),
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
    text = normal(b"".join(shown).decode("utf-8", "replace"), window.line_start)
    if len(shown) != window.line_count or text_digest(text.removesuffix("\n")) != window.content_digest:
        return None
    start = sum(map(len, lines[:first]))
    return start, start + sum(map(len, shown))


def normal(text: str, line_start: int) -> str:
    """Text as both sides are compared: without a BOM in front of line 1, with "\\n" line ends."""
    text = text.removeprefix("\ufeff") if line_start == 1 else text
    return text.replace("\r\n", "\n")
