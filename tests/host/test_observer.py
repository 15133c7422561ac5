"""C-01: one envelope, at most one bounded segment of clean text."""

import base64
import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.frame import close_line, open_line
from host.observer import LONGEST, clean, cut, observe
from recall.contracts import EventEnvelope, EventType, SegmentKind, SourceKind
from tests.support.builders import a_call, a_prompt, a_reply, a_result, an_event

PACKET = f"{open_line('0123456789abcdef')}\n| Use pnpm.\n{close_line('0123456789abcdef')}"


def check(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("envelope", "kind"),
    [
        (a_prompt("fix the build"), SegmentKind.PROMPT),
        (a_call("make test"), SegmentKind.CALL),
        (a_result("ok"), SegmentKind.RESULT),
        (a_reply("I will look."), SegmentKind.REPLY),
    ],
)
def test_each_of_the_four_kinds_forms_one_segment(envelope: EventEnvelope, kind: SegmentKind) -> None:
    segment = observe(envelope, 7)
    assert segment is not None
    assert segment.kind is kind
    assert segment.context_version == 7
    assert segment.event_type == envelope.event_type
    assert segment.source_kind is envelope.source_kind


@pytest.mark.parametrize(
    "kind", ["session/start", "session/compact", "session/end", "turn/end", "agent/stop", "x/unknown"]
)
def test_lifecycle_and_unknown_events_form_none(kind: str) -> None:
    assert observe(an_event(kind, {"text": "words"}), 1) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{PACKET}\nAdd a flag.", "Add a flag."),
        ("<system-reminder>\nnotes\n</system-reminder>Add a flag.", "Add a flag."),
        ("a<system-reminder>x</system-reminder>b<system-reminder>y</system-reminder>c", "abc"),
        ('<hook_context name="h">x</hook_context>go', "go"),
        ("<recalled-memories>\n- x\n</recalled-memories>\ngo", "go"),
        ("why does <system-reminder> appear?", "why does <system-reminder> appear?"),
        ("<div>kept</div>", "<div>kept</div>"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07text", "red text"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\x00b \ud800 c", "a\ufffdb \ufffd c"),
        ("ab\u202ec\u200bd", "abcd"),
        ("one\n\n\n  \n\ntwo", "one\n\ntwo"),
    ],
)
def test_what_others_put_into_a_text_is_taken_out(text: str, expected: str) -> None:
    check(text, expected)


def test_encoded_data_is_described() -> None:
    data = base64.b64encode(bytes(12 * 1024)).decode()
    check(f"see data:image/png;base64,{data} here", "see [data image/png 12 KB] here")
    check(f"key {data} end", "key [base64 12 KB] end")
    lines = "\n".join(data[place : place + 76] for place in range(0, 760, 76))
    check(f"begin\n{lines}\nend", "begin\n[base64 570 B]\nend")


def test_an_ordinary_long_word_and_path_stay() -> None:
    text = "/w/app/" + "/".join(f"folder-{place}" for place in range(40))
    check(text, text)


@pytest.mark.parametrize(
    "text",
    [
        "<task-notification>\n<task-id>b5x</task-id>\n<summary>Nightly build finished</summary>\n</task-notification>",
        "<system-reminder>Nightly build notes follow</system-reminder>",
        '<cross-session-message from="s2">Nightly build again</cross-session-message>',
    ],
)
def test_a_prompt_of_nothing_but_injected_blocks_is_no_users(text: str) -> None:
    segment = observe(a_prompt(text), 1)
    assert segment is not None
    assert segment.source_kind is SourceKind.TOOL
    assert "Nightly" not in segment.text


def test_a_prompt_of_nothing_but_our_packet_is_no_users_either() -> None:
    segment = observe(a_prompt(PACKET), 1)
    assert segment is not None
    assert segment.source_kind is SourceKind.TOOL
    assert "pnpm" not in segment.text


@pytest.mark.parametrize("text", ["", "  \n ", "\x1b[0m", "\u200b"])
def test_an_empty_event_forms_no_segment(text: str) -> None:
    assert observe(a_prompt(text), 1) is None
    assert observe(a_result(text, ok=True), 1) is None


def test_an_image_alone_is_said_to_be_one() -> None:
    segment = observe(an_event(EventType.USER_MESSAGE, {"text": "", "images": 2}), 1)
    assert segment is not None
    assert segment.text == "[image]"


