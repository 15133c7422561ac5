"""`review.add`: a person adds a note that was missed, with what was said, word for word (formation.md 2.4).

It is judged like every other note, and waits like every other: who adds it may keep it afterwards. The quotes are
looked for in the session that is named, or in the latest of this workspace that holds them all.
"""

import asyncio
from collections.abc import Sequence

from governance.formation.contracts import (
    Attribution,
    Coverage,
    EvidenceNote,
    ExtractL1Result,
    Message,
    NoteBody,
    NoteCreated,
    NoteKind,
    Packet,
    Provenance,
    Quote,
    Rejected,
    Role,
    RunStatus,
)
from governance.formation.decisions import ReviewInput, prepare_evidence_review, propose_evidence_note
from governance.formation.quotes import find
from governance.formation.saving import Occasion, Saving, prepare
from governance.review import Principal
from host.clock import MachineZone
from host.connection import Peer
from host.errors import ProtocolFault
from host.parts import Parts
from host.principals import principal
from host.protocol import Request, decode_params
from host.verbs import Table, invalid, reach
from recall.canonical import digest
from recall.contracts import Frozen

ALGORITHM = "added@1"
LAST = 2**53 - 1
MOST_SESSIONS = 50  # that are looked through
MOST_QUOTES = 8


class AddParams(Frozen, frozen=True, kw_only=True):
    """`text`: what the note says; `quotes`: what was said, word for word. `session_id` empty: the latest session of the
    workspace that holds them. `principal`: who the client says it is."""

    text: str
    quotes: tuple[str, ...]
    workspace: str = ""
    title: str = ""
    kind: NoteKind = NoteKind.FACT
    session_id: str = ""
    principal: Principal = Principal.AGENT


class Added(Frozen, frozen=True, kw_only=True):
    """`added`: false when the same is there already, or was said no to."""

    item_id: str
    added: bool


class Adding:
    """The verb."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def table(self) -> Table:
        return {"review.add": self._add}

    async def _add(self, request: Request, peer: Peer) -> Added:
        params = decode_params(request, AddParams)
        if not params.text.strip() or not 1 <= len(params.quotes) <= MOST_QUOTES:
            problem = f"A note has words of its own, and 1 to {MOST_QUOTES} quotes."
            raise invalid(problem, "Give `text` and `quotes`.")
        author = await asyncio.to_thread(principal, params.principal, peer.pid)
        scope = await reach(self._parts, params.workspace)
        if not scope.workspace:
            raise invalid("No workspace was given.", "Give the folder's path.")
        session, held = await self._held(params, scope.workspace)
        packet = prepare_evidence_review(
            ReviewInput(
                scope_key=scope.workspace,
                stream_id=session,
                sources=tuple(dict.fromkeys(message for _, message in held)),
            )
        )
        body = NoteBody(
            kind=params.kind,
            title=params.title.strip() or _title(params.text),
            content=params.text.strip(),
            attribution=_attribution(held),
            citations=tuple(Quote(message_id=message.id, quote=quote) for quote, message in held),
        )
        note = await asyncio.to_thread(propose_evidence_note, packet, body, author, MachineZone())
        if isinstance(note, Rejected):
            problem = f"The note does not rest on its quotes ({note.code}). {note.detail}".strip()
            raise ProtocolFault("citation-invalid", problem, "Say what the quotes say, or choose others.")
        return await self._saved(note, packet)

    async def _held(self, params: AddParams, workspace: str) -> tuple[str, list[tuple[str, Message]]]:
        """The session that holds all quotes, and each quote with its message. Raises ProtocolFault when none does."""
        sessions = [params.session_id] if params.session_id else await self._sessions(workspace)
        for session in sessions:
            messages = await self._parts.formation.material.messages(session, 0, LAST)
            spoken = [one for one in reversed(messages) if one.role is not Role.TOOL]
            held = [
                (quote, message)
                for quote in params.quotes
                if (message := next((one for one in spoken if find(quote, one.content)), None)) is not None
            ]
            if len(held) == len(params.quotes):
                return session, held
        where = f"session {params.session_id[:64]!r}" if params.session_id else "a session of this workspace"
        problem = f"The quotes do not all stand in messages of {where}, word for word."
        raise ProtocolFault("quote-not-found", problem, "Copy them from the conversation, with case and punctuation.")

    async def _sessions(self, workspace: str) -> list[str]:
        logged = await self._parts.eventlog.sessions(MOST_SESSIONS)
        return [
            one.session_id for one in logged if one.workspace and self._parts.places.key(one.workspace) == workspace
        ]

    async def _saved(self, note: EvidenceNote, packet: Packet) -> Added:
        now = self._parts.clock.now()
        result = ExtractL1Result(
            status=RunStatus.COMPLETED,
            changes=(NoteCreated(after=note),),
            packet=packet,
            coverage=Coverage(total=len(packet.sources), from_=0, through=0),
            provenance=Provenance(
                algorithm_version=ALGORITHM,
                model_id=note.author,
                prompt_id="",
                prompt_hash="",
                input_hash=digest(packet.evidence_digest),
                calls=0,
                started_at=now,
                finished_at=now,
            ),
        )
        occasion = Occasion(
            at=now,
            scope_key=packet.scope_key,
            stream_id=packet.stream_id,
            conversation_key=await self._parts.formation.lineage.root(packet.stream_id),
            moves=False,
        )
        saving = Saving(database=self._parts.kept, queue=self._parts.queue)
        prepared = await asyncio.to_thread(prepare, result, occasion)
        saved = await self._parts.kept.write(lambda connection: saving.save_in(connection, prepared))
        return Added(item_id=note.id, added=bool(saved.ids()))


def _attribution(held: Sequence[tuple[str, Message]]) -> Attribution:
    """Whose word it is: the user's where one of the quotes is theirs."""
    typed = any(message.role is Role.USER for _, message in held)
    return Attribution.USER_STATEMENT if typed else Attribution.ASSISTANT_REPORT


def _title(text: str) -> str:
    """The beginning of a text, on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else f"{flat[:59].rstrip()}…"
