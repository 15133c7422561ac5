"""What is digested, and what is wrong with a row."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.chain import UNDECIDED, Link, Row, canonical_bytes, chained, decision_digest, entry_of, flaw
from governance.contracts import AuditEntry
from recall.canonical import bytes_digest, canonical
from recall.contracts import ArmReport
from tests.support.clock import START
from tests.support.entries import a_full_pass, an_entry


@given(
    st.dictionaries(st.text(max_size=6), st.integers(-(2**53) + 1, 2**53 - 1), max_size=4),
    st.text(max_size=12),
    st.integers(0, 2**53 - 1),
)
def test_the_quick_way_gives_canonical_json(signals: dict[str, int], note: str, at: int) -> None:
    entry = a_full_pass(latency=signals, note=note.encode("utf-8", "replace").decode(), at=at)
    try:
        wanted = canonical(entry)
    except ValueError:
        with pytest.raises(ValueError, match="equal after NFC"):
            canonical_bytes(entry)
        return
    assert canonical_bytes(entry) == wanted


def test_a_decision_is_the_same_whenever_and_wherever_it_was_made() -> None:
    entry = a_full_pass()
    again = msgspec.structs.replace(
        entry,
        audit_id="aud_2",
        at=START + 5,
        latency={"gate": 7},
        claim_id="clm_2",
        prev_digest="3" * 64,
        digest="4" * 64,
        decision_digest="5" * 64,
        arms=(ArmReport(name="lexical", hits=12, micros=99_999),),
    )
    assert decision_digest(again) == decision_digest(entry)


@pytest.mark.promise("deterministic")
@pytest.mark.parametrize("field", [f for f in AuditEntry.__struct_fields__ if f not in UNDECIDED])
def test_everything_else_is_part_of_the_decision(field: str) -> None:
    other: dict[str, Any] = {
        "cursor": None,
        "kind": "drop",
        "gate": None,
        "arms": (ArmReport(name="lexical", hits=13, micros=812),),
        "candidates": (),
        "votes": ("mem_1",),
        "verdict": None,
        "packet": None,
        "versions": {"gate": "other"},
        "step": 4,
    }
    changed = msgspec.structs.replace(a_full_pass(), **{field: other.get(field, "other")})
    assert decision_digest(changed) != decision_digest(a_full_pass())


def test_an_entry_comes_back_from_its_row_as_it_was_chained() -> None:
    stored, row = chained(a_full_pass(audit_id="aud_1"), "6" * 64)
    assert stored.prev_digest == "6" * 64
    assert stored.digest == row.digest
    assert entry_of(row.entry, row.digest) == stored
    assert (row.audit_id, row.packet_id, row.step) == ("aud_1", stored.packet and stored.packet.packet_id, 3)


def test_an_entry_that_could_not_be_read_back_is_not_chained() -> None:
    with pytest.raises(msgspec.ValidationError):
        chained(a_full_pass(latency={"gate": 0.5}), "")


def two_rows() -> tuple[Row, Row]:
    _, first = chained(an_entry(audit_id="aud_1"), "")
    _, second = chained(an_entry(audit_id="aud_2", reason="cooldown"), first.digest)
    return msgspec.structs.replace(first, row=1), msgspec.structs.replace(second, row=2)


def test_a_row_of_before_a_field_was_added_still_holds() -> None:
    """What an earlier release stored is judged by the fields that it had."""
    _, row = chained(a_full_pass(audit_id="aud_1"), "")
    stored = msgspec.json.decode(row.entry)
    del stored["activation"], stored["evidence"], stored["decisionDigest"]
    for one in stored["candidates"]:
        one.pop("margin", None)
    decided = {key: value for key, value in stored.items() if key not in ("auditId", "at", "latency", "claimId")}
    decided = {key: value for key, value in decided.items() if key not in ("prevDigest", "digest")}
    decided["arms"] = [[arm["name"], arm["hits"], arm["shortfall"]] for arm in stored["arms"]]
    data = canonical({**stored, "decisionDigest": bytes_digest(canonical(decided))})
    old = msgspec.structs.replace(row, row=1, entry=data, digest=bytes_digest(data))

    assert flaw(old, Link()) is None
    changed = canonical({**msgspec.json.decode(data), "reason": "prompt"})
    forged = msgspec.structs.replace(old, entry=changed, digest=bytes_digest(changed), reason="prompt")
    assert flaw(forged, Link()) == "the decision's digest does not fit"


def test_rows_that_follow_each_other_hold() -> None:
    first, second = two_rows()
    assert flaw(first, Link()) is None
    assert flaw(second, Link(row=1, digest=first.digest)) is None


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"row": 3}, "removed"),
        ({"entry": b"{}"}, "changed"),
        ({"reason": "disposed"}, "a column differs"),
        ({"audit_id": "aud_9"}, "a column differs"),
        ({"packet_id": "pkt_9"}, "a column differs"),
    ],
)
def test_a_row_that_was_touched_does_not_hold(change: dict[str, Any], problem: str) -> None:
    first, second = two_rows()
    touched = msgspec.structs.replace(second, **change)
    assert problem in str(flaw(touched, Link(row=1, digest=first.digest)))


def test_a_row_behind_another_one_does_not_hold() -> None:
    _, second = two_rows()
    assert "replaced or moved" in str(flaw(second, Link(row=1, digest="7" * 64)))


def test_a_forged_decision_digest_does_not_hold() -> None:
    stored, row = chained(an_entry(audit_id="aud_1"), "")
    lie = msgspec.structs.replace(stored, decision_digest="0" * 64, digest="")
    data = canonical_bytes(lie)
    forged = msgspec.structs.replace(row, row=1, entry=data, digest=bytes_digest(data))
    assert "decision" in str(flaw(forged, Link()))
