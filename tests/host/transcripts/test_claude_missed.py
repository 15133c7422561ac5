"""What was missed while nobody listened is told with the ids that the hooks would have given it."""

import json
from pathlib import Path

import pytest

from host.adapters import ADAPTERS
from host.transcripts import claude_missed as module
from host.transcripts.claude_missed import Missed
from recall.contracts import EventEnvelope, EventType
from tests.host.adapters import goldens
from tests.host.transcripts.reading import SESSION, a_call, a_line, a_record, a_result, payload

CAPTURES = [path for path in goldens.captures("claude-code") if (path / "transcript.jsonl").exists()]
TOLD = (EventType.USER_MESSAGE, EventType.TOOL_CALL, EventType.TOOL_RESULT)


def told(*lines: bytes, since: int = 0) -> list[EventEnvelope]:
    return Missed(SESSION, "/w", since).hear(lines)


@pytest.mark.parametrize("capture", CAPTURES, ids=[path.name for path in CAPTURES])
def test_in_captured_sessions_hooks_and_transcript_give_the_same_ids(capture: Path) -> None:
    """All that the hooks told of the main agent's prompts, calls and results, and nothing of it under another id."""
    heard = [ADAPTERS["claude-code"].decode(json.dumps(one).encode()) for one in goldens.payloads(capture)]
    own = [one for what in heard for one in what.envelopes if one.agent_id == "main" and one.event_type in TOLD]
    by_hand = {one.event_id for one in own if one.event_type != EventType.USER_MESSAGE or one.source_kind == "user"}
    lines = (capture / "transcript.jsonl").read_bytes().splitlines(keepends=True)

    ids = [one.event_id for one in Missed(heard[0].session_id, "/w", 0).hear(lines)]

    assert by_hand <= set(ids)
    assert len(ids) == len(set(ids))


def test_only_what_is_newer_is_told_and_only_the_main_agents() -> None:
    events = told(
        a_record("user", "Old.", promptId="p1", timestamp="2026-11-03T09:00:00Z"),
        a_record("user", "New.", uuid="u2", promptId="p2", timestamp="2026-11-03T09:00:02Z"),
        a_record("assistant", [a_call("t1")], uuid="a1", timestamp="2026-11-03T09:00:03Z"),
        a_record(
            "assistant", [a_call("t2")], uuid="a2", timestamp="2026-11-03T09:00:03Z", agentId="x", isSidechain=True
        ),
        a_record("user", [a_result("t1", "done")], uuid="u3", promptId="p2", timestamp="2026-11-03T09:00:04Z"),
        a_record("assistant", "Well.", uuid="a3", timestamp="2026-11-03T09:00:05Z"),
        since=1793696401000,
    )

    assert [(one.event_type, one.agent_id, one.workspace, one.turn, one.step) for one in events] == [
        (kind, "main", "/w", None, None) for kind in TOLD
    ]
    assert payload(events[0])["text"] == "New."
    assert [one.event_id for one in events[1:]] == ["call:t1", "result:t1"]


def test_what_no_human_typed_and_a_prompt_that_cannot_be_named_are_not_told() -> None:
    assert not told(
        a_record("user", "Typed before prompts had ids."),
        a_record("user", "<task-notification>\n<task-id>x</task-id>\n</task-notification>", uuid="u2", promptId="p1"),
        a_record("user", "A caveat.", uuid="u3", promptId="p1", isMeta=True),
        a_line({"type": "attachment", "attachment": {"type": "hook_success"}}),
        b"no record\n",
    )


# ---------------------------------------------------------------------- calls that were refused

REFUSED = "The following parts require approval"


def a_session() -> Missed:
    missed = Missed(SESSION, "/w", 0)
    missed.hear([a_record("user", "Fix it.", promptId="p1")])
    return missed


def asked(call_id: str) -> bytes:
    return a_record("assistant", [a_call(call_id)], uuid=f"a-{call_id}")


def answered(call_id: str, *, failed: bool) -> bytes:
    return a_record("user", [a_result(call_id, REFUSED, is_error=failed)], uuid=f"u-{call_id}", promptId="p1")


def test_a_result_that_went_wrong_and_has_no_hook_is_told_with_its_call_at_the_next_reading() -> None:
    missed = a_session()

    at_once = missed.hear([asked("t1"), asked("t2"), answered("t1", failed=True), answered("t2", failed=False)])
    later = [missed.hear([]) for _ in range(2)]

    assert at_once == []
    assert [[one.event_id for one in each] for each in later] == [["call:t1", "result:t1"], []]
    assert (payload(later[0][1])["ok"], payload(later[0][1])["text"]) == (False, REFUSED)


def test_a_result_that_a_hook_tells_meanwhile_is_not_told() -> None:
    missed = a_session()
    missed.hear([asked("t1"), answered("t1", failed=True)])
    hook = {"session_id": SESSION, "cwd": "/w", "hook_event_name": "PostToolUseFailure", "error": "Exit code 1"}
    call = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls"}}
    missed.note(ADAPTERS["claude-code"].decode(json.dumps(hook | call).encode()))

    assert missed.hear([]) == []


def test_a_result_whose_call_was_not_read_is_told_alone() -> None:
    missed = a_session()
    missed.hear([answered("t1", failed=True)])

    assert [one.event_id for one in missed.hear([])] == ["result:t1"]


def test_only_so_many_calls_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 1)
    missed = a_session()
    missed.hear([asked("t1"), asked("t2"), answered("t1", failed=True)])

    assert [one.event_id for one in missed.hear([])] == ["result:t1"]
