"""The port `History`: what this worktree's sessions did, in turns, out of the event log (team.md 4)."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from governance.team.contracts.base import Bound
from governance.team.contracts.recalling import ExtractionRequest, Filters
from governance.team.contracts.turns import (
    Ineligible,
    RejectedSessions,
    Selection,
    SessionTurns,
    Turn,
    TurnContent,
)
from governance.team.errors import Kind, TeamFault
from governance.team.matching import fits, provided, wanted
from governance.team.scoring import score
from governance.team.store import turns as store
from governance.team.times import read
from governance.team.turns import Recorded, ineligible
from host.team import logged
from host.team.past_turns import Known, PastTurns
from host.team.turn_texts import TurnTexts
from host.team.worktrees import Where
from recall.contracts import Millis

Asleep = Callable[[str, str, Millis], bool]  # (workspace key, session, time): nothing is noted there then
Matched = Mapping[str, Sequence[Recorded]]  # by session
_ALL = Filters()


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamHistory:
    """Selects and reads. `asleep`: whether its user had memory off."""

    past: PastTurns
    texts: TurnTexts
    asleep: Asleep

    async def select(self, bound: Bound, request: ExtractionRequest, limit: int) -> Selection:
        """As the port says. Raises TeamFault, too: `request-invalid`, `payload-changed` when what is matched changes
        again and again."""
        after, before = read(request.window.after), read(request.window.before)
        if after is None or before is None:
            raise TeamFault(Kind.REQUEST_INVALID, "The window has no times that can be read.", "Give both with Z.")
        known = await self.past.near(bound, after)
        found, rejected = await self._candidates(bound, known, (after, before))
        matched = await self._matched(found, request)
        count = sum(len(each) for each in matched.values())
        if count > limit:
            raise TeamFault(
                Kind.QUERY_TOO_BROAD,
                f"{count} turns match, and at most {limit} are read at a time.",
                "Take a shorter window, or say more in the query. Nothing was cut or kept.",
            )
        verified = {session_id: await self._verified(session_id, each) for session_id, each in matched.items()}
        _whole(one for each in verified.values() for one in each)
        sessions = [
            SessionTurns(
                session_key=each[0].turn.session_key,
                provider=each[0].turn.provider,
                turns=tuple(one.turn for one in each),
                score=score(each, await self.texts.edges(bound, each)),
            )
            for each in verified.values()
            if each
        ]
        ranked = tuple(sorted(sessions, key=lambda one: (-one.score, one.session_key)))
        return Selection(sessions=ranked, rejected=rejected, matched=sum(len(one.turns) for one in ranked))

    async def content(self, turn: Turn) -> TurnContent:
        """As the port says. What changed is kept as it is now before that is said: asking anew finds it."""
        recorded = (await self.past.database.read(lambda c: store.recorded(c, [turn.turn_key]))).get(turn.turn_key)
        if recorded is None:
            raise _gone()
        _whole([recorded])
        digests = await self.past.cutter.digests([recorded])
        if digests[turn.turn_key] != turn.payload_digest or recorded.turn.revision != turn.revision:
            if not await self.past.main.read(lambda c: logged.present(c, [recorded.session_id])):
                raise _gone()
            await self.past.anew(recorded.session_id)
            raise TeamFault(Kind.PAYLOAD_CHANGED, "A turn changed while it was read.", "Recall again.")
        return (await self.texts.of([recorded]))[turn.turn_key]

    async def current(self, turn_keys: Sequence[str]) -> Sequence[Turn]:
        """As the port says. A turn of which nothing may be noted any more is gone, too."""
        recorded = await self.past.database.read(lambda c: store.recorded(c, turn_keys))
        keys = frozenset(turn_keys)
        turns: dict[str, Turn] = {}
        for known in await self.past.of({one.session_id for one in recorded.values()}):
            own = await self._as_logged(known.named.session_id, [o for o in known.turns if o.turn.turn_key in keys])
            awake = await asyncio.to_thread(self._awake, own)
            turns |= {one.turn.turn_key: one.turn for one in awake if not one.denied}
        return tuple(turns[key] for key in dict.fromkeys(turn_keys) if key in turns)

    async def learn(self, bound: Bound, after: Millis) -> None:
        """Read what happened in this worktree since then, so that it is found at once when somebody asks."""
        known = await self.past.near(bound, after)
        places = await self.past.worktrees.placed(bound, {folder for each in known for folder in each.folders} | {""})
        here = {
            each.named.session_id: [one for one in each.turns if places[one.folder] is Where.HERE and _free(one)]
            for each in known
        }
        await self.texts.learn(here)

    async def _candidates(
        self, bound: Bound, known: Sequence[Known], window: tuple[Millis, Millis]
    ) -> tuple[dict[str, list[Recorded]], tuple[RejectedSessions, ...]]:
        """The turns of the window that can be recalled, by session, and why other sessions have none."""
        after, before = window
        folders = {folder for each in known for folder in each.folders} | {""}
        places = await self.past.worktrees.placed(bound, folders)
        found: dict[str, list[Recorded]] = {}
        rejected: Counter[Ineligible] = Counter()
        for each in known:
            timely = [one for one in each.turns if after <= one.turn.at < before]
            here = frozenset(one.turn.turn_key for one in timely if places[one.folder] is Where.HERE)
            if here:
                turns = await asyncio.to_thread(self._awake, each.turns)
                reason = ineligible(turns)
                free = [one for one in turns if one.turn.turn_key in here and _free(one)]
                if reason is None and free:
                    found[each.named.session_id] = free
            else:
                recent = bool(timely) or after <= each.facts.last_at < before
                reason = _elsewhere(each, timely, places) if recent else None
            if reason is not None:
                rejected[reason] += 1
        told = (RejectedSessions(reason=one, count=rejected[one]) for one in Ineligible if rejected[one])
        return found, tuple(told)

    def _awake(self, turns: Sequence[Recorded]) -> tuple[Recorded, ...]:
        """The turns, those denied in which the workspace was off. Blocks on the disk for a new folder."""
        told: list[Recorded] = []
        for one in turns:
            key = self.past.worktrees.key(one.folder) if one.folder else ""
            off = bool(key) and any(self.asleep(key, one.session_id, at) for at in one.observed)
            told.append(msgspec.structs.replace(one, denied=True) if off else one)
        return tuple(told)

    async def _matched(self, found: Matched, request: ExtractionRequest) -> Matched:
        """Of these turns those that pass the filters and hold enough of the query."""
        filters = request.filters or _ALL
        turns: dict[str, Sequence[Recorded]] = {}
        for session_id, each in found.items():
            first = each[0].turn
            asked = not filters.session_keys or first.session_key in filters.session_keys
            if asked and provided(first.provider, filters.providers):
                turns[session_id] = [one for one in each if fits(one, filters)]
        query = wanted(request.query)
        if query.least:
            held = await self.texts.holding(turns, query)
            turns = {
                session_id: [one for one in each if one.turn.turn_key in held] for session_id, each in turns.items()
            }
        return {session_id: each for session_id, each in turns.items() if each}

    async def _verified(self, session_id: str, turns: Sequence[Recorded]) -> Sequence[Recorded]:
        """Matched turns of a session, as the log holds them now. Raises TeamFault `payload-changed`."""
        now = [one for one in await self._as_logged(session_id, turns) if _free(one)]
        if now != list(turns):
            digests = await self.past.cutter.digests(now)
            if any(digests[one.turn.turn_key] != one.turn.payload_digest for one in now):
                raise TeamFault(Kind.PAYLOAD_CHANGED, "A turn changes while it is read.", "Recall again.")
        return now

    async def _as_logged(self, session_id: str, turns: Sequence[Recorded]) -> Sequence[Recorded]:
        """Turns of a session, cut anew if one of them is not in the log as it was kept."""
        digests = await self.past.cutter.digests(turns)
        if all(digests[one.turn.turn_key] == one.turn.payload_digest for one in turns):
            return turns
        keys = {one.turn.turn_key for one in turns}
        known = await self.past.anew(session_id)
        return [one for one in known.turns if one.turn.turn_key in keys] if known else []


def _elsewhere(known: Known, timely: Collection[Recorded], places: Mapping[str, Where]) -> Ineligible | None:
    """Why a session of that time has no turn of this worktree; None: it is none of this repository's."""
    about = {places[folder] for folder in known.folders}
    if Where.OWN in about:
        return Ineligible.OWN_RUNNER
    if known.facts.subagent and Where.HERE in about:
        return Ineligible.SUBAGENT
    sibling = any(places[one.folder] is Where.SIBLING for one in timely)
    return Ineligible.OTHER_WORKTREE if sibling else None


def _gone() -> TeamFault:
    return TeamFault(
        Kind.COVERAGE_INCOMPLETE,
        "A turn is not in the history any more.",
        "Recall again: what is left is offered then.",
    )


def _free(one: Recorded) -> bool:
    return one.turn.recallable and not one.denied and not one.copied


def _whole(turns: Iterable[Recorded]) -> None:
    """Raises TeamFault `coverage-incomplete` unless every event of these turns is there and could be read."""
    broken = sum(not one.turn.complete for one in turns)
    if broken:
        raise TeamFault(
            Kind.COVERAGE_INCOMPLETE,
            f"{broken} of the turns asked for are not whole: the log lacks events of them, or cannot read them.",
            "Leave them out with a narrower window or query.",
        )
