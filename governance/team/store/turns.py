"""Sessions as turns, kept so that a long history is not cut anew for every question (team.md 4).

Plain functions over a connection, for the caller's transaction. What is here repeats the event log and may go at any
time, but for one thing: the revision of a turn, which counts how often its payload was found changed.
"""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from governance.team.contracts.turns import Seal
from governance.team.matching import Wanted, holds, told
from governance.team.turns import Recorded
from recall.contracts import Frozen, Millis

_SESSIONS = (
    "SELECT session_key, session_id, extent, facts FROM team_session"
    " WHERE session_key IN (SELECT value FROM json_each(?))"
)
_TURNS = (
    "SELECT session_key, turn FROM team_turn WHERE session_key IN (SELECT value FROM json_each(?))"
    " ORDER BY session_key, place"
)
_REVISIONS = (
    "SELECT turn_key, revision, payload_digest, json_extract(turn, '$.turn.seal') FROM team_turn"
    " WHERE turn_key IN (SELECT value FROM json_each(?))"
)
_KNOWN = "SELECT session_key, session_id FROM team_session"
_LET_GO = (
    "DELETE FROM team_turn WHERE session_key = ? AND turn_key NOT IN (SELECT value FROM json_each(?))",
    "DELETE FROM team_turn WHERE session_key IN (SELECT value FROM json_each(?))",
    "DELETE FROM team_session WHERE session_key IN (SELECT value FROM json_each(?))",
)
_KEEP_SESSION = (
    "INSERT OR REPLACE INTO team_session (session_key, session_id, extent, facts, seen_at) VALUES (?, ?, ?, ?, ?)"
)
_KEEP_TURN = (
    "INSERT INTO team_turn (turn_key, session_key, place, revision, payload_digest, turn, seen_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (turn_key) DO UPDATE SET session_key = excluded.session_key,"
    " place = excluded.place, revision = excluded.revision, payload_digest = excluded.payload_digest,"
    " turn = excluded.turn, seen_at = excluded.seen_at,"
    " analyzer = CASE WHEN payload_digest = excluded.payload_digest THEN analyzer ELSE '' END"
)
_RECORDED = "SELECT turn_key, turn FROM team_turn WHERE turn_key IN (SELECT value FROM json_each(?))"
_TERMS = "SELECT turn_key, terms FROM team_turn WHERE analyzer = ? AND turn_key IN (SELECT value FROM json_each(?))"
_WITH_TERMS = "SELECT turn_key FROM team_turn WHERE analyzer = ? AND turn_key IN (SELECT value FROM json_each(?))"
_PUT_TERMS = "UPDATE team_turn SET terms = ?, analyzer = ? WHERE turn_key = ?"


class Facts(Frozen, frozen=True, kw_only=True):
    """`subagent`: it is another session's. `last_at`: when its last event came, by the daemon's clock."""

    subagent: bool = False
    last_at: Millis = 0


class KeptSession(Frozen, frozen=True, kw_only=True):
    session_key: str
    session_id: str
    extent: str
    facts: Facts


def sessions(connection: sqlite3.Connection, session_keys: Collection[str]) -> dict[str, KeptSession]:
    """Those of these sessions that were cut before, by their keys. A row that cannot be read was not."""
    found: dict[str, KeptSession] = {}
    for key, session_id, extent, facts in connection.execute(_SESSIONS, (_listed(session_keys),)):
        try:
            known = msgspec.json.decode(facts, type=Facts)
        except msgspec.DecodeError:
            continue
        found[key] = KeptSession(session_key=key, session_id=session_id, extent=extent, facts=known)
    return found


def turns(connection: sqlite3.Connection, session_keys: Collection[str]) -> dict[str, tuple[Recorded, ...]]:
    """The turns of these sessions, in their order. Raises msgspec.DecodeError for a row that cannot be read."""
    found: dict[str, list[Recorded]] = {}
    for key, turn in connection.execute(_TURNS, (_listed(session_keys),)):
        found.setdefault(key, []).append(_recorded.decode(turn))
    return {key: tuple(each) for key, each in found.items()}


def keep(
    connection: sqlite3.Connection, session: KeptSession, cut: Sequence[Recorded], seen_at: Millis
) -> tuple[Recorded, ...]:
    """Keep a session as it was cut now, in place of what was kept before; its turns with their revisions."""
    keys = _listed([one.turn.turn_key for one in cut])
    before = {key: (revision, was, seal) for key, revision, was, seal in connection.execute(_REVISIONS, (keys,))}
    revised = tuple(_revised(one, before.get(one.turn.turn_key)) for one in cut)
    facts = msgspec.json.encode(session.facts).decode()
    connection.execute(_KEEP_SESSION, (session.session_key, session.session_id, session.extent, facts, seen_at))
    connection.execute(_LET_GO[0], (session.session_key, keys))
    connection.executemany(_KEEP_TURN, [_row(session.session_key, one, seen_at) for one in revised])
    return revised


def let_go(connection: sqlite3.Connection, session_keys: Collection[str]) -> None:
    """Forget sessions that the log does not hold any more."""
    for statement in _LET_GO[1:]:
        connection.execute(statement, (_listed(session_keys),))


def known(connection: sqlite3.Connection) -> dict[str, str]:
    """All sessions that are kept: key and the product's own id."""
    return dict(connection.execute(_KNOWN).fetchall())


def recorded(connection: sqlite3.Connection, turn_keys: Collection[str]) -> dict[str, Recorded]:
    """These turns as they were last seen, by their keys."""
    rows = connection.execute(_RECORDED, (_listed(turn_keys),))
    return {key: _recorded.decode(turn) for key, turn in rows}


def holding(
    connection: sqlite3.Connection, turn_keys: Collection[str], analyzer: str, query: Wanted
) -> dict[str, bool]:
    """Whether each of these turns holds the query, of those that have terms of this analyzer."""
    rows = connection.execute(_TERMS, (analyzer, _listed(turn_keys)))
    return {key: holds(said, query) for key, said in rows}


def with_terms(connection: sqlite3.Connection, turn_keys: Collection[str], analyzer: str) -> frozenset[str]:
    """Those of these turns that have terms of this analyzer."""
    return frozenset(row[0] for row in connection.execute(_WITH_TERMS, (analyzer, _listed(turn_keys))))


def put_terms(connection: sqlite3.Connection, found: Mapping[str, Iterable[str]], analyzer: str) -> None:
    """Keep the terms of turns."""
    connection.executemany(_PUT_TERMS, [(told(said), analyzer, key) for key, said in found.items()])


def _revised(one: Recorded, before: tuple[int, str, str] | None) -> Recorded:
    """A turn that was open has not changed: it was not whole."""
    if before is None:
        return one
    revision, was, seal = before
    revision += was != one.turn.payload_digest and seal == Seal.HARD_SEALED
    return msgspec.structs.replace(one, turn=msgspec.structs.replace(one.turn, revision=revision))


def _row(session_key: str, one: Recorded, seen_at: Millis) -> tuple[object, ...]:
    turn = one.turn
    whole = msgspec.json.encode(one).decode()
    return (turn.turn_key, session_key, turn.place, turn.revision, turn.payload_digest, whole, seen_at)


def _listed(values: Collection[str]) -> str:
    return msgspec.json.encode(list(values)).decode()


_recorded = msgspec.json.Decoder(Recorded)
