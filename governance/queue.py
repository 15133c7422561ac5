"""The review queue, kept: proposals in `governance.db`, the decisions about them, and what was said no to once.

`governance/review.py` says what may follow what; here it is written down. Proposing the same again changes nothing.
What a person archived, or had forgotten, is not proposed again in the same words: a keyed digest of them is kept.
"""

import asyncio
import sqlite3
import unicodedata
from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from governance.review import (
    LIVE,
    Act,
    Decision,
    ItemFlag,
    ItemKind,
    Principal,
    QueueItem,
    Refusal,
    RefusalCode,
    State,
    after,
    decided,
)
from governance.screen import is_instruction_like, redact
from recall.canonical import keyed
from recall.contracts import Database, Frozen, Millis

MOST_LISTED = 500
LONG = 16_384  # characters; what is longer is screened on a thread
FORGOTTEN, REPLACED = "forgotten", "replaced"
OPEN = LIVE - {State.KEPT}
_LISTS = frozenset({"citations", "flags", "related_to", "evidence"})  # kept as JSON
_COLUMNS = tuple(name for name in QueueItem.__struct_fields__ if name != "decisions")
_ENCODED = dict(zip(QueueItem.__struct_fields__, QueueItem.__struct_encode_fields__, strict=True))
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM queue"
_INSERT = (
    f"INSERT OR IGNORE INTO queue ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) RETURNING item_id"
)
_CHANGE = "UPDATE queue SET state = ?, revision = ?, text = ?, changed_at = ? WHERE item_id = ? AND revision = ?"
_DECISION = "INSERT INTO decision (item_id, revision, kind, actor, reason, at) VALUES (?, ?, ?, ?, ?, ?)"
_DECISIONS = "SELECT revision, kind, actor, reason, at FROM decision WHERE item_id = ? ORDER BY revision"
_REPLACED = f"{_SELECT} WHERE record_id = ? AND kind = ? AND target = ? AND item_id != ?"
_SEEN_AGAIN = "UPDATE tombstone SET seen_count = seen_count + 1, seen_at = ? WHERE digest = ? RETURNING digest"
_UNBURY = "DELETE FROM tombstone WHERE digest = ?"
_BURY = "INSERT OR IGNORE INTO tombstone (digest, item_id, at) VALUES (?, ?, ?)"


class QueueFilter(Frozen, frozen=True, kw_only=True):
    """Which items are asked for; newest first. Empty: all. `after`: the `next` of the page before."""

    states: tuple[State, ...] = ()
    kinds: tuple[ItemKind, ...] = ()
    workspaces: tuple[str, ...] = ()
    record_id: str | None = None
    limit: int = 50
    after: str | None = None


class QueuePage(Frozen, frozen=True, kw_only=True):
    """Some items; `next` asks for the following ones."""

    items: tuple[QueueItem, ...]
    next: str | None = None


