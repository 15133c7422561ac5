"""A folder becomes a labelled session, or one line that says what is wrong with it."""

import os
from pathlib import Path

import msgspec
import pytest

from host.demo.recording import SHIPPED
from host.errors import RemoraError
from host.evaluation.sessions import Acceptable, Gold, Recorded, envelope, folders, load, millis
from recall.contracts import Channel, EventPayload, SourceKind, Status
from tests.support.labelled import LESSON_ID, a_failure, a_folder

OURS = Path(__file__).parents[2] / "data" / "sessions"


def recorded(type_: str, step: int = 1, **fields: object) -> Recorded:
    values = {"seq": 7, "ts": "2026-01-06T09:15:59.901Z", "source": "agent", "turn": 1, "text": "said"} | fields
    return msgspec.convert({"type": type_, "step": step} | values, Recorded)


@pytest.mark.parametrize(
    ("event", "channel", "payload"),
    [
        (
            recorded("tool/call", tool="shell", text="make check", callId="c1"),
            Channel.AGENT,
            EventPayload(tool="shell", args="make check"),
        ),
        (
            recorded("tool/result", source="tool", tool="read", ok=False, path="a.py", text="no such file"),
            Channel.TOOLS,
            EventPayload(tool="read", ok=False, path="a.py", text="no such file"),
        ),
        (recorded("user/message", source="user", text="go on"), Channel.SESSION, EventPayload(text="go on")),
        (
            recorded("session/start", source="lifecycle", text="", path="/w/shop"),
            Channel.SESSION,
            EventPayload(source="startup"),
        ),
    ],
)
def test_an_event_becomes_the_envelope_of_its_kind(event: Recorded, channel: Channel, payload: EventPayload) -> None:
    made = envelope(event, "s1", Path("/somewhere"))

    assert msgspec.json.decode(made.payload, type=EventPayload) == payload
    assert (made.channel, made.source_kind, made.event_type) == (channel, event.source, event.type)
    assert (made.session_id, made.agent_id, made.workspace) == ("s1", "main", "/somewhere")
    assert (made.native_seq, made.step, made.timestamp) == (7, 1, 1767690959901)


def test_the_shipped_recording_is_whole() -> None:
    recording = load(SHIPPED)
    stored = {memory.id for memory in recording.memories}
    labels = recording.labels

    assert [event.seq for event in recording.events] == list(range(1, len(recording.events) + 1))
    assert {gold.memory for gold in labels.gold} <= stored
    assert set(labels.never_reason) <= stored
    assert {"other-workspace", "superseded", "instruction-like"} <= set(labels.never_reason.values())
    assert any(event.source is SourceKind.USER for event in recording.events)


def test_what_was_written_reads_back(tmp_path: Path) -> None:
    made = a_failure()

    assert load(a_folder(made, tmp_path)) == made


def test_events_may_lie_in_any_order(tmp_path: Path) -> None:
    made = a_failure()
    folder = a_folder(msgspec.structs.replace(made, events=made.events[::-1]), tmp_path)

    assert load(folder).events == made.events


def test_the_sessions_of_a_set_come_by_name_and_one_may_be_named_itself(tmp_path: Path) -> None:
    for name in ("b", "a"):
        a_folder(msgspec.structs.replace(a_failure(), name=name), tmp_path)
    (tmp_path / "other").mkdir()

    assert [folder.name for folder in folders(tmp_path)] == ["a", "b"]
    assert folders(tmp_path / "b") == [tmp_path / "b"]
    with pytest.raises(RemoraError, match="No labelled session"):
        folders(tmp_path / "other")


@pytest.mark.parametrize("file", ["events.jsonl", "memories.jsonl", "labels.json"])
def test_a_folder_that_lacks_one_of_the_files_is_not_passed_over(tmp_path: Path, file: str) -> None:
    for name in ("a", "b"):
        a_folder(msgspec.structs.replace(a_failure(), name=name), tmp_path)
    (tmp_path / "a" / file).unlink()

    assert [folder.name for folder in folders(tmp_path)] == ["a", "b"]
    assert folders(tmp_path / "a") == [tmp_path / "a"]
    with pytest.raises(RemoraError, match=f"a/{file}: it cannot be read"):
        load(tmp_path / "a")


