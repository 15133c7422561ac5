"""The audit in plain words."""

from typing import Any

import msgspec
import pytest

from governance.contracts import (
    Action,
    ActivationTrace,
    AuditEntry,
    AuditKind,
    CandidateTrace,
    ContextTrace,
    EvidenceKind,
    EvidenceTrace,
    VerdictTrace,
)
from governance.explain import BEYOND, DECIDED, MOVES, REASONS, USED, explain, sentence
from governance.procedures import Why
from recall.contracts import ActivationLevel, ArmReport
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.entries import a_full_pass, a_trace, an_entry

PACKET = a_trace().packet_id


def told(*entries: AuditEntry, memory_id: str | None = None) -> list[str]:
    """The lines, their times left out."""
    return [line.split(": ", 1)[1] if " UTC" in line else line.strip() for line in explain(entries, memory_id)]


def test_a_silence_says_why() -> None:
    assert told(an_entry(audit_id="aud_1")) == [
        "silent after a failed tool result: what was found did not match well enough to interrupt for. [aud_1]"
    ]


def test_a_headline_says_when_and_at_which_step() -> None:
    (line,) = explain([an_entry(at=START)])
    assert line.startswith("2026-05-28 20:26:40 UTC, step 3: ")
    assert explain([an_entry(step=None)])[0].startswith("2026-05-28 20:26:40 UTC: ")


def test_a_packet_is_explained_from_need_to_bytes() -> None:
    assert told(a_full_pass(audit_id="aud_1")) == [
        f"packet {PACKET} was offered after a failed tool result, because of tool failure. [aud_1]",
        "need 0.93 (tool failure 1.00, novelty 0.12)",
        "lexical: 12 found in 0.8 ms",
        "safety: allow, no rule objected",
        f"kept {a_memory_id(1)}: match 24.10, agreement 1.20",
        f"left out {a_memory_id(2)}: it was shown in this context window before (match 0.00, agreement 0.00)",
        "packet: 1 memory, 412 bytes, shown as excerpt",
    ]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        (
            {"level": ActivationLevel.EXCERPT, "taken": ActivationLevel.EXCERPT, "similarity": 500_000},
            "advised excerpt (similarity 0.50, hesitation 0.00)",
        ),
        (
            {"level": ActivationLevel.FULL, "taken": ActivationLevel.RESOURCE, "hesitation": 250_000},
            "advised full, shown as resource (similarity 0.00, hesitation 0.25)",
        ),
        ({"refused": "stale-index"}, "advice on how much to show was not followed: stale-index"),
    ],
)
def test_what_was_advised_about_the_level_is_told(fields: dict[str, Any], line: str) -> None:
    entry = a_full_pass(activation=ActivationTrace(memory_id=a_memory_id(), **fields))

    assert line in told(entry)
    assert line in told(entry, memory_id=a_memory_id())
    assert line not in told(entry, memory_id=a_memory_id(2))


def test_an_adviser_with_nothing_to_say_is_not_told_of() -> None:
    assert told(a_full_pass(activation=ActivationTrace(memory_id=a_memory_id()))) == told(a_full_pass())


def test_what_happened_afterwards_is_told_in_order() -> None:
    def about(kind: AuditKind, after: int, **fields: object) -> AuditEntry:
        return an_entry(kind=kind, at=START + after, packet=a_trace(), **fields)

    lines = told(
        about(AuditKind.DELIVERY, 2, outcome="delivered", reason="tool-failure", surface="post-tool"),
        about(AuditKind.CLAIM, 1, outcome="claimed", reason="tool-failure", surface="post-tool"),
        an_entry(kind=AuditKind.FEEDBACK, at=START + 3, outcome="useful", memory_id=a_memory_id()),
    )
    assert lines == [
        f"packet {PACKET} was claimed at post-tool. []",
        f"packet {PACKET} reached the agent at post-tool. []",
        f"the user called {a_memory_id()} useful. []",
    ]


def test_what_the_user_did_with_a_memory_is_told_in_words() -> None:
    entries = [an_entry(kind=AuditKind.FEEDBACK, outcome=verb, memory_id=a_memory_id()) for verb in DECIDED]

    assert told(*entries[::-1]) == [f"the user {word} {a_memory_id()}. []" for word in DECIDED.values()]


@pytest.mark.parametrize(("policy", "told"), [("confidence_pre_v1/quiet", True), ("confidence_pre_v1", False)])
def test_a_pass_by_another_point_than_the_calibrated_one_says_so(policy: str, told: bool) -> None:
    lines = explain([a_full_pass(versions={"confidence": policy})])
    assert ("  attention: quiet" in lines) is told


def test_a_memory_that_should_have_come_was_missed() -> None:
    entry = an_entry(kind=AuditKind.FEEDBACK, outcome="missed", reason="missed", memory_id=a_memory_id(1))
    assert f"the user missed {a_memory_id(1)}." in explain([entry])[0]


