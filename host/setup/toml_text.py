"""TOML text edited in place (pure): whole tables come and go, every other character stays.

A table is put at the end of the text, and cut out with the lines below its header. Both are checked by reading the text
again: a change that would say anything else than what it should is refused.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping

import tomlkit

from host.errors import ConfigFault
from recall.contracts import Frozen

Keys = tuple[str, ...]
_HEADER = re.compile(r"^[ \t]*\[[^\r\n]*", re.MULTILINE)
_TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'{3}.*?\'{3,5}|"(?:\\.|[^"\\\r\n])*"|\'[^\'\r\n]*\'|\#[^\r\n]*''', re.DOTALL
)
_VISIBLE = re.compile(r"[^\r\n]")
_BLANK = re.compile(r"[ \t]*(?:#[^\r\n]*)?\r?\n?")


class Table(Frozen, frozen=True, kw_only=True):
    """A table's header and its own lines in a text: half-open, in characters."""

    keys: Keys
    start: int
    end: int


def loads(text: str) -> dict[str, object]:
    """What a text says. Raises ConfigFault."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigFault(f"The settings are no TOML: {error}.", "Correct them, then try again.") from error


def append(text: str, keys: Keys, values: Mapping[str, object]) -> str:
    """`text` with a new table at its end, set apart by an empty line. Raises ConfigFault."""
    newline = newline_of(text)
    header = f"[{'.'.join(tomlkit.key(key).as_string() for key in keys)}]"
    lines = [header, *(f"{tomlkit.key(key).as_string()} = {_literal(value)}" for key, value in values.items())]
    table = "".join(line + newline for line in lines)
    said = loads(text)
    after = text + (newline if _is_unended(text) else "") + (newline if said or text.strip() else "") + table
    _check(after, _merged(said, keys, values))
    return after


def without(text: str, drop: Callable[[Keys], bool], *, joined: bool = False) -> str:
    """`text` without the tables that `drop` names and the empty line before each. `joined`: the line before the last
    of them had no end until it was put there. Raises ConfigFault."""
    before = loads(text)
    newline = newline_of(text)
    for table in reversed(list(tables(text))):
        if drop(table.keys):
            start = table.start
            if text[:start].endswith(("\n\n", "\n\r\n")):
                start -= len(newline)
            if joined and table.end == len(text) and text[:start].endswith(newline):
                start -= len(newline)
            text = text[:start] + text[table.end :]
    _check(text, _pruned(before, drop))
    return text


def tables(text: str) -> Iterator[Table]:
    """The tables with a header of their own, in order; those of lists of tables too."""
    bare = _TOKEN.sub(_blank, text)
    found = [(match, keys) for match in _HEADER.finditer(bare) if (keys := _keys(match[0]))]
    ends = [*(match.start() for match, _ in found[1:]), len(text)]
    for (match, keys), end in zip(found, ends, strict=False):
        yield Table(keys=keys, start=match.start(), end=_end(text, match.end(), end))


def newline_of(text: str) -> str:
    """How the text ends its lines."""
    return "\r\n" if "\r\n" in text else "\n"


def _is_unended(text: str) -> bool:
    return bool(text.removeprefix("\ufeff")) and not text.endswith("\n")


def _blank(match: re.Match[str]) -> str:
    """Spaces for comments, and for strings of many lines, in which anything may stand."""
    token = match[0]
    return _VISIBLE.sub(" ", token) if token.startswith(("#", '"""', "'''")) else token


def _end(text: str, at: int, following: int) -> int:
    """The end of a table's lines: before the empty lines and comments above what follows it."""
    lines = text[at:following].splitlines(keepends=True)
    while len(lines) > 1 and _BLANK.fullmatch(lines[-1]):
        following -= len(lines.pop())
    return following


def _keys(header: str) -> Keys:
    """The keys of a header line."""
    try:
        said: object = tomllib.loads(header)
    except tomllib.TOMLDecodeError:
        return ()
    keys = list[str]()
    while said and isinstance(said, dict | list):
        if isinstance(said, dict):
            key, said = next(iter(said.items()))
            keys.append(key)
        else:
            said = said[0]
    return tuple(keys)


def _literal(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{tomlkit.key(k).as_string()} = {_literal(v)}" for k, v in value.items()) + " }"
    literal: str = tomlkit.item(value).as_string()
    return literal


def _merged(said: dict[str, object], keys: Keys, values: Mapping[str, object]) -> dict[str, object]:
    if not keys:
        return {**said, **values}
    inner = said.get(keys[0], {})
    return {**said, keys[0]: _merged(inner if isinstance(inner, dict) else {}, keys[1:], values)}


def _pruned(said: dict[str, object], drop: Callable[[Keys], bool], above: Keys = ()) -> dict[str, object]:
    """What is said without the dropped tables."""
    return {
        key: _pruned(value, drop, (*above, key)) if isinstance(value, dict) else value
        for key, value in said.items()
        if not (isinstance(value, dict) and drop((*above, key)))
    }


def _check(text: str, wanted: dict[str, object]) -> None:
    """Raise ConfigFault unless the text says just that; tables that hold nothing count for nothing."""
    try:
        fits = _told(tomllib.loads(text.removeprefix("\ufeff"))) == _told(wanted)
    except tomllib.TOMLDecodeError:
        fits = False
    if not fits:
        raise ConfigFault(
            "The settings are written in a way that cannot be changed without rewriting them.",
            "Write what stands in braces or with dots as tables, `[mcp_servers.NAME]`, then try again.",
        )


def _told(value: object) -> object:
    """A value to compare by: not-a-number is itself, and a table that holds nothing is nothing."""
    if isinstance(value, dict):
        inner = {key: _told(one) for key, one in value.items()}
        return {key: one for key, one in inner.items() if one != {}}
    return [_told(one) for one in value] if isinstance(value, list) else repr(value)
