"""What evidence makes of a memory: episode → fact → procedure, always as a proposal to a person. Pure.

The thresholds are those of a procedure (`governance/procedures.py`). A proposal names the memory, what would become of
it and what was counted; the words stand in the memory file. Its id is made of these, so that the same is proposed
once; after a correction that a person settled, evidence has to speak anew.
"""

import re
from collections.abc import Iterable
from itertools import islice

from governance.contracts import AccessEvidence, EvidenceKind
from governance.procedures import Hold, LifePolicy, Why, criteria, risk_of, short_of
from governance.review import Citation, ItemFlag, ItemKind, QueueItem, words_of
from governance.standing import Standing
from recall.canonical import short_id
from recall.contracts import Frozen, MemoryKind, MemoryRecord, Millis, Risk, Scope, Status

PIPELINE = "evidence"
FACT = str(MemoryKind.SEMANTIC)
PROCEDURE = str(MemoryKind.PROCEDURAL)
VALIDATED = "validated"
TARGETS = frozenset({FACT, PROCEDURE, VALIDATED})
DERIVED = "derived:"  # how tags begin that say whose words a record was made of
MOST_CITED = 32
FEWEST_STEPS, MOST_STEPS = 2, 64
_STEP = re.compile(
    r"^[ \t]{0,3}(?:[-*+•]|\d{1,3}[.)、]|[（(]\d{1,3}[)）]|step[ \t]+\d{1,3}\b|第[一二三四五六七八九十\d]{1,3}步)"
    r"[ \t]*\S",
    re.IGNORECASE | re.MULTILINE,
)


class Rise(Frozen, frozen=True, kw_only=True):
    """What a memory could become."""

    target: str


def counted(standing: Standing) -> dict[str, int]:
    """The evidence in numbers, as a proposal shows it."""
    return {"sessions": standing.reuse_sessions, "success": standing.success, "correction": standing.correction}


def steps(text: str) -> int:
    """How many steps a text lists, the first ones."""
    return sum(1 for _ in islice(_STEP.finditer(text), MOST_STEPS))


def becomes(record: MemoryRecord, standing: Standing, policy: LifePolicy, *, corrected: bool) -> Rise | Hold:
    """What an episode or a fact could become by now, or why nothing yet. Procedures have stages of their own."""
    if corrected:
        return Hold(why=Why.CORRECTED)
    if record.status is not Status.ACTIVE or record.kind is MemoryKind.PROCEDURAL:
        return Hold(why=Why.SETTLED)
    lacking = short_of(standing, policy)
    if lacking is not None:
        return Hold(why=lacking)
    if record.kind is MemoryKind.EPISODIC:
        return Rise(target=FACT)
    if steps(record.text) < FEWEST_STEPS:
        return Hold(why=Why.SETTLED)
    return Rise(target=PROCEDURE) if criteria(record.text) else Hold(why=Why.NO_SUCCESS_CRITERIA)


def proposal(record: MemoryRecord, target: str, standing: Standing, now: Millis, cause: str = "") -> QueueItem:
    """The queue item. `cause` tells one occasion from the next, as corrections do."""
    flags = [ItemFlag.HIGH_RISK] if risk_of(record.text, record.risk_level) is Risk.HIGH else []
    if any(tag.startswith(DERIVED) for tag in record.tags):
        flags.append(ItemFlag.DERIVED)
    words = words_of(record.title, record.text)
    what = ["promotion", target, record.memory_id, words.ref, standing.correction, cause]
    return QueueItem(
        item_id=short_id("rev_", what),
        kind=ItemKind.PROMOTION,
        pipeline=PIPELINE,
        workspace_key=record.scope.key if record.scope.kind is Scope.WORKSPACE else "",
        created_at=now,
        citations=(words,),
        flags=tuple(flags),
        proposed_by=PIPELINE,
        record_id=record.memory_id,
        target=target,
        evidence=counted(standing),
    )


def cited(rows: Iterable[AccessEvidence]) -> tuple[Citation, ...]:
    """The edges that speak for a promotion, the newest of them, oldest first."""
    telling = [row for row in rows if row.kind in (EvidenceKind.REUSE, EvidenceKind.SUCCESS)]
    return tuple(Citation(kind=row.kind.value, ref=row.evidence_id) for row in telling[-MOST_CITED:])
