"""All transcript formats: every recorded file parses, each event has one identity, nothing is told twice."""

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.transcripts import READERS, read, read_all, recognise
from recall.contracts import EventType, SourceKind
from tests.host.transcripts.reading import (
    DATA,
    TRANSCRIPTS,
    a_record,
    case,
    heard,
    heard_file,
    payload,
    said,
    typed,
    types,
)

FILES = sorted(
    [*TRANSCRIPTS.rglob("*.jsonl"), *(DATA / "hosts").rglob("transcript*.jsonl"), *DATA.rglob("rollout*.jsonl")]
)
QUIRKS = TRANSCRIPTS / "quirks"


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(DATA)) for path in FILES])
def test_every_recorded_file_parses_into_sound_events(path: Path) -> None:
    events, report = heard_file(path)

    assert report.records > 0
    assert all(event.event_id for event in events)
    assert len({event.event_id for event in events}) == len(events)
    assert all(event.session_id for event in events)
    for event in events:
        bytes(event.payload).decode("utf-8")
        assert "\\u0000" not in bytes(event.payload).decode()
    assert [event.agent_id for event in events[:1]] in ([], [report.agent_id])


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(DATA)) for path in FILES])
def test_reading_a_file_again_gives_the_same_events(path: Path) -> None:
    assert heard_file(path)[0] == heard_file(path)[0]


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(DATA)) for path in FILES])
def test_no_tag_of_the_harness_counts_as_typed_by_a_human(path: Path) -> None:
    for text in typed(heard_file(path)[0]):
        assert not text.startswith(("<", "[Request interrupted", "Caveat:", "# AGENTS.md", "This session is being"))


def test_a_format_is_recognised_by_its_records() -> None:
    claude = [b"\n", b'{"type":"mode","mode":"normal"}\n']
    codex = [b"not json\n", b'{"type":"session_meta","payload":{}}\n']

    assert recognise(claude) == "claude-code"
    assert recognise(codex) == "codex"
    assert recognise([b'{"type":"user/message"}\n', b"{}\n", b"[]\n"]) is None
    assert recognise([b"\n"] * 64 + claude) is None  # only the head is looked at
    assert set(READERS) == {"claude-code", "codex", "gemini-cli"}


def test_two_readers_side_by_side_share_nothing() -> None:
    lines = [a_record("user", "Use UTC.")]
    first, second = READERS["claude-code"](""), READERS["claude-code"]("")

    list(read(first, lines))

    assert second.report().records == 0
    assert typed(list(read(second, lines))) == ["Use UTC."]


def test_case_resume_copies_history_once() -> None:
    wanted = case("transcript-resume-copies-history")
    paths = [DATA / name for name in wanted["given"]["transcripts"]]
    readers = [READERS["claude-code"](path.stem) for path in paths]

    events = list(read_all(zip(readers, (path.read_bytes().splitlines(keepends=True) for path in paths), strict=True)))

    assert typed(events) == wanted["then"]["user_texts_once_each"]
    assert readers[1].report().parent == readers[0].report().session_id


def test_case_a_resumed_session_with_a_new_id_tells_only_what_is_new() -> None:
    sessions = case("session-resumed-new-id")["given"]["sessions"]
    files = [
        (
            READERS["claude-code"](session["id"]),
            [
                a_record("user" if r[0] == "u" else "assistant", r, uuid=r, sessionId=session["id"])
                for r in session["records"]
            ],
        )
        for session in sessions
    ]

    events = list(read_all(files))

    assert [(event.session_id, payload(event)["text"]) for event in events if "text" in payload(event)] == [
        ("s-old", "u1"),
        ("s-old", "a1"),
        ("s-new", "u2"),
    ]


def test_case_a_codex_subagent_that_replays_its_parent_tells_only_its_own() -> None:
    wanted = case("codex-subagent-replays-parent")
    paths = [DATA / name for name in wanted["given"]["transcripts"]]
    readers = [READERS["codex"](path.stem) for path in paths]

    events = list(read_all(zip(readers, (path.read_bytes().splitlines(keepends=True) for path in paths), strict=True)))
    parent, child = (reader.report() for reader in readers)

    assert typed(events) == wanted["then"]["user_texts_once_each"]
    assert (child.parent, child.session_id) == (parent.session_id, parent.session_id)
    assert child.agent_id != parent.agent_id
    assert child.replayed == 7
    machine = [e for e in events if "environment_context" in bytes(e.payload).decode()]
    assert {event.source_kind for event in machine} == {SourceKind.LIFECYCLE}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("transcript-bom-crlf-blank", {"records": 4, "skipped": 0, "pending_bytes": 0}),
        ("transcript-lone-surrogate", {"records": 4, "skipped": 0, "pending_bytes": 0}),
        ("transcript-nul-bytes", {"records": 5, "skipped": 1, "pending_bytes": 0}),
        ("transcript-truncated-tail", {"records": 2, "skipped": 0, "pending_bytes": 140}),
        ("transcript-non-object-lines", {"records": 3, "skipped": 7, "pending_bytes": 0}),
    ],
)
def test_cases_of_odd_bytes_are_counted(name: str, expected: dict[str, int]) -> None:
    wanted = case(name)
    events, report = heard_file(DATA / wanted["given"]["transcript"])

    assert {key: getattr(report, key) for key in expected} == expected
    then = wanted["then"]
    assert then.get("records", report.records) == report.records
    assert then.get("skipped", report.skipped) == report.skipped
    assert then.get("unknown_types", {}) == report.unknown
    assert then.get("user_texts", typed(events)) == typed(events)
    assert then.get("assistant_texts", said(events)) == said(events)
    assert report.pending_bytes > then.get("pending_bytes_gt", -1)


def test_case_order_follows_the_file_not_the_clock() -> None:
    wanted = case("transcript-clock-order")
    path = DATA / wanted["given"]["transcript"]
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    known = {f"msg:{record.get('uuid')}": place for place, record in enumerate(records)}

    events, report = heard_file(path)

    places = [known[event.event_id] for event in events if event.event_id in known]
    assert places == sorted(places)
    assert report.records == wanted["then"]["lines"]
    times = [event.timestamp for event in events]
    assert times != sorted(times)


def test_case_images_cost_no_memory_and_leave_no_base64() -> None:
    given = case("transcript-huge-image-line")["given"]["generate"]
    blob = b"QUJD" * (given["image_bytes_each"] // 3)
    image = {"type": "image", "source": {"type": "base64", "data": "BLOB"}}

    def lines() -> Iterator[bytes]:
        for number in range(given["lines"]):
            line = a_record("user", [image, {"type": "text", "text": given["text"]}], uuid=f"u{number}")
            yield line.replace(b"BLOB", blob)

    reader = READERS["claude-code"]("")
    tracemalloc.start()
    events = list(read(reader, lines()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    prompts = [payload(event) for event in events if event.event_type == EventType.USER_MESSAGE]
    assert [(p["text"], p["images"]) for p in prompts] == [(given["text"], 1)] * given["lines"]
    assert not any(b"QUJDQUJD" in bytes(event.payload) for event in events)
    assert peak < 10 * len(blob)  # a line or two at a time, of two hundred


def test_a_file_without_messages_tells_nothing() -> None:
    events, report = heard([b'{"type":"summary","summary":"x","leafUuid":"u9"}\n'])

    assert types(events) == []
    assert (report.records, report.session_id) == (1, "")
