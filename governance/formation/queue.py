"""The review queue, kept: proposals in `governance.db`, the decisions about them, and what was said no to once.

`governance/review.py` says what may follow what; here it is written down. Proposing the same again changes nothing.
What a person archived, or had forgotten, is not proposed again in the same words: a keyed digest of them is kept.
"""

import asyncio
import sqlite3
from collections.abc import Collection
from enum import StrEnum
from typing import Any

import msgspec

from governance.formation.contracts import DecisionLine, Line, TombstoneLine
from governance.formation.store import items
from governance.formation.store.erasing import Forgotten, erase, without_quotes
from governance.formation.store.items import QueueFilter
from governance.formation.store.tombstones import Grave, Tombstones, Why
from governance.review import (
    LIVE,
    WAITING,
    Act,
    Decision,
    ItemFlag,
    Principal,
    QueueItem,
    Refusal,
    RefusalCode,
    State,
    after,
    decided,
    may_commit,
    quotes_of,
)
from governance.screen import is_instruction_like, redact
from recall.contracts import Database, Frozen, Millis

__all__ = ["Outcome", "Put", "Queue", "QueueFilter", "QueuePage", "Words", "screened"]

MOST_LISTED = 500
LONG = 16_384  # characters; what is longer is screened on a thread
FORGOTTEN, REPLACED = "forgotten", "replaced"
OPEN = LIVE - {State.KEPT}
_REPLACED = f"{items.SELECT} WHERE record_id = ? AND kind = ? AND target = ? AND item_id != ?"
_ABOUT = (
    f"{items.SELECT} WHERE record_id = ? OR item_id = ? OR updates = ?"
    " OR EXISTS (SELECT 1 FROM json_each(related_to) WHERE value = ?)"
)
_OF_RECORD = f"{items.SELECT} WHERE record_id = ? OR item_id = ? ORDER BY created_at DESC, item_id"
_FIRST = {
    State.PENDING: (Act.PROPOSE, Principal.PIPELINE),
    State.DEFERRED: (Act.DEFER, Principal.ENGINE),
    State.COMMITTED: (Act.COMMIT, Principal.POLICY),
    State.STAGED: (Act.STAGE, Principal.AGENT),
}


class Outcome(StrEnum):
    """`same`: an item of that id stands there already, untouched; `buried`: a person said no to it once."""

    INSERTED = "inserted"
    SAME = "same"
    BURIED = "buried"


class Put(Frozen, frozen=True, kw_only=True):
    """What became of a proposal. `state`: of the item as it stands; None when it was buried."""

    outcome: Outcome
    item_id: str
    state: State | None = None


class Words(Frozen, frozen=True, kw_only=True):
    """What a person puts in the place of an item's words. `title` None: it stays."""

    text: str
    title: str | None = None


class QueuePage(Frozen, frozen=True, kw_only=True):
    """Some items; `next` asks for the following ones."""

    items: tuple[QueueItem, ...]
    next: str | None = None


