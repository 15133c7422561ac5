"""What a decision about a change of documents does to their files: planned against everything that the run read
(formation.md 3). Pure.

A change is applied whole or not at all. It holds while every document that its run listed, searched or read has the
version that it had, and every document that it changes says what it said. What other changes of the same run did since
does not count against it: they were made beside it. Taken back, the files say again what they said before.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import msgspec

from governance.formation import docform
from governance.formation.contracts import (
    ChangeOp,
    Document,
    DocumentBefore,
    DocumentChange,
    DocumentKind,
    DocumentState,
    DocumentVersion,
    FileStep,
    KeptDocument,
    Layer,
)
from governance.formation.errors import ParameterFault, StaleRead
from governance.formation.scene_desk import FULL
from governance.review import Decision
from recall.canonical import bytes_digest
from recall.contracts import Frozen, Millis

AGAIN = "Have it made again of what stands there now, or archive it."


class ChangeState(StrEnum):
    WAITING = "waiting"
    APPLYING = "applying"  # its files are being written
    APPLIED = "applied"


class Journal(Frozen, frozen=True, kw_only=True):
    """What finishes a change whose files are being written, and what takes it back later. `rows`: the documents after
    it; `former`: before. `then`: what the change is when it is done. `decision`: the one that it carries out; `text`
    and `edited`: what a person put in the place of the proposed words, as they are read and as changes. `earlier`: of
    what takes a change back, how it was applied."""

    steps: tuple[FileStep, ...]
    rows: tuple[KeptDocument, ...]
    former: tuple[KeptDocument, ...]
    then: ChangeState
    decision: Decision
    text: str | None = None
    edited: tuple[DocumentChange, ...] | None = None
    earlier: "Journal | None" = None


class ChangeSet(Frozen, frozen=True, kw_only=True):
    """What a waiting item would make of documents: a scene, a persona or doctrine, or a skill with what lies beside it.
    `run_id`: of the run that proposed it; what other changes of that run did to what it read does not count against
    it."""

    item_id: str
    workspace_key: str
    run_id: str
    layer: Layer
    changes: tuple[DocumentChange, ...]
    read_set: tuple[DocumentVersion, ...]
    at: Millis
    scene_versions: tuple[DocumentVersion, ...] = ()
    state: ChangeState = ChangeState.WAITING
    journal: Journal | None = None


class Held(Frozen, frozen=True, kw_only=True):
    """A document as it stands. `text`: all of its file."""

    document: Document
    kept: KeptDocument
    text: str


class Standing(Frozen, frozen=True, kw_only=True):
    """The documents of a workspace. `held`: those that can be read, by id. `rows`: all that were ever kept, those that
    are gone too. `missing`: files that are no longer there. `unreadable`: files that cannot be read, and why."""

    held: Mapping[str, Held]
    rows: Mapping[str, KeptDocument]
    missing: tuple[str, ...] = ()
    unreadable: Mapping[str, str] = {}

    def of(self, *kinds: DocumentKind) -> tuple[Document, ...]:
        """The documents of these kinds, by name."""
        found = [one.document for one in self.held.values() if one.document.kind in kinds]
        return tuple(sorted(found, key=lambda one: (one.name, one.id)))


def planned(change_set: ChangeSet, standing: Standing, beside: Iterable[str], decision: Decision) -> Journal:
    """What applying a change does. `beside`: items of the same run that were applied.

    Raises StaleRead when something that the run read is other now, ParameterFault `capacity-exceeded` when there would
    be too many scenes.
    """
    known = {change_set.item_id, *beside}
    for seen in change_set.read_set:
        row, there = standing.rows.get(seen.id), standing.held.get(seen.id)
        same = there is not None and there.document.version == seen.version
        ours = row is not None and row.item_id in known and (there is not None or row.state is DocumentState.GONE)
        # A skill that is not ours has no row, and is read where it lies.
        if not (same or ours or (row is None and _foreign(change_set, seen.id))):
            raise _stale(row.name if row is not None else seen.id)
    steps: list[FileStep] = []
    rows: list[KeptDocument] = []
    for change in change_set.changes:
        sources = [_before(one, standing, change_set.item_id) for one in change.before]
        for step, row in _of(change, sources, standing, (change_set, decision.at)):
            steps.append(step)
            rows.append(row)
    _room(change_set, standing, rows)
    former = tuple(standing.rows[row.document_id] for row in rows if row.document_id in standing.rows)
    return Journal(steps=tuple(steps), rows=tuple(rows), former=former, then=ChangeState.APPLIED, decision=decision)


def taken_back(change_set: ChangeSet, standing: Standing, decision: Decision) -> Journal:
    """What putting an applied change away does: its documents say again what they said before.

    Raises StaleRead when one of them was changed since.
    """
    done = change_set.journal
    if done is None:
        raise _stale(change_set.item_id)
    former = {row.document_id: row for row in done.former}
    rows: list[KeptDocument] = []
    for made in done.rows:
        now = standing.rows.get(made.document_id)
        there = standing.held.get(made.document_id)
        as_made = now is not None and (now.version, now.item_id) == (made.version, change_set.item_id)
        if now is None or not as_made or (there is None) is (made.state is DocumentState.LIVE):
            raise _stale(made.name)
        before = former.get(made.document_id)
        gone = before is None or before.state is DocumentState.GONE
        again = made if before is None else before
        rows.append(
            msgspec.structs.replace(
                again,
                version=now.version + 1,
                state=DocumentState.GONE if gone else DocumentState.LIVE,
                item_id=change_set.item_id,
                updated_at=decision.at,
            )
        )
    back = tuple(FileStep(file=step.file, before=step.after, after=step.before) for step in reversed(done.steps))
    after = tuple(rows)
    return Journal(steps=back, rows=after, former=done.rows, then=ChangeState.WAITING, decision=decision, earlier=done)


def file_digest(text: str) -> str:
    """What is kept of a file's words."""
    return bytes_digest(text.encode())


