"""Sessions as turns, from what is kept where the log holds the same as then, else cut anew (team.md 4)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from governance.team.contracts.base import Bound
from governance.team.store import turns as store
from governance.team.store.turns import Facts, KeptSession
from governance.team.turns import Recorded, rested
from host.clock import Clock
from host.products import Providers
from host.team import logged
from host.team.cutting import Cutter, Named
from host.team.logged import Logged
from host.team.worktrees import Where, Worktrees
from recall.contracts import Database, Frozen, Millis

CUT = "1"  # of the way in which events become turns: what was cut in another way is cut anew
LATE_MS: Millis = 86_400_000  # an event may stand so much later in its producer's time than in ours


class Known(Frozen, frozen=True, kw_only=True):
    """A session as it is known now. `folders`: all that its events name."""

    named: Named
    facts: Facts
    folders: tuple[str, ...]
    turns: tuple[Recorded, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PastTurns:
    """`main`: the event log's database; `database`: governance.db; `ref`: the keyed name of a session."""

    cutter: Cutter
    main: Database
    database: Database
    worktrees: Worktrees
    ref: Callable[[str], str]
    providers: Providers
    clock: Clock
    _folders: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)  # session -> (extent, folders)

    async def near(self, bound: Bound, after: Millis) -> list[Known]:
        """Sessions that may have turns of this repository since then. What the log has let go of is forgotten."""
        await self._forget()
        since = min(after, self.clock.now()) - LATE_MS  # a producer's clock may run ahead of ours
        there = await self.main.read(lambda c: logged.since(c, since))
        folders = {one.session_id: await self._folders_of(one) for one in there}
        places = await self.worktrees.placed(bound, {folder for each in folders.values() for folder in each})
        far = {one for one, each in folders.items() if all(places[folder] is Where.ELSEWHERE for folder in each)}
        return await self._known([one for one in there if one.session_id not in far])

    async def of(self, session_ids: Collection[str]) -> list[Known]:
        """Those of these sessions that the log still holds."""
        return await self._known(await self.main.read(lambda c: logged.named(c, session_ids)))

    async def anew(self, session_id: str) -> Known | None:
        """A session cut anew, whatever is kept of it; None: it is gone."""
        there = await self.main.read(lambda c: logged.named(c, [session_id]))
        names = await self._names([one.session_id for one in there])
        return await self._cut(names[session_id], there[0]) if there else None

    async def _known(self, there: Sequence[Logged]) -> list[Known]:
        names = await self._names([one.session_id for one in there])
        keys = [one.session_key for one in names.values()]
        kept = await self.database.read(lambda c: store.sessions(c, keys))
        extents = {one.session_id: _extent(one) for one in there}
        same = [key for key, one in kept.items() if extents.get(one.session_id) == one.extent]
        turns = await self.database.read(lambda c: store.turns(c, same))
        known: list[Known] = []
        for one in there:
            named = names[one.session_id]
            if named.session_key in same:
                facts, own = kept[named.session_key].facts, turns.get(named.session_key, ())
                known.append(await self._as_now(named, one, facts, own))
            else:
                known.append(await self._cut(named, one))
        return known

    async def _cut(self, named: Named, one: Logged) -> Known:
        cut = await self.cutter.cut(named)
        facts = Facts(subagent=cut.subagent, last_at=one.last_at)
        session = KeptSession(
            session_key=named.session_key, session_id=named.session_id, extent=_extent(one), facts=facts
        )
        now = self.clock.now()
        turns = await self.database.write(lambda c: store.keep(c, session, cut.turns, now))
        return await self._as_now(named, one, facts, turns)

    async def _as_now(self, named: Named, one: Logged, facts: Facts, turns: Sequence[Recorded]) -> Known:
        return Known(
            named=named,
            facts=facts,
            folders=await self._folders_of(one),
            turns=rested(turns, one.last_at, self.clock.now()),
        )

    async def _names(self, session_ids: Collection[str]) -> Mapping[str, Named]:
        products = await self.providers.of(session_ids)
        return {one: Named(session_id=one, session_key=self.ref(one), provider=products[one]) for one in session_ids}

    async def _folders_of(self, one: Logged) -> tuple[str, ...]:
        known = self._folders.get(one.session_id)
        if known is None or known[0] != one.extent:
            known = one.extent, await self.main.read(lambda c: logged.folders(c, one.session_id))
            self._folders[one.session_id] = known
        return known[1]

    async def _forget(self) -> None:
        kept = await self.database.read(store.known)
        left = frozenset(kept.values()) - await self.main.read(lambda c: logged.present(c, kept.values()))
        gone = [key for key, session_id in kept.items() if session_id in left]
        if gone:
            await self.database.write(lambda c: store.let_go(c, gone))
        for session_id in left:
            self._folders.pop(session_id, None)


def _extent(one: Logged) -> str:
    return f"{CUT}:{one.extent}"