def test_entries_of_the_same_instant_keep_the_order_in_which_they_were_written() -> None:
    newest_first = [an_entry(kind=AuditKind.DELIVERY, packet=a_trace()), a_full_pass()]
    lines = [line for line in explain(newest_first) if " UTC" in line]
    assert "was offered" in lines[0]
    assert "reached the agent" in lines[1]


def test_drops_empty_claims_and_settings_have_their_sentences() -> None:
    lines = told(
        *reversed(
            (
                an_entry(kind=AuditKind.DROP, outcome="dropped", reason="stale-context", packet=a_trace()),
                an_entry(kind=AuditKind.CLAIM, outcome="silence", reason="boundary-used", surface="pre-step"),
                an_entry(kind=AuditKind.POLICY, outcome="rollout shadow"),
                a_full_pass(outcome="would", reason="shadow", gate=None, arms=(), candidates=(), verdict=None),
            )
        )
    )
    assert lines[0] == f"packet {PACKET} was dropped: the conversation had moved on. []"
    corrected = told(an_entry(kind=AuditKind.DROP, outcome="dropped", reason="corrected", packet=a_trace()))
    assert corrected == [f"packet {PACKET} was dropped: a memory in it was corrected. []"]
    assert lines[1] == "a claim at pre-step got nothing: one packet had gone into this request already. []"
    assert lines[2] == "the settings changed: rollout shadow. []"
    assert lines[3].startswith(f"packet {PACKET} after a failed tool result was not offered: remora only watches")


def test_one_memory_is_told_of_alone() -> None:
    lines = told(a_full_pass(), memory_id=a_memory_id(2))
    assert lines[1:] == [
        f"left out {a_memory_id(2)}: it was shown in this context window before (match 0.00, agreement 0.00)"
    ]
    missing = told(a_full_pass(), memory_id=a_memory_id(3))
    assert missing[1:] == [f"{a_memory_id(3)} was not among what was found"]


@pytest.mark.parametrize(
    ("margin", "kept", "told_as"),
    [
        (1_500_000, True, f"kept {a_memory_id(4)}: match 20.00, agreement 0.00, 1.50 over the bar"),
        (-1_500_000, False, "it did not match well enough (match 20.00, agreement 0.00, 1.50 short of the bar)"),
        (1_500_000, False, f"left out {a_memory_id(4)}: {BEYOND} (match 20.00, agreement 0.00, 1.50 over the bar)"),
    ],
)
def test_how_far_a_memory_was_from_the_bar_is_said_and_what_cleared_it_did_not_fail_for_its_match(
    margin: int, kept: bool, told_as: str
) -> None:
    row = CandidateTrace(
        memory_id=a_memory_id(4),
        score=20_000_000,
        rank=1,
        kept=kept,
        drop_reason=None if kept else "below-bar",
        mass=20_000_000,
        margin=margin,
    )
    assert told(an_entry(candidates=(row,)))[1].endswith(told_as)


def test_many_candidates_are_counted_and_not_listed() -> None:
    many = tuple(
        CandidateTrace(memory_id=a_memory_id(n), score=0, rank=0 if n > 4 else n, kept=False) for n in range(1, 9)
    )
    lines = told(an_entry(candidates=many))
    assert [line.split()[2].rstrip(":") for line in lines[1:6]] == [a_memory_id(n) for n in range(1, 6)]
    assert lines[6] == "and 3 more, left out"


def test_faults_shortfalls_and_asking_are_said() -> None:
    verdict = VerdictTrace(action=Action.ASK, reason="high-risk")
    arms = (ArmReport(name="lexical", hits=0, micros=500_000, shortfall="late"),)
    lines = told(an_entry(reason="fault", note="TimeoutError", arms=arms, verdict=verdict, trigger="seed"))
    assert lines[0] == "silent after a start: something broke; a fault is a silence (TimeoutError). []"
    assert lines[1:] == [
        "lexical: 0 found in 500.0 ms, late",
        "safety: ask, it is a risky procedure that the user has not approved",
    ]


def test_nothing_recorded_is_said_too() -> None:
    assert explain([]) == ["Nothing is recorded about this."]


def test_a_reason_without_a_sentence_stands_for_itself_and_a_broken_rule_says_so() -> None:
    assert sentence("something-new") == "something-new"
    assert sentence("broken:scope") == "the rule scope broke, and a broken rule denies"
    assert all(text and text[0].islower() and not text.endswith(".") for text in REASONS.values())


def test_triggers_have_names() -> None:
    assert told(an_entry(trigger="prompt"))[0].startswith("silent after a prompt:")
    assert told(an_entry(trigger=""))[0].startswith("silent after an event:")
    assert told(an_entry(trigger="custom"))[0].startswith("silent after custom:")


