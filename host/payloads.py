"""Payloads as they are stored: at most PAYLOAD_BYTES, without secrets, images and base64 described (N-01, pure).

What fits and holds nothing of the kind is stored byte for byte as it came. Otherwise: encoded blobs give way to a
descriptor, secrets to placeholders, and the longest texts lose their middle, which `truncated` then says:
`[{field, originalBytes, digest}]`, the digest being SHA-256 of the text as received.
"""

import re
from collections.abc import Callable, Sequence

import msgspec

from governance.contracts import Finding
from host.protocol import DEPTH, too_deep
from recall.canonical import bytes_digest, text_digest

Redact = Callable[[str], tuple[str, Sequence[Finding]]]
Holder = dict[str, object] | list[object]

PAYLOAD_BYTES = 64 * 1024
BLOB_CHARACTERS = 1024  # an encoded run inside a text; a whole text counts from BLOB_WHOLE on
BLOB_WHOLE = 256
MARGIN = 4096  # scanned for secrets beyond what can be kept, so that none is cut in two
HEAD_SHARE = 0.75
NODES = 8192  # texts, objects and arrays of one payload
KEPT_KEYS = 64  # of a payload whose very structure is too large
KEPT_CHARACTERS = 256
LONG_KEY = 12  # characters of a key that may be a secret itself
LARGE = 10**10  # a number from here on may be a telephone or a card
ROUNDS = 12

_DATA_URI = re.compile(r"data:([\w.+-]{1,64}/[\w.+-]{1,64})[\w=;-]{0,64};base64,([A-Za-z0-9+/_-]{64,}={0,2})")
_RUN = re.compile(rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{BLOB_CHARACTERS},}}={{0,2}}")
_LINES = re.compile(r"^(?:[A-Za-z0-9+/]{60,76}\r?\n){12,}[A-Za-z0-9+/]{0,76}={0,2}", re.MULTILINE)
_WHOLE = re.compile(rf"[A-Za-z0-9+/_-]{{{BLOB_WHOLE},}}={{0,2}}")
_SURROGATE = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_MEDIA_KEYS = ("media_type", "mimeType", "mime_type", "mediaType")


_SPACED = re.compile(rb'"\s+:')
_KEY = re.compile(rb'(?<!\\)"\s*:')
_DOUBTFUL = re.compile(rb'\\\\"\s*:')  # is the quotation mark escaped, or the backslash?


class PayloadFault(ValueError):
    """A payload that cannot be stored: the message says why."""


class _Leaf:
    """A text in a payload, and where it stands."""

    __slots__ = ("holder", "key", "original", "path", "text")

    def __init__(self, holder: Holder, key: str | int, path: str, text: str) -> None:
        self.holder = holder
        self.key = key
        self.path = path
        self.original = text
        self.text = text

    def put(self, text: str) -> None:
        if isinstance(self.holder, dict):
            self.holder[str(self.key)] = text
        else:
            self.holder[int(self.key)] = text


class _Left:
    """What a payload may still have, and the keys that were met."""

    __slots__ = ("keys", "nodes")

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes
        self.keys = 0


def bound(raw: bytes, redact: Redact) -> bytes:
    """The stored form of a payload. `redact`: text -> (text without secrets, what was found).

    Raises PayloadFault unless `raw` is a JSON object that nests at most DEPTH deep.
    """
    payload = _read(raw)
    leaves: list[_Leaf] = []
    others: list[str] = []
    left = _Left(NODES)
    if not _gather(payload, "", leaves, others, left):
        return _skeleton(raw, payload, redact)
    spoken = _spoken(others, redact)
    if len(raw) <= PAYLOAD_BYTES and not spoken and _clean(leaves, redact):
        return raw if _all_read(raw, left.keys) else _fitted(payload, leaves) or _skeleton(raw, payload, redact)
    if spoken:
        payload, leaves = _renamed(payload, redact), []
        _gather(payload, "", leaves, [], _Left(NODES))
    for leaf in leaves:
        leaf.text = _without_secrets(leaf.key, _precut(_described(leaf)), redact)
        leaf.put(leaf.text)
    return _fitted(payload, leaves) or _skeleton(raw, payload, redact)


