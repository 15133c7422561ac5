"""Front matter of the files that a repository keeps as its memory: one grammar for all of them (team.md 11). Pure.

    ---
    key: value
    ---
    body

A value is a JSON literal, or a bare string without `#`; JSON in brackets may go on over lines until they balance. The
fields are given: unknown, missing, doubled and reordered ones are faults, and so is whatever else is doubtful. Every
bound is checked before anything is parsed, and each line is walked once: a file made to keep us busy costs as much as
any other of its size.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence

from recall.contracts import Frozen

MOST_FRONT = 65_536  # bytes between the fences
MOST_TEXT = 65_536  # bytes of what a body says
MOST_BODY = MOST_TEXT + 1_024  # with a marker line, and the lines around it
MOST_LINES, MOST_LINE = 512, 8_192  # of the front matter; bytes of a line
DEEPEST = 16  # brackets in one another

_OPENS, _CLOSES = b"---\n", b"\n---\n"
_CONTROLS = bytes([*range(9), *range(11, 32), 127])
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
_C1 = re.compile(rb"\xc2[\x80-\x9f]")
_CONFLICT = re.compile(rb"^(?:<{7}|>{7})(?=[ \t\n]|\Z)", re.MULTILINE)
_FIELD = re.compile(r"([A-Za-z_][A-Za-z0-9_]*):([ \t].*)?", re.DOTALL)
_LITERAL = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
_TAKEN = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})  # YAML readers see no strings there
_LONG = 2_000  # characters: JSON beyond that is written over lines
_BRACKETS = re.compile(r'["\[\]{}]')
_STRING_END = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"')


class EntryFault(Frozen, frozen=True, kw_only=True):
    """Why a file is not used. `line`: 1-based; 0: the file as a whole.

    `code`: too-large | not-utf-8 | bom | cr | control | conflict-markers | no-front-matter | not-ended | line-too-long
    | too-many-lines | too-deep | not-a-field | unknown-field | missing-field | wrong-order | duplicate-field
    | bad-value | no-marker | identity-mismatch | second-front-matter | second-marker | no-body
    """

    code: str
    line: int
    problem: str


class Front(Frozen, frozen=True, kw_only=True):
    """`written`: the text after each key's colon, as it stands. `body`: all after the closing fence, which begins at
    `line`."""

    values: Mapping[str, object]
    written: Mapping[str, str]
    lines: Mapping[str, int]
    body: str
    line: int


class _Wrong(ValueError):
    def __init__(self, code: str, line: int, problem: str) -> None:
        super().__init__(problem)
        self.fault = EntryFault(code=code, line=line, problem=problem)


def read_text(data: bytes) -> str | EntryFault:
    """The text of a file. Faults: `too-large`, `not-utf-8`, `bom`, `cr`, `control`, `conflict-markers`."""
    if len(data) > MOST_FRONT + MOST_BODY:
        return EntryFault(code="too-large", line=0, problem=f"The file has more than {MOST_FRONT + MOST_BODY} bytes.")
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return EntryFault(code="bom", line=1, problem="The file begins with a byte order mark.")
    if (at := data.find(b"\r")) >= 0:
        return EntryFault(code="cr", line=_line(data, at), problem="A carriage return: lines end in LF alone.")
    # The patterns walk over every byte: they are asked where there is something to find.
    controlled = len(data.translate(None, _CONTROLS)) < len(data)
    if found := (controlled and _CONTROL.search(data)) or _C1.search(data):
        return EntryFault(code="control", line=_line(data, found.start()), problem="A control character.")
    if (b"<<<<<<<" in data or b">>>>>>>" in data) and (found := _CONFLICT.search(data)):
        problem = "Git left a conflict here."
        return EntryFault(code="conflict-markers", line=_line(data, found.start()), problem=problem)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return EntryFault(code="not-utf-8", line=_line(data, error.start), problem="The file is not UTF-8.")


def read_front(data: bytes, names: Sequence[str], optional: Collection[str] = ()) -> Front | EntryFault:
    """The fields of a file and its body. `names`: every field there may be, in their order; all but the `optional` must
    be there. Never raises."""
    text = read_text(data)
    if isinstance(text, EntryFault):
        return text
    if not data.startswith(_OPENS):
        return EntryFault(code="no-front-matter", line=1, problem="The file does not begin with a line `---`.")
    end = data.find(_CLOSES, len(_OPENS) - 1, len(_OPENS) + MOST_FRONT + len(_CLOSES))
    if end < 0:
        problem = "The front matter has no line `---` at its end."
        if len(data) > MOST_FRONT:
            problem = f"The front matter has more than {MOST_FRONT} bytes, or no line `---` at its end."
        return EntryFault(code="not-ended", line=1, problem=problem)
    rows = data[len(_OPENS) : end].split(b"\n") if end >= len(_OPENS) else []
    if len(rows) > MOST_LINES:
        return EntryFault(code="too-many-lines", line=0, problem=f"The front matter has more than {MOST_LINES} lines.")
    for number, row in enumerate(rows, start=2):
        if len(row) > MOST_LINE:
            return EntryFault(code="line-too-long", line=number, problem=f"The line has more than {MOST_LINE} bytes.")
    body = data[end + len(_CLOSES) :]
    if len(body) > MOST_BODY:
        return EntryFault(code="too-large", line=0, problem=f"The body has more than {MOST_BODY} bytes.")
    try:
        values, written, lines = _fields([row.decode() for row in rows], names, optional)
    except _Wrong as error:
        return error.fault
    return Front(values=values, written=written, lines=lines, body=body.decode(), line=len(rows) + 3)


def write_front(pairs: Sequence[tuple[str, str]]) -> str:
    """Front matter of fields and what is written after their colons (`spelled`, or as it was read)."""
    return "".join(["---\n", *(f"{name}:{value}\n" for name, value in pairs), "---\n"])


def spelled(value: object) -> str:
    """What is written after the colon for a JSON value: the same for equal values."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _TAKEN:
        return f" {value}"
    short = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f" {short}" if len(short) <= _LONG else f" {json.dumps(value, ensure_ascii=False, indent=1)}"