class Queue:
    """The queue's tables. `key`: the install key, for digests of texts that are gone."""

    def __init__(self, database: Database, key: bytes) -> None:
        self._database = database
        self._key = key

    async def propose(self, item: QueueItem) -> bool:
        """Put a proposal in; one of the same about the same memory that waits still is superseded. False: it stands
        there already, or was said no to once. Raises ValueError for a state that nothing begins with."""
        first = {State.PENDING: (Act.PROPOSE, Principal.PIPELINE), State.DEFERRED: (Act.DEFER, Principal.ENGINE)}
        first |= {State.COMMITTED: (Act.COMMIT, Principal.POLICY), State.STAGED: (Act.STAGE, Principal.AGENT)}
        begun = first.get(item.state)
        if begun is None or after(None, *begun) is not item.state:
            raise ValueError(f"Nothing begins as {item.state}.")
        item = await asyncio.to_thread(_screened, item) if len(item.text) > LONG else _screened(item)
        said = self._digest(item.workspace_key, item.text) if item.text.strip() else ""
        row = _row(item)

        def work(connection: sqlite3.Connection) -> bool:
            if said and connection.execute(_SEEN_AGAIN, (item.created_at, said)).fetchone():
                return False
            if connection.execute(_INSERT, row).fetchone() is None:
                return False
            for older in map(
                _item, connection.execute(_REPLACED, (item.record_id, item.kind, item.target, item.item_id))
            ):
                if older.state in OPEN and older.flags == item.flags:
                    self._end(connection, older, REPLACED, item.created_at)
            return True

        return await self._database.write(work)

    async def get(self, item_id: str) -> QueueItem | None:
        """One item with its decisions."""
        return await self._database.read(lambda connection: _get(connection, item_id))

    async def list(self, wanted: QueueFilter) -> QueuePage:
        """The items that fit, newest first, ties by id; their decisions are left out."""
        limit = max(1, min(wanted.limit, MOST_LISTED))
        created, _, last = (wanted.after or "").partition(":")
        at = int(created) if created.isdecimal() else 2**62
        where, given = ["(created_at < ? OR (created_at = ? AND item_id > ?))"], [at, at, last]
        for column, values in (
            ("state", wanted.states),
            ("kind", wanted.kinds),
            ("workspace_key", wanted.workspaces),
            ("record_id", () if wanted.record_id is None else (wanted.record_id,)),
        ):
            if values:
                where.append(f"{column} IN ({', '.join('?' * len(values))})")
                given += [str(value) for value in values]
        statement = f"{_SELECT} WHERE {' AND '.join(where)} ORDER BY created_at DESC, item_id LIMIT ?"

        def work(connection: sqlite3.Connection) -> list[Any]:
            return connection.execute(statement, (*given, limit + 1)).fetchall()

        items = [_item(row) for row in await self._database.read(work)]
        shown = items[:limit]
        more = len(items) > limit
        return QueuePage(items=tuple(shown), next=f"{shown[-1].created_at}:{shown[-1].item_id}" if more else None)

    async def decide(self, item_id: str, decision: Decision, text: str | None = None) -> QueueItem | Refusal:
        """Write a decision down; the item after it, or why it does not hold."""
        decision = msgspec.structs.replace(decision, reason=redact(decision.reason)[0])

        def work(connection: sqlite3.Connection) -> QueueItem | Refusal:
            item = _get(connection, item_id)
            if item is None:
                return Refusal(code=RefusalCode.UNKNOWN_ITEM, problem=f"There is no item {item_id[:64]!r}.")
            return self._decide(connection, item, decision, text)

        return await self._database.write(work)

    async def supersede(self, record_id: str, targets: Collection[str], reason: str, at: Millis) -> int:
        """End the open items about a memory that propose one of `targets`; how many there were."""

        def work(connection: sqlite3.Connection) -> int:
            rows = connection.execute(f"{_SELECT} WHERE record_id = ?", (record_id,)).fetchall()
            open_ones = [one for one in map(_item, rows) if one.state in OPEN and one.target in targets]
            for one in open_ones:
                self._end(connection, one, reason, at)
            return len(open_ones)

        return await self._database.write(work)

    async def forget(self, record_id: str, workspace_key: str, text: str, at: Millis) -> int:
        """A memory is gone: so are the words of every item about it, and they are not proposed again."""
        said = self._digest(workspace_key, text) if text.strip() else ""

        def work(connection: sqlite3.Connection) -> int:
            if said:
                connection.execute(_BURY, (said, None, at))
            rows = connection.execute(
                f"{_SELECT} WHERE record_id = ? OR updates = ?"
                " OR EXISTS (SELECT 1 FROM json_each(related_to) WHERE value = ?)",
                (record_id, record_id, record_id),
            ).fetchall()
            for one in map(_item, rows):
                if one.state in LIVE:
                    self._end(connection, one, FORGOTTEN, at)
                if one.text:
                    connection.execute(_BURY, (self._digest(one.workspace_key, one.text), one.item_id, at))
                connection.execute("UPDATE queue SET title = '', text = '' WHERE item_id = ?", (one.item_id,))
                connection.execute("UPDATE decision SET reason = '' WHERE item_id = ?", (one.item_id,))
            return len(rows)

        return await self._database.write(work)

    async def bury(self, workspace_key: str, text: str, at: Millis) -> None:
        """These words were said no to: nothing proposes them again."""
        row = (self._digest(workspace_key, text), None, at)
        await self._database.write(lambda connection: connection.execute(_BURY, row))

    async def unbury(self, workspace_key: str, text: str) -> None:
        """A person thought better of it."""
        said = (self._digest(workspace_key, text),)
        await self._database.write(lambda connection: connection.execute(_UNBURY, said))

    async def buried(self, workspace_key: str, text: str) -> bool:
        """Whether these words were said no to once."""
        said = self._digest(workspace_key, text)
        statement = "SELECT 1 FROM tombstone WHERE digest = ?"
        row = await self._database.read(lambda connection: connection.execute(statement, (said,)).fetchone())
        return row is not None

    async def depths(self) -> dict[str, int]:
        """How many items there are in each state."""
        statement = "SELECT state, count(*) FROM queue GROUP BY state ORDER BY state"
        rows = await self._database.read(lambda connection: connection.execute(statement).fetchall())
        return dict(rows)

    def _end(self, connection: sqlite3.Connection, item: QueueItem, reason: str, at: Millis) -> None:
        """Supersede an item that is live."""
        decision = Decision(
            actor=Principal.POLICY, kind=Act.SUPERSEDE, at=at, expected_revision=item.revision, reason=reason
        )
        self._decide(connection, item, decision, None)

    def _decide(
        self, connection: sqlite3.Connection, item: QueueItem, decision: Decision, text: str | None
    ) -> QueueItem | Refusal:
        done = decided(item, decision, text)
        if isinstance(done, Refusal):
            return done
        connection.execute(
            _CHANGE, (done.state, done.revision, done.text, done.changed_at, item.item_id, item.revision)
        )
        row = (item.item_id, item.revision, decision.kind, decision.actor, decision.reason, decision.at)
        connection.execute(_DECISION, row)
        if item.text.strip():
            said = self._digest(item.workspace_key, item.text)
            if done.state in (State.ARCHIVED, State.DISCARDED):
                connection.execute(_BURY, (said, item.item_id, decision.at))
            elif item.state is State.ARCHIVED:
                connection.execute(_UNBURY, (said,))
        return done

    def _digest(self, workspace_key: str, text: str) -> str:
        """What stands for a text that is gone: the same for the same words, however they are set."""
        words = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
        return keyed(self._key, f"{workspace_key}\n{words}".encode("utf-8", "surrogatepass"))


