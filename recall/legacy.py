"""Files without markers: where their sections begin and end, and what their front matter says of them (M-06). Pure.

A section runs from an ATX heading to the next one. What stands between `<!-- remora-pre:begin v1 -->` and
`<!-- remora-pre:end v1 -->` was written there by us from records that have files of their own: it is left out, for a
memory must not come back as its own witness. A marker's line in somebody else's file ends a section and is believed
nothing else.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from recall.lines import Anchor, Block, Flat, Heading, Landmark, Span

MOST_GLOBS = 16
ALWAYS = "alwaysApply"  # the tag of a rule that its product puts into every context
LONGEST_GLOB, LONGEST_NAME = 256, 240

MOST_FRONT = 65_536  # bytes of a front matter; a longer one is text

_DASHES = re.compile(rb"---[ \t\x0b\x0c]*")
_CLOSING = re.compile(rb"\n(?:---|\.\.\.)[ \t\x0b\x0c\0]*(?=\n|\Z)")
_KEYED = re.compile(rb"(?m)^[A-Za-z0-9_.'\"-]+[ \t]*:")
_YAML = re.compile(rb"[A-Za-z0-9_.'\"-]+[ \t]*:|[ \t#\]}-]|[ \t\x0b\x0c\0]*\Z")
_KEY = re.compile(r"(description|title|name|globs|paths|alwaysApply):(.*)", re.DOTALL)
_ITEM = re.compile(r"[ \t]*-[ \t](.+)", re.DOTALL)


class Front(NamedTuple):
    """What a file's front matter says: what the file is called, which paths it is about, and where the rest begins."""

    name: str
    tags: tuple[str, ...]
    end: int
    second: int | None = None  # where another front matter follows at once, a tool's accident, and where that ends
    second_end: int = 0


class Section(NamedTuple):
    """A section's body: the headings above it, which of the sections below the same ones it is, and which piece of it:
    what we wrote in between cuts a section into pieces."""

    headings: tuple[str, ...]
    ordinal: int
    piece: int
    body: Span


class Sections(NamedTuple):
    """A file's sections in order, and the positions of block lines that have no partner."""

    found: Sequence[Section]
    unpaired: Sequence[int]


def front_matter(flat: Flat) -> Front:
    """The front matter at the top of a file, if there is one."""
    first = _front(flat, flat.first)
    if first is None:
        return Front("", (), flat.first)
    inside, end = first
    lines = flat.text(inside).split("\n")
    following = flat.trimmed(end, len(flat.bytes))
    second = None if following is None else _front(flat, following.start)
    if following is None or second is None or not _KEYED.search(flat.bytes, second[0].start, second[0].end):
        return Front(_name(lines), _tags(lines), end)
    return Front(_name(lines), _tags(lines), end, following.start, second[1])


def sections(flat: Flat, start: int, marks: Sequence[Landmark]) -> Sections:
    """The sections from `start` on."""
    found: list[Section] = []
    unpaired: list[int] = []
    path: list[tuple[int, str]] = []
    headings: tuple[str, ...] = ()
    times = Counter({headings: 1})  # how often these headings came up
    piece, at, begun = 0, start, -1  # begun: where our own block began, if we are in one
    for mark in (*marks, Anchor(len(flat.bytes), len(flat.bytes))):
        if mark.start < start:
            continue
        body = flat.trimmed(at, mark.start) if begun < 0 else None
        if body is not None:
            found.append(Section(headings, times[headings] - 1, piece, body))
            piece += 1
        at = mark.end
        match mark:
            case Heading() if begun < 0:
                path = [(level, words) for level, words in path if level < mark.level] + [(mark.level, mark.words)]
                headings = tuple(words for _, words in path)
                times[headings] += 1
                piece = 0
            case Block(begins=True) if begun < 0:
                begun = mark.start
            case Block(begins=False) if begun >= 0:
                begun = -1
            case Block():
                unpaired.append(mark.start)
    return Sections(found, [*unpaired, begun] if begun >= 0 else unpaired)


def _front(flat: Flat, start: int) -> tuple[Span, int] | None:
    """The lines between the dashes of a front matter that begins at `start`, and where its closing line ends. Text
    between two rulers is none: its lines would have to look like YAML."""
    opening = flat.line(start)
    if not _DASHES.fullmatch(flat.data, opening.start, opening.end):
        return None
    closing = _CLOSING.search(flat.bytes, opening.end)
    if closing is None:
        return None
    inside = Span(min(opening.end + 1, closing.start()), closing.start())
    if inside.end - inside.start > MOST_FRONT:
        return None
    if not all(_YAML.match(line) for line in flat.bytes[inside.start : inside.end].split(b"\n")):
        return None
    return inside, flat.line_end(closing.start() + 1)


def _name(lines: Sequence[str]) -> str:
    """What the front matter calls the file: the first of its name, title and description."""
    for line in lines:
        match = _KEY.fullmatch(line)
        if match and match[1] in ("description", "title", "name") and match[2]:
            return match[2].strip(" \t'\"")[:LONGEST_NAME]
    return ""


def _tags(lines: Sequence[str]) -> tuple[str, ...]:
    """The paths that a rule is for, and `alwaysApply` when it says so."""
    globs: list[str] = []
    listing, always = False, False
    for line in lines:
        match, item = _KEY.fullmatch(line), _ITEM.fullmatch(line)
        if match:
            listing = match[1] in ("globs", "paths")
            always = always or (match[1] == ALWAYS and match[2].strip() == "true")
            globs += match[2].strip(" \t[]").split(",") if listing else ()
        elif listing and item:
            globs.append(item[1])
        else:
            listing = False
    named = dict.fromkeys(glob.strip(" \t'\"") for glob in globs)
    return (*[glob for glob in named if 0 < len(glob) <= LONGEST_GLOB][:MOST_GLOBS], *((ALWAYS,) if always else ()))