def _of(
    change: DocumentChange, sources: Sequence[Held], standing: Standing, made: tuple[ChangeSet, Millis]
) -> Iterable[tuple[FileStep, KeptDocument]]:
    """The files that one change writes and takes away, and what is kept of each."""
    change_set, at = made
    after = change.after
    if after is not None:
        yield _written(after, next((one for one in sources if one.document.id == after.id), None), standing, made)
    for one in sources:
        if after is None or one.document.id != after.id:
            row = msgspec.structs.replace(
                one.kept,
                version=one.kept.version + 1,
                state=DocumentState.GONE,
                item_id=change_set.item_id,
                updated_at=at,
            )
            yield FileStep(file=one.kept.file, before=one.text, after=None), row


def _written(
    after: Document, there: Held | None, standing: Standing, made: tuple[ChangeSet, Millis]
) -> tuple[FileStep, KeptDocument]:
    """The file of a document that is made, or changed. Raises StaleRead when its name is taken meanwhile."""
    change_set, at = made
    file = there.kept.file if there is not None else docform.file_of(after)
    if there is None and (after.id in standing.held or file in {one.kept.file for one in standing.held.values()}):
        raise _stale(after.name)
    text = docform.written(after, there.text if there is not None else "")
    before = standing.rows.get(after.id)
    row = KeptDocument(
        document_id=after.id,
        kind=after.kind,
        name=after.name,
        version=max(after.version, before.version + 1 if before is not None else 1),
        digest=file_digest(text),
        file=file,
        updated_at=at,
        meta=after.meta,
        evidence=after.evidence,
        item_id=change_set.item_id,
        scene_versions=change_set.scene_versions,
    )
    return FileStep(file=file, before=None if there is None else there.text, after=text), row


def _before(wanted: DocumentBefore, standing: Standing, item_id: str) -> Held:
    """A document that is changed, as it stands. Raises StaleRead unless it is the one that was read."""
    there = standing.held.get(wanted.id)
    if there is None:
        row = standing.rows.get(wanted.id)
        raise _stale(row.name if row is not None else wanted.id)
    same = there.document.version == wanted.version or there.kept.item_id == item_id
    if not same or docform.document_digest(there.document) != wanted.digest:
        raise _stale(there.document.name)
    return there


def _room(change_set: ChangeSet, standing: Standing, rows: Sequence[KeptDocument]) -> None:
    """Raises ParameterFault when a scene more would be one too many."""
    scenes = {one.id for one in standing.of(DocumentKind.SCENE)}
    after = set(scenes)
    for row in rows:
        if row.kind is DocumentKind.SCENE:
            (after.add if row.state is DocumentState.LIVE else after.discard)(row.document_id)
    creates = any(change.op is ChangeOp.CREATE for change in change_set.changes)
    if creates and len(after) > FULL and len(after) > len(scenes):
        problem = f"There are {len(scenes)} scenes, and {FULL} are the most that one may be added up to."
        raise ParameterFault("capacity-exceeded", problem, "Have scenes merged first.")


def _foreign(change_set: ChangeSet, document_id: str) -> bool:
    """Whether this is a skill that lies elsewhere: it was looked at, and nothing of it is changed or kept."""
    changed = any(one.id == document_id for change in change_set.changes for one in change.before)
    return change_set.layer is Layer.SKILL and not changed


def _stale(name: str) -> StaleRead:
    return StaleRead(f"{name} is no longer what this was made of. Nothing was applied.", AGAIN)
