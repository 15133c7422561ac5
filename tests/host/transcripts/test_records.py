"""Lines, fields, times and envelopes that every transcript format shares."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.transcripts.records import (
    REWOUND_MOST,
    TEXT_LIMIT,
    Ids,
    Notes,
    Once,
    Place,
    aborted,
    blank,
    blocks_of,
    clip,
    event,
    fitted,
    millis,
    parse,
    record_of,
    rewound,
    rolled_back,
    sound,
    text_of,
)
from recall.contracts import Channel, EventType, SourceKind

PLACE = Place(session_id="s", agent_id="main", workspace="/w", at=5, turn=1, step=2)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"a":1}\n', {"a": 1}),
        (b'\xef\xbb\xbf{"a":1}\r\n', {"a": 1}),
        (b'\0\0{"a":1}\0\n', {"a": 1}),
        (b'{"a":"x\\ud83d"}', {"a": "x\ufffd"}),
        (b'{"a":"\\ud83d\\ude80"}', {"a": "🚀"}),
        (b'{"a":"caf\xe9"}', {"a": "caf\ufffd"}),
        (b'{"a":"tab\there"}', {"a": "tab\there"}),
        (b'{"a":1e999}', {"a": float("inf")}),
        (b'{"a":12345678901234567890123}', {"a": 12345678901234567890123}),
        (b"null\n", None),
        (b'"text"\n', None),
        (b"[1,2]\n", None),
        (b"{not json}\n", None),
        (b'{"a":1', None),
        (b"\0" * 64, None),
        (b'{"a":' + b"[" * 100_000, None),
        (b"", None),
    ],
)
def test_a_line_is_an_object_or_nothing(line: bytes, expected: object) -> None:
    assert parse(line) == expected


@given(st.binary(max_size=200))
def test_no_line_raises(line: bytes) -> None:
    parse(line)


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=20)))
def test_what_json_can_write_is_read_back_sound(value: dict[str, str]) -> None:
    record = parse(json.dumps(value).encode())
    assert record is not None
    for key in record:
        text_of(record, key).encode("utf-8")


def test_blank_lines_are_told_from_lines_that_cannot_be_read() -> None:
    assert [blank(line) for line in (b"\r\n", b"   \r\n", b"\xef\xbb\xbf\n", b"\0\n", b"null\n")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_fields_of_another_type_read_as_empty() -> None:
    record = {"text": 5, "object": "x", "good": "ok", "inner": {"a": 1}}
    assert (text_of(record, "text"), text_of(record, "absent"), text_of(record, "good")) == ("", "", "ok")
    assert (record_of(record, "object"), record_of(record, "inner")) == ({}, {"a": 1})


def test_a_content_is_blocks_whether_text_list_or_neither() -> None:
    assert list(blocks_of("hi")) == [{"type": "text", "text": "hi"}]
    assert list(blocks_of(["wow error", {"type": "text"}, 5])) == [{"type": "text"}]
    assert list(blocks_of(None)) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1970-01-01T00:00:01.500Z", 1500),
        ("1970-01-01T01:00:01+01:00", 1000),
        ("1970-01-01T00:00:01", 1000),  # no zone: UTC
        ("1960-01-01T00:00:00Z", 0),
        ("not-a-date", None),
        ("[trimmed for fixture]", None),
        (1500, None),
        (None, None),
    ],
)
def test_a_time_is_read_or_unknown(value: object, expected: int | None) -> None:
    assert millis(value) == expected


def test_text_becomes_sound_and_no_longer_than_the_limit() -> None:
    assert sound("a\0b\ud83dc 部署 🚀") == "a\ufffdb\ufffdc 部署 🚀"
    long = "h" * TEXT_LIMIT + "t" * TEXT_LIMIT
    assert clip("short") == "short"
    assert len(clip(long)) < TEXT_LIMIT + 10
    assert clip(long).startswith("hhh") and clip(long).endswith("ttt")


def test_an_envelope_has_channel_and_author_of_its_type() -> None:
    made = event(PLACE, EventType.TOOL_CALL, {"tool": "shell", "path": None}, Ids(event="call:1", call="1"))

    assert (made.channel, made.source_kind) == (Channel.TOOLS, SourceKind.AGENT)
    assert (made.session_id, made.agent_id, made.workspace, made.timestamp) == ("s", "main", "/w", 5)
    assert (made.turn, made.step, made.event_id, made.call_id) == (1, 2, "call:1", "1")
    assert bytes(made.payload) == b'{"tool":"shell"}'  # what is not known is left out


def test_an_undated_record_says_so_in_its_payload() -> None:
    undated = msgspec.structs.replace(PLACE, undated=True)
    made = event(undated, EventType.USER_MESSAGE, {"text": "two"}, Ids(), SourceKind.USER)
    assert bytes(made.payload) == b'{"text":"two","undated":true}'
    assert made.source_kind is SourceKind.USER


def test_the_same_event_goes_through_once_and_another_of_the_same_id_gets_its_own() -> None:
    once = Once()
    first = event(PLACE, EventType.USER_MESSAGE, {"text": "a"}, Ids(event="msg:1"))
    other = event(PLACE, EventType.USER_MESSAGE, {"text": "b"}, Ids(event="msg:1"))
    nameless = event(PLACE, EventType.USER_MESSAGE, {"text": "c"}, Ids())

    admitted = [once.admit(each) for each in (first, first, other, other, nameless, nameless)]

    assert [each and each.event_id for each in admitted[:2]] == ["msg:1", None]
    assert admitted[2] is not None and admitted[2].event_id not in (None, "msg:1")
    assert admitted[3] is None
    assert admitted[4:] == [nameless, nameless]


class Fitting(msgspec.Struct):
    name: str
    number: int = 0
    text: str = ""


def test_a_field_in_another_form_costs_only_itself() -> None:
    assert fitted({"name": "a", "number": "x", "text": "t", "more": 1}, Fitting, ("name",)) == Fitting("a", 0, "t")
    assert fitted({"name": "a", "number": 2}, Fitting, ("name",)) == Fitting("a", 2)
    for odd in ({}, {"name": 5, "text": "t"}):
        with pytest.raises(msgspec.ValidationError):
            fitted(odd, Fitting, ("name",))


def test_a_format_may_name_its_records_in_another_way() -> None:
    notes = Notes(lambda record: "patch" if "$set" in record else text_of(record, "type"))
    assert notes.read(b'{"$set":{}}\n') == ("patch", {"$set": {}})
    assert notes.read(b'{"type":"user"}\n') == ("user", {"type": "user"})
    assert notes.read(b'{"a":1}\n') is None
    assert (notes.report("f").records, notes.report("f").skipped) == (2, 1)


def test_what_was_gone_back_on_is_told_in_events_of_a_bounded_size() -> None:
    place = Place(session_id="s", agent_id="main", workspace="/p")
    left = [f"msg:{number}" for number in range(REWOUND_MOST + 1)]

    told = rewound(place, left)

    assert [len(json.loads(bytes(event.payload))["events"]) for event in told] == [REWOUND_MOST, 1]
    assert len({event.event_id for event in told}) == 2 and rewound(place, []) == []
    assert rolled_back(place, 2, "a").event_id != rolled_back(place, 2, "b").event_id
    assert aborted(place, "").event_id is None
