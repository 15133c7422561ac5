"""What is left of entries that were let go: folded in parts or at once, named by an entry, and never changed unseen."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from governance.chain import Row, chained
from governance.checkpoint import (
    NOTHING,
    OUTCOME,
    Checkpoint,
    Through,
    Walked,
    entry_for,
    flaw_of,
    folded,
    opened,
    stored,
    walked,
)
from governance.contracts import AuditEntry, AuditKind
from governance.metrics import EMPTY, fold
from tests.support.clock import START
from tests.support.entries import a_full_pass, an_entry

ENTRIES = [a_full_pass(), an_entry(reason="cooldown"), an_entry(latency={"gate": 12})]


def names(before: Any | None, entries: Sequence[AuditEntry], now: int) -> Any:
    """A section: the reasons of all entries so far."""
    return [*(before or []), *(entry.reason for entry in entries)]


def through(row: int) -> Through:
    return Through(row=row, digest="d" * 64, at=START + row)


def chain(*entries: AuditEntry, after: str = "", row: int = 0) -> list[Row]:
    rows: list[Row] = []
    for number, entry in enumerate(entries, row + 1):
        _, made = chained(entry, rows[-1].digest if rows else after)
        rows.append(msgspec.structs.replace(made, row=number))
    return rows


def test_folding_in_parts_is_folding_at_once() -> None:
    sections = {"names": names}
    at_once = folded(NOTHING, ENTRIES, through(3), sections, START)
    part = folded(NOTHING, ENTRIES[:1], through(1), sections, START)

    assert folded(part, ENTRIES[1:], through(3), sections, START) == at_once
    assert (at_once.entries, at_once.metrics) == (3, fold(EMPTY, ENTRIES))
    assert at_once.sections == {"names": ["tool-failure", "cooldown", "no-confident-hit"]}


def test_a_section_that_nobody_folds_any_more_stays() -> None:
    before = folded(NOTHING, ENTRIES, through(3), {"names": names}, START)

    assert folded(before, ENTRIES, through(6), {}, START).sections == before.sections


def test_a_document_is_read_back_as_it_was_and_without_one_there_is_nothing() -> None:
    checkpoint = folded(NOTHING, ENTRIES, through(3), {"names": names}, START)

    assert opened(stored(checkpoint)) == checkpoint
    assert opened(None) == NOTHING == Checkpoint()
    assert stored(checkpoint) == stored(opened(stored(checkpoint)))


def test_the_entry_that_names_a_document_holds_its_digest_and_how_many_it_sums_up() -> None:
    checkpoint = folded(NOTHING, ENTRIES, through(3), {}, START)
    entry = entry_for(stored(checkpoint), checkpoint, START)

    assert (entry.kind, entry.outcome, entry.reason, entry.note) == (AuditKind.POLICY, OUTCOME, "retention", "3")
    assert entry.versions == {OUTCOME: stored(checkpoint).digest}


def test_a_document_that_was_changed_replaced_or_removed_is_told() -> None:
    kept = stored(folded(NOTHING, ENTRIES, through(3), {}, START))
    other = stored(folded(NOTHING, ENTRIES[:2], through(3), {}, START))

    assert flaw_of(kept, kept.digest) is None
    assert flaw_of(None, None) is None
    assert "changed" in str(flaw_of(msgspec.structs.replace(kept, document=other.document), kept.digest))
    assert "replaced" in str(flaw_of(other, kept.digest))
    assert "replaced" in str(flaw_of(kept, None))
    assert "removed" in str(flaw_of(None, kept.digest))


def test_a_walk_goes_on_where_it_was_and_remembers_the_last_document_named() -> None:
    kept = stored(NOTHING)
    rows = chain(*ENTRIES, entry_for(kept, NOTHING, START), an_entry())

    walk = walked(walked(Walked(), rows[:2]), rows[2:])

    assert (walk.problem, walk.entries, walk.link.row) == (None, 5, 5)
    assert (walk.named, walk.named_at) == (kept.digest, 4)
    assert walk == walked(Walked(), rows)


@pytest.mark.parametrize("wrong", [0, 1, 3])
def test_a_walk_ends_at_the_first_row_that_does_not_hold(wrong: int) -> None:
    rows = chain(*ENTRIES, an_entry(), an_entry())
    rows[wrong] = msgspec.structs.replace(rows[wrong], reason="else")

    walk = walked(Walked(), rows)

    assert (walk.row, walk.entries, walk.link.row) == (wrong + 1, wrong, wrong)
    assert walk.problem == "a column differs from the entry"
