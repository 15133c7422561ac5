"""A conversation as a list that grows: each entry is told once, a text stays at its place, a new window is noticed."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.envelopes import check
from host.frame import close_line, open_line
from host.inprocess.said import TEXT_CHARACTERS, Listing, Part, Placed, Said, identifier
from host.inprocess.talk import CALL_EVENTS, Call, Owner, Talk

OWNER = Owner(host="langchain", version="1.5.2", session="s1", agent="main", workspace="/w", mark="m")
NOW = 1_780_000_000_000
PACKET = f"{open_line('0123abcd')}\nA lesson.\n{close_line('0123abcd')}"

PROMPT = Said(part=Part.PROMPT, key="h1", text="Put it up.")
REPLY = Said(part=Part.REPLY, text="I will.")
CALL = Said(part=Part.CALL, key="c1", tool="upload", arguments={"name": "a.zip"})
RESULT = Said(part=Part.RESULT, key="c1", text="refused", ok=False)


def a_talk(**fields: Any) -> Talk:
    return Talk(msgspec.structs.replace(OWNER, **fields), 150)


def listing(*said: Said, **fields: Any) -> Listing:
    """The entries, each a place of its own."""
    anchors = tuple(f"{one.part}:{one.key or one.text}" for one in said)
    return Listing(**({"session": "s1", "said": said, "anchors": anchors, "model": "m5"} | fields))


def events(calls: tuple[Call, ...]) -> list[Any]:
    return [event for call in calls for event in call.params.get("events", ())]  # type: ignore[attr-defined]


def kinds(calls: tuple[Call, ...]) -> list[str]:
    return [event.event_type for event in events(calls)]


def claimed(text: str = PACKET) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode({"packet": {"packetId": "p1", "rendered": text}, "claimId": "c1"}))


def test_a_conversation_begins_with_who_speaks_and_what_is_news() -> None:
    (step,) = calls = a_talk().ask(listing(PROMPT), NOW)

    assert step.method == "step" and step.params["host"] == "langchain"
    assert step.params["claim"] == {"surface": "user-prompt", "waitMs": 150}
    assert kinds(calls) == ["session/start", "session/client", "user/message"]
    start, client, prompt = events(calls)
    assert msgspec.json.decode(start.payload) == {"source": "startup"}
    assert msgspec.json.decode(client.payload) == {"version": "1.5.2", "model": "m5"}
    assert client.event_id == "client:1.5.2:m5:m:0"
    assert (prompt.event_id, prompt.source_kind, prompt.timestamp) == ("prompt:h1", "user", NOW)
    for event in events(calls):
        check(event)


def test_each_entry_is_told_once_and_a_batch_of_results_ends_a_step() -> None:
    talk = a_talk()
    talk.ask(listing(PROMPT), NOW)
    after = talk.answered(None, [REPLY, CALL], NOW)
    (step,) = calls = talk.ask(listing(PROMPT, REPLY, CALL, RESULT), NOW)

    assert kinds(after) == ["assistant/message", "tool/call"]
    assert kinds(calls) == ["tool/result", "step/end"]
    assert step.params["claim"] == {"surface": "post-tool", "waitMs": 150}
    result, _ = events(calls)
    assert result.call_id == events(after)[1].call_id == "c1"
    told = msgspec.json.decode(result.payload)
    assert told == {"tool": "upload", "nativeTool": "upload", "ok": False, "text": "refused"}, (
        "the call says which tool"
    )


def test_a_request_with_nothing_new_claims_all_the_same() -> None:
    talk = a_talk()
    talk.ask(listing(PROMPT), NOW)

    (first,), (second,) = talk.ask(listing(PROMPT), NOW), talk.ask(listing(PROMPT), NOW)

    assert first.method == second.method == "inbox.claim"
    assert first.params["requestId"] != second.params["requestId"], "an answer that was given is not given again"
    assert first.params["sessionId"] == "s1" and first.params["agentId"] == "main"


def test_a_model_that_changes_is_told_each_time() -> None:
    talk = a_talk()
    said = [events(talk.ask(listing(PROMPT, model=model), NOW)) for model in ("m5", "m6", "m6", "m5")]
    clients = [event for each in said for event in each if event.event_type == "session/client"]

    assert [msgspec.json.decode(event.payload)["model"] for event in clients] == ["m5", "m6", "m5"]
    assert len({event.event_id for event in clients}) == 3


def test_the_last_words_end_a_turn() -> None:
    talk = a_talk()
    talk.ask(listing(PROMPT), NOW)

    assert kinds(talk.answered(None, [REPLY], NOW)) == ["assistant/message", "turn/end"]
    assert kinds(talk.answered(None, [], NOW)) == []


def test_what_was_there_before_is_no_news_but_what_came_after_the_last_reply_is() -> None:
    calls = a_talk().ask(listing(PROMPT, REPLY, CALL, RESULT), NOW)

    assert kinds(calls) == ["session/start", "session/client", "tool/result", "step/end"]


def test_the_same_words_twice_are_two_events() -> None:
    again = Said(part=Part.PROMPT, text="Go on.")
    talk = a_talk()
    talk.ask(listing(again), NOW)
    talk.answered(None, [REPLY], NOW)

    calls = talk.ask(listing(again, REPLY, again), NOW)

    assert kinds(calls) == ["user/message"]
    assert events(calls)[0].event_id.endswith("#2")


def test_what_a_machine_wrote_in_the_users_role_is_not_the_users() -> None:
    (*_, told) = events(a_talk().ask(listing(Said(part=Part.PROMPT, text="Fix the errors.", user=False)), NOW))

    assert (told.event_type, told.source_kind) == ("user/message", "lifecycle")


# ------------------------------------------------------------------------------------------------------------ packets


def test_a_packet_stands_behind_the_newest_entry_and_is_delivered_when_the_model_has_answered() -> None:
    talk, now = a_talk(), listing(PROMPT)
    talk.ask(now, NOW)
    handed = talk.heard(claimed(), now)
    assert handed == Placed(after="prompt:h1", text=PACKET, packet_id="p1", claim_id="c1")
    assert talk.placed == ()

    settle, *_ = talk.answered(handed, [REPLY], NOW)

    assert settle.method == "inbox.delivered"
    assert settle.params == {"sessionId": "s1", "agentId": "main", "packetId": "p1", "claimId": "c1"}
    assert talk.placed == (handed,)


def test_a_request_that_failed_gives_it_back() -> None:
    talk, now = a_talk(), listing(PROMPT)
    talk.ask(now, NOW)

    (release,) = talk.failed(talk.heard(claimed(), now))

    assert release.method == "inbox.release" and release.params["claimId"] == "c1"
    assert talk.placed == () and talk.failed(None) == ()


@pytest.mark.parametrize("answer", [None, msgspec.Raw(b'{"packet":null,"reason":"none-pending"}')])
def test_silence_hands_nothing_over(answer: msgspec.Raw | None) -> None:
    talk, now = a_talk(), listing(PROMPT)
    talk.ask(now, NOW)

    assert talk.heard(answer, now) is None
    assert kinds(talk.answered(None, [REPLY], NOW)) == ["assistant/message", "turn/end"]


def test_where_the_framework_keeps_the_text_itself_its_place_is_its_tag() -> None:
    talk, now = a_talk(), listing(PROMPT, anchors=(), keeps=True)
    talk.ask(now, NOW)

    handed = talk.heard(claimed(), now)

    assert handed is not None and handed.after == "0123abcd"


# ------------------------------------------------------------------------------------------------------------- windows


def delivered(talk: Talk) -> Placed:
    now = listing(PROMPT)
    talk.ask(now, NOW)
    handed = talk.heard(claimed(), now)
    assert handed is not None
    talk.answered(handed, [REPLY], NOW)
    return handed


def test_when_every_place_is_gone_the_window_is_a_new_one_and_nothing_is_put_back() -> None:
    talk = a_talk()
    delivered(talk)
    later = Said(part=Part.PROMPT, key="h9", text="And now?")

    calls = talk.ask(listing(later), NOW)

    assert kinds(calls) == ["session/compact", "user/message"]
    assert talk.placed == ()


def test_a_list_that_is_not_whole_says_nothing_of_what_is_missing() -> None:
    talk = a_talk()
    delivered(talk)

    assert kinds(talk.ask(listing(RESULT, whole=False), NOW)) == ["tool/result", "step/end"]


def test_where_only_what_is_new_is_listed_the_same_words_again_are_told_again() -> None:
    talk = a_talk()
    talk.ask(listing(PROMPT, whole=False), NOW)
    first = talk.answered(None, [REPLY, CALL], NOW)
    talk.ask(listing(RESULT, whole=False), NOW)
    second = talk.answered(None, [REPLY], NOW)

    assert kinds(first) == ["assistant/message", "tool/call"] and kinds(second) == ["assistant/message", "turn/end"]
    assert events(first)[0].event_id != events(second)[0].event_id


def test_where_a_list_is_cut_at_its_front_the_same_words_again_are_told_again() -> None:
    first, again = Said(part=Part.PROMPT, text="Put it up."), Said(part=Part.PROMPT, text="Go on.")
    talk = a_talk()
    told = [talk.ask(listing(first), NOW), talk.answered(None, [REPLY], NOW)]
    told += [talk.ask(listing(first, REPLY, again), NOW), talk.answered(None, [REPLY], NOW)]
    told += [talk.ask(listing(again, REPLY, again), NOW)]

    prompts = [event.event_id for calls in told for event in events(calls) if event.event_type == "user/message"]
    assert len(prompts) == len(set(prompts)) == 3


def test_a_reply_that_is_thrown_away_makes_nothing_news() -> None:
    prompt = Said(part=Part.PROMPT, text="Put it up.")
    talk = a_talk()
    talk.ask(listing(prompt), NOW)
    talk.answered(None, [REPLY], NOW)

    assert kinds(talk.ask(listing(prompt), NOW)) == []


def test_a_summary_begins_a_new_window_once_and_what_it_left_is_no_news() -> None:
    talk = a_talk()
    handed = delivered(talk)
    summary = Said(part=Part.SUMMARY, key="s9", text="So far…")
    later = Said(part=Part.PROMPT, key="h9", text="And now?")

    first = talk.ask(listing(summary, PROMPT, REPLY, later), NOW)
    second = talk.ask(listing(summary, PROMPT, REPLY, later), NOW)

    assert kinds(first) == ["session/compact", "user/message"]
    assert kinds(second) == []
    assert talk.placed == (handed,), "its place is still there"


def test_words_of_a_window_that_another_process_had_are_not_taken_for_the_same_words_now() -> None:
    again, summary = Said(part=Part.PROMPT, text="Go on."), Said(part=Part.SUMMARY, text="So far…")
    whole = [events(a_talk(mark=mark).ask(listing(summary, again), NOW))[-1] for mark in ("m1", "m2")]
    unsummed = [events(a_talk(mark=mark).ask(listing(again), NOW))[-1] for mark in ("m1", "m2")]

    assert whole[0].event_id != whole[1].event_id
    assert unsummed[0].event_id == unsummed[1].event_id, "told by a process that ended at once, it is told once"


def test_what_the_framework_kept_is_put_back_and_the_session_goes_on() -> None:
    kept = Placed(after="prompt:h1", text=PACKET)
    talk = a_talk()

    start, *_ = events(talk.ask(listing(PROMPT, REPLY, placed=(kept,)), NOW))

    assert msgspec.json.decode(start.payload) == {"source": "resume"}
    assert talk.placed == (kept,)


# --------------------------------------------------------------------------------------------------------------- sizes


def test_what_does_not_fit_one_call_goes_in_several_and_the_last_one_claims() -> None:
    many = [Said(part=Part.PROMPT, key=f"h{n}", text="x") for n in range(2 * CALL_EVENTS)]

    calls = a_talk().ask(listing(*many), NOW)

    assert [call.method for call in calls] == ["event.append", "event.append", "step"]
    assert [event.event_id for event in events(calls)][2:] == [f"prompt:h{n}" for n in range(2 * CALL_EVENTS)]


def test_large_texts_are_cut_and_spread() -> None:
    large = [Said(part=Part.PROMPT, key=f"h{n}", text="x" * 3 * TEXT_CHARACTERS) for n in range(12)]

    calls = a_talk().ask(listing(*large), NOW)

    assert len(calls) == 3
    assert all(len(msgspec.json.encode(call.params)) < 1024 * 1024 for call in calls)


@given(st.text())
def test_any_text_can_be_told(text: str) -> None:
    said = [Said(part=part, key=text, text=text, tool=text, arguments=text) for part in Part]

    for event in events(a_talk(session=identifier(text)).ask(listing(*said), NOW)):
        check(event)
        msgspec.json.encode(event)
