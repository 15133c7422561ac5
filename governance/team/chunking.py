"""Turns of one session in portions that an agent can read at a time (team.md 5). Pure.

A portion holds whole turns. What a user or an agent said is never cut: where a turn is too large, its largest tool
payloads are shown by their beginning and end, and it is said so.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from governance.team.contracts.recalling import Coverage
from governance.team.contracts.turns import Turn, TurnContent, TurnEvent
from recall.contracts import Frozen

CHUNKER = "whole-turns@1"
CHUNK_BYTES = 40_960  # of the texts in a chunk, the lines between them not counted
EXCERPT_ABOVE = 2_048  # bytes of a payload that may be shown in part
EXCERPT_BYTES = 1_024  # at each end
LONE_TURN_BYTES = 262_144  # of a turn that no excerpt makes small enough
FRAMES_BYTES = 262_144  # of the lines around such a turn's texts
_FRAME = 24  # bytes of such a line, about

_TOOLS = ("tool-call", "tool-result")
EventKind = Literal["user", "assistant", "tool-call", "tool-result"]


class Part(Frozen, frozen=True, kw_only=True):
    """An event of a turn as it is shown. `bytes`: of the whole text, `kept`: of what is shown of it; `cut`: that is not
    all."""

    kind: EventKind
    name: str
    text: str
    bytes: int
    kept: int
    cut: bool


class Shown(Frozen, frozen=True, kw_only=True):
    """A turn as it is shown. `size`: bytes of its texts as they are shown."""

    turn: Turn
    parts: tuple[Part, ...]
    size: int


class Chunked(Frozen, frozen=True, kw_only=True):
    """`too_large`: turns that no chunk can hold."""

    chunks: tuple[tuple[Shown, ...], ...]
    too_large: tuple[Turn, ...]


def chunked(contents: Sequence[TurnContent], scrub: Callable[[str], str] = str) -> Chunked:
    """Turns of one session, in their order, as chunks. `scrub`: what every text passes first."""
    chunks: list[tuple[Shown, ...]] = []
    too_large: list[Turn] = []
    open_chunk: list[Shown] = []
    for content in contents:
        shown = fitted(content, scrub)
        if shown is None:
            too_large.append(content.turn)
            continue
        if open_chunk and sum(one.size for one in open_chunk) + shown.size > CHUNK_BYTES:
            chunks.append(tuple(open_chunk))
            open_chunk = []
        open_chunk.append(shown)
    if open_chunk:
        chunks.append(tuple(open_chunk))
    return Chunked(chunks=tuple(chunks), too_large=tuple(too_large))


def fitted(content: TurnContent, scrub: Callable[[str], str] = str) -> Shown | None:
    """A turn as it is shown: whole where it fits, else its largest tool payloads in part. None: it is too large."""
    parts = [_part(event, scrub(event.text)) for event in content.events]
    size = sum(part.bytes for part in parts)
    largest = sorted(range(len(parts)), key=lambda place: (-parts[place].bytes, place))
    for place in largest:
        part = parts[place]
        if size <= CHUNK_BYTES or part.bytes <= EXCERPT_ABOVE:
            break
        if part.kind in _TOOLS:
            parts[place] = _excerpt(part)
            size += parts[place].kept - part.bytes
    if size > LONE_TURN_BYTES or _FRAME * len(parts) > FRAMES_BYTES:
        return None
    return Shown(turn=content.turn, parts=tuple(parts), size=size)


def coverage(chunk: Sequence[Shown]) -> tuple[Coverage, ...]:
    """What of the chunk's turns is there: each turn, and each text of it that is not whole. `ref`: the turn's index,
    then the text's place in it, from 1; `bytes`: of the whole."""
    found: list[Coverage] = []
    for shown in chunk:
        index, whole = shown.turn.place, sum(part.bytes for part in shown.parts)
        cut = [(place, part) for place, part in enumerate(shown.parts, 1) if part.cut]
        done: Literal["truncated", "full"] = "truncated" if cut else "full"
        found.append(Coverage(kind="turn", ref=str(index), completeness=done, bytes=whole))
        found += [
            Coverage(kind=part.kind, ref=f"{index}.{place}", completeness="truncated", bytes=part.bytes)
            for place, part in cut
        ]
    return tuple(found)


def _part(event: TurnEvent, text: str) -> Part:
    text = text.encode("utf-8", "replace").decode()  # a half of a surrogate pair has no bytes
    size = len(text.encode("utf-8", "replace"))
    return Part(kind=event.kind, name=event.name, text=text, bytes=size, kept=size, cut=not event.whole)


def _excerpt(part: Part) -> Part:
    """Its first and last bytes, whole characters only, and how much is between them."""
    data = part.text.encode("utf-8", "replace")
    head = data[:EXCERPT_BYTES].decode("utf-8", "ignore")
    tail = data[-EXCERPT_BYTES:].decode("utf-8", "ignore")
    kept = len(head.encode()) + len(tail.encode())
    text = f"{head}\n[… {len(data) - kept} bytes are left out here …]\n{tail}"
    return Part(kind=part.kind, name=part.name, text=text, bytes=part.bytes, kept=kept, cut=True)
