"""A text as a reviewer must see it: whatever a terminal or a Markdown view would not show is written out. Pure.

Invisible characters, HTML comments and tags, link definitions (which no view shows), text that begins below many blank
lines or far to the right, letters that pass for others. What scripts and emoji need is left. Linear in the text.
"""

import html
import re
import unicodedata
from collections.abc import Iterator

from governance.screen import injections
from governance.team.contracts.promoting import ReviewFlag
from recall.contracts import Frozen

BLANK_LINES = 40  # so many in a row, and what follows may be out of sight
FAR = 80  # columns of white space within a line, likewise

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_BREAK = re.compile(r"<br\s{0,8}/?>", re.IGNORECASE)
_TAG = re.compile(r"<(/?[A-Za-z][^<>]{0,2000}|[!?][^<>]{0,2000})>")
_DEFINITION = re.compile(r"^([ >]{0,12}\[[^\]\n]{1,999}\]:[^\n]*)$", re.MULTILINE)
_BLANKS = " \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"  # white space of any width
_FAR = re.compile(rf"(?<![{_BLANKS}])[{_BLANKS}]{{{FAR},}}(?=\S)")
_NOTHING = re.compile(rf"[{_BLANKS}>#*+|_=-]*")  # marks of Markdown alone, whose lines are empty in a view
_EMPTY = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # letters and marks that show nothing
_JOINING = re.compile("[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\ufb50-\ufdcf\ufe70-\ufefc]")
_FLAG = re.compile("\U0001f3f4(?:[\U000e0061-\U000e007a]{5})\U000e007f")  # flags that are spelled with tags
_MISLEADING = {
    "hidden.look-alike": "Letters that look like those of another alphabet:",
    "hidden.stacked": "Accents piled on one letter:",
    "hidden.styled": "Letters of a styled alphabet:",
}
_NAMED = 5  # kinds of characters that a flag names


class Revealed(Frozen, frozen=True, kw_only=True):
    """`content`: nothing in it is out of sight; what was is between ⟦ and ⟧."""

    content: str
    flags: tuple[ReviewFlag, ...]


def revealed(text: str) -> Revealed:
    """What a text says, with all that would not be seen, and a flag for each kind of it."""
    flags: list[ReviewFlag] = []
    shown = _characters(text, flags)
    shown = _blank_lines(shown, flags)
    shown = _far(shown, flags)
    shown = _definitions(shown, flags)
    shown = _markup(shown, flags)
    flags += _misleading(text)
    return Revealed(content=shown, flags=tuple(flags))


def _characters(text: str, flags: list[ReviewFlag]) -> str:
    """Hidden characters by their code points; references to such, too."""
    text = text.replace("\r\n", "\n")
    spelled = {place for flag in _FLAG.finditer(text) for place in range(*flag.span())}
    codes: dict[str, int] = {}

    def named(character: str) -> str:
        code = f"U+{ord(character):04X}"
        codes[code] = codes.get(code, 0) + 1
        return f"⟦{code}⟧" + "\n" * (character in "\r\v\f\x85\u2028\u2029")

    def referred(found: re.Match[str]) -> str:
        said = html.unescape(found[0])
        hidden = len(said) == 1 and (_hidden(said) or said.isspace())
        return named(said) if hidden else found[0]

    if not text.isascii() or not text.isprintable():
        kept = (
            one if not _hidden(one) or place in spelled or _belongs(text, place) else named(one)
            for place, one in enumerate(text)
        )
        text = "".join(kept)
    text = _ENTITY.sub(referred, text)
    if codes:
        most = sorted(codes, key=lambda code: (-codes[code], code))[:_NAMED]
        detail = ", ".join(f"{codes[code]} × {code}" for code in most)
        more = f" and {len(codes) - len(most)} other kinds" if len(codes) > len(most) else ""
        flags.append(ReviewFlag(code="hidden-characters", detail=f"Characters that cannot be seen: {detail}{more}."))
    return text