def mend(raw: bytes) -> bytes:
    """JSON bytes that hosts write and JSON forbids, made readable: lone surrogates and bad UTF-8 become U+FFFD."""
    if not raw.isascii():
        raw = raw.decode("utf-8", "replace").encode("utf-8")
    if b"\\ud" not in raw and b"\\uD" not in raw:
        return raw
    return _SURROGATE.sub(lambda match: rb"\ufffd" if match["lone"] else match[0], raw)


# ------------------------------------------------------------------------------------------------------------ reading


def _read(raw: bytes) -> dict[str, object]:
    if too_deep(raw):
        raise PayloadFault(f"it nests deeper than {DEPTH}")
    try:
        payload = msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        raise PayloadFault(f"it is not JSON that can be read: {error}") from error
    except RecursionError as error:
        raise PayloadFault(f"it nests deeper than {DEPTH}") from error
    if not isinstance(payload, dict):
        raise PayloadFault("it must be a JSON object")
    return payload


def _gather(value: Holder, path: str, leaves: list[_Leaf], others: list[str], left: _Left) -> bool:
    """Every text in `value`, in order, with its path (`toolCalls[0].output`); false when there is too much of it.

    `others`: what is no text and may say something all the same, as `name: value`: keys that are long, large numbers.
    """
    items = value.items() if isinstance(value, dict) else enumerate(value)
    left.keys += len(value) if isinstance(value, dict) else 0
    for key, item in items:
        if isinstance(key, str) and len(key) >= LONG_KEY:
            others.append(key)
        if isinstance(item, str | dict | list):
            left.nodes -= 1
            where = f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}" if path else key
            if isinstance(item, str):
                leaves.append(_Leaf(value, key, where, item))
            elif left.nodes < 0 or not _gather(item, where, leaves, others, left):
                return False
        elif isinstance(item, int | float) and abs(item) >= LARGE:
            others.append(f"{key}: {item}")
    return left.nodes >= 0


def _all_read(raw: bytes, keys: int) -> bool:
    """Whether every key of the bytes was read: of two alike only the last is, and the other says anything unseen."""
    if _SPACED.search(raw) is not None:
        return not _DOUBTFUL.search(raw) and len(_KEY.findall(raw)) == keys
    return b'\\\\":' not in raw and raw.count(b'":') - raw.count(b'\\":') == keys


def _spoken(others: Sequence[str], redact: Redact) -> bool:
    """Whether a key or a number is a secret: one scan over all of them."""
    return bool(others) and bool(redact("\n".join(others))[1])


def _renamed(value: Holder, redact: Redact) -> dict[str, object]:
    """The payload with other keys, and texts for numbers, where those are secrets."""

    def again(key: str | int, item: object) -> object:
        if isinstance(item, dict):
            return {_without(name, redact): again(name, inner) for name, inner in item.items()}
        if isinstance(item, list):
            return [again(key, inner) for inner in item]
        if isinstance(item, int | float) and not isinstance(item, bool) and abs(item) >= LARGE:
            said = _without_secrets(key, str(item), redact)
            return item if said == str(item) else said
        return item

    renamed = again("", value)
    return renamed if isinstance(renamed, dict) else {}


def _without(key: str, redact: Redact) -> str:
    return redact(key)[0] if len(key) >= LONG_KEY else key


def _clean(leaves: Sequence[_Leaf], redact: Redact) -> bool:
    """Whether nothing has to change: one scan over all texts, each after its key, as `password: …` tells more."""
    if any(_described(leaf) is not leaf.original for leaf in leaves):
        return False
    joined = "\n".join([f"{leaf.key}: {leaf.original}" for leaf in leaves])
    return redact(joined)[0] == joined


# --------------------------------------------------------------------------------------------- blobs, secrets, length


