"""JSON text edited in place (pure): members and elements come and go, every other character stays.

Comments and trailing commas, which some products allow in their settings, are read and kept. An insertion writes the
text's own indentation and line ends, and a cut takes away just what an insertion wrote: `cut(insert(text)) == text`.
"""

import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from recall.contracts import Frozen

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_NOTE = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=[ \t\r\n]*[}\]])', re.DOTALL)
_MAY_BE_COMMA = re.compile(r",[ \t\r\n]*[}\]]")
_PAST_NOTES = re.compile(r"(?:[ \t\r\n]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_REST_OF_LINE = re.compile(r"(?:[ \t]*(?:/\*(?:(?!\*/)[^\r\n])*\*/|//[^\r\n]*))*")
_LINE_NOTE = re.compile(r'(?:"(?:[^"\\]|\\.)*"|/\*(?:(?!\*/)[^\r\n])*\*/|[^"/\r\n]|/(?![/*]))*//[^\r\n]*$', re.DOTALL)
_VISIBLE = re.compile(r"[^\r\n]")
_WHITE = " \t\r\n"
_INDENT = "  "


class Item(Frozen, frozen=True, kw_only=True):
    """A member (with key) or an element of a container. `start`: of the key, or of the value."""

    start: int
    value: "Node"
    key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Node:
    """A value and where it stands: half-open, in characters. `opened`: "{", "[" or "" for a scalar. `bare`: the whole
    text without comments and trailing commas."""

    start: int
    end: int
    depth: int
    bare: str = field(repr=False)
    opened: str = ""

    @functools.cached_property
    def items(self) -> tuple[Item, ...]:
        """What is in it. Looked for when it is asked for: a text may have megabytes, and we go down a few ways."""
        return tuple(_items(self)) if self.opened else ()

    def at(self, key: str) -> int | None:
        """The place of a member; of the last one when a key repeats, as parsers take it."""
        return next((number for number in reversed(range(len(self.items))) if self.items[number].key == key), None)

    def member(self, key: str) -> "Node | None":
        number = self.at(key)
        return None if number is None else self.items[number].value


@functools.lru_cache(maxsize=2)  # one text is asked about many times in a row, and may have megabytes
def scan(text: str) -> Node:
    """The tree of a JSON text, with or without comments and trailing commas. Raises ValueError (what is wrong and
    where) for anything else."""
    bare = plain(text)
    try:
        json.loads(bare.removeprefix("\ufeff"), parse_constant=_refused)
        return _value(bare, _skip(bare, len(bare) - len(bare.removeprefix("\ufeff"))), 0)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def plain(text: str) -> str:
    """`text` with spaces for comments and trailing commas: strict JSON, every other character at its place."""
    bare = _NOTE.sub(_blank, text) if "/" in text else text

    def spaced(match: re.Match[str]) -> str:
        return " " if match[0] == "," and _ends_value(bare, match.start()) else match[0]

    return _COMMA.sub(spaced, bare) if _MAY_BE_COMMA.search(bare) else bare


def has_notes_or_commas(text: str) -> tuple[bool, bool]:
    """Whether a text has comments, and whether it has trailing commas."""
    bare = _NOTE.sub(_blank, text) if "/" in text else text
    return bare != text, plain(bare) != bare


def value_of(text: str, node: Node) -> object:
    """What a node of the text says."""
    return json.loads(plain(text[node.start : node.end]))


def has_notes(text: str, node: Node) -> bool:
    """Whether comments stand inside a node."""
    inside = text[node.start : node.end]
    return "/" in inside and _NOTE.sub(_blank, inside) != inside


def insert(text: str, container: Node, value: object, key: str | None = None, opened: int = 0) -> str:
    """`text` with `value` as the last member (under `key`) or element of `container`. It stands on one line, but
    for its `opened` outermost objects.

    It goes after the comment that ends the line of the one before, and gets a trailing comma where that one has one.
    """
    unit, newline = _style(text)
    piece = json.dumps(value) if unit is None else _written(value, unit, opened)
    piece = piece if key is None else f"{json.dumps(key)}: {piece}"
    outer = newline + (unit or "") * container.depth if unit is not None else ""
    inner = outer + unit if unit is not None else ""
    piece = piece.replace("\n", inner)
    if not container.items:
        return _insert_first(text, container, piece, inner, outer)
    last = container.items[-1].value.end
    comma = _comma_after(text, last)
    end = _rest_of_line(text, last if comma is None else comma + 1)
    between = inner if unit is not None else (newline if _is_line_note(text, end) else " ")
    if comma is None:
        return text[:last] + "," + text[last:end] + between + piece + text[end:]
    return text[:end] + between + piece + "," + text[end:]


def _written(value: object, unit: str, opened: int) -> str:
    """A value on one line, but for its outermost objects."""
    if not opened or not isinstance(value, dict) or not value:
        return json.dumps(value)
    members = (f"{json.dumps(key)}: {_written(one, unit, opened - 1)}" for key, one in value.items())
    inside = ",\n".join(members).replace("\n", f"\n{unit}")
    return f"{{\n{unit}{inside}\n}}"


def cut(text: str, container: Node, number: int) -> str:
    """`text` without the container's item `number`, and without the comma and white space that came with it."""
    items, item = container.items, container.items[number]
    comma, begin = _comma_after(text, item.value.end), _before_white(text, item.start)
    if comma is not None and number == 0 and len(items) > 1:
        return text[: item.start] + text[item.value.end : comma] + text[_skip(text, comma + 1) :]
    if comma is not None:
        return _joined(text[:begin], text[item.value.end : comma] + text[comma + 1 :])
    if number:
        before = _comma_after(text, items[number - 1].value.end) or begin
        return _joined(text[:before] + text[before + 1 : begin], text[item.value.end :])
    if begin > container.start + 1:  # after a comment
        return _joined(text[:begin], text[item.value.end :])
    unit, newline = _style(text)
    outer = newline + unit * container.depth if unit is not None else ""
    end = item.value.end + (len(outer) if text.startswith(outer, item.value.end) else 0)
    return text[: container.start + 1] + text[end:]


def _joined(head: str, tail: str) -> str:
    """Both, on two lines when the first ends in a comment that runs to the end of its line."""
    apart = _is_line_note(head, len(head)) and not tail.lstrip(" \t").startswith(("\n", "\r"))
    return head + ("\n" if apart else "") + tail


def _insert_first(text: str, container: Node, piece: str, inner: str, outer: str) -> str:
    inside = text[container.start + 1 : container.end - 1].rstrip(_WHITE)
    at = container.start + 1 + len(inside)
    if not inside:
        return text[:at] + inner + piece + outer + text[at:]
    between = inner or ("\n" if _is_line_note(text, at) else " ")
    return text[:at] + between + piece + text[at:]


def _style(text: str) -> tuple[str | None, str]:
    """The indentation (None: all on one line) and the line end that the text is written with."""
    newline = "\r\n" if "\r\n" in text else "\n"
    opening = _past_notes(text, len(text) - len(text.removeprefix("\ufeff")))
    first = _past_notes(text, opening + 1)
    if text[first] in "}]":
        return _INDENT, newline
    before = text[opening + 1 : first]
    line = before.rpartition("\n")[2]
    return (line[: len(line) - len(line.lstrip(" \t"))] if "\n" in before else None), newline


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _past_notes(text: str, at: int) -> int:
    match = _PAST_NOTES.match(text, at)
    return match.end() if match else at


def _comma_after(text: str, at: int) -> int | None:
    """The place of the comma after a value that ends at `at`."""
    place = _past_notes(text, at)
    return place if text.startswith(",", place) else None


def _rest_of_line(text: str, at: int) -> int:
    """The end of the comments that follow on the same line."""
    match = _REST_OF_LINE.match(text, at)
    return match.end() if match else at


def _is_line_note(text: str, end: int) -> bool:
    """Whether what ends at `end` is a comment that runs to the end of its line."""
    begin = max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1
    return "//" in text[begin:end] and _LINE_NOTE.match(text[begin:end]) is not None


def _before_white(text: str, at: int) -> int:
    """The end of what stands before the white space before `at`."""
    return len(text[:at].rstrip(_WHITE))


def _ends_value(bare: str, at: int) -> bool:
    """Whether a value ends before the comma at `at`: it can be left out then."""
    before = at - 1
    while before >= 0 and bare[before] in _WHITE:
        before -= 1
    return before >= 0 and bare[before] not in "{[,:"


def _blank(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else _VISIBLE.sub(" ", match[0])


def _value(text: str, at: int, depth: int) -> Node:
    _, end = _DECODER.raw_decode(text, at)
    return Node(start=at, end=end, depth=depth, bare=text, opened=text[at] if text[at] in "{[" else "")


def _items(container: Node) -> Iterator[Item]:
    text, at = container.bare, _skip(container.bare, container.start + 1)
    while text[at] not in "}]":
        begin, key = at, None
        if container.opened == "{":
            key, end = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, end) + 1)  # past the colon
        value = _value(text, at, container.depth + 1)
        yield Item(start=begin, value=value, key=key)
        at = _skip(text, value.end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")
