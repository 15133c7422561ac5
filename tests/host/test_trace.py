"""Audit entries of passes, claims and packets: every fate is told, and no word or path of an event or memory is."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.contracts import Action, AuditKind, ContextTrace, Removal, Verdict
from host.contracts import Context, Decision, Intent, MemoryPacket, Named, Pass, Reason, Silence
from host.trace import Owner, about, of_event, of_feedback, of_packet, of_pass, summary, trigger_of
from recall.contracts import ArmReport, Drop, Found, Ranked, Scored, SegmentKind, TermStatistics
from tests.support.builders import a_cue, a_failure, a_memory_id, a_packet, a_scored, a_segment, an_item
from tests.support.clock import START

OWNER = Owner(session_ref="s" * 32, agent_ref="a" * 32, event_seq=7, context_version=5, step=3)
VERSIONS = {"gate": "gate_pre_v1"}
EMPTY = TermStatistics(total=0, counts={})


def entry_of(walk: Pass) -> Any:
    return of_pass(walk, OWNER, "armed|1|0|", VERSIONS, START)


def scored(number: int, score: float = 1.0) -> Scored:
    return a_scored(f"lesson {number}", score=score, memory_id=a_memory_id(number))


def drop(number: int, reason: str) -> Drop:
    return Drop(id=a_memory_id(number), reason=reason)


# ------------------------------------------------------------------------------------------------ passes


def test_a_silence_is_told_with_its_reason_and_the_gates_numbers() -> None:
    walk = Pass(
        segment=a_segment(),
        trigger="prompt",
        outcome=Silence(reason=Reason.BELOW_THRESHOLD),
        score=0.4321987,
        signals={"trigger": 0.0, "novelty": 0.25, "correction": 1.0},
        latency={"gate": 12},
    )

    entry = entry_of(walk)

    assert (entry.kind, entry.outcome, entry.reason, entry.note) == (AuditKind.PASS, "silence", "below-threshold", None)
    assert (entry.session_ref, entry.agent_ref, entry.step, entry.at) == ("s" * 32, "a" * 32, 3, START)
    assert (entry.cursor.session_id, entry.cursor.event_seq, entry.cursor.context_version) == ("s" * 32, 7, 5)
    assert (entry.gate.score, entry.gate.state) == (432_199, "armed|1|0|")
    assert list(entry.gate.signals.items()) == [("correction", 1_000_000), ("novelty", 250_000)]
    assert (entry.versions, entry.latency, entry.trigger) == (VERSIONS, {"gate": 12}, "prompt")
    assert (entry.arms, entry.candidates, entry.votes, entry.verdict, entry.packet) == ((), (), (), None, None)


def test_a_fault_leaves_its_class_as_a_note() -> None:
    entry = entry_of(Pass(segment=a_segment(), outcome=Silence(reason=Reason.FAULT, detail="KeyError")))

    assert (entry.reason, entry.note) == ("fault", "KeyError")


def test_a_pass_without_a_segment_has_none() -> None:
    assert entry_of(Pass(segment=None, outcome=Silence(reason=Reason.NO_SEGMENT))).segment_id is None


def test_every_candidate_is_told_with_its_fate() -> None:
    best = (scored(1, 9), scored(2, 8), scored(3, 7), scored(4, 6))
    ranked = Ranked(ranked=best, dropped=(drop(5, "already-shown"),))
    sure = Ranked(
        ranked=(scored(1, 9), scored(2, 8)),
        dropped=(drop(3, "told"),),
        votes=(a_memory_id(1),),
        weighed=best,
    )
    removed = (Removal(candidate_id=a_memory_id(2), reason="secret"),)
    verdict = Verdict(action=Action.ALLOW, reason="clear", removed=removed, kept=(scored(1, 9),))
    packet = a_packet()
    arms = (ArmReport(name="lexical", hits=5, micros=80),)
    found = Found(candidates=(), arms=arms, statistics=EMPTY, index_version="idx_1")

    entry = entry_of(Pass(segment=a_segment(), outcome=packet, found=found, ranked=ranked, sure=sure, verdict=verdict))

    told = [(c.memory_id, c.score, c.rank, c.kept, c.drop_reason) for c in entry.candidates]
    assert told == [
        (a_memory_id(1), 9_000_000, 1, True, None),
        (a_memory_id(2), 8_000_000, 2, False, "secret"),
        (a_memory_id(3), 7_000_000, 3, False, "told"),
        (a_memory_id(4), 6_000_000, 4, False, "below-bar"),
        (a_memory_id(5), 0, 0, False, "already-shown"),
    ]
    assert (entry.candidates[0].mass, entry.candidates[0].agree) == (30_000_000, 0)
    assert (entry.arms, entry.votes, entry.verdict.removed) == (arms, (a_memory_id(1),), removed)
    assert (entry.outcome, entry.reason, entry.packet) == ("packet", packet.trigger_reason, of_packet(packet))


def test_each_candidate_is_told_with_its_margin_and_the_chosen_one_with_its_door() -> None:
    weighed = [msgspec.structs.replace(scored(number, score), bar=16.0) for number, score in ((1, 15.5), (2, 9.0))]
    answer = msgspec.structs.replace(weighed[1], score=4.5, bar=4.0, reasons=("told", "answer"))
    sure = Ranked(ranked=(answer,), weighed=(*weighed, scored(3, 1.0)))

    entry = entry_of(Pass(segment=a_segment(), outcome=a_packet(), ranked=Ranked(ranked=()), sure=sure))

    assert [(c.memory_id, c.score, c.margin, c.door) for c in entry.candidates] == [
        (a_memory_id(1), 15_500_000, -500_000, None),
        (a_memory_id(2), 9_000_000, 500_000, "answer"),
        (a_memory_id(3), 1_000_000, None, None),
    ]


def test_before_the_weighing_the_ranking_is_what_is_told() -> None:
    ranked = Ranked(ranked=(scored(1), scored(2)), dropped=(drop(2, "duplicate"),))

    entry = entry_of(Pass(segment=a_segment(), outcome=Silence(reason=Reason.FAULT), ranked=ranked))

    assert [(c.rank, c.drop_reason) for c in entry.candidates] == [(1, "below-bar"), (2, "duplicate")]


@pytest.mark.parametrize(
    ("segment", "trigger"),
    [
        (a_segment(), "prompt"),
        (a_segment(kind=SegmentKind.REPLY), "reply"),
        (a_failure(), "result:failed"),
        (a_failure(ok=True), "result"),
    ],
)
def test_a_trigger_is_the_kind_of_the_segment_and_whether_it_failed(segment: Any, trigger: str) -> None:
    assert trigger_of(segment) == trigger


# ------------------------------------------------------------------------------------------------ packets and the log


def test_a_packet_is_told_by_ids_digests_and_its_size_in_bytes() -> None:
    items = (an_item("用 pnpm"), an_item("二", memory_id=a_memory_id(2)))
    packet = a_packet(items=items, rendered="用 pnpm")

    trace = of_packet(packet)

    assert (trace.packet_id, trace.exact_digest) == (packet.packet_id, packet.exact_digest)
    assert (trace.semantic_digest, trace.level) == (packet.semantic_digest, packet.activation_level)
    assert (trace.bytes, trace.items) == (8, (a_memory_id(1), a_memory_id(2)))


def test_a_claim_names_its_packet_its_id_and_its_surface() -> None:
    bare = of_event(AuditKind.CLAIM, "claimed", "tool-failure", OWNER, START)

    entry = about(bare, a_packet(), "clm_1", "post-tool")

    assert (bare.packet, bare.claim_id, bare.cursor, bare.step) == (None, None, OWNER.cursor, 3)
    assert (entry.packet, entry.claim_id, entry.surface) == (of_packet(a_packet()), "clm_1", "post-tool")
    assert (entry.kind, entry.outcome, entry.reason) == (AuditKind.CLAIM, "claimed", "tool-failure")


@pytest.mark.parametrize(
    ("walk", "line"),
    [
        (
            Pass(segment=None, outcome=Silence(reason=Reason.NO_SEGMENT)),
            {"segment": None, "outcome": "silence", "reason": "no-segment", "items": 0, "found": 0, "micros": 0},
        ),
        (
            Pass(
                segment=a_segment(id="seg_1"),
                outcome=a_packet(trigger_reason="tool-failure"),
                found=Found(candidates=(scored(1).candidate,), arms=(), statistics=EMPTY, index_version="i"),
                latency={"gate": 3, "rank": 4},
            ),
            {"segment": "seg_1", "outcome": "packet", "reason": "tool-failure", "items": 1, "found": 1, "micros": 7},
        ),
    ],
)
def test_a_pass_is_one_line_of_the_log(walk: Pass, line: dict[str, object]) -> None:
    assert summary(walk) == line


# ------------------------------------------------------------------------------------------------ no words, no paths

CANARY = "zebrafinch"
PATH = "/home/zebrafinch/project/src/zebrafinch.py"

words = st.sampled_from([CANARY, f"{CANARY} fails", PATH, f"`{CANARY}` → {PATH}\n{CANARY}"])
millionths = st.integers(0, 10**7).map(lambda value: value / 10**6)
numbers = st.integers(1, 9)
reasons = st.sampled_from(["already-shown", "duplicate", "secret", "below-bar"])
segments = st.builds(
    lambda text, kind, ok: a_segment(text, kind=kind, ok=ok, entities=(text,), path=PATH, tool=CANARY, call_id=CANARY),
    words,
    st.sampled_from(SegmentKind),
    st.sampled_from([None, True, False]),
)
weighed = st.builds(
    lambda number, text, score: a_scored(
        text, score=score, memory_id=a_memory_id(number), title=text, tags=(CANARY,), provenance=PATH, reasons=(text,)
    ),
    numbers,
    words,
    millionths,
)
ranks = st.builds(
    lambda kept, dropped, votes: Ranked(
        ranked=tuple(kept),
        dropped=tuple(drop(*one) for one in dropped),
        votes=tuple(map(a_memory_id, votes)),
        weighed=tuple(kept),
        told=frozenset({CANARY}),
    ),
    st.lists(weighed, max_size=4),
    st.lists(st.tuples(numbers, reasons), max_size=3),
    st.lists(numbers, max_size=3),
)
verdicts = st.builds(
    lambda action, kept, removed: Verdict(
        action=action,
        reason="clear",
        kept=tuple(kept),
        removed=tuple(Removal(candidate_id=a_memory_id(number), reason=reason) for number, reason in removed),
    ),
    st.sampled_from(Action),
    st.lists(weighed, max_size=3),
    st.lists(st.tuples(numbers, reasons), max_size=3),
)
packets = st.builds(
    lambda texts: a_packet(
        items=tuple(an_item(text, memory_id=a_memory_id(n), title=text, why=text) for n, text in enumerate(texts, 1)),
        resource_refs=(PATH,),
        trigger_reason="tool-failure",
    ),
    st.lists(words, min_size=1, max_size=4),
)
decisions = st.builds(
    lambda text, intent: Decision(intent=intent, cue=a_cue(text), score=0.9, signals={"trigger": 1.0}, reason="prompt"),
    words,
    st.sampled_from(Intent),
)
founds = st.builds(
    lambda kept: Found(
        candidates=tuple(one.candidate for one in kept),
        arms=(ArmReport(name="lexical", hits=len(kept), micros=1),),
        statistics=TermStatistics(total=9, counts={CANARY: 1}),
        index_version="idx_1",
    ),
    st.lists(weighed, max_size=3),
)


def test_what_a_person_did_with_a_memory_is_of_no_session_and_says_which() -> None:
    entry = of_feedback("muted", a_memory_id(1), START)

    assert (entry.kind, entry.outcome, entry.memory_id, entry.at) == (
        AuditKind.FEEDBACK,
        "muted",
        a_memory_id(1),
        START,
    )
    assert (entry.session_ref, entry.agent_ref, entry.cursor, entry.note) == ("", "", None, None)


@st.composite
def walks(draw: st.DrawFn) -> Pass:
    """Any shape that a pass may have when it ends: every stage it may not have come to is absent or there."""
    return Pass(
        segment=draw(st.none() | segments),
        outcome=draw(packets | st.builds(Silence, reason=st.sampled_from(Reason), detail=st.just("KeyError"))),
        trigger=draw(st.sampled_from(["prompt", "result:failed", "seed", "carry-over"])),
        decision=draw(st.none() | decisions),
        score=draw(millionths),
        signals=draw(st.dictionaries(st.sampled_from(["trigger", "novelty"]), millionths)),
        found=draw(st.none() | founds),
        ranked=draw(st.none() | ranks),
        sure=draw(st.none() | ranks),
        verdict=draw(st.none() | verdicts),
    )


@pytest.mark.promise("no-leak")
@pytest.mark.promise("canaries-stay-home")
@given(walks())
def test_no_word_or_path_of_an_event_or_memory_is_in_an_entry_or_a_line_of_the_log(walk: Pass) -> None:
    entry = entry_of(walk)
    bare = [of_event(kind, "dropped", "expired", OWNER, START) for kind in AuditKind]
    packet = walk.outcome if isinstance(walk.outcome, MemoryPacket) else None
    abouts = [] if packet is None else [about(one, packet, "clm_1", "post-tool") for one in bare]

    told = msgspec.json.encode([entry, *bare, *abouts, summary(walk)]).decode()

    assert CANARY in msgspec.json.encode(walk).decode() or walk.segment is None
    assert CANARY not in told
    assert "/home" not in told
    assert all(trace.kept or trace.drop_reason for trace in entry.candidates)


def test_a_packet_is_traced_with_what_it_says_of_the_runtime_context() -> None:
    record = Named(memory_id=a_memory_id(9), record_digest="d" * 64)
    context = Context(state="1" * 16, text="Kept in view: a secret title", records=(record,))

    alone, beside = of_packet(a_packet(items=(), context=context)), of_packet(a_packet(context=context))

    assert alone.context == beside.context == ContextTrace(state="1" * 16, items=(a_memory_id(9),))
    assert (alone.alone, beside.alone, of_packet(a_packet()).alone) == (True, False, False)
    assert alone.named == (a_memory_id(9),) and beside.named == (*beside.items, a_memory_id(9))
    assert "secret" not in str(alone)
