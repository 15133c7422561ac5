"""Evidence and reviewed notes put together for a reader, in the caller's order (formation.md 2.4). Pure.

Nothing is searched, ranked or cut, and no label says that anything was verified.
"""

from enum import StrEnum

from governance.formation.contracts import EvidenceNote, NoteFlag, ReviewStatus, Role, Source
from governance.formation.judging import note_digest
from recall.contracts import Frozen, Millis


class Label(StrEnum):
    """Whose words they are."""

    ORIGINAL = "original"
    ASSISTANT_REPORT = "assistant_report"
    HUMAN_INTERPRETATION = "human_interpretation"


class Omission(StrEnum):
    OVER_BUDGET = "over-budget"
    EXPIRED = "expired"
    UNCONFIRMED = "unconfirmed"
    STALE = "stale"


class ContextInput(Frozen, frozen=True, kw_only=True):
    """Sources, then notes, each in the order given. `evidence`: the digest that the evidence has now; a note of another
    one is stale ("": not looked at). `expires`: by id, when it is not to be used any more; `now`: epoch ms."""

    sources: tuple[Source, ...]
    notes: tuple[EvidenceNote, ...]
    budget_chars: int
    evidence: str = ""
    now: Millis = 0
    expires: dict[str, Millis] = {}


class Part(Frozen, frozen=True, kw_only=True):
    id: str
    label: Label
    text: str


class Omitted(Frozen, frozen=True, kw_only=True):
    id: str
    reason: Omission


class Context(Frozen, frozen=True, kw_only=True):
    parts: tuple[Part, ...]
    omitted: tuple[Omitted, ...]


def select_evidence_context(given: ContextInput) -> Context:
    """Whole items until the budget of characters is spent; a smaller one after one that did not fit may still fit."""
    offered = [*(_of_source(source) for source in given.sources), *(_of_note(note, given) for note in given.notes)]
    parts: list[Part] = []
    omitted: list[Omitted] = []
    left = given.budget_chars
    for one in offered:
        kept = one if isinstance(one, Omitted) else _fitting(one, left, given)
        if isinstance(kept, Omitted):
            omitted.append(kept)
        else:
            parts.append(kept)
            left -= len(kept.text)
    return Context(parts=tuple(parts), omitted=tuple(omitted))


def _fitting(part: Part, left: int, given: ContextInput) -> Part | Omitted:
    if part.id in given.expires and given.expires[part.id] <= given.now:
        return Omitted(id=part.id, reason=Omission.EXPIRED)
    return part if len(part.text) <= left else Omitted(id=part.id, reason=Omission.OVER_BUDGET)


def _of_source(source: Source) -> Part | Omitted:
    if source.role is Role.TOOL:  # nobody said it, and its body is never shown
        return Omitted(id=source.message_id, reason=Omission.UNCONFIRMED)
    label = Label.ORIGINAL if source.role is Role.USER else Label.ASSISTANT_REPORT
    return Part(id=source.message_id, label=label, text=source.content)


def _of_note(note: EvidenceNote, given: ContextInput) -> Part | Omitted:
    if note.review.status is not ReviewStatus.KEPT or NoteFlag.QUARANTINED in note.flags:
        return Omitted(id=note.id, reason=Omission.UNCONFIRMED)
    changed = given.evidence not in ("", note.evidence_digest) or note.digest != note_digest(note)
    if changed or NoteFlag.RECHECK in note.flags:
        return Omitted(id=note.id, reason=Omission.STALE)
    return Part(id=note.id, label=Label.HUMAN_INTERPRETATION, text=f"{note.title}\n{note.content}")
