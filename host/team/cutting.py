"""Sessions of the event log, cut into turns, and turns read whole (team.md 4)."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import dataclass

from governance.team.contracts.turns import TurnContent
from governance.team.turns import PARTS, Heard, Recorded, Session, cut, events_of, payload_digest
from host.eventlog import EventLog
from host.formation.lineage import Lineage
from host.formation.spans import denied
from host.runtime import SESSION_SET
from host.team.hearing import hear, own_agent
from recall.contracts import EventEnvelope, EventType, Frozen

PAGE = 500  # events that are read at a time
SHORT = 65_536  # bytes of payloads whose digests are made without leaving the loop


class Cut(Frozen, frozen=True, kw_only=True):
    """A session as turns. `subagent`: it is a subagent's, whose own session is another one."""

    turns: tuple[Recorded, ...]
    subagent: bool


class Named(Frozen, frozen=True, kw_only=True):
    """What is said of a session in its turns."""

    session_id: str
    session_key: str
    provider: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Cutter:
    """Reads the log page by page; a page is looked through on a thread."""

    eventlog: EventLog
    lineage: Lineage

    async def cut(self, named: Named) -> Cut:
        """All turns of a session, as the log holds it now."""
        first = next(iter(await self.eventlog.replay(named.session_id, limit=1)), None)
        agent = own_agent(first)
        heard: list[Heard] = []
        gaps: list[int] = []
        wishes: list[EventEnvelope] = []
        last = 0 if first is None else first.event_seq - 1
        async for page in self._pages(named.session_id, last, None):
            gaps += [here for here, before in _steps(page, last) if here != before + 1]
            last = page[-1].event_seq
            wishes += [event for event in page if event.event_type == SESSION_SET]
            heard += await asyncio.to_thread(_heard, page, agent)
        spans = denied(wishes, lambda event: False, last)
        session = Session(
            session_id=named.session_id,
            session_key=named.session_key,
            provider=named.provider,
            agent=agent,
            copied=await self.lineage.copied(named.session_id),
            denied=tuple((one.from_seq, one.through_seq) for one in spans),
            gaps=tuple(gaps),
        )
        turns = await asyncio.to_thread(cut, heard, session)
        subagent = not turns and first is not None and first.event_type == EventType.AGENT_SPAWN
        return Cut(turns=turns, subagent=subagent)

    async def contents(self, turns: Sequence[Recorded]) -> dict[str, TurnContent]:
        """These turns of one session whole, by their keys, as the log holds them now."""
        parts = await self._parts(turns, deep=True)
        return {
            one.turn.turn_key: TurnContent(
                turn=one.turn,
                events=events_of(parts[one.turn.turn_key]),
                session_id=one.session_id,
                folder=one.folder,
            )
            for one in turns
        }

    async def digests(self, turns: Sequence[Recorded]) -> dict[str, str]:
        """The payload digests of these turns of one session as the log holds them now, by their keys."""
        parts = await self._parts(turns, deep=False)
        return {key: payload_digest(each) for key, each in parts.items()}

    async def _parts(self, turns: Sequence[Recorded], *, deep: bool) -> dict[str, list[Heard]]:
        found: dict[str, list[Heard]] = {one.turn.turn_key: [] for one in turns}
        for run in _runs(turns):
            after, through = run[0].turn.first_seq - 1, run[-1].turn.last_seq
            async for page in self._pages(run[0].session_id, after, through):
                short = not deep and sum(len(bytes(event.payload)) for event in page) <= SHORT
                parts = (
                    _shared(page, run, deep=deep) if short else await asyncio.to_thread(_shared, page, run, deep=deep)
                )
                for key, part in parts:
                    found[key].append(part)
        return found

    async def _pages(self, session_id: str, after: int, through: int | None) -> AsyncIterator[Sequence[EventEnvelope]]:
        """A session's events behind `after`, up to `through`, as many at a time as are read at once."""
        while through is None or after < through:
            limit = PAGE if through is None else min(PAGE, through - after)
            page = await self.eventlog.replay(session_id, after=after, limit=limit)
            page = tuple(one for one in page if through is None or one.event_seq <= through)
            if not page:
                return
            yield page
            after = page[-1].event_seq


def _steps(page: Sequence[EventEnvelope], before: int) -> Iterable[tuple[int, int]]:
    """Each event's number, and that of the one before it."""
    for event in page:
        yield event.event_seq, before
        before = event.event_seq


def _heard(page: Sequence[EventEnvelope], agent: str) -> list[Heard]:
    return [told for event in page if (told := hear(event, agent)) is not None]


def _shared(page: Sequence[EventEnvelope], turns: Sequence[Recorded], *, deep: bool) -> list[tuple[str, Heard]]:
    """The parts that a page has, each with its turn's key, in order."""
    found: list[tuple[str, Heard]] = []
    for one in turns:
        turn, left = one.turn, frozenset(one.left)
        if turn.last_seq < page[0].event_seq or page[-1].event_seq < turn.first_seq:
            continue
        for event in page:
            if turn.first_seq <= event.event_seq <= turn.last_seq and (event.event_id or "") not in left:
                told = hear(event, one.agent, deep=deep)
                if told is not None and told.kind in PARTS:
                    found.append((turn.turn_key, told))
    return found


def _runs(turns: Collection[Recorded]) -> list[list[Recorded]]:
    """The turns in their order, those together that follow one another."""
    runs: list[list[Recorded]] = []
    for one in sorted(turns, key=lambda each: each.turn.place):
        if runs and runs[-1][-1].turn.place == one.turn.place - 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs
