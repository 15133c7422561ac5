"""What is kept: the install key, the databases, the index, and what reads them. Opened to read, and for a moment."""

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from governance.migrations import queue_steps
from host.config import KEY_BYTES
from host.doctor.findings import Finding, finding
from host.doctor.scene import Scene, to_read
from host.main_tables import main_schema
from host.namespace import SCRIPT, name
from recall.contracts import Frozen
from recall.engine import available
from recall.tables import SCHEMA as INDEX_SCHEMA

SAFE_SQLITE = (3, 51, 3)  # a WAL file may be reset under a second writer before; we have one
WHOLE_BYTES = 512 * 1024 * 1024  # of a file that is read whole to check it
WAIT_SECONDS = 0.5  # for another program's lock
HEAD = b"SQLite format 3\x00"


class Store(Frozen, frozen=True, kw_only=True):
    """A database of ours: what it holds, how many steps its schema has, and a table that it always has."""

    path: Path
    holds: str
    steps: int
    table: str
    cache: bool = False
    needed: bool = True  # the daemon does not start without it


def _stores(scene: Scene) -> tuple[Store, ...]:
    paths = scene.paths
    return (
        Store(path=paths.database, holds="events, packets and the audit", steps=len(main_schema()), table="event"),
        Store(path=paths.governance, holds="the review queue", steps=len(queue_steps()), table="queue", needed=False),
        Store(path=paths.index, holds="the index", steps=len(INDEX_SCHEMA), table="record", cache=True),
    )


def key(scene: Scene) -> Iterator[Finding]:
    """The secret of this installation: digests of all that is stored are keyed with it."""
    file, database = scene.paths.key_file, scene.paths.database
    if not file.exists() and database.exists():
        yield finding(
            "key-missing",
            f"The install key {file} is missing, and {database.name} was written with it.",
            "The daemon does not start: under another key nothing stored would be recognised.",
            f"Restore it from a backup; or, to begin anew, move {database} away.",
            file,
        )
    elif file.is_file() and file.stat().st_size != KEY_BYTES:
        yield finding(
            "key-damaged",
            f"The install key {file} has {file.stat().st_size} bytes instead of {KEY_BYTES}.",
            "The daemon does not start: what is stored cannot be matched with what comes in.",
            f"Restore it from a backup; or, to begin anew, move it and {database} away.",
            file,
        )
    elif file.exists() and not database.exists():
        yield finding(
            "database-missing",
            f"{database} is not there, though this installation has been used.",
            "What was handed over is not known any more, and may come again. Memories are safe in their files.",
            f"Restore it from a backup, or go on without: {SCRIPT} start makes a new one.",
            database,
        )


def databases(scene: Scene) -> Iterator[Finding]:
    """Each file: one of ours, whole, of a schema that is known, and closed to others."""
    for store in _stores(scene):
        if store.path.is_file():
            yield from _checked(store)
            if store.path.stat().st_mode & 0o077:
                yield finding(
                    "database-readable",
                    f"{store.path} can be read by others (mode {stat.S_IMODE(store.path.stat().st_mode):04o}).",
                    "It holds what was said in your sessions.",
                    f"chmod 600 {store.path}",
                    store.path,
                )


def _checked(store: Store) -> Iterator[Finding]:
    try:
        with store.path.open("rb") as file:
            head = file.read(len(HEAD))
        if head and head != HEAD:
            raise sqlite3.DatabaseError("file is not a database")
        with closing(sqlite3.connect(to_read(store.path), uri=True, timeout=WAIT_SECONDS)) as connection:
            yield from _read(store, connection)
    except sqlite3.OperationalError as error:
        yield finding(
            "database-locked",
            f"{store.path} cannot be read now: {error}.",
            "Another program holds it; the daemon waits for it too, and agents get nothing meanwhile.",
            f"End the program that has it open (`lsof {store.path}` names it).",
            store.path,
        )
    except (sqlite3.Error, OSError) as error:
        yield _damaged(store, str(error))


def _read(store: Store, connection: sqlite3.Connection) -> Iterator[Finding]:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and store.table not in tables:
        yield finding(
            "database-foreign",
            f"{store.path} is a database of another program: it has no table `{store.table}`.",
            f"{store.holds.capitalize()} cannot be kept there.",
            f"Move it away; {SCRIPT} start makes a new one.",
            store.path,
        )
    elif version > store.steps:
        yield finding(
            "database-newer",
            f"{store.path} has schema {version}, newer than this version's {store.steps}.",
            f"It was written by a newer {name()}; an older one must not change it.",
            f"Install the newer {name()} again, or move the file away.",
            store.path,
        )
    elif store.path.stat().st_size <= WHOLE_BYTES:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            yield _damaged(store, verdict)


def _damaged(store: Store, why: str) -> Finding:
    if store.cache:
        return _index(f"{store.path} is damaged: {why}.", store.path)
    if not store.needed:
        return finding(
            "database-damaged",
            f"{store.path} is damaged: {why}.",
            f"It holds {store.holds}. No memories are made and nothing is reviewed meanwhile; all else goes on.",
            f"Restore it from a backup, or make it anew from the records: {SCRIPT} extract --recover",
            store.path,
        )
    return finding(
        "database-damaged",
        f"{store.path} is damaged: {why}.",
        f"It holds {store.holds}. The daemon does not start with it.",
        f"Restore it from a backup, or move it away: {SCRIPT} start makes a new one. Memories are in their files.",
        store.path,
    )


def _index(what: str, where: object) -> Finding:
    return finding(
        "index-damaged",
        what,
        "Memories are found by fewer means, or not at all, until it is made again from the memory files.",
        f"{SCRIPT} reindex",
        where,
    )


def index(scene: Scene) -> Iterator[Finding]:
    """How the daemon's index stands."""
    if scene.said is None:
        return
    state = str(scene.said.parts.get("index", "ok"))
    if state != "ok":
        yield _index(f"The index is not well: {state}.", scene.paths.index)
    at_work = scene.said.index
    if at_work.stage != "idle":
        share = f", {100 * at_work.done // at_work.total} %" if at_work.total else ""
        yield finding(
            "index-working",
            f"The index is at work: {at_work.stage}{share}.",
            "What was not taken in yet is not found.",
            "There is nothing to do.",
            scene.paths.index,
        )


def engine(scene: Scene) -> Iterator[Finding]:
    """Search by meaning: wanted, installed, and well."""
    if not scene.settings.recall.engine:
        return
    if not available():
        yield finding(
            "engine-absent",
            "Search by meaning is not installed.",
            "Memories are found by words alone.",
            f'pip install "{name()}[semantic]" brings it. To go without: [recall] engine = false in the configuration.',
        )
        return
    state = "ok" if scene.said is None else str(scene.said.parts.get("engine", "ok"))
    if state.startswith("broken"):
        yield finding(
            "engine-broken",
            f"Search by meaning does not work: {state}.",
            "Memories are found by words alone.",
            f"Look into the log, {scene.paths.log_file}; install the extra again; start the daemon anew.",
        )


def sqlite(scene: Scene) -> Iterator[Finding]:
    """The version of SQLite that this Python has."""
    if sqlite3.sqlite_version_info < SAFE_SQLITE:
        yield finding(
            "sqlite-old",
            f"This Python has SQLite {sqlite3.sqlite_version}, older than {'.'.join(map(str, SAFE_SQLITE))}.",
            "Two programs that write one file at a time could damage it. Ours are written by the daemon alone.",
            f"Let no other program write in {scene.paths.data}. A newer Python brings a newer SQLite.",
        )
