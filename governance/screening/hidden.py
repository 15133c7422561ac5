"""Text that a person does not see: invisible characters, direction marks, tag characters, comments, encoded blobs."""

import base64
import binascii
import re
from collections.abc import Callable, Iterator

import re2

_CALL = re2.compile("[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e01ef]")
_TAGS = re.compile("(?<!\U0001f3f4)[\U000e0000-\U000e007f]+")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,7}\U000e007f")
_SELECTORS = re.compile("[\U000e0100-\U000e01ef]+")
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_JOINED = re.compile("[A-Za-z][\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2064\ufeff]+(?=[A-Za-z])")
_MANY = 3  # letters cut apart by invisible characters: fewer come from copying a web page
_BLOB = re.compile(r"[A-Za-z0-9+/_-]{24,4096}={0,2}|(?<![0-9a-f])(?:[0-9a-f]{2}){20,512}(?![0-9a-f])")
_BLOBS = 16  # encoded runs looked into, a text

Found = tuple[str, str, int, int]  # family, severity, start, end


def invisible(text: str, data: bytes) -> Iterator[Found]:
    """Hidden characters in `text` (whose UTF-8 bytes are `data`); what scripts and emoji need is left alone."""
    if _CALL.search(data) is None:
        return
    plain = _FLAG.sub(lambda flag: "\U0001f3f4" + "\u2588" * (len(flag.group()) - 1), text)
    for family, shape in (("hidden.tags", _TAGS), ("hidden.selectors", _SELECTORS)):
        for match in shape.finditer(plain):
            yield family, "high", match.start(), match.end()
    severity = "low" if _RIGHT_TO_LEFT.search(text) else "high"
    for match in _DIRECTION.finditer(text):
        yield "hidden.bidi", severity, match.start(), match.end()
    joined = list(_JOINED.finditer(text))
    for match in joined:
        yield "hidden.zero-width", "high" if len(joined) >= _MANY else "low", match.start() + 1, match.end()


def blobs(text: str) -> Iterator[tuple[str, int, int]]:
    """What the Base64 and hexadecimal runs of a text say, where they say something readable, with their place."""
    looked_into = 0
    for match in _BLOB.finditer(text):
        looked_into += 1
        if looked_into > _BLOBS:
            return
        run = match.group()
        for read in (_hexadecimal, _base64):
            said = read(run)
            if said is not None:
                yield said, match.start(), match.end()
                break


def _hexadecimal(run: str) -> str | None:
    return _readable(lambda: bytes.fromhex(run))


def _base64(run: str) -> str | None:
    plain = run.rstrip("=").translate({45: 43, 95: 47})
    return _readable(lambda: base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True))


def _readable(decode: Callable[[], bytes]) -> str | None:
    try:
        said = decode().decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return said if said.isprintable() or said.replace("\n", "").replace("\t", "").isprintable() else None
