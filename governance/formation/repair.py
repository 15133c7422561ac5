"""JSON as models write it: where a value ends, what is wrong with it, what is whole of one that was cut. Pure, linear.

A string may hold braces; quotation marks outside of a value are prose. Nothing here decides what a value means.
"""

import re
from typing import NamedTuple

CONTROL, COMMA, PRIORITY, SURROGATE, ESCAPE = (
    "control-characters",
    "trailing-comma",
    "bare-priority",
    "lone-surrogate",
    "escape",
)
_STRING = r'"(?:[^"\\]++|\\.)*+(?P<close>"?)'  # one that ends nowhere is one, too: it closes with nothing
_TOKEN = re.compile(rf"{_STRING}|[{{}}\[\],]", re.DOTALL)
_STRINGS = re.compile(_STRING, re.DOTALL)
_CONTROLS = re.compile(r"[\x00-\x1f]")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_HEX = "[0-9a-fA-F]{2}"
_ESCAPES = re.compile(
    rf"\\(?:(?P<half>u[dD][89a-fA-F]{_HEX})(?P<other>\\u[dD][c-fC-F]{_HEX})?|[\"\\/bfnrt]|u[0-9a-fA-F]{{4}}|(?P<bad>.))",
    re.DOTALL,
)
_TRAILING = re.compile(r",(\s*[}\]])")
_BARE = re.compile(r"\s*:\s*(?!(?:true|false|null)\b)[^\W\d][\w \t-]*")
_CLOSES = {"{": "}", "[": "]"}


def end_of(text: str, start: int) -> int | None:
    """The place after the value that opens at `start` with `{` or `[`; None when it does not close, or not rightly."""
    stack: list[str] = []
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark in "{[":
            stack.append(_CLOSES[mark])
        elif mark in "}]":
            if stack.pop() != mark:
                return None
            if not stack:
                return token.end()
        elif token["close"] == "":
            return None
    return None


class Cut(NamedTuple):
    """A value that was cut. `whole`: what is whole of it (of a list its elements, of an object its members and, of the
    list that was cut in it, the elements); None when nothing is. `closed`: all that was begun, closed where it broke
    off. `begun`: whether that is more than its bracket."""

    whole: str | None
    closed: str
    begun: bool


def cut_of(text: str, start: int) -> Cut | None:
    """The value that opens at `start`, as far as it goes; None when it closes, or is closed wrongly."""
    stack: list[str] = []
    ends: list[int] = []  # of each value that is open, the place after the last whole thing in it
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark in "{[":
            stack.append(mark)
            ends.append(token.end())
        elif mark in "}]":
            if _CLOSES[stack.pop()] != mark or not stack:
                return None
            ends.pop()
            ends[-1] = token.end()
        elif mark == ",":
            ends[-1] = token.start()
        elif token["close"] == "":
            break
    depth = 2 if stack[:2] == ["{", "["] else 1
    closers = "".join(_CLOSES[mark] for mark in reversed(stack))
    whole = text[start : ends[depth - 1]] + closers[-depth:] if ends[depth - 1] > start + 1 else None
    return Cut(whole=whole, closed=text[start : ends[-1]] + closers, begun=ends[-1] > start + 1)


def mended(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with what models often get wrong set right, and the names of what was: raw control characters and wrong
    escapes in strings, halves of surrogate pairs, trailing commas, a bare word as `priority` (it becomes 50)."""
    pieces: list[str] = []
    done: dict[str, None] = {}
    last, before = 0, ""
    for string in _STRINGS.finditer(text):
        pieces += (_between(text[last : string.start()], before, done), _string(string[0], done))
        last, before = string.end(), string[0]
    pieces.append(_between(text[last:], before, done))
    return "".join(pieces), tuple(done)


def _between(text: str, before: str, done: dict[str, None]) -> str:
    """What stands between two strings. `before`: the string in front of it."""
    if before == '"priority"' and (bare := _BARE.match(text)):
        done[PRIORITY] = None
        text = ": 50" + text[bare.end() :]
    plain, count = _TRAILING.subn(r"\1", text)
    if count:
        done[COMMA] = None
    return plain


def _string(text: str, done: dict[str, None]) -> str:
    plain = _CONTROLS.sub(lambda found: _NAMED.get(found[0], f"\\u{ord(found[0]):04x}"), text)
    if plain != text:
        done[CONTROL] = None
    if "\\" not in plain:
        return plain

    def whole(found: re.Match[str]) -> str:
        if found["bad"]:
            done[ESCAPE] = None
            return f"\\\\{found['bad']}"
        if found["half"] and (not found["other"] or found["half"][2] in "cdefCDEF"):
            done[SURROGATE] = None
            return "\\ufffd" * (2 if found["other"] else 1)
        return found[0]

    return _ESCAPES.sub(whole, plain)