def _screened(item: QueueItem) -> QueueItem:
    """The item as it may be stored: without secrets, and flagged when its words read like an order."""
    text, title = redact(item.text)[0], redact(item.title)[0]
    flags = item.flags
    if ItemFlag.QUARANTINED not in flags and is_instruction_like(f"{title}\n{text}"):
        flags = (*flags, ItemFlag.QUARANTINED)
    return msgspec.structs.replace(item, text=text, title=title, flags=flags)


def _row(item: QueueItem) -> tuple[Any, ...]:
    plain = msgspec.structs.replace(item, changed_at=item.changed_at or item.created_at)
    return tuple(
        msgspec.json.encode(getattr(plain, name)).decode() if name in _LISTS else getattr(plain, name)
        for name in _COLUMNS
    )


def _item(row: Iterable[Any], decisions: Iterable[Decision] = ()) -> QueueItem:
    fields = {
        _ENCODED[name]: msgspec.json.decode(value) if name in _LISTS else value
        for name, value in zip(_COLUMNS, row, strict=True)
    }
    return msgspec.structs.replace(msgspec.convert(fields, QueueItem), decisions=tuple(decisions))


def _get(connection: sqlite3.Connection, item_id: str) -> QueueItem | None:
    row = connection.execute(f"{_SELECT} WHERE item_id = ?", (item_id,)).fetchone()
    if row is None:
        return None
    made = [
        Decision(actor=Principal(actor), kind=Act(kind), at=at, expected_revision=revision, reason=reason)
        for revision, kind, actor, reason, at in connection.execute(_DECISIONS, (item_id,))
    ]
    return _item(row, made)
