"""Documents as they come in: one type each, nothing unknown, and never more than can be read (team.md 2, 13). Pure."""

from typing import TypeVar

import msgspec

from governance.team.contracts.base import Document
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats

DOCUMENT_BYTES = 4_194_304
QUERY_BYTES = 65_536  # of an operation that takes no document
HEAD = 160  # characters of a message that are shown

T = TypeVar("T", bound=Document)


class _Format(msgspec.Struct, frozen=True):
    format: str = ""


_format = msgspec.json.Decoder(_Format)


def format_of(raw: bytes) -> str:
    """The `format` that a document says it has; empty: it says none. Raises TeamFault (`schema-invalid`)."""
    try:
        return _format.decode(raw).format
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _unfit(Kind.SCHEMA_INVALID, "The document", error) from error


def bounded(raw: bytes, limit: int = DOCUMENT_BYTES) -> bytes:
    """These bytes. Raises TeamFault (`input-too-large`) when they are more than `limit`."""
    if len(raw) > limit:
        said = f"It has {len(raw)} bytes; {limit} are taken."
        raise TeamFault(Kind.INPUT_TOO_LARGE, said, "Give less at a time.")
    return raw


def decode(raw: bytes, kind: type[T], formats: Formats, part: str, fault: Kind = Kind.SCHEMA_INVALID) -> T:
    """A document of `kind`, whose format is that of `part`.

    Raises TeamFault: `input-too-large`, or `fault` with what does not fit.
    """
    bounded(raw)
    wanted = formats.document(part)
    try:
        found = msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _unfit(fault, wanted, error) from error
    said = getattr(found, "format", wanted)
    if said != wanted:
        raise TeamFault(fault, f"Its format is {said[:HEAD]!r}.", f"This operation takes {wanted}.")
    return found


def _unfit(fault: Kind, what: str, error: Exception) -> TeamFault:
    return TeamFault(fault, f"{what} does not fit: {str(error)[:HEAD]}.", "See the reference of this format.")
