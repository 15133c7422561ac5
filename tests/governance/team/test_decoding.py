"""Documents as they come in: strictly one type, of one format, and bounded."""

import msgspec
import pytest

from governance.team.contracts.staging import Share
from governance.team.decoding import DOCUMENT_BYTES, bounded, decode, format_of
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats

FORMATS = Formats(prefix="remora-pre", mark="pre", folder=".remora-pre")
SHARE = {"format": "remora-pre-share@v1", "itemIds": ["note_1"]}


def raw(**changes: object) -> bytes:
    return msgspec.json.encode(SHARE | changes)


def refused(data: bytes) -> TeamFault:
    with pytest.raises(TeamFault) as caught:
        decode(data, Share, FORMATS, "share")
    return caught.value


def test_a_document_is_read_by_its_type() -> None:
    assert decode(raw(), Share, FORMATS, "share").item_ids == ("note_1",)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (raw(mode="fast"), "mode"),
        (raw(itemIds="note_1"), "itemIds"),
        (raw(itemIds=[1]), "itemIds"),
        (b'{"format":"remora-pre-share@v1"}', "itemIds"),
        (b"[]", "object"),
        (b"{", "truncated"),
        (b"\xff", "share@v1"),
        (b'{"format":"remora-pre-share@v1","itemIds":["\\ud800"]}', "share@v1"),
    ],
)
def test_what_does_not_fit_is_refused_and_named(data: bytes, says: str) -> None:
    fault = refused(data)

    assert fault.kind is Kind.SCHEMA_INVALID
    assert says in fault.problem
    assert fault.next_step


def test_another_format_is_another_document() -> None:
    assert "share@v2" in refused(raw(format="remora-pre-share@v2")).problem


def test_a_document_of_the_limit_is_read_and_one_byte_more_is_not() -> None:
    empty = len(raw(itemIds=[""]))
    whole = raw(itemIds=["n" * (DOCUMENT_BYTES - empty)])

    assert len(whole) == DOCUMENT_BYTES
    assert decode(whole, Share, FORMATS, "share").item_ids
    assert refused(whole + b" ").kind is Kind.INPUT_TOO_LARGE


def test_an_ordinary_query_has_a_limit_of_its_own() -> None:
    assert bounded(b"q" * 65_536, 65_536)
    with pytest.raises(TeamFault, match="65537"):
        bounded(b"q" * 65_537, 65_536)


@pytest.mark.parametrize(("data", "format_"), [(raw(), "remora-pre-share@v1"), (b"{}", ""), (b'{"a":1}', "")])
def test_a_document_says_its_format(data: bytes, format_: str) -> None:
    assert format_of(data) == format_


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b'{"format":3}', b"\x00"])
def test_what_is_no_document_is_refused(data: bytes) -> None:
    with pytest.raises(TeamFault, match="does not fit"):
        format_of(data)


def test_a_document_that_nests_without_end_is_refused() -> None:
    nested = b"[" * 100_000 + b"]" * 100_000
    with pytest.raises(TeamFault, match="does not fit"):
        format_of(b'{"x":' + nested + b"}")
    assert refused(raw()[:-1] + b',"x":' + nested + b"}").kind is Kind.SCHEMA_INVALID
