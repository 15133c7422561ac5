"""Where a memory's place in the code is now: its line may have moved, be gone, or be there twice. Pure."""

from enum import StrEnum

from recall.contracts import CodeAnchor, Frozen


class AnchorState(StrEnum):
    """How a place in the code stands."""

    UNCHANGED = "unchanged"
    MOVED = "moved"
    GONE = "gone"
    AMBIGUOUS = "ambiguous"  # not where it was, and at several other places


class Found(Frozen, frozen=True, kw_only=True):
    """How a place stands, and the lines (1-based) where its snippet is now, in order."""

    state: AnchorState
    lines: tuple[int, ...] = ()


def locate(anchor: CodeAnchor, text: str) -> Found:
    """Look for the snippet in the file's text: with its indentation first, then with any."""
    wanted, lines = anchor.snippet.rstrip(), [line.rstrip() for line in text.splitlines()]
    if not wanted.strip():
        return Found(state=AnchorState.GONE)
    places = [number for number, line in enumerate(lines, start=1) if line.strip() == wanted.strip()]
    exact = [number for number in places if lines[number - 1] == wanted]
    if anchor.line in places:
        return Found(state=AnchorState.UNCHANGED, lines=(anchor.line,))
    found = exact or places
    if not found:
        return Found(state=AnchorState.GONE)
    return Found(state=AnchorState.MOVED if len(found) == 1 else AnchorState.AMBIGUOUS, lines=tuple(found))
