"""Whose thread a Codex file is, and where a copied history ends."""

import pytest

from host.transcripts.codex_thread import Thread
from host.transcripts.records import Record, Report
from recall.contracts import SourceKind

PARENT = "01a228c2-0000-7000-8000-000000000001"
CHILD = "01a228c2-2246-7000-8000-000000000002"
OLD_TURN = "01a228c2-0001-7000-8000-00000000000a"
OWN_TURN = "01a228c2-224d-7000-8000-00000000000b"
LINKED = {"id": CHILD, "forked_from_id": PARENT}


def record(kind: str, second: float, **payload: object) -> Record:
    return {"type": kind, "timestamp": f"2026-11-04T10:00:{second:06.3f}Z", "payload": payload}


def copied(*records: Record) -> list[bool]:
    """For each record whether it stands in the parent's history."""
    thread = Thread("stem")
    found = []
    for each in records:
        thread.place(each)
        found.append(thread.copying)
    return found


def test_a_copied_history_ends_at_the_first_turn_made_after_the_thread() -> None:
    assert copied(
        record("session_meta", 0, **LINKED),
        record("session_meta", 0, id=PARENT),
        record("event_msg", 0, type="task_started", turn_id=OLD_TURN),
        record("response_item", 0, type="message"),
        record("event_msg", 0.01, type="task_started", turn_id=OWN_TURN),
        record("event_msg", 0.02, type="user_message"),
    ) == [False, True, True, True, False, False]


def test_a_copied_history_without_telling_turns_ends_at_a_pause() -> None:
    assert copied(
        record("session_meta", 0, **LINKED | {"id": "child"}),
        record("session_meta", 0, id="parent"),
        record("event_msg", 0.1, type="user_message"),
        record("event_msg", 1.2, type="user_message"),
    ) == [False, True, True, False]


def test_a_pause_does_not_make_an_old_turn_ones_own() -> None:
    assert copied(
        record("session_meta", 0, **LINKED),
        record("session_meta", 0, id=PARENT),
        record("event_msg", 5, type="task_started", turn_id=OLD_TURN),
    ) == [False, True, True]


def test_a_subagent_that_copies_nothing_is_its_own_from_the_start() -> None:
    assert copied(
        record("session_meta", 0, **LINKED),
        record("session_meta", 0, id=PARENT),
        record("event_msg", 0, type="task_started", turn_id=OWN_TURN),
    ) == [False, True, False]
    assert copied(record("session_meta", 0, **LINKED), record("response_item", 0)) == [False, False]


def test_an_id_that_only_looks_like_a_time_is_none() -> None:
    odd = "zzzzzzzz-zzzz-7000-8000-00000000000b"
    assert copied(
        record("session_meta", 0, **LINKED),
        record("session_meta", 0, id=PARENT),
        record("event_msg", 0, type="task_started", turn_id=odd),
    ) == [False, True, True]


def test_a_second_header_in_a_file_without_parent_begins_no_copy() -> None:
    assert copied(record("session_meta", 0, id="a"), record("session_meta", 0, id="b")) == [False, False]


@pytest.mark.parametrize(
    ("meta", "session", "agent", "parent", "author"),
    [
        ({"id": "t"}, "t", "main", None, SourceKind.USER),
        ({"id": "t", "forked_from_id": "p"}, "t", "main", "p", SourceKind.USER),
        ({"id": "t", "source": {"subagent": "review"}, "parent_thread_id": "p"}, "p", "t", "p", SourceKind.USER),
        ({"id": "t", "source": {"subagent": "review"}}, "t", "t", None, SourceKind.USER),
        (
            {"id": "t", "session_id": "root", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}},
            "root",
            "t",
            "p",
            SourceKind.AGENT,
        ),
        ({"id": "t", "session_id": "t", "source": {"subagent": {"other": "x"}}}, "t", "t", None, SourceKind.AGENT),
    ],
)
def test_a_header_says_whose_thread_it_is(
    meta: dict[str, object], session: str, agent: str, parent: str | None, author: SourceKind
) -> None:
    thread = Thread("stem")
    place = thread.place(record("session_meta", 0, cwd="/w", **meta))

    assert (place.session_id, place.agent_id, place.workspace) == (session, agent, "/w")
    assert thread.author() is author
    assert thread.known(Report(format="codex")).parent == parent


def test_a_file_without_header_is_a_session_of_its_own_name() -> None:
    thread = Thread("stem")
    assert thread.place(record("event_msg", 0)).session_id == "stem"
    assert thread.turn_key() == "stem:0"
