"""Numbers, as a fold over the audit."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from governance.contracts import (
    Action,
    AuditEntry,
    AuditKind,
    ContextTrace,
    EvidenceKind,
    EvidenceTrace,
    Removal,
    VerdictTrace,
)
from governance.metrics import BUCKETS, EMPTY, OFFERS, as_json, fold, funnel, gauges, prometheus, rates
from recall.contracts import ArmReport
from tests.support.builders import a_memory_id
from tests.support.entries import a_full_pass, a_trace, an_entry

REMOVAL = Removal(candidate_id=a_memory_id(2), reason="injection")
ENTRIES: list[AuditEntry] = [
    an_entry(latency={"gate": 40}),
    a_full_pass(verdict=VerdictTrace(action=Action.ALLOW, reason="clear", removed=(REMOVAL,))),
    an_entry(reason="fault", trigger="", arms=(ArmReport(name="lexical", hits=0, micros=9, shortfall="late"),)),
    an_entry(kind=AuditKind.CLAIM, outcome="claimed", packet=a_trace()),
    an_entry(kind=AuditKind.CLAIM, outcome="silence", reason="cooldown"),
    an_entry(kind=AuditKind.DELIVERY, outcome="delivered", packet=a_trace()),
    an_entry(kind=AuditKind.DELIVERY, outcome="delivered"),
    an_entry(kind=AuditKind.DROP, outcome="dropped", reason="expired", packet=a_trace()),
    an_entry(kind=AuditKind.FEEDBACK, outcome="useful", memory_id=a_memory_id()),
    an_entry(kind=AuditKind.POLICY, outcome="rollout"),
    an_entry(kind=AuditKind.FEEDBACK, outcome="kept", memory_id=a_memory_id(3)),  # an act, and no opinion
    an_entry(kind=AuditKind.FEEDBACK, outcome="corrected", memory_id=a_memory_id(3)),
]


def test_every_kind_of_entry_is_counted_where_it_belongs() -> None:
    metrics = fold(EMPTY, ENTRIES)
    assert metrics.entries == len(ENTRIES)
    assert metrics.passes == {"silence no-confident-hit": 1, "packet tool-failure": 1, "silence fault": 1}
    assert metrics.triggers == {"result:failed": 2}
    assert metrics.packets == {"built": 1, "claimed": 1, "delivered": 2}
    assert metrics.claims == {"cooldown": 1}
    assert metrics.drops == {"expired": 1}
    assert metrics.removed == {"injection": 1}
    assert metrics.feedback == {"useful": 1, "corrected": 1, "kept": 1}
    assert (metrics.injected_bytes, metrics.injected_items) == (412, 1)
    assert (metrics.arm_passes, metrics.arm_hits) == ({"lexical": 2}, {"lexical": 12})
    assert metrics.shortfalls == {"lexical late": 1}


def test_a_packet_that_was_held_out_is_told_from_one_that_was_offered() -> None:
    metrics = fold(EMPTY, [a_full_pass(), a_full_pass(outcome="held-out", reason="held-out")])
    assert metrics.packets == {"built": 2, "held-out": 1}


def test_durations_fall_into_buckets() -> None:
    spent = (0, BUCKETS[0], BUCKETS[0] + 1, BUCKETS[-1] + 1)
    histogram = fold(EMPTY, [an_entry(latency={"recall": micros}) for micros in spent]).latency["recall"]
    assert (histogram.count, histogram.total) == (4, sum(spent))
    assert (histogram.buckets[0], histogram.buckets[1], histogram.buckets[-1]) == (2, 1, 1)
    assert sum(histogram.buckets) == 4


@given(st.lists(st.sampled_from(ENTRIES), max_size=12), st.integers(0, 12))
def test_folding_in_parts_is_folding_at_once(entries: list[AuditEntry], place: int) -> None:
    at_once = fold(EMPTY, entries)
    assert fold(fold(EMPTY, entries[:place]), entries[place:]) == at_once


def test_folding_leaves_the_start_as_it_was() -> None:
    start = fold(EMPTY, ENTRIES)
    before = msgspec.json.encode(start)
    fold(start, ENTRIES)
    assert msgspec.json.encode(start) == before
    assert fold(EMPTY, []) == EMPTY


def test_the_numbers_are_answered_as_json() -> None:
    answer = msgspec.json.decode(msgspec.json.encode(as_json(fold(EMPTY, ENTRIES))))
    assert answer["injected"] == {"bytes": 412, "items": 1, "tokensEstimated": 103}
    assert answer["feedbackRates"] == {"corrected": 0.5, "useful": 0.5}
    assert answer["leaks"] == {"all": 0}
    assert answer["arms"] == {"lexical": {"passes": 2, "hits": 12}}
    assert answer["latencyMicros"]["gate"]["count"] == 2
    assert answer["latencyMicros"]["gate"]["buckets"][-1][0] is None


def test_prometheus_reads_cumulative_buckets_in_seconds_and_quoted_labels() -> None:
    text = prometheus(fold(EMPTY, [*ENTRIES, an_entry(reason='odd "reason"')]), "x_pre")
    lines = text.splitlines()
    assert 'x_pre_passes_total{outcome="silence",reason="no-confident-hit"} 1' in lines
    assert 'x_pre_passes_total{outcome="silence",reason="odd \\"reason\\""} 1' in lines
    assert 'x_pre_arm_shortfalls_total{arm="lexical",shortfall="late"} 1' in lines
    assert 'x_pre_stage_seconds_bucket{stage="recall",le="0.0005"} 0' in lines
    assert 'x_pre_stage_seconds_bucket{stage="recall",le="0.001"} 1' in lines
    assert 'x_pre_stage_seconds_bucket{stage="recall",le="+Inf"} 1' in lines
    assert 'x_pre_stage_seconds_sum{stage="recall"} 0.0009' in lines
    assert 'x_pre_stage_seconds_count{stage="recall"} 1' in lines
    assert "x_pre_injected_bytes_total 412" in lines
    assert text.endswith("\n")
    assert all(line.startswith(("# TYPE x_pre_", "x_pre_")) for line in lines)


# -------------------------------------------------------------------------------------------------- funnel and rates


def an_edge(kind: EvidenceKind, coverage: int | None = None) -> EvidenceTrace:
    return EvidenceTrace(
        kind=kind, memory_id=a_memory_id(), source_version=1, record_digest="0" * 64, coverage=coverage
    )


def test_the_funnel_goes_from_what_was_shown_to_what_came_of_it() -> None:
    seen = an_entry(kind=AuditKind.DELIVERY, outcome="delivered", evidence=(an_edge(EvidenceKind.SEEN),) * 2)
    reads = (an_edge(EvidenceKind.SEEN, 400_000), an_edge(EvidenceKind.READ, 1_000_000))
    used = tuple(
        an_edge(kind) for kind in (EvidenceKind.CITE, EvidenceKind.REUSE, EvidenceKind.SUCCESS, EvidenceKind.CORRECTION)
    )
    metrics = fold(EMPTY, [seen, an_entry(evidence=reads), an_entry(evidence=used)])

    assert funnel(metrics) == {
        "seen": 2,
        "covered": 2,
        "read": 1,
        "cite": 1,
        "reuse": 1,
        "success": 1,
        "correction": 1,
    }
    assert list(funnel(EMPTY)) == list(funnel(metrics))
    assert 'x_funnel_total{stage="reuse"} 1' in prometheus(metrics, "x").splitlines()


def test_feedback_is_a_share_of_what_was_delivered() -> None:
    assert rates(fold(EMPTY, [an_entry(kind=AuditKind.FEEDBACK, outcome="noise", memory_id=a_memory_id())])) == {}
    assert rates(fold(EMPTY, ENTRIES)) == {"corrected": 0.5, "useful": 0.5}


# -------------------------------------------------------------------------------------------------------------- leaks


def claimed(**fields: object) -> AuditEntry:
    return an_entry(kind=AuditKind.CLAIM, outcome="claimed", packet=a_trace(), **fields)


def said(outcome: str) -> AuditEntry:
    return an_entry(kind=AuditKind.FEEDBACK, outcome=outcome, memory_id=a_memory_id(), session_ref="")


def test_what_is_handed_over_as_it_should_be_is_no_leak() -> None:
    assert fold(EMPTY, [a_full_pass(), claimed()]).leaks == {}
    assert fold(EMPTY, [claimed()]).leaks == {}  # its pass is not known: nothing speaks against it
    assert fold(EMPTY, [said("useful"), said("noise"), a_full_pass(), claimed()]).leaks == {}
    assert fold(EMPTY, [said("corrected"), said("cleared"), a_full_pass(), claimed()]).leaks == {}


def test_what_must_not_have_been_handed_over_is_a_leak_and_says_why() -> None:
    removed = VerdictTrace(
        action=Action.ALLOW, reason="clear", removed=(Removal(candidate_id=a_memory_id(), reason="scope"),)
    )
    for entries, why in (
        ([a_full_pass(verdict=removed)], "removed"),
        ([a_full_pass(outcome="held-out", reason="held-out"), claimed()], "held-back"),
        ([a_full_pass(outcome="would", reason="shadow"), claimed()], "held-back"),
        ([a_full_pass(), claimed(session_ref="e" * 32)], "other-session"),
        ([a_full_pass(), said("forgotten"), claimed()], "forgotten"),
        ([said("corrected"), a_full_pass(), claimed()], "corrected"),
    ):
        metrics = fold(EMPTY, entries)
        assert metrics.leaks == {why: 1}
        assert as_json(metrics)["leaks"] == {why: 1, "all": 1}


def test_a_pass_that_hands_nothing_over_leaks_nothing() -> None:
    removed = VerdictTrace(
        action=Action.ALLOW, reason="clear", removed=(Removal(candidate_id=a_memory_id(), reason="scope"),)
    )
    assert fold(EMPTY, [a_full_pass(outcome="would", reason="shadow", verdict=removed)]).leaks == {}


def test_only_the_latest_offers_are_remembered() -> None:
    metrics = fold(EMPTY, [a_full_pass(packet=a_trace(number)) for number in range(OFFERS + 5)])
    assert len(metrics.offers) == OFFERS
    assert metrics.offers[-1].packet_id == a_trace(OFFERS + 4).packet_id


def test_readings_of_the_moment_are_gauges() -> None:
    text = gauges({"queued": {"": 3}, "database_bytes": {"log": 4096, "index": 12}}, "x")
    assert text.splitlines() == [
        "# TYPE x_database_bytes gauge",
        'x_database_bytes{of="index"} 12',
        'x_database_bytes{of="log"} 4096',
        "# TYPE x_queued gauge",
        "x_queued 3",
    ]


CONTEXT = ContextTrace(state="1" * 16, items=(a_memory_id(7),))
ALONE = a_trace(items=(), context=CONTEXT, bytes=300)


def test_a_packet_with_the_runtime_context_alone_is_no_hit() -> None:
    metrics = fold(
        EMPTY,
        [
            an_entry(outcome="packet", reason="runtime-context", trigger="runtime-context", packet=ALONE),
            an_entry(
                outcome="would",
                reason="shadow",
                trigger="runtime-context",
                packet=a_trace(2, items=(), context=CONTEXT),
            ),
            an_entry(kind=AuditKind.CLAIM, outcome="claimed", packet=ALONE),
            an_entry(kind=AuditKind.DELIVERY, outcome="delivered", packet=ALONE),
            an_entry(kind=AuditKind.DROP, outcome="replaced", reason="replaced", packet=ALONE),
        ],
    )
    assert metrics.context == {"offered": 1, "would": 1, "claimed": 1, "delivered": 1, "replaced": 1}
    assert (metrics.passes, metrics.triggers, metrics.packets, metrics.drops, metrics.leaks) == ({}, {}, {}, {}, {})
    assert (metrics.injected_bytes, metrics.injected_items) == (300, 0)
    assert as_json(metrics)["context"] == metrics.context
    assert 'r_context_packets_total{state="delivered"} 1' in prometheus(metrics, "r")


def test_a_title_in_view_that_a_person_had_forgotten_is_a_leak() -> None:
    metrics = fold(
        EMPTY,
        [
            an_entry(outcome="packet", reason="runtime-context", trigger="runtime-context", packet=ALONE),
            an_entry(kind=AuditKind.FEEDBACK, outcome="forgotten", memory_id=a_memory_id(7)),
            an_entry(kind=AuditKind.CLAIM, outcome="claimed", packet=ALONE),
        ],
    )
    assert metrics.leaks == {"forgotten": 1}
