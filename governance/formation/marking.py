"""What a user asked to be remembered, noted while no model is there to ask (formation.md 4.3).

The sentence is the note, and a person decides. It is noted once: what says the same as a note that waits or was kept,
or as a record, is no new item, however often the user says it.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from governance.formation.checkpoint_ports import CheckpointPorts
from governance.formation.claims import claim_of, near
from governance.formation.contracts import EvidenceRecord, EvidenceRef, ExtractL1Result, Message, Role, Snapshot
from governance.formation.errors import StateFault
from governance.formation.markers import marked_notes
from governance.formation.projecting import USER
from governance.formation.saving import Occasion, Saving
from governance.formation.store.recent import noted
from recall.canonical import text_digest
from recall.contracts import Frozen

MOST_KNOWN = 3  # records that a sentence is compared with


class Marked(Frozen, frozen=True, kw_only=True):
    """`notes`: ids of those that are new. `known`: how many sentences said what is noted already."""

    notes: tuple[str, ...] = ()
    known: int = 0


async def mark(ports: CheckpointPorts, snapshot: Snapshot, found: Sequence[EvidenceRecord]) -> Marked:
    """Note what the user asked to be remembered in these texts, each in its workspace. Raises what the store raises."""
    saving = Saving(database=ports.database, queue=ports.queue)
    notes: list[str] = []
    known = 0
    for workspace in dict.fromkeys(one.workspace_key for one in found):
        said = [_message(one) for one in found if one.role == USER and one.workspace_key == workspace]
        at, session = ports.now(), snapshot.session_id
        runs = await asyncio.to_thread(marked_notes, said, workspace, session, at, ports.zone)
        if not any(run.changes for run in runs):
            continue
        claims = await _noted(ports, workspace)
        occasion = Occasion(
            at=at, scope_key=workspace, stream_id=session, conversation_key=snapshot.conversation_key, moves=False
        )
        for run in runs:
            fresh = await _fresh(ports, run, workspace, claims)
            known += len(run.changes) - len(fresh.changes)
            if fresh.changes:
                notes += (await saving.save(fresh, occasion)).ids()
    return Marked(notes=tuple(notes), known=known)


async def _noted(ports: CheckpointPorts, workspace: str) -> set[str]:
    """What is noted already, by its claim."""
    texts = await ports.database.read(lambda connection: noted(connection, workspace))
    return await asyncio.to_thread(lambda: {claim_of(text) for text in texts})


async def _fresh(ports: CheckpointPorts, run: ExtractL1Result, workspace: str, claims: set[str]) -> ExtractL1Result:
    """The run with what is not noted yet; `claims`, what is, grows by it."""
    held = []
    for change in run.changes:
        content = change.after.content
        claim = claim_of(content)
        if claim not in claims and not await _remembered(ports, workspace, content):
            held.append(change)
        claims.add(claim)
    return msgspec.structs.replace(run, changes=tuple(held))


async def _remembered(ports: CheckpointPorts, workspace: str, content: str) -> bool:
    """Whether a record says it. An index that cannot be asked knows of none: a double is cheaper than a loss."""
    try:
        like = await ports.known.like(workspace, content, MOST_KNOWN)
    except StateFault:
        return False
    return any(near(content, one.text) for one in like)


def _message(record: EvidenceRecord) -> Message:
    """A text of the user as notes are made of it: whole, so that it is the same whoever looks at it."""
    ref = EvidenceRef(id=record.ref, version=1, hash=text_digest(record.text))
    return Message(id=record.message_id, role=Role.USER, content=record.text, timestamp=record.at, evidence=(ref,))
