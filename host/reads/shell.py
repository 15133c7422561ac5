"""A command line of a POSIX shell as data: the simple commands of its pipelines, in order (pure, linear time).

Nothing is run and nothing expanded but what the text itself tells: quotes, loop and plain variables, the home folder. A
word whose value only the shell knows (`$(…)`, an unknown variable) has none, and who needs it gives up.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from recall.contracts import Frozen

LONGEST = 4_096  # characters of a command line that are looked at
MOST = 128  # simple commands of one line, those of a loop counted as often as they are run
DEEPEST = 3  # loops within loops

_TOKEN = re.compile(
    r"""(?P<space>(?:[ \t]|\\\n)++)
    |(?P<comment>\#[^\n]*+)
    |(?P<end>\n|;;?|&&|\|\||&(?![>&]))
    |(?P<pipe>\|&?)
    |(?P<here><<-?(?!<)[ \t]*+(?P<mark>'[^'\n]*+'|"[^"\n]*+"|[^\s;&|()<>]++))
    |(?P<redirect>\d*(?:&>>|&>|<<<|>>|>\||>&|<&|<>|>|<))
    |(?P<group>[()])
    |(?P<word>(?:'[^']*+'|"(?:[^"\\]|\\.)*+"|\\.|[^\s'"\\;&|()<>]++)++)""",
    re.VERBOSE | re.DOTALL,
)
_PIECE = re.compile(r"""'([^']*+)'|"((?:[^"\\]|\\.)*+)"|\\(.)|([^'"\\]++)""", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_ESCAPED = re.compile(r'\\([$`"\\\n])')
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=")
_MAGIC = re.compile(r"[*?[]")
_BEFORE = frozenset(["do", "then", "else", "elif", "if", "while", "until", "{", "!", "time"])
_AFTER = frozenset(["done", "fi", "}", "esac", ":"])
_SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ksh"])

Variables = Mapping[str, str]


class Word(Frozen, frozen=True, kw_only=True):
    """What a word says. `value` None: only the shell knows. In a pattern the literal `*?[` stand in brackets."""

    value: str | None
    is_pattern: bool = False


class Simple(Frozen, frozen=True, kw_only=True):
    """A simple command. `stdin`: the file that it is fed; `is_silent`: what it prints goes to a file."""

    words: tuple[Word, ...]
    stdin: Word | None = None
    is_silent: bool = False

    @property
    def name(self) -> str:
        """The program, without its folder; empty when only the shell knows."""
        first = self.words[0].value if self.words else None
        return (first or "").rpartition("/")[2]


Pipeline = Sequence[Simple]


class _Raw:
    """A simple command as it is written, and how it is joined to the one before."""

    def __init__(self, is_piped: bool) -> None:
        self.words: list[str] = []
        self.stdin: str | None = None
        self.is_silent = False
        self.is_piped = is_piped


def pipelines(command: str) -> list[Pipeline]:
    """The pipelines of a command line, a loop's as often as it runs them. Empty when it cannot be read."""
    if len(command) > LONGEST:
        return []
    found: list[list[Simple]] = []
    for raw, simple in _run(_split(command), {}, [MOST], DEEPEST):
        if raw.is_piped and found:
            found[-1].append(simple)
        else:
            found.append([simple])
    return [pipeline for one in found for pipeline in _inner(one)]


def _inner(pipeline: list[Simple]) -> Iterator[Pipeline]:
    """What a shell within the shell runs: `bash -lc '…'`."""
    first = pipeline[0]
    given = [word.value for word in first.words]
    if first.name in _SHELLS and len(pipeline) == 1 and len(given) == 3 and re.fullmatch(r"-\w*c", given[1] or ""):
        yield from pipelines(given[2] or "") if len(given[2] or "") < LONGEST // 2 else ()
    else:
        yield pipeline


def _split(command: str) -> list[_Raw]:
    """The simple commands in the order in which they are written; none when a quote is left open."""
    found = [_Raw(False)]
    place, redirect = 0, ""
    marks: list[str] = []
    while place < len(command):
        token = _TOKEN.match(command, place)
        if token is None:
            return []
        place = token.end()
        match token.lastgroup:
            case "end" | "group":
                found.append(_Raw(False))
                if token[0] == "\n":
                    for mark in marks:
                        place = _after_here(command, place, mark)
                    marks = []
            case "pipe":
                found.append(_Raw(True))
            case "mark" | "here":
                marks.append(token["mark"].strip("'\""))
            case "redirect":
                redirect = token[0]
            case "word" if redirect:
                _redirected(found[-1], redirect, token[0])
                redirect = ""
            case "word":
                found[-1].words.append(token[0])
    return [raw for raw in found if raw.words]


def _after_here(command: str, place: int, mark: str) -> int:
    """Where the text of a here-document that begins at `place` ends."""
    end = re.compile(rf"^\t*{re.escape(mark)}$", re.MULTILINE).search(command, place)
    return end.end() if end else len(command)


def _redirected(raw: _Raw, operator: str, target: str) -> None:
    channel = operator.rstrip("<>&|")
    if operator.endswith("<") and channel in ("", "0"):
        raw.stdin = target if operator == "<" else raw.stdin
    elif channel in ("", "1") and ">" in operator and target not in ("1", "2", "/dev/stdout", "/dev/tty"):
        raw.is_silent = True


def _run(commands: Sequence[_Raw], variables: Variables, left: list[int], deep: int) -> Iterator[tuple[_Raw, Simple]]:
    """Each simple command as it is run: loops run through, variables put in. Branches are all taken."""
    known = dict(variables)
    place = 0
    while place < len(commands) and left[0] > 0:
        raw = commands[place]
        place += 1
        if len(raw.words) > 2 and raw.words[0] == "for" and raw.words[2] == "in":
            end = _loop_end(commands, place)
            for word in raw.words[3 : 3 + left[0]] if deep else ():
                left[0] -= 1
                each = _word(word, known)
                inner = {name: value for name, value in known.items() if name != raw.words[1]}
                if each.value is not None and not each.is_pattern:
                    inner[raw.words[1]] = each.value
                yield from _run(commands[place:end], inner, left, deep - 1)
            place = end
            continue
        simple = _simple(raw, known)
        if simple is not None:
            left[0] -= 1
            yield raw, simple


def _loop_end(commands: Sequence[_Raw], place: int) -> int:
    depth = 1
    for number in range(place, len(commands)):
        first = [word for word in commands[number].words if word not in _BEFORE][:1]
        depth += first in (["for"], ["select"]) or commands[number].words[0] in ("while", "until")
        depth -= commands[number].words[0] == "done"
        if depth == 0:
            return number
    return len(commands)


def _simple(raw: _Raw, known: dict[str, str]) -> Simple | None:
    """A command with its words' values; None when it only sets variables, which are then known."""
    words = list(raw.words)
    while words and words[0] in _BEFORE:
        words.pop(0)
    values = [_word(word, known) for word in words]
    while values and (set_to := _ASSIGNED.match(words[0])):
        value = _word(words[0][set_to.end() :], known)
        if len(values) == 1:
            known.pop(set_to[1], None)
            if value.value is not None and not value.is_pattern:
                known[set_to[1]] = value.value
        words.pop(0)
        values.pop(0)
    if not words or words[0] in _AFTER:
        return None
    stdin = _word(raw.stdin, known) if raw.stdin is not None else None
    return Simple(words=tuple(values), stdin=stdin, is_silent=raw.is_silent)


def _word(raw: str, known: Variables) -> Word:
    parts: list[tuple[str, bool]] = []  # text, and whether it is quoted
    for single, double, escaped, bare in _PIECE.findall(raw):
        if escaped:
            parts.append((escaped.replace("\n", ""), True))
            continue
        text: str | None = single
        if double or bare:
            text = _put_in(double or bare, known)
            if text is None or bare.endswith("$"):
                return Word(value=None)
            text = _ESCAPED.sub(r"\1", text) if double else text
        parts.append((text or "", not bare))
    is_pattern = any(not quoted and _MAGIC.search(text) for text, quoted in parts)
    if not is_pattern:
        return Word(value="".join(text for text, _ in parts))
    literal = [_MAGIC.sub(lambda sign: f"[{sign[0]}]", text) if quoted else text for text, quoted in parts]
    return Word(value="".join(literal), is_pattern=True)


def _put_in(text: str, known: Variables) -> str | None:
    """The text with its variables' values; None when one is not known, or a command would have to be run."""
    if "`" in text.replace("\\`", ""):
        return None
    values = {"HOME": "~", "PWD": ".", **known}
    missing = False

    def value(match: re.Match[str]) -> str:
        nonlocal missing
        name = match[1] or match[2]
        missing = missing or name not in values
        return values.get(name, "")

    plain = _VARIABLE.sub(value, text.replace("\\$", "\0")) if "$" in text else text
    if missing or "$(" in plain or "${" in plain:
        return None
    return plain.replace("\0", "$")
