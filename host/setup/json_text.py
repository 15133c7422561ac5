"""JSON text edited in place (pure): members and elements come and go, every other character stays.

An insertion writes the text's own indentation and line ends, and a cut takes away just what an insertion wrote:
`cut(insert(text)) == text`.
"""

import json
import re
from typing import NoReturn

from recall.contracts import Frozen

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\]+|\\.)*"')
_SCALAR = re.compile(r"[^\s,\]}]+")
_INDENT = "  "


class Item(Frozen, frozen=True, kw_only=True):
    """A member (with key) or an element of a container. `start`: of the key, or of the value."""

    start: int
    value: "Node"
    key: str | None = None


class Node(Frozen, frozen=True, kw_only=True):
    """A value and where it stands: half-open, in characters. `opened`: "{", "[" or "" for a scalar."""

    start: int
    end: int
    depth: int
    opened: str = ""
    items: tuple[Item, ...] = ()

    def at(self, key: str) -> int | None:
        """The place of a member; of the last one when a key repeats, as parsers take it."""
        return next((number for number in reversed(range(len(self.items))) if self.items[number].key == key), None)

    def member(self, key: str) -> "Node | None":
        number = self.at(key)
        return None if number is None else self.items[number].value


def scan(text: str) -> Node:
    """The tree of a strict JSON text. Raises ValueError (what is wrong and where) for anything else."""
    try:
        json.loads(text.removeprefix("\ufeff"), parse_constant=_refused)
        return _root(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def insert(text: str, container: Node, value: object, key: str | None = None) -> str:
    """`text` with `value` as the last member (under `key`) or element of `container`."""
    unit, newline = _style(text)
    piece = json.dumps(value, indent=unit) if unit is not None else json.dumps(value)
    piece = piece if key is None else f"{json.dumps(key)}: {piece}"
    outer = newline + (unit or "") * container.depth if unit is not None else ""
    inner = outer + unit if unit is not None else ""
    piece = piece.replace("\n", inner)
    if container.items:
        at, piece = container.items[-1].value.end, f",{inner}{piece}" if unit is not None else f", {piece}"
    else:
        at, piece = container.start + 1, f"{inner}{piece}{outer}"
    return text[:at] + piece + text[at:]


def cut(text: str, container: Node, number: int) -> str:
    """`text` without the container's item `number`, and without the comma and white space that came with it."""
    items, item = container.items, container.items[number]
    if number:
        start, end = items[number - 1].value.end, item.value.end
    elif len(items) > 1:
        start, end = item.start, items[1].start
    else:
        unit, newline = _style(text)
        outer = newline + unit * container.depth if unit is not None else ""
        start, end = container.start + 1, item.value.end
        end += len(outer) if text.startswith(outer, end) else 0
    return text[:start] + text[end:]


def _style(text: str) -> tuple[str | None, str]:
    """The indentation (None: all on one line) and the line end that the text is written with."""
    newline = "\r\n" if "\r\n" in text else "\n"
    root = _root(text)
    if not root.items:
        return _INDENT, newline
    before = text[root.start + 1 : root.items[0].start]
    return (before.rpartition("\n")[2] if "\n" in before else None), newline


def _root(text: str) -> Node:
    return _value(text, _skip(text, len(text) - len(text.removeprefix("\ufeff"))), 0)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int, depth: int) -> Node:
    opened = text[at]
    if opened in "{[":
        return _container(text, at, depth)
    match = (_STRING if opened == '"' else _SCALAR).match(text, at)
    return Node(start=at, end=match.end() if match else at, depth=depth)


def _container(text: str, start: int, depth: int) -> Node:
    opened, items = text[start], list[Item]()
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        begin, key = at, None
        if opened == "{":
            name = _value(text, at, depth + 1)
            key = json.loads(text[at : name.end])
            at = _skip(text, _skip(text, name.end) + 1)  # past the colon
        value = _value(text, at, depth + 1)
        items.append(Item(start=begin, value=value, key=key))
        at = _skip(text, value.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Node(start=start, end=at + 1, depth=depth, opened=opened, items=tuple(items))


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")