def _described(leaf: _Leaf) -> str:
    """The text with encoded blobs as descriptors; the very same text if it holds none."""
    text = leaf.original
    if ";base64," in text:
        text = _DATA_URI.sub(lambda match: _descriptor(match[1], match[2]), text)
    if len(text) < BLOB_WHOLE:
        return text
    if _WHOLE.fullmatch(text) and _encoded(text):
        media = next((said for key in _MEDIA_KEYS if (said := _sibling(leaf.holder, key))), "base64")
        return _descriptor(media, text)
    if len(text) >= BLOB_CHARACTERS:
        text = _RUN.sub(lambda match: _descriptor("base64", match[0]) if _encoded(match[0]) else match[0], text)
        text = _LINES.sub(lambda match: _descriptor("base64", match[0]), text)
    return leaf.original if text == leaf.original else text


def _encoded(run: str) -> bool:
    """Whether a long run looks encoded: capitals, small letters and digits soon; not a long word or a ruler."""
    start = run[:BLOB_CHARACTERS]
    return (
        any("A" <= sign <= "Z" for sign in start)
        and any("a" <= sign <= "z" for sign in start)
        and any("0" <= sign <= "9" for sign in start)
    )


def _sibling(holder: Holder, key: str) -> str:
    said = holder.get(key) if isinstance(holder, dict) else None
    return said if isinstance(said, str) and len(said) <= 128 else ""


def _descriptor(media: str, encoded: str) -> str:
    size = len(encoded.rstrip("=\r\n")) * 3 // 4
    return f"[{media}, {size} bytes, sha256 {text_digest(encoded)[:32]}]"


def _precut(text: str) -> str:
    """At most what can be kept at either end and a margin: the middle is not worth a scan."""
    most = PAYLOAD_BYTES + MARGIN
    return text if len(text) <= 2 * most else text[:most] + text[-most:]


def _without_secrets(key: str | int, text: str, redact: Redact) -> str:
    """The text with placeholders for secrets; its key is scanned with it."""
    named = f"{key}: "
    clean, _ = redact(named + text)
    return clean.removeprefix(named) if clean.startswith(named) else redact(text)[0]


def _fitted(payload: dict[str, object], leaves: Sequence[_Leaf]) -> bytes:
    """The payload's JSON, the longest texts cut until it fits; empty if it never does."""
    encoded = _encode(payload)
    room = PAYLOAD_BYTES
    for _ in range(ROUNDS):
        if len(encoded) <= PAYLOAD_BYTES:
            return encoded
        room = room * 3 // 4
        cut = [leaf for leaf in leaves if len(leaf.text) > room // 6 and len(_encode(leaf.text)) > room]
        for leaf in cut:
            leaf.put(_cut(leaf, room))
        payload["truncated"] = [_note(leaf.path, leaf.original.encode()) for leaf in cut]
        encoded = _encode(payload)
    return b""


def _cut(leaf: _Leaf, room: int) -> str:
    """The head and the tail of a text, about `room` bytes as JSON."""
    text = leaf.text
    keep = max(2, len(text) * room // len(_encode(text)) - 64)
    head = max(1, int(keep * HEAD_SHARE))
    left_out = len(leaf.original) - keep
    return f"{text[:head]}\n[… {left_out} characters left out …]\n{text[head - keep :]}"


def _skeleton(raw: bytes, payload: dict[str, object], redact: Redact) -> bytes:
    """Of a payload that has too much structure: its first short fields."""
    kept: dict[str, object] = {}
    for key, value in payload.items():
        if len(kept) >= KEPT_KEYS:
            break
        said = redact(key[: KEPT_CHARACTERS + MARGIN])[0][:KEPT_CHARACTERS]
        if isinstance(value, str):
            kept[said] = _without_secrets(said, value[: KEPT_CHARACTERS + MARGIN], redact)[:KEPT_CHARACTERS]
        elif not isinstance(value, dict | list):
            kept[said] = value if _without_secrets(said, str(value), redact) == str(value) else None
    kept["truncated"] = [_note("$", raw)]
    return _encode(kept)


def _note(field: str, original: bytes) -> dict[str, object]:
    return {"field": field[:KEPT_CHARACTERS], "originalBytes": len(original), "digest": bytes_digest(original)}


_encode = msgspec.json.Encoder().encode