class Queue:
    """The queue's tables. `key`: the install key, for digests of texts that are gone."""

    def __init__(self, database: Database, key: bytes) -> None:
        self._database = database
        self._tombstones = Tombstones(key)

    async def propose(self, item: QueueItem) -> bool:
        """Screen a proposal and put it in. False: it stands there already, or was said no to once. Raises ValueError
        for a state that nothing begins with."""
        _begins(item)
        item = await asyncio.to_thread(screened, item) if len(item.text) > LONG else screened(item)
        done = await self._database.write(lambda connection: self.put(connection, item))
        return done.outcome is Outcome.INSERTED

    def put(self, connection: sqlite3.Connection, item: QueueItem) -> Put:
        """Put a proposal in, within the caller's transaction; one of the same about the same memory that waits still is
        superseded. `item`: after `screened`. What the policy may not commit waits (`may_commit`). Raises ValueError for
        a state that nothing begins with."""
        _begins(item)
        known = items.get(connection, item.item_id)
        if known is not None:
            return Put(outcome=Outcome.SAME, item_id=item.item_id, state=known.state)
        met = self._tombstones.met(connection, item)
        if met.buried is not None:
            self._tombstones.seen(connection, met.buried, item.created_at)
            return Put(outcome=Outcome.BURIED, item_id=item.item_id)
        if met.returned or (item.state is State.COMMITTED and not may_commit(item)):
            item = msgspec.structs.replace(item, state=State.PENDING, record_id=None)
        if met.near:
            item = msgspec.structs.replace(item, related_to=tuple(dict.fromkeys((*item.related_to, *met.near))))
        items.insert(connection, item)
        if item.state is State.COMMITTED:
            items.decide(connection, item.item_id, _by_policy(item))
        about = (item.record_id, item.kind, item.target, item.item_id)
        for older in [items.item(row) for row in connection.execute(_REPLACED, about)]:
            if older.state in OPEN and older.flags == item.flags:
                self._end(connection, older, REPLACED, item.created_at)
        return Put(outcome=Outcome.INSERTED, item_id=item.item_id, state=item.state)

    def said_no(self, connection: sqlite3.Connection, item: QueueItem) -> bool:
        """Whether `put` would bury it. Writes nothing."""
        return self._tombstones.met(connection, item).buried is not None

    def decision(
        self,
        connection: sqlite3.Connection,
        item_id: str,
        decision: Decision,
        words: Words | None = None,
        record_id: str | None = None,
    ) -> QueueItem | Refusal:
        """Write a decision down, within the caller's transaction; the item after it, or why it does not hold. `words`:
        what `edit-and-keep` puts in the place of the item's own; `record_id`: the memory that is made of it."""
        item = items.get(connection, item_id)
        if item is None:
            return Refusal(code=RefusalCode.UNKNOWN_ITEM, problem=f"There is no item {item_id[:64]!r}.")
        decision = msgspec.structs.replace(decision, reason=redact(decision.reason)[0])
        return self._decide(connection, item, decision, words, record_id)

    def digest(self, workspace_key: str, text: str) -> str:
        """What stands for these words when they are gone."""
        return self._tombstones.digest(workspace_key, text)

    def restore(self, connection: sqlite3.Connection, line: Line) -> None:
        """What a line of the journal says of decisions, and of what was said no to. Read twice, it changes nothing."""
        match line:
            case DecisionLine():
                items.decide(connection, line.item_id, line.decision)
                self._redo(connection, line)
            case TombstoneLine() if line.digest and line.why in Why.__members__.values():
                self._tombstones.restore(connection, line.digest, Why(line.why), line.at)
            case _:  # other tables' rows
                pass

    def _redo(self, connection: sqlite3.Connection, line: DecisionLine) -> None:
        """An item that was made again of its record is what was decided about it; one that is further by now stays."""
        item = items.get(connection, line.item_id) or items.get(connection, line.memory_id)
        if item is None or item.revision > line.decision.expected_revision:
            return
        to = after(item.state, line.decision.kind, line.decision.actor)
        if not isinstance(to, Refusal):
            items.redo(connection, item, to, line.decision)

    def about(self, connection: sqlite3.Connection, record_id: str) -> tuple[QueueItem, ...]:
        """The items about a memory, or of which it was made, the newest first; their decisions are left out."""
        rows = connection.execute(_OF_RECORD, (record_id, record_id)).fetchall()
        return tuple(items.item(row) for row in rows)

    def end(self, connection: sqlite3.Connection, item_id: str, reason: str, at: Millis) -> None:
        """A newer one took its place, within the caller's transaction. What is not live stays as it is."""
        item = items.get(connection, item_id)
        if item is not None and item.state in LIVE:
            self._end(connection, item, reason, at)

    async def get(self, item_id: str) -> QueueItem | None:
        """One item with its decisions."""
        return await self._database.read(lambda connection: items.get(connection, item_id))

    async def list(self, wanted: QueueFilter) -> QueuePage:
        """The items that fit, newest first, ties by id; their decisions are left out."""
        limit = max(1, min(wanted.limit, MOST_LISTED))
        created, _, last = (wanted.after or "").partition(":")
        at = int(created) if created.isdecimal() else 2**62
        where, given = items.where(wanted)
        where.append("(created_at < ? OR (created_at = ? AND item_id > ?))")
        order = "ORDER BY created_at DESC, item_id"
        page = f"SELECT item_id FROM queue WHERE {' AND '.join(where)} {order} LIMIT ?"  # out of the index alone
        statement = f"{items.SELECT} WHERE item_id IN ({page}) {order}"
        given += [at, at, last]

        def work(connection: sqlite3.Connection) -> list[Any]:
            return connection.execute(statement, (*given, limit + 1)).fetchall()

        found = [items.item(row) for row in await self._database.read(work)]
        shown = found[:limit]
        more = len(found) > limit
        return QueuePage(items=tuple(shown), next=f"{shown[-1].created_at}:{shown[-1].item_id}" if more else None)

    async def count(self, wanted: QueueFilter) -> int:
        """How many items fit, on all pages."""
        where, given = items.where(wanted)
        statement = f"SELECT count(*) FROM queue WHERE {' AND '.join(where) or 'true'}"
        row = await self._database.read(lambda connection: connection.execute(statement, given).fetchone())
        return int(row[0])

    async def of_memory(self, record_id: str) -> QueueItem | None:
        """The item about a memory that a person would mean: the latest that waits, else the latest that is live, else
        the latest."""

        def work(connection: sqlite3.Connection) -> QueueItem | None:
            found = self.about(connection, record_id)
            ranked = sorted(found, key=lambda one: (one.state not in WAITING, one.state not in LIVE))
            return items.get(connection, ranked[0].item_id) if ranked else None

        return await self._database.read(work)

    async def decide(self, item_id: str, decision: Decision, text: str | None = None) -> QueueItem | Refusal:
        """Write a decision down; the item after it, or why it does not hold."""
        words = None if text is None else Words(text=text)
        return await self._database.write(lambda connection: self.decision(connection, item_id, decision, words))

    async def supersede(self, record_id: str, targets: Collection[str], reason: str, at: Millis) -> int:
        """End the open items about a memory that propose one of `targets`; how many there were."""

        def work(connection: sqlite3.Connection) -> int:
            rows = connection.execute(f"{items.SELECT} WHERE record_id = ?", (record_id,)).fetchall()
            open_ones = [one for one in map(items.item, rows) if one.state in OPEN and one.target in targets]
            for one in open_ones:
                self._end(connection, one, reason, at)
            return len(open_ones)

        return await self._database.write(work)

    async def forget(self, record_id: str, workspace_key: str, text: str, at: Millis) -> int:
        """A memory is gone: so are the words and the quotes of every item about it, and they are not proposed again but
        by what the user says from now on. How many items there were."""

        def work(connection: sqlite3.Connection) -> int:
            found = [items.item(row) for row in connection.execute(_ABOUT, (record_id,) * 4)]
            found = [one for one in found if one.record_id in (None, record_id)]  # others' records stand for themselves
            quotes = tuple(cited.quote for one in found if _of(one, record_id) for cited in quotes_of(one))
            self._bury(connection, workspace_key, text, Why.FORGOTTEN, at, quotes=quotes)
            for one in found:
                if one.state in LIVE:
                    self._end(connection, one, FORGOTTEN, at)
                own = tuple(cited.quote for cited in quotes_of(one))
                self._bury(connection, one.workspace_key, one.text, Why.FORGOTTEN, at, item_id=one.item_id, quotes=own)
                items.empty(connection, one.item_id, without_quotes(one.citations))
            items_of = tuple(one.item_id for one in found)
            said = text or next((one.text for one in found if one.text), "")
            digest = self.digest(workspace_key, said)
            erase(connection, Forgotten(memory_id=record_id, items=items_of, digest=digest, at=at))
            return len(found)

        return await self._database.write(work)

    async def bury(self, workspace_key: str, text: str, at: Millis) -> None:
        """These words were said no to: nothing proposes them again."""
        await self._database.write(lambda connection: self._bury(connection, workspace_key, text, Why.ARCHIVED, at))

    async def unbury(self, workspace_key: str, text: str) -> None:
        """A person thought better of it."""
        await self._database.write(lambda connection: self._tombstones.lift(connection, workspace_key, text))

    async def buried(self, workspace_key: str, text: str, said_at: Millis = 0) -> bool:
        """Whether these words were said no to once. `said_at`: when the user said them, where that is proved: what was
        forgotten before may come again."""
        return await self._database.read(
            lambda connection: self._tombstones.holds(connection, workspace_key, text, said_at)
        )

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
        self._decide(connection, item, decision)

    def _decide(
        self,
        connection: sqlite3.Connection,
        item: QueueItem,
        decision: Decision,
        words: Words | None = None,
        record_id: str | None = None,
    ) -> QueueItem | Refusal:
        done = decided(item, decision, None if words is None else words.text, record_id)
        if isinstance(done, Refusal):
            return done
        if words is not None and words.title is not None:
            done = msgspec.structs.replace(done, title=words.title)
        items.change(connection, done, decision)
        if done.state in (State.ARCHIVED, State.DISCARDED):
            quotes = tuple(one.quote for one in quotes_of(item))
            why = Why(done.state)
            self._bury(connection, item.workspace_key, item.text, why, decision.at, item_id=item.item_id, quotes=quotes)
        elif item.state is State.ARCHIVED:
            self._tombstones.lift(connection, item.workspace_key, item.text)
        return done

    def _bury(
        self,
        connection: sqlite3.Connection,
        workspace_key: str,
        text: str,
        why: Why,
        at: Millis,
        **given: Any,
    ) -> None:
        self._tombstones.bury(connection, Grave(workspace_key=workspace_key, text=text, why=why, at=at, **given))


def _begins(item: QueueItem) -> None:
    begun = _FIRST.get(item.state)
    if begun is None or after(None, *begun) is not item.state:
        raise ValueError(f"Nothing begins as {item.state}.")


def _by_policy(item: QueueItem) -> Decision:
    """That it was committed by itself: the decision before the first revision."""
    return Decision(
        actor=Principal.POLICY, kind=Act.COMMIT, at=item.created_at, expected_revision=item.revision - 1, reason=""
    )


def _of(item: QueueItem, record_id: str) -> bool:
    """Whether the memory was made of it, or is what it is about."""
    return record_id in (item.record_id, item.item_id)


def screened(item: QueueItem) -> QueueItem:
    """The item as it may be stored: without secrets, and flagged when its words read like an order."""
    text, title = redact(item.text)[0], redact(item.title)[0]
    flags = item.flags
    if ItemFlag.QUARANTINED not in flags and is_instruction_like(f"{title}\n{text}"):
        flags = (*flags, ItemFlag.QUARANTINED)
    cited = tuple(
        msgspec.structs.replace(one, quote=redact(one.quote)[0]) if one.quote else one for one in item.citations
    )
    return msgspec.structs.replace(item, text=text, title=title, flags=flags, citations=cited)
