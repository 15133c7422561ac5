"""The text that may stand in a file of a repository (`sanitize-pre@1`, team.md 8, 11). Pure, linear time.

`sanitised` makes a text fit: LF and a final newline; nothing that cannot be seen; no mark that one of our readers, or
a model, would take for structure; home folders as `~`. The words stay. `blocked` says what keeps a text out
altogether: secrets, what the screen flagged and nobody cleared, ids and paths of sessions, conflicts that git left.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator

from governance.screen import HIGH, injections, secrets
from governance.team.homes import HOME, without_homes
from recall.contracts import Frozen
from recall.team_entry import FIELDS

MOST_BYTES = 1 << 20  # of a file of a plan
SHOWN = 6  # characters of what is blocked

_NEWLINES = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_ANSI = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"  # control sequences
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]{0,512}(?:\x07|\x1b\\|\x9c)"  # titles, links, clipboard
    r"|\x1b[ -/]{0,8}[0-~]"
)
_REGIONS = "|".join("".join(chr(0xE0000 + ord(letter)) for letter in one) for one in ("gbeng", "gbsct", "gbwls"))
_UNSEEN = re.compile(
    f"\U0001f3f4(?:{_REGIONS})\U000e007f|["  # the flags that are spelled with tag characters
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Scripts whose spelling needs ZWJ or ZWNJ: Arabic, the Indic family, Myanmar, Khmer, Mongolian, presentation forms.
_JOINING = re.compile("[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af\ufb50-\ufdcf\ufe70-\ufefc]")
_COMBINING = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_PILED_UP = re.compile(f"([{_COMBINING}]{{4}})[{_COMBINING}]+")

_ANGLES = str.maketrans("<＜﹤>＞﹥", "‹‹‹›››")
_LESS, _MORE = "(?:[<＜﹤]|&lt;)", "(?:[>＞﹥]|&gt;)"
_BRACKET = re.compile("[<＜﹤\\[]|&lt;")
_ROLES = "system|user|assistant|human|developer|tool"
_CALLS = "system-reminder|function_calls|function_results|tool_result|tool_use|antml:[a-z_]{1,40}"
# What is read as structure: marks of records and of our block, frames, transcript lines, chat markers of models.
_MARKS = re.compile(
    rf"{_LESS}!--[ \t]*(?i:memory:|scenes\b|[a-z][a-z0-9-]{{0,40}}:(?:begin|end)\b)"
    rf"|{_LESS}/?(?:[a-z][a-z0-9]*-)?memory[a-z0-9_-]*[ \t]+(?:tag=)?[\"']?[0-9a-f]{{8,64}}[^\n<>]{{0,20}}{_MORE}"
    # Elsewhere in a line `<user>` is a place holder, and `Vec<memory>` is code.
    rf"|(?:^[ \t]*{_LESS}|(?<!\w){_LESS}/)(?:(?:[a-z][a-z0-9]*-)?memor(?:y|ies)|(?:{_ROLES})(?![a-z0-9]))"
    rf"[a-z0-9_-]{{0,40}}(?:[ \t][^<>\n]{{0,300}})?{_MORE}"
    rf"|{_LESS}/?(?i:{_CALLS})(?:[ \t][^<>\n]{{0,300}})?{_MORE}"
    rf"|{_LESS}{_LESS}(?i:past-)"
    rf"|{_LESS}\|[A-Za-z_0-9]{{1,40}}\|{_MORE}",
    re.MULTILINE,
)
_INST = re.compile(r"\[(/?)(INST|SYS)\]|<<(/?)SYS>>")
_SECOND_FRONT = re.compile(rf"^---([ \t]*\n(?:{'|'.join(FIELDS)})[ \t]*:)", re.MULTILINE)
_ROOT = re.compile(r"(?:file://(?=/)|(?<![\w.~/\\-]))/root(?=/[\w.])")
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_SESSION_ID = re.compile(
    rf"\b(?:session|thread|conversation|rollout)[ _-]?(?:id|key)?\b[^\w\n]{{0,6}}(?:is[ \t])?[^\w\n]{{0,3}}({_UUID})"
    rf"|(?:--resume|--session-id|\bresume)[ =]({_UUID})|\b(rollout-\d{{4}}-\d\d-\d\dT[0-9-]{{2,20}}{_UUID})"
    r"|\b(ses_[0-9A-Za-z]{20,40})\b",
    re.IGNORECASE,
)
_SESSION_PATH = re.compile(
    rf"\.claude[\\/](?:projects[\\/](?:-[\w.-]+|[^\s\\/]{{1,200}}[\\/]{_UUID})|(?:todos|file-history)[\\/]{_UUID}"
    r"|shell-snapshots[\\/]\w)|\.codex[\\/](?:archived_)?sessions[\\/](?:\d{4}|rollout-)|\.gemini[\\/]tmp[\\/][0-9a-f]{16}"
    r"|opencode[\\/]storage[\\/](?:session|message|part)[\\/]\w",
    re.IGNORECASE,
)
_CONFLICT = re.compile(r"^(?:<{7}|>{7})(?=[ \t\n]|\Z)", re.MULTILINE)


class Blocked(Frozen, frozen=True, kw_only=True):
    """What keeps a text out of the repository. `rule`: secret.* | pii.* | injection.* | hidden.* | session-id |
    session-path | conflict-markers | too-large. `excerpt`: its first characters and its length. `line`: 1-based."""

    rule: str
    excerpt: str
    line: int


def sanitised(text: str) -> str:
    """A text as it may stand in a file, with one newline at its end. Twice is as once."""
    return f"{_clean(text)}\n"


def sanitised_line(text: str) -> str:
    """The same for what is one line: a name, a summary, a description."""
    return " ".join(_clean(text).split())


def blocked(
    text: str, cleared: Collection[str] = (), sessions: Collection[str] = (), most: int = MOST_BYTES
) -> tuple[Blocked, ...]:
    """What keeps a text out. `cleared`: families of flags that a person has cleared; `sessions`: ids that may not stand
    in it; `most`: bytes."""
    found = sorted(set(_found(text, cleared, sessions)))
    if (size := len(text.encode("utf-8", "surrogatepass"))) > most:
        found.insert(0, (0, 0, "too-large"))
        return (Blocked(rule="too-large", excerpt=f"({size} bytes)", line=1),)
    return tuple(
        Blocked(rule=rule, excerpt=_excerpt(text[start:end]), line=text.count("\n", 0, start) + 1)
        for start, end, rule in found
    )


def _found(text: str, cleared: Collection[str], sessions: Collection[str]) -> Iterator[tuple[int, int, str]]:
    for one in secrets(text):
        yield one.start, one.end, one.family
    for one in injections(text):
        if one.severity == HIGH and one.family not in cleared:
            yield one.start, one.end, one.family
    for pattern, rule in ((_SESSION_PATH, "session-path"), (_CONFLICT, "conflict-markers")):
        for hit in pattern.finditer(text):
            yield hit.start(), hit.end(), rule
    for hit in _SESSION_ID.finditer(text):
        yield *hit.span(hit.lastindex or 0), "session-id"
    even = _even(text) if sessions else ""
    for known in sessions:
        for spelled in {known.lower(), known.lower().replace("-", "")} - {""}:
            at = even.find(spelled)
            while at >= 0:
                yield at, at + len(spelled), "session-id"
                at = even.find(spelled, at + len(spelled))


def _even(text: str) -> str:
    """The text with its ASCII letters in one case, every character in its place."""
    return text.translate(_LOWER)


def _excerpt(found: str) -> str:
    head = "".join(character if character.isprintable() else " " for character in found[:SHOWN])
    return f"{head}… ({len(found)} characters)"


def _clean(text: str) -> str:
    text = _NEWLINES.sub("\n", text.removeprefix("\ufeff"))
    return _until_still(_ANSI.sub("", text), lambda given: _neutral(_homes(_seen(given)))).strip("\n")


def _seen(text: str) -> str:
    """The text without what cannot be seen, except where it belongs to the spelling."""
    if text.isascii() and text.isprintable():
        return text
    return _PILED_UP.sub(r"\1", _UNSEEN.sub(_kept, text))


def _neutral(text: str) -> str:
    """The text without marks that are read as structure: their brackets are changed to look-alikes that are none."""
    if _BRACKET.search(text):
        text = _MARKS.sub(lambda mark: _without_brackets(mark[0]), text)
        text = _INST.sub(lambda mark: mark[0].translate(_SQUARES), text)
    return _SECOND_FRONT.sub(r"***\1", text)


def _homes(text: str) -> str:
    return _ROOT.sub(HOME, without_homes(text))


def _until_still(text: str, change: Callable[[str], str]) -> str:
    """What is taken out may bring together what is to be taken out: again, a few times."""
    for _ in range(8):
        changed = change(text)
        if changed == text:
            break
        text = changed
    return text


_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_SQUARES = str.maketrans("[]<>", "()‹›")


def _without_brackets(mark: str) -> str:
    plain = re.sub("&lt;", "‹", re.sub("&gt;", "›", mark, flags=re.IGNORECASE), flags=re.IGNORECASE)
    return plain.translate(_ANGLES)


def _kept(found: re.Match[str]) -> str:
    """A hidden character where the writing system or an emoji needs it; nothing elsewhere."""
    if len(found[0]) > 1:
        return found[0]
    text, start, end = found.string, found.start(), found.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    match found[0]:
        case "\u200d" if _pictographic(text[start - 2 : start - 1] if before == "\ufe0f" else before):
            belongs = _pictographic(after)
        case "\u200c" | "\u200d":
            belongs = bool(_JOINING.match(before)) and (not after or after.isspace() or bool(_JOINING.match(after)))
        case "\ufe0e" | "\ufe0f":
            keycap = bool(before) and before in "0123456789#*" and after == "\u20e3"
            belongs = keycap or before in ("\u203c", "\u2049") or _pictographic(before)
        case _:
            belongs = False
    return found[0] if belongs else ""


def _pictographic(character: str) -> bool:
    """Whether this may be a part of an emoji: a symbol or a skin tone."""
    return len(character) == 1 and not character.isascii() and unicodedata.category(character) in ("So", "Sk", "Sm")