def _blank_lines(text: str, flags: list[ReviewFlag]) -> str:
    """A long run of blank lines, as it is said; what comes after it is next to it then."""
    lines, out, most = text.split("\n"), [], 0
    for run, said in _runs(lines):
        if run < BLANK_LINES:
            out += said
            continue
        out.append(f"⟦{run} blank lines⟧")
        most = max(most, run)
    if most:
        flags.append(ReviewFlag(code="below-blank-lines", detail=f"Text stands below {most} blank lines."))
    return "\n".join(out)


def _runs(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Runs of blank lines with how many, and lines that say something with 0. A run at the end hides nothing."""
    run: list[str] = []
    for line in lines:
        if _blank(line):
            run.append(line)
            continue
        yield len(run), run
        run = []
        yield 0, [line]
    yield 0, run


def _blank(line: str) -> bool:
    """Whether a line shows nothing: white space, marks of Markdown without words, what was written out as hidden, line
    breaks of HTML."""
    return _NOTHING.fullmatch(re.sub(r"⟦U\+[0-9A-F]{4,6}⟧|\\$", "", _BREAK.sub("", line))) is not None


def _far(text: str, flags: list[ReviewFlag]) -> str:
    found = 0

    def said(match: re.Match[str]) -> str:
        nonlocal found
        found = max(found, len(match[0]))
        return f" ⟦{len(match[0])} spaces⟧ "

    text = _FAR.sub(said, text)
    if found:
        flags.append(ReviewFlag(code="far-right", detail=f"Text stands to the right of {found} spaces."))
    return text


def _definitions(text: str, flags: list[ReviewFlag]) -> str:
    text, count = _DEFINITION.subn(r"⟦link definition⟧ \1", text)
    if count:
        flags.append(ReviewFlag(code="link-definition", detail=f"{count} lines that a Markdown view does not show."))
    return text


def _markup(text: str, flags: list[ReviewFlag]) -> str:
    """Comments and tags of HTML, so that no view takes them for such."""
    comments = text.count("<!--")
    text = text.replace("<!--", "⟦HTML comment: ").replace("-->", " :end of comment⟧") if comments else text
    text, tags = _TAG.subn(r"‹\1›", text)
    if comments:
        flags.append(ReviewFlag(code="html-comment", detail=f"{comments} HTML comments, which a view does not show."))
    if tags:
        flags.append(ReviewFlag(code="html-tag", detail=f"{tags} HTML tags: what they hold may be shown otherwise."))
    return text


def _misleading(text: str) -> Iterator[ReviewFlag]:
    """Characters that are seen and taken for others: of another script or a styled alphabet; piled-up accents."""
    found: dict[str, list[str]] = {}
    for one in injections(text):
        if one.family in _MISLEADING:
            found.setdefault(one.family, []).append(text[one.start : one.end])
    for family, parts in sorted(found.items()):
        codes = sorted({f"U+{ord(character):04X}" for part in parts for character in part})[:_NAMED]
        yield ReviewFlag(code=family, detail=f"{_MISLEADING[family]} {', '.join(codes)}, at {len(parts)} places.")


def _hidden(character: str) -> bool:
    if character in "\n\t":
        return False
    category = unicodedata.category(character)
    return category in ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp") or character in _EMPTY or _selects(character)


def _selects(character: str) -> bool:
    return (
        "\ufe00" <= character <= "\ufe0f"
        or "\U000e0100" <= character <= "\U000e01ef"
        or "\u180b" <= character <= "\u180f"
    )


def _belongs(text: str, place: int) -> bool:
    """Whether a joiner or a selector stands where an emoji or a script needs it."""
    character, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    if character == "\u200d" and _pictured(text[place - 2 : place - 1] if before == "\ufe0f" else before):
        return _pictured(after)
    if character in "\u200c\u200d":
        return bool(_JOINING.match(before)) and bool(_JOINING.match(after))
    return character in "\ufe0e\ufe0f" and (_pictured(before) or (before in "0123456789#*" and after == "\u20e3"))


def _pictured(character: str) -> bool:
    """Whether this may be a part of an emoji: a symbol or a skin tone."""
    return len(character) == 1 and not character.isascii() and unicodedata.category(character) in ("So", "Sk", "Sm")
