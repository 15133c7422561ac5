"""C-02 and M-01: one agent's runtime as a fold over envelopes, decisions and what was handed over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.contracts import AuditEntry, AuditKind, EvidenceKind, GateTrace
from host.contracts import GateMode, GateState
from host.runtime import FAILURES_KEPT, SESSION_SET, state_of, state_text
from host.steps import STEP_END
from recall.contracts import ArmReport, EventEnvelope, EventType, Shown, SourceKind
from tests.support.builders import SESSION, a_call, a_memory_id, a_prompt, a_reply, a_result, a_scope, a_start, an_event
from tests.support.clock import START
from tests.support.entries import a_trace, an_entry
from tests.support.runtimes import a_read, a_runtime, packet_of, take

MINUTE = 60_000
COOLING = GateState(mode=GateMode.COOLDOWN, latch=True, quiet_until=9, quiet_need="key_1")
COMPACT = an_event(EventType.SESSION_COMPACT, {"text": "summary"})


# ------------------------------------------------------------------------------------------------ cursor and rings


def test_the_context_version_rises_exactly_when_a_segment_is_pushed() -> None:
    runtime = a_runtime()

    take(runtime, a_start(), a_prompt(), an_event(EventType.TURN_END), an_event("other/type"), a_prompt(""), a_reply())

    assert (runtime.cursor.session_id, runtime.cursor.event_seq, runtime.cursor.context_version) == (SESSION, 6, 2)


def test_a_segment_knows_its_step_and_version() -> None:
    *_, segment = take(a_runtime(), a_prompt(), a_reply(), a_prompt("go on"), a_reply("Reading."))

    assert segment is not None
    assert (segment.step, segment.context_version) == (2, 4)


@pytest.mark.parametrize(
    ("texts", "left"),
    [
        ([f"prompt number {number}" for number in range(70)], 64),
        (["so many words " * 85 + f"and now {number:02d}" for number in range(30)], 27),  # of 1 200 characters each
    ],
)
def test_the_oldest_segments_leave_a_full_ring_and_are_counted(texts: list[str], left: int) -> None:
    runtime = a_runtime()

    take(runtime, *map(a_prompt, texts))

    assert [segment.text for segment, _ in runtime.segments] == [text[:1_200] for text in texts[-left:]]
    assert runtime.evicted == {"segment-ring": len(texts) - left}


def test_the_commoner_terms_are_kept_when_there_are_too_many() -> None:
    runtime = a_runtime(terms=10)
    words = ("apple", "bridge", "candle", "drum", "eagle", "fern", "glove", "horn", "iris")

    take(runtime, *(a_prompt(f"zebra walrus {word}") for word in words))

    assert runtime.counts["zebra"] == len(words)
    assert (len(runtime.counts), runtime.evicted["terms"], runtime.noise().total) == (5, 6, 27)


# ------------------------------------------------------------------------------------------------ the working view


def test_the_working_view_goes_by_the_daemons_clock_whatever_the_producer_says() -> None:
    runtime = a_runtime()
    take(runtime, *(a_prompt(f"prompt number {number}") for number in range(40)), at=START - MINUTE)
    take(runtime, a_prompt("dated ahead", timestamp=START + 365 * 24 * 60 * MINUTE), at=START)
    take(runtime, a_prompt("dated far back", timestamp=0), at=START + MINUTE)

    def texts(now: int) -> list[str]:
        return [segment.text for segment in runtime.working(now)]

    assert len(texts(START)) == 32
    assert texts(START + 15 * MINUTE) == ["dated ahead", "dated far back"]
    assert texts(START + 15 * MINUTE + 1) == ["dated far back"]
    assert texts(START + 16 * MINUTE + 1) == []


def test_a_window_ends_just_before_the_segment_that_is_decided() -> None:
    runtime = a_runtime()
    first, second = take(runtime, a_prompt("one thing"), a_prompt("another thing"))

    assert runtime.window(START, True, second).recent == (first,)
    assert runtime.window(START, True, None).recent == (first, second)
    assert runtime.window(START + 16 * MINUTE, True, second).recent == ()


def test_a_window_says_what_the_gate_needs_to_know() -> None:
    runtime = a_runtime()
    before = runtime.window(START, False, None)
    take(runtime, a_prompt("said by a machine", source_kind=SourceKind.TOOL))
    still_first = runtime.window(START, True, None).first_prompt
    take(runtime, a_prompt(), a_call("make test"), a_call("make test"), a_result("KeyError: 'x'"))

    window = runtime.window(START, True, None)

    assert (before.first_prompt, before.surface, before.failures, before.hesitation) == (True, False, (), 0.0)
    assert still_first
    assert (window.first_prompt, window.surface) == (False, True)
    assert "keyerror" in [mark.lower() for mark in window.failures]
    assert window.hesitation > 0


def test_the_marks_of_failures_are_bounded() -> None:
    runtime = a_runtime()

    take(runtime, *(a_result(f"exit {number}", call_id=f"c{number}") for number in range(2 * FAILURES_KEPT)))

    assert len(runtime.failures) == FAILURES_KEPT


# ------------------------------------------------------------------------------------------------ steps and turns


@pytest.mark.parametrize(
    ("envelopes", "step"),
    [
        ([], 0),
        ([a_prompt()], 0),
        ([a_prompt(), a_reply()], 1),
        ([a_prompt(), a_reply(), a_call(), a_result()], 1),  # one reply: words, a call, its result
        ([a_prompt(), a_call(call_id="a"), a_call(call_id="b"), a_result(call_id="a"), a_result(call_id="b")], 1),
        ([a_prompt(), a_reply(), a_prompt(), a_reply()], 2),
        ([a_call(), a_result(), an_event(STEP_END), a_call(), a_result(), an_event(STEP_END), a_reply()], 3),
        ([an_event(STEP_END), an_event(STEP_END)], 0),
        ([a_reply(step=7)], 7),
        ([a_reply(step=7), a_reply(step=5)], 7),  # never back
        ([a_reply(step=7), a_prompt(), a_reply()], 8),
        ([an_event(EventType.SESSION_START, {}, step=3), a_reply()], 4),
    ],
)
def test_a_step_is_what_the_producer_says_else_a_reply_of_the_model(envelopes: list[EventEnvelope], step: int) -> None:
    runtime = a_runtime()

    take(runtime, *envelopes)

    assert runtime.step == step


def test_neither_a_turn_nor_the_time_of_the_last_event_goes_back() -> None:
    runtime = a_runtime()

    take(runtime, a_prompt(turn=2), at=START + MINUTE)
    take(runtime, a_reply(turn=1), a_reply(), at=START)

    assert (runtime.turn, runtime.last_seen) == (2, START + MINUTE)


# ------------------------------------------------------------------------------------------------ context windows


@pytest.mark.parametrize(
    ("envelopes", "windows", "kept"),
    [
        ([a_start("startup")], 1, False),
        ([a_start("clear")], 1, False),
        ([a_start("compact")], 1, False),
        ([COMPACT], 1, False),
        ([COMPACT, a_start("compact")], 1, False),  # the host tells of one compaction twice
        ([a_start("compact"), COMPACT], 1, False),
        ([COMPACT, a_prompt(), a_start("compact")], 2, False),
        ([COMPACT, a_start("clear")], 2, False),
        ([a_start("resume")], 0, True),
        ([a_start("fork")], 0, True),
        ([an_event(EventType.SESSION_START, {})], 1, False),  # no source: a startup
        ([an_event(EventType.SESSION_START, {"source": 5})], 1, False),  # one that cannot be read says nothing
        ([an_event(EventType.SESSION_START, ["resume"])], 1, False),
        ([an_event(EventType.SESSION_END, {})], 0, True),
        ([a_prompt()], 0, True),
    ],
)
def test_a_new_context_window_begins_where_the_agent_lost_sight(
    envelopes: list[EventEnvelope], windows: int, kept: bool
) -> None:
    runtime = a_runtime()
    take(runtime, a_prompt("hello"))
    runtime.handed_over(packet_of(window=runtime.window_no))

    take(runtime, *envelopes)

    assert runtime.window_no == windows
    assert bool(runtime.shown) is kept


@pytest.mark.parametrize(("source", "before"), [("compact", (a_memory_id(1), a_memory_id(2))), ("clear", ())])
def test_a_new_window_holds_nothing_of_the_last_one(source: str, before: tuple[str, ...]) -> None:
    runtime = a_runtime()
    take(runtime, a_prompt("run the tests"), a_result("KeyError: 'x'"))
    runtime.handed_over(packet_of(2))
    runtime.handed_over(packet_of(1))
    runtime.taken(packet_of(3))
    runtime.witnessed([a_read(3)])
    runtime.gate = COOLING
    runtime.voted((a_memory_id(4),))

    take(runtime, a_start(source))

    empty = Shown(host=runtime.host, scope=runtime.scope)
    assert (runtime.visible(), runtime.gate, runtime.boundary_used) == (empty, GateState(), False)
    assert (list(runtime.delivered), list(runtime.failures), runtime.prompts) == ([], [], 0)
    assert runtime.shown_before == before
    assert (len(runtime.segments), bool(runtime.counts), bool(runtime.agree)) == (2, True, True)


def test_a_session_that_ended_is_disposed_until_it_starts_again() -> None:
    runtime = a_runtime()
    take(runtime, a_prompt(), an_event(EventType.SESSION_END, {}))
    ended = runtime.window(START, True, None).disposed

    take(runtime, a_start("resume"))

    assert ended
    assert not runtime.window(START, True, None).disposed


@pytest.mark.parametrize(
    ("wishes", "incognito", "muted"),
    [
        ([{"incognito": True}], True, False),
        ([{"incognito": True}, {"muted": True}], True, True),
        ([{"incognito": True, "muted": True}, {"incognito": False}], False, True),
        ([{}], False, False),
        ([{"incognito": True}, {"incognito": "no"}, ["muted"]], True, False),  # what cannot be read changes nothing
    ],
)
def test_a_wish_of_the_user_holds_until_another(wishes: list[object], incognito: bool, muted: bool) -> None:
    runtime = a_runtime()

    take(runtime, *(an_event(SESSION_SET, wish) for wish in wishes))

    window = runtime.window(START, True, None)
    assert (window.incognito, window.muted) == (incognito, muted)


@pytest.mark.parametrize(
    ("agent", "root", "subagent"),
    [("main", "main", False), ("main", "other", False), ("other", "other", False), ("sub-1", "main", True)],
)
def test_a_subagent_is_neither_main_nor_the_sessions_first_agent(agent: str, root: str, subagent: bool) -> None:
    runtime = a_runtime(agent, root)

    assert runtime.window(START, True, None).subagent is subagent


def test_another_folder_is_another_scope() -> None:
    runtime = a_runtime()

    runtime.enter("/elsewhere", "ws_" + "b" * 32)

    assert (runtime.workspace_path, runtime.scope) == ("/elsewhere", a_scope(workspace="ws_" + "b" * 32))


# ------------------------------------------------------------------------------------------------ what the agent holds


def test_what_a_claim_took_is_visible_until_it_is_given_back() -> None:
    runtime = a_runtime()
    runtime.taken(packet_of(1))
    held = runtime.visible()

    runtime.given_back(packet_of(1).packet_id)

    assert (held.records, held.texts) == ({a_memory_id(1)}, ((a_memory_id(1), "lesson 1"),))
    assert (runtime.visible().records, runtime.boundary_used) == (frozenset(), False)


def test_what_was_handed_over_is_shown_and_stays() -> None:
    runtime = a_runtime(delivered_digests=1)
    take(runtime, a_reply(step=4))
    for number in (1, 2):
        runtime.taken(packet_of(number))
        runtime.handed_over(packet_of(number))

    runtime.given_back(packet_of(2).packet_id)

    assert runtime.visible().records == {a_memory_id(1), a_memory_id(2)}
    assert list(runtime.delivered) == [packet_of(2).exact_digest]
    assert (runtime.in_hand, runtime.last_delivery_step, runtime.boundary_used) == ({}, 4, True)


def test_a_packet_of_another_window_that_arrives_late_shows_nothing() -> None:
    runtime = a_runtime()
    runtime.taken(packet_of(1))
    take(runtime, a_start("clear"))

    runtime.handed_over(packet_of(1))

    assert (runtime.visible().records, runtime.last_delivery_step) == (frozenset(), None)


@pytest.mark.promise("sent-is-final")
def test_a_late_release_does_not_free_the_boundary_that_another_packet_used() -> None:
    runtime = a_runtime()
    runtime.taken(packet_of(1))
    take(runtime, a_reply())
    runtime.taken(packet_of(2))

    runtime.given_back(packet_of(1).packet_id)

    assert runtime.boundary_used
    assert runtime.visible().records == {a_memory_id(2)}


@pytest.mark.parametrize(
    ("envelope", "used"),
    [
        (a_reply(), False),
        (a_call(), False),
        (a_result(), True),  # another result of the same reply: the request that it goes into is still to come
        (an_event(EventType.TURN_END, {}), False),
        (a_prompt(), True),  # it goes into the same request
        (an_event(STEP_END, {}), True),
        (an_event(SESSION_SET, {"muted": True}), True),
    ],
)
def test_the_boundary_is_free_again_once_the_agent_went_on(envelope: EventEnvelope, used: bool) -> None:
    runtime = a_runtime()
    runtime.taken(packet_of(1))

    take(runtime, envelope)

    assert runtime.boundary_used is used


def test_only_a_whole_read_counts_as_shown() -> None:
    runtime = a_runtime()

    runtime.witnessed([a_read(1), a_read(2, EvidenceKind.SEEN)])

    assert runtime.visible().read == {a_memory_id(1): "digest-1"}


def test_agreement_fades_with_every_pass_that_looked() -> None:
    runtime = a_runtime()

    runtime.voted((a_memory_id(1),))
    runtime.voted((a_memory_id(2),))

    assert runtime.noise().agree == {a_memory_id(1): 0.9, a_memory_id(2): 1.0}


# ------------------------------------------------------------------------------------------------ after a restart


def about(kind: AuditKind, outcome: str, number: int = 1) -> AuditEntry:
    return an_entry(kind=kind, outcome=outcome, packet=a_trace(number))


TAKEN = about(AuditKind.CLAIM, "claimed")


@pytest.mark.promise("deterministic")
@pytest.mark.parametrize(
    ("entries", "in_hand", "shown", "used"),
    [
        ([TAKEN], True, False, True),
        ([TAKEN, about(AuditKind.DROP, "released")], False, False, False),
        ([TAKEN, about(AuditKind.DROP, "dropped")], False, False, False),
        ([TAKEN, about(AuditKind.DELIVERY, "delivered")], False, True, True),
        ([about(AuditKind.CLAIM, "refused")], False, False, False),
        ([about(AuditKind.CLAIM, "claimed", 2)], False, False, False),  # never claimed for good: its row is not read
        ([an_entry(kind=AuditKind.POLICY)], False, False, False),
        ([about(AuditKind.FEEDBACK, "wrong")], False, False, False),
    ],
)
def test_entries_about_packets_are_folded_in_again(
    entries: list[AuditEntry], in_hand: bool, shown: bool, used: bool
) -> None:
    runtime, packet = a_runtime(), packet_of(1)

    for entry in entries:
        runtime.apply(entry, {packet.packet_id: packet})

    assert (bool(runtime.in_hand), bool(runtime.shown), runtime.boundary_used) == (in_hand, shown, used)


def test_a_pass_is_folded_in_again_with_its_gate_and_its_votes() -> None:
    runtime = a_runtime()
    arm = ArmReport(name="lexical", hits=1, micros=1)

    runtime.apply(an_entry(gate=GateTrace(state=state_text(COOLING)), arms=(arm,), votes=(a_memory_id(1),)), {})
    runtime.apply(an_entry(), {})  # a pass before the gate was traced, and without a look

    assert runtime.gate == COOLING
    assert runtime.agree == {a_memory_id(1): 1.0}


@given(st.sampled_from(GateMode), st.booleans(), st.integers(), st.text())
def test_the_gates_state_survives_the_audit(mode: GateMode, latch: bool, until: int, need: str) -> None:
    state = GateState(mode=mode, latch=latch, quiet_until=until, quiet_need=need)

    assert state_of(state_text(state)) == state
