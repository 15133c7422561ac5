"""`history.begin`, `history.append`: past sessions of agent products, taken into the event log as history.

Nothing is decided about them: no pass, no packet, no audit entry a step. They are told as episodes when they are whole.
A session that was heard live is never mixed with its own transcript. What is sent twice is stored once, so an import
that was stopped goes on where it was: `begin` says how many events of a file are there already.
"""

from typing import Annotated

import msgspec

from host.connection import Peer
from host.envelopes import EventsParams, read_events
from host.errors import ProtocolFault
from host.eventlog import Appended
from host.history import HISTORY, history_until, number, put_number
from host.parts import Parts
from host.protocol import Request, decode_params
from host.trace import of_policy
from host.verbs import Table, invalid
from recall.canonical import short_id
from recall.contracts import EventEnvelope, Frozen

FILE = "history-file:"  # + file -> how many of its events were taken in
OF_ONE_EVENT = ("invalid-params", "no-owner", "conflict")  # refusals that concern one event, not the log

FileName = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
ProductName = Annotated[str, msgspec.Meta(max_length=64)]


class BeginParams(Frozen, frozen=True, kw_only=True):
    """`file`: any name of the file that stays the same, as its path. Only a digest of it is kept. `session_id`: one of
    its sessions."""

    file: FileName
    session_id: str = ""


class Begun(Frozen, frozen=True, kw_only=True):
    """How many events of the file were taken in before. `live`: the session was heard as it happened."""

    through: int
    live: bool = False


class HistoryParams(EventsParams, frozen=True, kw_only=True):
    """The next events of a file, all of one session. `through`: how many events of the file there are up to the end of
    these. `last`: the file has no more of that session. `host`: the agent product that wrote it; empty: not said."""

    file: FileName
    through: Annotated[int, msgspec.Meta(ge=1)]
    last: bool = False
    host: ProductName = ""


class Taken(Frozen, frozen=True, kw_only=True):
    """`live`: the session was heard as it happened, and nothing was stored. `refused`: events that cannot be stored."""

    accepted: int = 0
    duplicates: int = 0
    refused: int = 0
    live: bool = False


class Backfill:
    """Past sessions in."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def table(self) -> Table:
        return {"history.begin": self._begin, "history.append": self._append}

    async def _begin(self, request: Request, peer: Peer) -> Begun:
        params = decode_params(request, BeginParams)
        through = await number(self._parts.main, _of_file(params.file)) or 0
        return Begun(through=through, live=bool(params.session_id) and await self._is_live(params.session_id))

    async def _append(self, request: Request, peer: Peer) -> Taken:
        params = read_events(request, HistoryParams)
        session_id = params.events[0].session_id
        if any(event.session_id != session_id for event in params.events):
            raise invalid("The events are of several sessions.", "Send those of each session in a call of their own.")
        if await self._is_live(session_id):
            return Taken(live=True)
        # Written first: should we be killed in between, the events are known as history, and nobody decides about them.
        await put_number(self._parts.main, HISTORY + session_id, self._parts.clock.now())
        await self._parts.providers.note((session_id,), params.host)
        done = await self._stored(params.events)
        if params.last:
            ref = self._parts.audit.ref(session_id)
            await self._parts.ledger.append([of_policy("imported", "history", ref, self._parts.clock.now())])
            self._parts.sessions.endings.ended(session_id)
            await self._parts.boundaries.imported(session_id)
        await put_number(self._parts.main, _of_file(params.file), params.through)
        return done

    async def _is_live(self, session_id: str) -> bool:
        """Whether the log holds events of the session that were heard as they happened."""
        logged = await self._parts.eventlog.last(session_id)
        if logged is None:
            return False
        until = await history_until(self._parts.main, session_id)
        return until is None or logged.last_at > until

    async def _stored(self, events: tuple[EventEnvelope, ...]) -> Taken:
        try:
            return _taken(await self._parts.eventlog.append(events, self._parts.clock.now(), past=True))
        except ProtocolFault as fault:
            if fault.kind not in OF_ONE_EVENT:
                raise
        done = Taken()
        for event in events:  # one of them cannot be stored; the others can
            try:
                more = _taken(await self._parts.eventlog.append((event,), self._parts.clock.now(), past=True))
            except ProtocolFault as fault:
                if fault.kind not in OF_ONE_EVENT:
                    raise
                more = Taken(refused=1)
            done = Taken(
                accepted=done.accepted + more.accepted,
                duplicates=done.duplicates + more.duplicates,
                refused=done.refused + more.refused,
            )
        return done


def _taken(appended: Appended) -> Taken:
    return Taken(accepted=appended.accepted, duplicates=appended.duplicates)


def _of_file(file: str) -> str:
    return FILE + short_id("file_", file)
