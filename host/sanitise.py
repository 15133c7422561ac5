"""Text of others made safe to show: to the agent inside a packet's frame, and to a person in a terminal. Pure.

What cannot be seen is taken out (for the agent) or written as an escape (for the terminal): control, bidi, zero-width
and tag characters. What readers need stays: joiners of emoji, Arabic and Indic scripts, accents, Chinese punctuation.
For the agent, marks that could be taken for structure are changed to look-alikes that are none: angle brackets,
template braces, chat markers, a speaker's name at the beginning of a line (invariant 7). The words stay readable.
"""

import re
import unicodedata
from collections.abc import Callable

LONGEST = 16_384  # characters of a text that are looked at for the agent: far more than an item can show

_HIDDEN_RANGES = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and newline, DEL, C1
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # soft hyphen, fillers, invisible letters
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # zero width, separators, bidi
    "\ufe00-\ufe0f\ufff0-\ufffb\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff"  # variation selectors, no characters at all
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # shorthand, music, tags, more selectors
)
_REGIONS = ("gbeng", "gbsct", "gbwls")  # the flags that are spelled with tag characters
_SPELLED = "|".join("".join(chr(0xE0000 + ord(letter)) for letter in region) for region in _REGIONS)
_HIDDEN = re.compile(f"\U0001f3f4(?:{_SPELLED})\U000e007f|[{_HIDDEN_RANGES}]")
_ANSI = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"  # control sequences
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]{0,512}(?:\x07|\x1b\\|\x9c)"  # titles, links, clipboard
    r"|\x1b[ -/]{0,8}[0-~]"
)
_NEWLINES = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_BLANK_LINES = re.compile(r"\n{3,}")
_COMBINING = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_PILED_UP = re.compile(f"([{_COMBINING}]{{4}})[{_COMBINING}]+")
_SPACES = re.compile(r"\s+")
# Scripts whose spelling needs ZWJ or ZWNJ: Arabic, the Indic family, Myanmar, Khmer, Mongolian, presentation forms.
_JOINING = re.compile("[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af\ufb50-\ufdcf\ufe70-\ufefc]")

_ANGLES = str.maketrans("<＜﹤>＞﹥", "‹‹‹›››")
_ROLES = "human|assistant|system|user|developer|人类|助手|系统|用户|ユーザー|アシスタント|システム"
_ROLE_KINDS = "message|prompt|note|notice|instructions?|reminder"
_BLANK = r"[^\S\n]"
# Marks that could be read as structure, and what is shown instead. Linear; none matches its own replacement, and none
# reaches over the end of a line: a text of thousands of lines is gone through at once.
_MARKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"&(?:lt|#0{0,6}60|#x0{0,6}3c)(?:;|(?![a-z0-9=]))|\\u(?:0000)?003c|\\x3c", re.IGNORECASE), "‹"),
    (re.compile(r"&(?:gt|#0{0,6}62|#x0{0,6}3e)(?:;|(?![a-z0-9=]))|\\u(?:0000)?003e|\\x3e", re.IGNORECASE), "›"),
    (re.compile(r"\{(?=[{%#])"), "{ "),
    (re.compile(r"(?<=[}%#])\}"), " }"),
    (re.compile(rf"\[(/?){_BLANK}{{0,4}}(inst|sys|system|user|assistant){_BLANK}{{0,4}}\]", re.IGNORECASE), r"(\1\2)"),
    (
        re.compile(
            rf"^((?:[‹›>*#|_~`\"'-]|{_BLANK}){{0,16}})((?:{_ROLES})(?:{_BLANK}(?:{_ROLE_KINDS}))?[*_`\"']{{0,4}})"
            rf"{_BLANK}{{0,4}}[:：﹕︓][ \t]{{0,4}}",
            re.IGNORECASE | re.MULTILINE,
        ),
        r"\1\2 — ",
    ),
)


def body(text: str) -> str:
    """A memory's text as it may stand inside the frame: nothing invisible, no mark that forges structure.

    At most `LONGEST` characters are read. Keeps line breaks; at most one blank line in a row. Idempotent.
    """
    text = _NEWLINES.sub("\n", text[:LONGEST])
    text = _hidden(_ANSI.sub("", text), lambda _: "")
    text = _neutral(_PILED_UP.sub(r"\1", text).translate(_ANGLES))
    return _BLANK_LINES.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip()


def one_line(text: str) -> str:
    """`body` on one line: every run of white space is one space."""
    return _SPACES.sub(" ", body(text)).strip()


def for_terminal(text: str) -> str:
    """A text for a terminal: hidden characters are written as escapes (`\\x1b`), line breaks and tabs stay."""
    return _hidden(text.replace("\r\n", "\n"), _escape)


def _neutral(text: str) -> str:
    """A text without structural marks. A line that only Unicode look-alikes keep from holding one (full-width letters,
    for instance) is taken in its NFKC form."""
    text = _unmarked(text)
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKC", text).translate(_ANGLES)
    clean = _unmarked(plain)
    if clean == plain:
        return text
    lines = zip(text.split("\n"), plain.split("\n"), clean.split("\n"), strict=True)
    return "\n".join(line if as_plain == cleaned else cleaned for line, as_plain, cleaned in lines)


def _unmarked(text: str) -> str:
    for mark, shown in _MARKS:
        text = mark.sub(shown, text)
    return text


def _hidden(text: str, shown: Callable[[str], str]) -> str:
    """The text with each hidden character replaced by `shown` of it, except where it belongs to the spelling."""
    if text.isascii() and text.isprintable():
        return text

    def replaced(found: re.Match[str]) -> str:
        character = found[0]
        return character if len(character) > 1 or _belongs(found) else shown(character)

    return _HIDDEN.sub(replaced, text)


def _belongs(found: re.Match[str]) -> bool:
    """Whether a joiner or an emoji selector stands where the writing system or an emoji needs it."""
    text, start, end = found.string, found.start(), found.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    match found[0]:
        case "\u200d" if _pictographic(text[start - 2 : start - 1] if before == "\ufe0f" else before):
            return _pictographic(after)
        case "\u200c" | "\u200d":
            return bool(_JOINING.match(before)) and (not after or after.isspace() or bool(_JOINING.match(after)))
        case "\ufe0e" | "\ufe0f":
            keycap = bool(before) and before in "0123456789#*" and after == "\u20e3"
            return keycap or before in ("\u203c", "\u2049") or _pictographic(before)
        case _:
            return False


def _pictographic(character: str) -> bool:
    """Whether this may be a part of an emoji: a symbol or a skin tone."""
    return len(character) == 1 and not character.isascii() and unicodedata.category(character) in ("So", "Sk", "Sm")


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
