"""The copy that is scanned beside the text itself: compatibility forms, look-alikes and escapes read as what they mean.

Invisible characters are left out, odd spaces are spaces, look-alike letters and full-width or mathematical ones are
Latin, character references and escapes are resolved, letters set apart and strings added up stand together. Every place
in the copy maps back to a place in the text.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import re2

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_SPACES = "\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f"
_WIDE = (
    "\uff10-\uff19\uff1c-\uff1e\uff20-\uff3f\uff41-\uff5a"  # what starts a fold; the punctuation of Chinese does not
)
_STYLED = (
    "\u02b0-\u02b8\u02e0-\u02e4\u1d2c-\u1d6a\u2071-\u207f\u2090-\u209c\u2102-\u2138\u2160-\u217f\u2460-\u24ff"
    "\U0001d400-\U0001d7ff\U0001f110-\U0001f189"
)
_LOOKS = {  # Latin letter: the Cyrillic, Greek, Armenian and Cherokee letters that look like it
    **{"A": "\u0410\u0391\u13aa", "B": "\u0412\u0392", "C": "\u0421\u13df", "D": "\u13a0", "E": "\u0415\u0395\u13ac"},
    **{"G": "\u13c0", "H": "\u041d\u0397\u13bb", "I": "\u0406\u0399", "J": "\u0408\u13ab", "K": "\u041a\u039a\u13e6"},
    **{"L": "\u13de", "M": "\u041c\u039c\u13b7", "N": "\u039d", "O": "\u041e\u039f", "P": "\u0420\u03a1\u13e2"},
    **{
        "R": "\u13a1",
        "S": "\u0405\u13da",
        "T": "\u0422\u03a4\u13a2",
        "V": "\u13d9",
        "W": "\u13b3",
        "X": "\u0425\u03a7",
    },
    **{
        "Y": "\u0423\u03a5",
        "Z": "\u0396\u13c3",
        "a": "\u0430\u03b1",
        "c": "\u0441",
        "d": "\u0501",
        "e": "\u0435\u03b5",
    },
    **{"g": "\u0581\u0261", "h": "\u04bb", "i": "\u0456\u03b9\u0131", "j": "\u0458", "k": "\u043a", "m": "\u043c"},
    **{"n": "\u0578", "o": "\u043e\u03bf\u0585", "p": "\u0440\u03c1", "r": "\u0433", "s": "\u0455", "t": "\u0442"},
    **{"u": "\u057d\u03c5", "v": "\u0475\u03bd", "w": "\u051b", "x": "\u0445", "y": "\u0443"},
}
_ALIKE = {look: letter for letter, looks in _LOOKS.items() for look in looks}
LETTERS = "".join(_ALIKE)

_CALL = re2.compile(
    f"[{INVISIBLE}{_SPACES}{_WIDE}{_STYLED}]|[A-Za-z_][{LETTERS}]|[{LETTERS}][A-Za-z_]"
    r"|(?i:(?:&#x?[0-9a-f]{2,6};){2}|&#x?[0-9a-f]{2,6};[a-z]|[a-z]&#x?[0-9a-f]{2,6};|&(?:lt|gt|quot|amp);|\\u[0-9a-f]{4}|"
    r"(?:%[2-7][0-9a-f]\w*){3})|[^\s]\\\r?\n|\w[\"'`]\s?[+.]\s?[\"'`]\w|(?:[!-~]\x20){12}"
)
_JOINED = tuple(f"{quote}{between}" for quote in "\"'`" for between in (" +", "+", " .", ". "))
_MARKS = ("&", "\\u", "%", "\\\n", "\\\r", *_JOINED)  # without one of these an ASCII text is its own copy
_FOLD = re.compile(
    f"(?P<none>[{INVISIBLE}]+)|(?P<spaced>(?:[!-~]\\x20){{12,}}[!-~])|(?P<space>[{_SPACES}])|(?P<form>[{_STYLED}])"
    r"|(?P<wrap>\\\r?\n|(?<=\w)[\"'`]\s?[+.]\s?[\"'`](?=\w))|&#(?P<decimal>\d{2,6});|&#[xX](?P<hex>[0-9a-fA-F]{2,6});|&(?P<name>lt|gt|quot|amp);"
    r"|(?P<escape>(?:\\u(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}))+)|(?P<percent>(?:%[2-7][0-9a-fA-F])+)"
)
_PLAIN = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    ord(look): ord(letter) for look, letter in _ALIKE.items()
}
_SPACED = re2.compile(r"(?:[!-~]\x20){12}")
_NAMES = {"lt": "<", "gt": ">", "quot": '"', "amp": "&"}


@dataclass(frozen=True, slots=True)
class Folded:
    """The copy, and where each of its changed places stands in the original text (code points)."""

    text: str
    places: Sequence[int]  # offsets in the copy, rising
    origins: Sequence[int]  # offsets in the original, one for each place
    strides: Sequence[int]  # characters of the original for one of the copy, from each place on

    def origin(self, offset: int) -> int:
        """The offset in the original text of an offset in the copy."""
        at = bisect_right(self.places, offset) - 1
        plain = self.origins[at] + (offset - self.places[at]) * self.strides[at]
        return min(plain, self.origins[at + 1]) if at + 1 < len(self.origins) else plain


def fold(text: str, data: bytes) -> Folded | None:
    """The copy of `text` (whose UTF-8 bytes are `data`), or None when it would be the text itself."""
    if text.isascii() and not any(mark in text for mark in _MARKS) and _SPACED.search(data) is None:
        return None
    if _CALL.search(data) is None:
        return None
    pieces: list[str] = []
    places, origins, strides = [0], [0], [1]
    known: dict[str, tuple[str, int]] = {}
    size = last = 0
    text = text.translate(_PLAIN)  # a character for a character: no place moves
    for match in _FOLD.finditer(text):
        found, (start, end) = match[0], match.span()
        meant = known.get(found)
        if meant is None:
            meant = known[found] = _meant(match), _STRIDES.get(match.lastgroup or "", 1)
        if start > last:
            pieces.append(text[last:start])
            size += start - last
        if meant[0]:
            pieces.append(meant[0])
            places.append(size)
            origins.append(start)
            strides.append(meant[1])
            size += len(meant[0])
        places.append(size)
        origins.append(end)
        strides.append(1)
        last = end
    pieces.append(text[last:])
    return Folded("".join(pieces), places, origins, strides)


_STRIDES = {"spaced": len("a "), "escape": len("\\u0041"), "percent": len("%41")}


def _meant(match: re.Match[str]) -> str:
    found = match.group()
    match match.lastgroup:
        case "space":
            return " "
        case "spaced":
            return found[::2]
        case "form":
            return unicodedata.normalize("NFKC", found)
        case "decimal":
            return _character(int(match["decimal"]))
        case "hex":
            return _character(int(match["hex"], 16))
        case "escape":
            return bytes.fromhex(found.replace("\\u", "")).decode("utf-16-be")
        case "percent":
            return bytes.fromhex(found.replace("%", "")).decode("ascii")
        case "name":
            return _NAMES[match["name"]]
        case _:
            return ""


def _character(code: int) -> str:
    return chr(code) if 32 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF else " "
