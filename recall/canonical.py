"""The one maker of canonical JSON and of digests. A pure leaf that every layer may import.

Canonical JSON: keys sorted by code point, strings NFC, no floats, no lone surrogates, integers within ±(2^53 − 1),
no two keys equal after NFC. Digests are lowercase hex SHA-256 over its UTF-8 bytes.
"""

import hashlib
import hmac
import unicodedata
from collections.abc import Mapping
from enum import Enum

import msgspec

MAX_INT = 2**53 - 1


class NotCanonical(ValueError):
    """A value cannot be written as canonical JSON: the message says which value and why."""


_encoder = msgspec.json.Encoder(order="sorted")


def canonical(value: object) -> bytes:
    """Canonical JSON bytes of a JSON value or of a msgspec Struct (None fields included).

    Raises NotCanonical for floats, lone surrogates, too large integers and keys that collide after NFC.
    """
    return _encoder.encode(_checked(msgspec.to_builtins(value, str_keys=True), "$"))


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON of `value`: 64 lowercase hex digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def text_digest(text: str) -> str:
    """SHA-256 of the UTF-8 bytes of `text` as it is (no NFC): for texts whose exact bytes matter."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def bytes_digest(data: bytes) -> str:
    """SHA-256 of raw bytes."""
    return hashlib.sha256(data).hexdigest()


def keyed(key: bytes, data: bytes) -> str:
    """HMAC-SHA-256 of `data` with the per-install key: for digests that must not be guessable."""
    return hmac.digest(key, data, "sha256").hex()


def short_id(prefix: str, value: object) -> str:
    """`prefix` + the first 32 hex digits of the digest of `value`: a deterministic id."""
    return prefix + digest(value)[:32]


def _checked(value: object, where: str) -> object:
    if type(value) is str and value.isascii():  # nearly all there is; digests are made by the ten thousand
        return value
    match value:
        case None | bool():
            return value
        case Enum():
            return _checked(value.value, where)
        case int():
            if not -MAX_INT <= value <= MAX_INT:
                raise NotCanonical(f"{where}: the integer {value} is outside ±(2^53 − 1)")
            return value
        case str():
            return _text(value, where)
        case Mapping():
            plain: dict[str, object] = {}
            for key, item in value.items():
                name = _text(str(key), where)
                if name in plain:
                    raise NotCanonical(f"{where}: two keys are equal after NFC: {name!r}")
                plain[name] = _checked(item, f"{where}.{name}")
            return plain
        case list() | tuple():
            return [_checked(item, f"{where}[{place}]") for place, item in enumerate(value)]
        case _:
            raise NotCanonical(f"{where}: {type(value).__name__} has no canonical form (floats never enter a digest)")


def _text(value: str, where: str) -> str:
    if value.isascii():
        return value
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotCanonical(f"{where}: the string holds a lone surrogate") from error
    return unicodedata.normalize("NFC", value)
