"""How far a workspace is rolled out: off, shadow, canary or active. Kept in the `setting` table. And how far an agent
product may be at most: the lower of the two holds.

Switching on starts at that moment: what came while a workspace was off is folded in, and never decided afterwards,
though nothing was written about it and a restart reads the log again. What came before it was off is as it was.
"""

import sqlite3
from collections.abc import Iterable

import msgspec

from host.capability import Capabilities, Client
from host.contracts import Reason, Rollout
from recall.canonical import bytes_digest
from recall.contracts import Database, Millis, RuntimeScope

PREFIX = "rollout:"
SINCE = "rollout-since:"
SPANS = "rollout-off:"  # when a workspace was off: [from, until] in milliseconds, until null: it is
MOST_SPANS = 256  # of a workspace; the oldest become one
CANARY_PERCENT = 10

Span = tuple[Millis, Millis | None]


class Rollouts:
    """Levels by workspace key, read once at the start and written through. `capabilities`: of agent products."""

    def __init__(
        self,
        database: Database,
        levels: dict[str, Rollout],
        spans: dict[str, list[Span]],
        capabilities: Capabilities,
    ) -> None:
        self._database = database
        self.capabilities = capabilities
        self._levels = levels
        self._spans = spans  # when a workspace was off

    def of(self, workspace: str, session_id: str) -> Rollout:
        """The level that holds for a session: a canary is active for a share of sessions, chosen by hash."""
        return _drawn(self.level(workspace), session_id)

    def level(self, workspace: str) -> Rollout:
        """The level as it was set for a workspace."""
        return self._levels.get(workspace, Rollout.ACTIVE)

    def closed(self, scope: RuntimeScope, client: Client) -> Reason | None:
        """Why nothing may be handed over to this client in this session; None: it may."""
        match self.of(scope.workspace, scope.session_id):
            case Rollout.ACTIVE:
                most = _drawn(self.capabilities.of(client).most, scope.session_id)
                return None if most is Rollout.ACTIVE else Reason.UNKNOWN_VERSION
            case Rollout.OFF:
                return Reason.ROLLOUT_OFF
            case _:
                return Reason.SHADOW

    def asleep(self, workspace: str, session_id: str, at: Millis) -> bool:
        """Whether nothing is decided about an event of that time: the workspace is off, or was when it came."""
        if self.of(workspace, session_id) is Rollout.OFF:
            return True
        return any(first <= at and (last is None or at < last) for first, last in self._spans.get(workspace, ()))

    async def set(self, workspace: str, level: Rollout, now: Millis = 0) -> None:
        """Store and apply a level. `now`: the time of the switch."""
        settings: list[tuple[str, bytes]] = [(PREFIX + workspace, msgspec.json.encode(level))]
        before = self._levels.get(workspace)
        spans = list(self._spans.get(workspace, ()))
        if before is Rollout.OFF and level is not Rollout.OFF:
            settings.append((SINCE + workspace, msgspec.json.encode(now)))  # earlier versions know no more
            first = spans.pop()[0] if spans and spans[-1][1] is None else 0
            spans.append((first, max(first, now)))
        elif level is Rollout.OFF and before is not Rollout.OFF:
            spans.append((now, None))
        if len(spans) > MOST_SPANS:
            spans = [(spans[0][0], spans[1][1]), *spans[2:]]
        settings.append((SPANS + workspace, msgspec.json.encode(spans)))

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", settings)

        await self._database.write(work)
        self._levels[workspace] = level
        self._spans[workspace] = spans


def _drawn(level: Rollout, session_id: str) -> Rollout:
    """The level for one session, a canary's drawn."""
    if level is not Rollout.CANARY:
        return level
    share = int(bytes_digest(session_id.encode("utf-8"))[:8], 16) % 100
    return Rollout.ACTIVE if share < CANARY_PERCENT else Rollout.SHADOW


async def load_rollouts(database: Database, allowed: Iterable[str] = ()) -> Rollouts:
    """The stored levels. `allowed`: versions of agent products, as in `[hosts] allow`."""

    def work(connection: sqlite3.Connection) -> list[tuple[str, bytes]]:
        return connection.execute("SELECT name, value FROM setting WHERE name GLOB 'rollout*:*'").fetchall()

    rows = await database.read(work)
    levels = {n.removeprefix(PREFIX): msgspec.json.decode(v, type=Rollout) for n, v in rows if n.startswith(PREFIX)}
    spans: dict[str, list[Span]] = {}
    for name, value in rows:
        if name.startswith(SINCE):  # of an earlier version, that kept no more: off until then
            spans[name.removeprefix(SINCE)] = [(0, msgspec.json.decode(value, type=int))]
    for name, value in rows:
        if name.startswith(SPANS):
            spans[name.removeprefix(SPANS)] = msgspec.json.decode(value, type=list[Span])
    return Rollouts(database, levels, spans, Capabilities(allowed))