# --------------------------------------------------------------------------------------------- what came of a memory


def an_edge(kind: EvidenceKind, memory: int = 1, coverage: int | None = None) -> EvidenceTrace:
    return EvidenceTrace(
        kind=kind, memory_id=a_memory_id(memory), source_version=1, record_digest="0" * 64, coverage=coverage
    )


@pytest.mark.parametrize(
    ("edge", "told"),
    [
        (an_edge(EvidenceKind.SEEN, coverage=250_000), "the agent read a part of {}: 0.25"),
        (an_edge(EvidenceKind.READ, coverage=1_000_000), "the agent read {} whole"),
        (an_edge(EvidenceKind.CITE), "{} was named or quoted"),
        (an_edge(EvidenceKind.REUSE), "the agent did what {} says"),
        (an_edge(EvidenceKind.SUCCESS), "what {} says was done, and it worked"),
        (an_edge(EvidenceKind.CORRECTION), "{} was corrected: it is kept back until it is looked at"),
    ],
)
def test_what_an_event_shows_of_a_memory_is_told(edge: EvidenceTrace, told: str) -> None:
    lines = explain([an_entry(evidence=(edge, edge))], a_memory_id(1))

    assert lines[1:] == ["  " + told.format(a_memory_id(1))]


def test_every_kind_of_evidence_has_words() -> None:
    assert {EvidenceKind.SEEN, *USED} == set(EvidenceKind)


def test_of_a_delivery_nothing_more_is_told_and_of_other_memories_nothing() -> None:
    delivered = an_entry(
        kind=AuditKind.DELIVERY, outcome="delivered", packet=a_trace(), evidence=(an_edge(EvidenceKind.SEEN),)
    )
    assert len(explain([delivered])) == 1
    other = an_entry(evidence=(an_edge(EvidenceKind.CITE, 1), an_edge(EvidenceKind.CITE, 2)))
    assert explain([other], a_memory_id(2))[1:] == [f"  {a_memory_id(2)} was named or quoted"]


def test_what_was_let_go_is_said_first() -> None:
    lines = explain([an_entry()], None, START)

    assert lines[0].endswith("were let go: only numbers are left of them.")
    assert explain([], None, START) == [lines[0], "Nothing is recorded about this."]


def test_the_entry_that_names_a_checkpoint_says_how_many_went() -> None:
    (line,) = explain([an_entry(kind=AuditKind.POLICY, outcome="checkpoint", note="120", step=None)])
    assert "old entries were let go, 120 in all so far" in line


@pytest.mark.parametrize("why", [str(why) for why in Why if why in MOVES])
def test_a_move_of_a_procedure_is_told_with_its_reason(why: str) -> None:
    (line,) = told(an_entry(kind=AuditKind.POLICY, outcome="stage-observed", reason=why, memory_id=a_memory_id()))
    assert line == f"the procedure {a_memory_id()} is observed now: {MOVES[why]}. []"


def test_every_move_has_its_words() -> None:
    assert set(MOVES) <= {str(why) for why in Why}


CONTEXT = ContextTrace(state="1" * 16, items=(a_memory_id(7), a_memory_id(8)))


def test_a_packet_with_the_runtime_context_alone_says_so() -> None:
    alone = a_trace(items=(), context=CONTEXT, bytes=417)
    offered = an_entry(outcome="packet", reason="runtime-context", trigger="runtime-context", packet=alone)
    watched = an_entry(outcome="would", reason="shadow", trigger="runtime-context", packet=alone)
    cleared = msgspec.structs.replace(offered, packet=a_trace(items=(), context=ContextTrace(state="2" * 16), bytes=90))

    headline, *details = told(offered)
    assert headline.startswith(f"packet {PACKET} was offered: what is kept in view had changed.")
    assert details[-1] == "packet: 2 memories kept in view by title, 417 bytes"
    assert "was not offered, for remora only watches in this workspace" in told(watched)[0]
    assert told(cleared)[-1] == "packet: what is kept in view, 90 bytes"


def test_a_packet_of_memories_says_what_it_keeps_in_view_beside_them() -> None:
    beside = an_entry(outcome="packet", reason="seed", trigger="seed", packet=a_trace(context=CONTEXT))
    assert told(beside)[-1] == "packet: 1 memory, 412 bytes, shown as excerpt, and 2 memories kept in view by title"


def test_the_story_of_a_memory_tells_that_it_was_kept_in_view() -> None:
    alone = a_trace(items=(), context=CONTEXT)
    entry = an_entry(outcome="packet", reason="runtime-context", trigger="runtime-context", packet=alone)
    assert told(entry, memory_id=a_memory_id(8))[-1] == f"{a_memory_id(8)} is kept in view by its title"
