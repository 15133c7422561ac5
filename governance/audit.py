"""G-02 InjectionAudit: append-only and chained, the only source of truth about what we did.

Invariants: an entry is committed before anybody hears of it (overview 11); a row that was removed, changed or moved is
found, and where (governance.chain). Entries hold ids, numbers and reasons, never texts.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

import msgspec

from governance.chain import Row, chained, entry_of
from governance.checkpoint import NOTHING, Checkpoint, Stored, Walked, flaw_of, opened, walked
from governance.contracts import AuditEntry, AuditFilter, PacketTrace
from governance.errors import AuditUnavailable
from recall.canonical import keyed
from recall.contracts import Database, Frozen

SUBSCRIBER_QUEUE = 256  # entries a subscriber may be behind
MOST_ROWS = 1000  # rows that one query answers
CHUNK = 500  # rows read at once by `verify`

_STORED = tuple(name for name in Row.__struct_fields__ if name != "row")
_INSERT = f"INSERT INTO audit ({', '.join(_STORED)}) VALUES ({', '.join('?' * len(_STORED))})"
_HEAD = "SELECT digest FROM audit ORDER BY row DESC LIMIT 1"
_SELECT = "SELECT row, entry, digest FROM audit"
_LATER = (
    f"{_SELECT} WHERE row > (SELECT row FROM audit WHERE audit_id = ?)"
    " AND (packet_id = ? OR kind = 'feedback' OR session_ref = ? AND instr(entry, CAST('\"evidence\":[{' AS BLOB)) > 0)"
    " ORDER BY row LIMIT ?"
)
_CHUNK = f"SELECT {', '.join(Row.__struct_fields__)} FROM audit WHERE row > ? ORDER BY row LIMIT ?"
_HIGHEST = "SELECT seq FROM sqlite_sequence WHERE name = 'audit' AND typeof(seq) = 'integer'"
_LOWEST = "SELECT row FROM audit ORDER BY row LIMIT 1"
_KEPT = "SELECT document, digest FROM audit_checkpoint"
_CONDITIONS = {  # field of the filter -> condition
    "session_ref": "session_ref = ?",
    "kind": "kind = ?",
    "outcome": "outcome = ?",
    "reason": "reason = ?",
    "memory_id": "instr(entry, CAST(? AS BLOB)) > 0",  # a walk over what is retained costs less than an index kept
    "step": "step = ?",
    "packet_id": "packet_id = ?",
    "since": "at >= ?",
    "after_row": "row < ?",
}

_SEE = "audit.verify names the first that does not hold."

Ids = Callable[[str], str]
Statement = Callable[[sqlite3.Connection], AuditEntry]
Also = Callable[[sqlite3.Connection], object]
Beside = Callable[[sqlite3.Connection, AuditEntry], object]
Numbered = tuple[int, AuditEntry]


class Verification(Frozen, frozen=True, kw_only=True):
    """What `verify` found: how many entries hold together, and the first row that does not, and why. `before`: how many
    older ones were let go and stand summed up in the checkpoint that the chain begins with."""

    ok: bool
    entries: int
    problem: str | None = None
    row: int | None = None
    before: int = 0


def session_ref(key: bytes, session_id: str) -> str:
    """A session's (or agent's) name wherever a row outlives or leaves it: 32 hex digits, not to be guessed."""
    return keyed(key, session_id.encode("utf-8", "surrogatepass"))[:32]


class Subscription:
    """Entries as they are committed. Iteration ends when it was closed, or dropped for being too slow."""

    def __init__(self, leave: Callable[["Subscription"], None]) -> None:
        self._queue: asyncio.Queue[AuditEntry | None] = asyncio.Queue()
        self._leave = leave
        self.dropped = False

    def push(self, entry: AuditEntry) -> None:
        """Hand over one entry; drop the subscription, not the daemon, when nobody reads."""
        if self._queue.qsize() >= SUBSCRIBER_QUEUE:
            self.dropped = True
            self.close()
        else:
            self._queue.put_nowait(entry)

    def close(self) -> None:
        """No more entries; what is queued can still be read."""
        self._leave(self)
        self._queue.put_nowait(None)

    def __aiter__(self) -> AsyncIterator[AuditEntry]:
        return self

    async def __anext__(self) -> AuditEntry:
        entry = await self._queue.get()
        if entry is None:
            self._queue.put_nowait(None)  # whoever asks again gets the same answer
            raise StopAsyncIteration
        return entry


class Audit:
    """The audit's one door. `ids("aud_")` makes an id for entries that come without one; `beside` stores what an entry
    carries for other tables, in the entry's own transaction."""

    def __init__(self, database: Database, key: bytes, ids: Ids, beside: Beside = lambda *_: None) -> None:
        self._database = database
        self._key = key
        self._ids = ids
        self._beside = beside
        self.problem = ""  # why the last entries could not be written
        self._subscriptions: list[Subscription] = []

    def ref(self, name: str) -> str:
        """The keyed name of a session or an agent."""
        return session_ref(self._key, name)

    async def append(self, entries: Sequence[AuditEntry], also: Also | None = None) -> tuple[AuditEntry, ...]:
        """Chain and store `entries` in their order, then run `also`, all or nothing; the stored entries.

        Raises AuditUnavailable (disk full, I/O error), and whatever `also` raises.
        """
        statements = [self.statement(entry) for entry in entries]

        def work(connection: sqlite3.Connection) -> tuple[AuditEntry, ...]:
            stored = tuple(statement(connection) for statement in statements)
            if also is not None:
                also(connection)
            return stored

        try:
            stored = await self._database.write(work)
        except sqlite3.Error as error:
            self.problem = str(error)
            raise AuditUnavailable(
                f"The audit could not be written: {error}.", "Check the disk and the data folder."
            ) from error
        self.problem = ""
        self.publish(stored)
        return stored

    def statement(self, entry: AuditEntry) -> Statement:
        """One entry as work for somebody else's write transaction, who calls `publish` after the commit."""
        named = entry if entry.audit_id else msgspec.structs.replace(entry, audit_id=self._ids("aud_"))
        return lambda connection: self._insert(connection, named)

    def publish(self, entries: Iterable[AuditEntry]) -> None:
        """Push committed entries to those who follow the audit."""
        for entry in entries:
            for subscription in tuple(self._subscriptions):
                subscription.push(entry)

    def subscribe(self) -> Subscription:
        """Follow the audit from now on, until closed."""
        subscription = Subscription(self._leave)
        self._subscriptions.append(subscription)
        return subscription

    async def query(self, wanted: AuditFilter) -> tuple[AuditEntry, ...]:
        """The entries that meet every given condition, newest first."""
        return tuple(entry for _, entry in await self.rows(wanted))

    async def rows(self, wanted: AuditFilter) -> tuple[Numbered, ...]:
        """As `query`, with each entry's row; `after_row` continues below that row, towards older entries."""
        given = {field: getattr(wanted, field) for field in _CONDITIONS if getattr(wanted, field) is not None}
        where = " AND ".join(_CONDITIONS[field] for field in given) or "true"
        limit = max(0, min(wanted.limit, MOST_ROWS))
        return await self._select(f"{_SELECT} WHERE {where} ORDER BY row DESC LIMIT ?", *given.values(), limit)

    async def get(self, audit_id: str) -> AuditEntry | None:
        """One entry by its id."""
        found = await self._select(f"{_SELECT} WHERE audit_id = ?", audit_id)
        return found[0][1] if found else None

    async def later(self, entry: AuditEntry) -> tuple[AuditEntry, ...]:
        """What happened afterwards to the entry's packet, what the session did with its memories, and what was said of
        them; oldest first."""
        if entry.packet is None:
            return ()
        about = (entry.audit_id, entry.packet.packet_id, entry.session_ref)
        found = await self._select(_LATER, *about, MOST_ROWS)
        return tuple(later for _, later in found if _concerns(later, entry.packet))

    async def count(self) -> int:
        """How many entries there are."""
        return await self._number("SELECT count(*) FROM audit")

    async def kept(self) -> Stored | None:
        """What is left of entries that were let go, as it is stored."""
        row = await self._database.read(lambda connection: connection.execute(_KEPT).fetchone())
        return None if row is None else Stored(document=row[0], digest=row[1])

    async def checkpoint(self) -> Checkpoint:
        """What entries that were let go came to. Raises msgspec.DecodeError for a damaged document."""
        return opened(await self.kept())

    async def readable(self) -> Checkpoint:
        """The same; of a damaged document nothing is known, and `verify` says so."""
        try:
            return await self.checkpoint()
        except msgspec.MsgspecError:
            return NOTHING

    async def walk(self, after: int = 0, last: int | None = None) -> AsyncIterator[Numbered]:
        """Every entry that is there, oldest first, behind row `after` and up to row `last`."""
        while rows := await self.chunk(after, CHUNK):
            for row in rows:
                if last is not None and row.row > last:
                    return
                yield row.row, entry_of(row.entry, row.digest)
            after = rows[-1].row

    async def head(self) -> int:
        """The last row that was given out."""
        return await self._number(_HIGHEST)

    async def verify(self) -> Verification:
        """Walk the chain from the checkpoint, or its first row, in chunks, up to the first row that does not hold."""
        while True:
            kept = await self.kept()
            found = await self._verified(kept)
            if found.ok or kept == await self.kept():  # else entries were let go while we walked
                return found

    async def _verified(self, kept: Stored | None) -> Verification:
        highest = await self.head()
        try:
            start = opened(kept)
        except msgspec.DecodeError:
            return Verification(ok=False, entries=0, problem="the checkpoint was changed", row=0)
        walk = Walked(link=start.link)
        first = await self._database.read(lambda connection: connection.execute(_LOWEST).fetchone())
        if first is not None and first[0] <= start.through.row:
            walk = msgspec.structs.replace(walk, problem="the entry was put before the first", row=first[0])
        while walk.problem is None and (rows := await self.chunk(walk.link.row, CHUNK)):
            walk = await asyncio.to_thread(walked, walk, rows)
        problem, row = walk.problem, walk.link.row + 1
        if problem is None and (highest > walk.link.row or await self.head() < walk.link.row):
            problem = "the last entries were removed"  # or the number of the last one that was given out was
        elif problem is None:
            problem, row = flaw_of(kept, walk.named), walk.named_at or row
        elif walk.row is not None:
            row = walk.row
        return Verification(
            ok=problem is None,
            entries=walk.entries,
            problem=problem,
            row=None if problem is None else row,
            before=start.entries,
        )

    async def _select(self, statement: str, *values: object) -> tuple[Numbered, ...]:
        rows = await self._database.read(lambda connection: connection.execute(statement, values).fetchall())
        try:
            return tuple((row, entry_of(data, digest)) for row, data, digest in rows)
        except msgspec.MsgspecError as error:
            raise AuditUnavailable("An entry of the audit cannot be read: it was changed.", _SEE) from error

    async def chunk(self, after: int, limit: int) -> list[Row]:
        """The rows behind `after` as they are stored."""
        rows = await self._database.read(lambda connection: connection.execute(_CHUNK, (after, limit)).fetchall())
        return [Row(**dict(zip(Row.__struct_fields__, row, strict=True))) for row in rows]

    async def _number(self, statement: str) -> int:
        found = await self._database.read(lambda connection: connection.execute(statement).fetchone())
        return int(found[0]) if found else 0

    def _insert(self, connection: sqlite3.Connection, entry: AuditEntry) -> AuditEntry:
        """Chain one entry to the head as it is inside this transaction, and store it with what it carries."""
        head = connection.execute(_HEAD).fetchone()
        stored, row = chained(entry, head[0] if head else "")
        connection.execute(_INSERT, tuple(getattr(row, name) for name in _STORED))
        self._beside(connection, stored)
        return stored

    def _leave(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)


def _concerns(later: AuditEntry, packet: PacketTrace) -> bool:
    """Whether an entry is about the packet itself, or a word on one of its memories, or shows one of them used."""
    if later.packet is not None and later.packet.packet_id == packet.packet_id:
        return True
    used = any(trace.memory_id in packet.items for trace in later.evidence)
    return used or (later.packet is None and later.memory_id in packet.items)
