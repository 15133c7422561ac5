"""Text that a person does not see: invisible characters, direction marks, tag characters, comments, encoded blobs."""

import binascii
import re
from collections.abc import Iterator
from itertools import islice

import re2

from governance.screening.folding import INVISIBLE, LETTERS

_CALL = re2.compile(
    f"[{INVISIBLE}\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029"
    "\ue000-\uf8ff\ufdd0-\ufdef\U000f0000-\U0010ffff"
    f"\u1d2c-\u1d6a\u2071\u207f\u24b6-\u24e9\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff]"
    f"|[A-Za-z][{LETTERS}]|[{LETTERS}][A-Za-z]|\\pM{{5}}|\\x00"
)
_CALL_ASCII = re2.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,7}\U000e007f")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_CUT = re.compile("(?<=[A-Za-z])[\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2064\ufeff]+(?=[A-Za-z])")
_MANY = 3  # letters cut apart by invisible characters: fewer come from copying a web page
_SHAPES = (  # family, severity, shape
    ("hidden.tags", "high", re.compile("[\U000e0000-\U000e007f]+")),
    ("hidden.selectors", "high", re.compile("[\U000e0100-\U000e01ef]+|[\ufe00-\ufe0f]{2,}")),
    ("hidden.control", "low", re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]+")),
    ("hidden.filler", "low", re.compile("[\u115f\u1160\u17b4\u17b5\u2061-\u2064\u2800\u3164\uffa0\ufff9-\ufffb]+")),
    ("hidden.private", "low", re.compile("[\ue000-\uf8ff\ufdd0-\ufdef\U000f0000-\U0010ffff]+")),
    (
        "hidden.styled",
        "low",
        re.compile("[\u1d2c-\u1d6a\u2071\u207f\u24b6-\u24e9\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff]+"),
    ),
    ("hidden.look-alike", "low", re.compile(f"(?<=[A-Za-z])[{LETTERS}]+|[{LETTERS}]+(?=[A-Za-z])")),
    ("hidden.stacked", "low", re.compile("[\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff\ufe20-\ufe2f]{5,}")),
)
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_BLOB = re2.compile(r"[A-Za-z0-9+]{16,}[A-Za-z0-9+/]{12,800}={0,2}")  # a path has no first part as long
_BLOBS = 64  # encoded runs looked into, a text

Found = tuple[str, str, int, int]  # family, severity, start, end


def invisible(text: str, data: bytes) -> Iterator[Found]:
    """Hidden and misleading characters in `text`, whose UTF-8 bytes are `data`; what scripts and emoji need is left."""
    if (_CALL if len(data) > len(text) else _CALL_ASCII).search(data) is None:
        return
    plain = _FLAG.sub(lambda flag: "\u2588" * len(flag.group()), text)
    for family, severity, shape in _SHAPES:
        for match in shape.finditer(plain):
            yield family, severity, match.start(), match.end()
    direction = "low" if _RIGHT_TO_LEFT.search(text) else "high"
    for match in _DIRECTION.finditer(text):
        yield "hidden.bidi", direction, match.start(), match.end()
    cuts = list(_CUT.finditer(text))
    for match in cuts:
        yield "hidden.zero-width", "high" if len(cuts) >= _MANY else "low", match.start(), match.end()


def blobs(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """What the Base64 and hexadecimal runs of UTF-8 `data` say, where that is readable, with their place in bytes."""
    for match in islice(_BLOB.finditer(data), _BLOBS):
        said = _read(match.group())
        if said is not None:
            yield said, *match.span()


def _read(run: bytes) -> bytes | None:
    """Base64 of a text has capitals; hexadecimal that we look at has none."""
    if run.islower() and not run.isalnum():
        return None
    try:
        said = _hexadecimal(run) if run.islower() else _base64(run)
        text = said.decode("utf-8")
    except ValueError:
        return None
    return said if text.replace("\n", "").replace("\t", "").isprintable() else None


def _hexadecimal(run: bytes) -> bytes:
    return bytes.fromhex(run.decode("ascii"))


def _base64(run: bytes) -> bytes:
    plain = run.rstrip(b"=")
    return binascii.a2b_base64(plain + b"=" * (-len(plain) % 4))
