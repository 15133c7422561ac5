"""What a note's window showed, built anew out of the event log, as it stands there now (formation.md 2.4).

A message that is gone or changed gives another evidence digest, and then a decision about the note does not hold. Of a
conversation that the log never had, or let go of whole, nothing can be built.
"""

import re

import msgspec

from governance.formation.contracts import Completeness, Message, Packet
from governance.formation.decisions import ReviewInput, prepare_evidence_review
from governance.formation.store import notes
from governance.formation.store.notes import SourceRef
from host.parts import Parts

_REF = re.compile(r"(?P<session>.+)#(?P<seq>\d{1,15})")


class Packets:
    """Reads; the log's texts come cleaned, as the window had them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def of_note(self, note_id: str) -> Packet | None:
        """The packet of a note; None for what is no note, or whose messages nobody holds."""
        row = await self._parts.kept.read(lambda connection: notes.window_of_note(connection, note_id))
        if row is None:
            return None
        places = [found for one in row.descriptor for ref in one.evidence if (found := _REF.fullmatch(ref.id))]
        if not places:
            return None
        session, numbers = places[0]["session"], [int(found["seq"]) for found in places]
        read = self._parts.formation.material.messages
        messages = await read(session, min(numbers) - 1, max(numbers))
        held = {message.id: message for message in messages}
        sources = tuple(_as_shown(held[one.message_id], one) for one in row.descriptor if one.message_id in held)
        if not sources:
            return None
        places_of = {one.message_id: one.index for one in row.descriptor}
        return prepare_evidence_review(
            ReviewInput(scope_key=row.scope_key, stream_id=row.stream_id, sources=sources, places=places_of)
        )


def _as_shown(message: Message, source: SourceRef) -> Message:
    """The whole message, called truncated where the window showed a part of it: it is the same evidence still."""
    if source.completeness is not Completeness.TRUNCATED:
        return message
    return msgspec.structs.replace(message, completeness=Completeness.TRUNCATED)