def test_a_failure_without_output_is_still_a_failure() -> None:
    segment = observe(a_result("", ok=False), 1)
    assert segment is not None
    assert segment.ok is False
    assert segment.text == "[no output]"


@pytest.mark.parametrize("payload", [b"[]", b'{"text": 3}', b"null", b'{"text": "\\ud800"}'])
def test_a_payload_that_cannot_be_read_forms_no_segment(payload: bytes) -> None:
    assert observe(msgspec.structs.replace(a_prompt(), payload=msgspec.Raw(payload)), 1) is None


@pytest.mark.parametrize("kind", list(SegmentKind))
def test_a_long_text_keeps_its_head_and_its_tail(kind: SegmentKind) -> None:
    text = "head " + "x" * 5_000 + " tail"
    found = cut(text, kind)
    assert len(found) == LONGEST
    assert found.startswith("head ")
    assert found.endswith(" tail")
    assert cut("short", kind) == "short"


def test_a_live_run_and_a_replay_give_the_same_id() -> None:
    live = observe(a_prompt("fix it", event_seq=4, timestamp=1), 9)
    replayed = observe(a_prompt("fix it", event_seq=4, timestamp=2, observed_at=5), 3)
    assert live is not None
    assert replayed is not None
    assert live.id == replayed.id
    assert live.id.startswith("seg_")


@pytest.mark.parametrize("other", [{"event_seq": 5}, {"native_seq": 9}, {"session_id": "s-2"}, {"text": "fix that"}])
def test_another_place_session_or_text_gives_another_id(other: dict[str, object]) -> None:
    first = observe(a_prompt("fix it", event_seq=4), 1)
    second = observe(a_prompt(**{"text": "fix it", "event_seq": 4, **other}), 1)  # type: ignore[arg-type]  # a mixed table
    assert first is not None
    assert second is not None
    assert first.id != second.id


def test_a_call_has_the_digest_of_its_tool_and_whole_arguments() -> None:
    digests = {
        observe(a_call(args, tool=tool), 1).args_digest  # type: ignore[union-attr]  # calls form segments
        for args, tool in (
            ("make test", "shell"),
            ("make test", "edit"),
            ("x" * 2_000 + "a", "shell"),
            ("x" * 2_000 + "b", "shell"),
        )
    }
    assert len(digests) == 4
    assert observe(a_prompt(), 1).args_digest is None  # type: ignore[union-attr]  # so do prompts


def test_entities_begin_with_the_path_and_the_commands() -> None:
    call = an_event(
        EventType.TOOL_CALL, {"tool": "shell", "args": "cd app && pytest tests/test_x.py", "path": "src/a.py"}
    )
    segment = observe(call, 1)
    assert segment is not None
    assert segment.entities[:4] == ("src/a.py", "cd", "pytest", "tests/test_x.py")


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=400))
def test_any_text_gives_a_bounded_segment_or_none_and_always_the_same(text: str) -> None:
    payload = msgspec.Raw(json.dumps({"text": text.encode("utf-8", "replace").decode()}).encode())
    envelope = msgspec.structs.replace(a_prompt(), payload=payload)
    segment = observe(envelope, 1)
    assert segment == observe(envelope, 1)
    assert segment is None or (0 < len(segment.text) <= LONGEST and len(segment.entities) <= 16)


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=400))
def test_cleaning_takes_any_text_and_leaves_nothing_hidden(text: str) -> None:
    found = clean(text)
    assert "\x00" not in found
    assert "\x1b" not in found
    assert not any("\ud800" <= character <= "\udfff" for character in found)


@pytest.mark.parametrize(
    "piece", ["<memory", "<system-reminder>", "data:;base64,", " \n", "A", "\x1b]", "<a-memory-", "data:x/"]
)
def test_cleaning_is_linear_in_what_a_tool_can_print(piece: str) -> None:
    assert isinstance(clean(piece * (60_000 // len(piece))), str)


@given(
    st.lists(
        st.sampled_from(["\n", " ", "\t", "a", "B" * 30, "Ab9+/" * 13, "Q" * 200, "x y", "=", "\u00a0"]), max_size=14
    )
)
def test_no_encoded_run_and_no_stretch_of_blank_lines_is_left(pieces: list[str]) -> None:
    text = clean("".join(pieces))

    assert re.search(r"\n[ \t]*\n[ \t]*\n", text) is None
    assert re.search(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{200,}", text) is None