def test_a_time_without_a_zone_is_utc() -> None:
    assert millis("2026-01-06T09:15:59") == millis("2026-01-06T09:15:59Z") == 1767690959000


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("events.jsonl", '"seq":5', '"seq":4', r"events\.jsonl: event 5 has the seq 4"),
        ("events.jsonl", '"seq":5', '"seq":"five"', r"events\.jsonl, line 5: Expected `int`"),
        ("events.jsonl", '{"seq":5', '{"seq":5,,', r"events\.jsonl, line 5: JSON is malformed"),
        ("events.jsonl", "2026-01-06T12:00:05Z", "noon", r"events\.jsonl: the time of event 5 .* noon"),
        ("events.jsonl", '"step":', '"stop":', r"events\.jsonl, line 1: .*`step`"),
        (
            "memories.jsonl",
            '"kind":"semantic"',
            '"kind":"guess"',
            r"memories\.jsonl, line 1: Invalid enum value 'guess'",
        ),
        ("memories.jsonl", '"workspace":"shop"', '"workspace":null', r"memories\.jsonl: mem_0+1 is of a workspace"),
        ("memories.jsonl", f"mem_{2:032x}", LESSON_ID, r"memories\.jsonl: two memories have the same id"),
        ("memories.jsonl", "2025-11-30T12:00:00Z", "long ago", r"memories\.jsonl: the time of mem_0+1"),
        ("labels.json", f'"memory":"{LESSON_ID}"', '"memory":"mem_gone"', r"labels\.json: mem_gone is no memory"),
        ("labels.json", "[5,8]", "[5,80]", r"labels\.json: 5-80 is no range of the 9 events"),
        ("labels.json", '"gold"', '"bronze"', r"labels\.json: .*`gold`"),
        ("labels.json", '"duplicates":[]', '"duplicates":[[]]', r"labels\.json: a group of duplicates names no memory"),
        ("labels.json", '"topic":', f'"deep":{"[" * 100_000},"topic":', r"labels\.json: it is nested too deeply"),
        ("memories.jsonl", "The user likes short answers.", "  ", r"memories\.jsonl: mem_0+4 has no text"),
        ("labels.json", '"workspace":"shop"', '"workspace":""', r"labels\.json: Expected `str` of length >= 1"),
        ("labels.json", '"weight":1.0', '"weight":0', r"labels\.json: Expected `float` > 0"),
        ("labels.json", '"weight":1.0', '"weight":-1', r"labels\.json: Expected `float` > 0"),
        ("labels.json", f'"mem_{2:032x}":', f'"{LESSON_ID}":', r"labels\.json: mem_0+1 is both needed and never"),
    ],
)
def test_what_is_broken_is_said_with_its_file_and_line(
    tmp_path: Path, file: str, old: str, new: str, said: str
) -> None:
    folder = a_folder(a_failure(), tmp_path)
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))

    with pytest.raises(RemoraError, match=said):
        load(folder)


@pytest.mark.parametrize("content", [None, b"", b"\xff\n"])
def test_a_file_that_is_missing_empty_or_no_text_is_said(tmp_path: Path, content: bytes | None) -> None:
    folder = a_folder(a_failure(), tmp_path)
    (folder / "events.jsonl").unlink()
    if content is not None:
        (folder / "events.jsonl").write_bytes(content)

    with pytest.raises(RemoraError, match=r"events\.jsonl"):
        load(folder)


@pytest.mark.parametrize("file", ["events.jsonl", "memories.jsonl", "labels.json"])
def test_a_pipe_or_a_device_is_no_file_of_a_session(tmp_path: Path, file: str) -> None:
    """Neither has an end: it would be waited for, or read until the memory is full."""
    pipe = a_folder(msgspec.structs.replace(a_failure(), name="pipe"), tmp_path)
    device = a_folder(msgspec.structs.replace(a_failure(), name="device"), tmp_path)
    for folder in (pipe, device):
        (folder / file).unlink()
    os.mkfifo(pipe / file)
    (device / file).symlink_to("/dev/zero")

    for folder in (pipe, device):
        with pytest.raises(RemoraError, match=f"{file}: it is no file"):
            load(folder)


def test_a_session_of_too_many_bytes_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = a_folder(a_failure(), tmp_path)
    monkeypatch.setattr("host.evaluation.sessions.MOST_BYTES", 10)

    with pytest.raises(RemoraError, match=r"events\.jsonl: it has more than"):
        load(folder)


def test_a_session_in_which_no_model_spoke_is_none(tmp_path: Path) -> None:
    made = a_failure()
    silent = msgspec.structs.replace(
        made, events=tuple(msgspec.structs.replace(event, step=0) for event in made.events)
    )

    with pytest.raises(RemoraError, match="no event has a step above 0"):
        load(a_folder(silent, tmp_path))


@pytest.mark.parametrize("folder", folders(OURS), ids=lambda folder: folder.name)
def test_each_session_of_ours_is_whole_and_its_labels_can_be_met(folder: Path) -> None:
    """A needed memory may be given: it is active, of this workspace or the user, and older than the session."""
    recording = load(folder)
    stored = {one.id: one for one in recording.memories}

    for gold in recording.labels.gold:
        memory = stored[gold.memory]
        assert gold.memory not in recording.labels.never_reason and memory.status is Status.ACTIVE
        assert memory.workspace in (None, recording.labels.workspace)
        assert millis(memory.created) < millis(recording.events[0].ts)
    met = [span for one in (*recording.labels.gold, *recording.labels.acceptable) for span in _spans(one)]
    for first, last in recording.labels.quiet:
        assert not any(first <= end and begin <= last for begin, end in met), f"quiet {first}-{last} meets a window"


def _spans(label: Gold | Acceptable) -> tuple[tuple[int, int], ...]:
    return label.windows if isinstance(label, Gold) else (label.window,)