def value_of(written: str) -> object:
    """The value of what is written after a colon. Raises ValueError."""
    return _value(written, 0)


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


def _fields(
    rows: Sequence[str], names: Sequence[str], optional: Collection[str]
) -> tuple[dict[str, object], dict[str, str], dict[str, int]]:
    values: dict[str, object] = {}
    spellings: dict[str, str] = {}
    lines: dict[str, int] = {}
    place, last = 0, -1
    while place < len(rows):
        number, found = place + 2, _FIELD.fullmatch(rows[place])
        if found is None:
            raise _Wrong("not-a-field", number, "The line is not of the form `key: value`.")
        name, raw = found[1], found[2] or ""
        last = _next_field(name, number, (names, values), last)
        raw, place = _whole(raw, rows, place)
        values[name], spellings[name], lines[name] = _value(raw, number), raw, number
        place += 1
    for name in names:
        if name not in values and name not in optional:
            raise _Wrong("missing-field", 0, f"The field {name} is missing.")
    return values, spellings, lines


def _next_field(name: str, number: int, known: tuple[Sequence[str], Mapping[str, object]], last: int) -> int:
    """Where the field stands in the order of all. Raises _Wrong unless it may come here."""
    names, seen = known
    if name not in names:
        raise _Wrong("unknown-field", number, f"There is no field {name[:40]}.")
    if name in seen:
        raise _Wrong("duplicate-field", number, f"The field {name} is there twice.")
    at = names.index(name)
    if at < last:
        raise _Wrong("wrong-order", number, f"The field {name} stands after {names[last]}, and belongs before it.")
    return at


def _whole(raw: str, rows: Sequence[str], place: int) -> tuple[str, int]:
    """A value with the lines that it goes on over, and the last of them."""
    if not raw.lstrip(" \t").startswith(("[", "{")):
        return raw, place
    first, depth, pieces = place, 0, [raw]
    while True:
        depth = _depth(pieces[-1], depth, place + 2)
        if depth <= 0:
            return "\n".join(pieces), place
        place += 1
        if place == len(rows):
            raise _Wrong("bad-value", first + 2, "The brackets do not balance.")
        pieces.append(rows[place])


def _depth(text: str, depth: int, number: int) -> int:
    """How deep in brackets a line ends that begins so deep. A string ends in its line."""
    place = 0
    while found := _BRACKETS.search(text, place):
        place = found.end()
        match found[0]:
            case '"':
                closed = _STRING_END.match(text, place)
                if closed is None:
                    raise _Wrong("bad-value", number, "A string does not end in its line.")
                place = closed.end()
            case "[" | "{":
                depth += 1
                if depth > DEEPEST:
                    raise _Wrong("too-deep", number, f"More than {DEEPEST} brackets in one another.")
            case _:
                depth -= 1
    return depth


def _value(written: str, number: int) -> object:
    text = written.strip(" \t")
    if text.startswith(('"', "[", "{")) or _LITERAL.fullmatch(text):
        try:
            return json.loads(text, object_pairs_hook=_object, parse_constant=_refused)
        except (ValueError, RecursionError) as error:
            raise _Wrong("bad-value", number, f"The value is no JSON: {str(error)[:120]}.") from error
    if not text:
        raise _Wrong("bad-value", number, "There is no value.")
    if "#" in text:
        raise _Wrong("bad-value", number, "A string with `#` is written in double quotes.")
    return text


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is there twice")
    return made


def _refused(name: str) -> object:
    raise ValueError(f"{name} is no value")
