"""Going back is told once, where the file shows it, and the same prompts are left as by a look at the whole file."""

import pytest

from host.transcripts.claude_branches import live_branch
from host.transcripts.claude_rewinds import Rewinds, is_queued, prompt_text
from host.transcripts.records import parse, text_of
from recall.contracts import EventType, SourceKind
from tests.host.transcripts.reading import TRANSCRIPTS, a_call, a_line, a_record, a_result, heard


def left_in(lines: list[bytes]) -> list[list[str]]:
    """What each line leaves, and the end of the file."""
    rewinds = Rewinds(lambda record: text_of(record, "uuid"))
    found = [rewinds.feed(parse(line) or {}) for line in lines]
    return [each for each in [*found, rewinds.ended()] if each]


def test_a_prompt_that_hangs_on_an_earlier_answer_leaves_what_came_after_it() -> None:
    lines = [
        a_record("user", "One.", uuid="u1"),
        a_record("assistant", "Yes.", uuid="a1", parentUuid="u1"),
        a_record("user", "Two.", uuid="u2", parentUuid="a1"),
        a_record("assistant", "No.", uuid="a2", parentUuid="u2"),
        a_record("user", "Three.", uuid="u3", parentUuid="a2"),
        a_record("user", "Two, again.", uuid="u4", parentUuid="a1"),
    ]

    assert left_in(lines) == [["u2", "u3"]]
    assert {"msg:u2", "msg:u3"} <= live_branch(lines).abandoned


def test_parallel_results_beside_the_chain_leave_nothing() -> None:
    lines = [
        a_record("user", "Look.", uuid="u1"),
        a_record("assistant", [a_call("t1")], uuid="a1", parentUuid="u1", message_id="m1"),
        a_record("assistant", [a_call("t2")], uuid="a2", parentUuid="a1", message_id="m1"),
        a_record("user", [a_result("t1")], uuid="r1", parentUuid="a1"),
        a_record("user", [a_result("t2")], uuid="r2", parentUuid="a2"),
        a_record("assistant", "Done.", uuid="a3", parentUuid="r2"),
        a_record("user", "Next.", uuid="u2", parentUuid="a3"),
    ]

    assert left_in(lines) == []


def test_a_reply_made_anew_leaves_the_prompts_behind_it_and_not_its_own() -> None:
    lines = [
        a_record("user", "One.", uuid="u1"),
        a_record("assistant", "Yes.", uuid="a1", parentUuid="u1"),
        a_record("user", "Two.", uuid="u2", parentUuid="a1"),
        a_record("assistant", "Better.", uuid="a2", parentUuid="u1"),
    ]

    assert left_in(lines) == [["u2"]]


def test_the_named_leaf_counts_at_the_end_and_only_if_nothing_came_behind_it() -> None:
    records = [
        a_record("user", "One.", uuid="u1"),
        a_record("assistant", "Yes.", uuid="a1", parentUuid="u1"),
        a_record("user", "Two.", uuid="u2", parentUuid="a1"),
        a_line({"type": "last-prompt", "leafUuid": "a1"}),
    ]

    assert left_in(records) == [["u2"]]
    assert left_in([*records, a_record("user", "Three.", uuid="u3", parentUuid="u2")]) == []


def test_a_prompt_typed_ahead_is_left_with_the_branch_it_stands_on() -> None:
    queued = {"type": "queued_command", "commandMode": "prompt", "prompt": "And this."}
    lines = [
        a_record("user", "One.", uuid="u1"),
        a_record("assistant", "Yes.", uuid="a1", parentUuid="u1"),
        a_record("user", "Two.", uuid="u2", parentUuid="a1"),
        a_line({"type": "attachment", "uuid": "q1", "parentUuid": "u2", "attachment": queued}),
        a_record("assistant", "No.", uuid="a2", parentUuid="q1"),
        a_record("user", "Back.", uuid="u3", parentUuid="a1"),
    ]

    assert left_in(lines) == [["u2", "q1"]]
    assert is_queued({"attachment": queued}) and not is_queued({"attachment": queued | {"commandMode": "bash"}})


@pytest.mark.parametrize("file", sorted(TRANSCRIPTS.glob("*/*.jsonl")), ids=lambda file: file.stem)
def test_no_real_file_leaves_a_prompt_that_a_look_at_the_whole_keeps(file: object) -> None:
    lines = file.read_bytes().splitlines(keepends=True)  # type: ignore[attr-defined]
    told = {f"msg:{one}" for each in left_in(lines) for one in each}

    assert told <= live_branch(lines).abandoned


def test_the_events_of_a_file_say_which_prompts_were_left() -> None:
    lines = (TRANSCRIPTS / "quirks" / "q06-rewind-two-branches.jsonl").read_bytes().splitlines(keepends=True)

    events, _ = heard(lines)

    prompts = {
        event.event_id: event
        for event in events
        if event.event_type == EventType.USER_MESSAGE and event.source_kind is SourceKind.USER
    }
    (back,) = [event for event in events if event.event_type == "session/rewound"]
    assert bytes(back.payload) == b'{"events":["msg:00000000-0000-4000-8000-000000000003"]}'
    assert len(prompts) == 3 and "msg:00000000-0000-4000-8000-000000000003" in prompts


def test_what_the_user_typed_is_read_without_what_machines_put_beside_it() -> None:
    content = [{"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": "Mine."}]

    assert prompt_text({"message": {"content": content}}) == "Mine."
