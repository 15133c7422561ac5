"""What a restart must know of entries that were let go."""

from governance.contracts import AuditEntry, AuditKind, ContextTrace, GateTrace
from host.holdout import HELD_OUT
from host.past import KEPT, OWNERS, STEPS, Past, fold_past, owner_of, pasts
from host.trace import WOULD
from recall.confidence import aged
from recall.contracts import ArmReport, ContextCursor
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.entries import REF, a_full_pass, a_trace, an_entry

AGENT = "b" * 32
ARMS = (ArmReport(name="lexical", hits=1, micros=1),)


def at(seq: int, **fields: object) -> AuditEntry:
    return an_entry(cursor=ContextCursor(session_id=REF, event_seq=seq, context_version=1), **fields)


def past_of(*entries: AuditEntry) -> Past:
    return pasts(fold_past(None, entries, START))[owner_of(REF, AGENT)]


def test_where_the_last_pass_stood_is_known() -> None:
    past = past_of(
        at(3, gate=GateTrace(state="armed"), versions={"confidence": "confidence_pre_v2/quiet"}),
        at(5, versions={"confidence": "confidence_pre_v2"}),
        at(6, kind=AuditKind.CLAIM, outcome="silence"),
        at(9, kind=AuditKind.DROP, outcome="dropped"),
    )

    assert (past.decided_seq, past.event_seq, past.gate, past.confidence) == (5, 6, "armed", "confidence_pre_v2")
    (entry,) = past.entries()
    assert entry.kind is AuditKind.PASS and entry.gate == GateTrace(state="armed")
    assert entry.cursor is not None and entry.cursor.event_seq == 5


def test_agreement_is_kept_to_the_bit() -> None:
    passes = [at(seq, arms=ARMS, votes=(a_memory_id(seq % 3), a_memory_id(7))) for seq in range(1, 40)]
    agree: dict[str, float] = {}
    for entry in passes:
        agree = aged(agree, entry.votes)

    assert past_of(*passes).agreement() == agree


def test_packets_that_were_claimed_delivered_or_kept_back_are_known_in_order() -> None:
    past = past_of(
        a_full_pass(),
        at(2, kind=AuditKind.CLAIM, outcome="claimed", packet=a_trace()),
        at(3, kind=AuditKind.DELIVERY, outcome="delivered", packet=a_trace()),
        at(4, outcome=HELD_OUT, packet=a_trace(2)),
        at(4, kind=AuditKind.CLAIM, outcome="claimed", packet=a_trace(3)),
    )

    told = [(one.kind, one.outcome, one.packet and one.packet.packet_id) for one in past.entries()]
    assert told == [
        (AuditKind.CLAIM, "claimed", a_trace().packet_id),
        (AuditKind.DELIVERY, "delivered", a_trace().packet_id),
        (AuditKind.PASS, HELD_OUT, a_trace(2).packet_id),
        (AuditKind.PASS, "silence", None),  # last of its event: where the gate stood holds
        (AuditKind.CLAIM, "claimed", a_trace(3).packet_id),
    ]
    assert past.entries()[1].packet == a_trace().__class__(
        packet_id=a_trace().packet_id,
        exact_digest=a_trace().exact_digest,
        semantic_digest="",
        bytes=0,
        level=a_trace().level,
        items=a_trace().items,
    )


def test_folding_in_parts_is_folding_at_once() -> None:
    entries = [a_full_pass(), at(2, arms=ARMS, votes=(a_memory_id(),)), at(3, session_ref="c" * 32), an_entry()]

    at_once = fold_past(None, entries, START)

    for place in range(len(entries)):
        assert fold_past(fold_past(None, entries[:place], START), entries[place:], START) == at_once


def test_what_belongs_to_no_session_and_what_is_too_old_is_not_kept() -> None:
    nobody = an_entry(session_ref="", cursor=None, kind=AuditKind.POLICY, outcome="rollout")

    assert fold_past(None, [nobody], START) == {}
    assert fold_past(fold_past(None, [at(1)], START), [], START + KEPT) == {}
    assert pasts(None) == {}


def test_an_owner_keeps_its_latest_steps_and_the_latest_owners_are_kept() -> None:
    many = [at(seq, kind=AuditKind.CLAIM, outcome="claimed", packet=a_trace(seq)) for seq in range(STEPS + 3)]
    owners = [at(1, at=START + number, session_ref=f"{number:032x}") for number in range(OWNERS + 2)]

    assert len(past_of(*many).steps) == STEPS
    kept = fold_past(None, owners, START)
    assert len(kept) == OWNERS
    assert owner_of(f"{0:032x}", AGENT) not in kept and owner_of(f"{OWNERS + 1:032x}", AGENT) in kept


def test_what_was_said_of_the_runtime_context_is_known_also_where_remora_only_watched() -> None:
    context = ContextTrace(state="1" * 16, items=(a_memory_id(9),))
    past = past_of(
        at(2, outcome=WOULD, packet=a_trace(1)),  # of a need: nothing to know
        at(3, outcome=WOULD, packet=a_trace(2, items=(), context=context)),
        at(4, kind=AuditKind.CLAIM, outcome="claimed", packet=a_trace(3, items=(), context=context)),
        at(4, kind=AuditKind.DELIVERY, outcome="delivered", packet=a_trace(3, items=(), context=context)),
        at(5),
    )

    told = [(one.kind, one.outcome, one.packet and one.packet.context) for one in past.entries()]
    assert told[:-1] == [
        (AuditKind.PASS, WOULD, context),
        (AuditKind.CLAIM, "claimed", context),
        (AuditKind.DELIVERY, "delivered", context),
    ]
