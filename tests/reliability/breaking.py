"""An index to break: what must hold of every answer meanwhile, and the ways to break it."""

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from recall.canonical import text_digest
from recall.workspace import workspace_key
from tests.support.builders import a_memory, a_workspace_scope
from tests.support.daemon import Json, Refused, RunningDaemon, Wire
from tests.support.library import write_records

HEALED_SECONDS = 20
RECORDS = 120
WORD = "quokka"
GARBAGE = b"this is no database " * 4_000


@dataclass
class Shelf:
    """A daemon, a folder to ask from, and what its files hold: id -> text."""

    daemon: RunningDaemon
    workspace: str
    kept: dict[str, str] = field(default_factory=dict)
    marked: int = 0  # answers that said that they may be short
    well: bool = True

    @property
    def index(self) -> Path:
        return self.daemon.data / "index.db"

    @property
    def memory(self) -> Path:
        return self.daemon.data / "memory" / workspace_key(self.workspace)

    def connect(self) -> Wire:
        return self.daemon.connect()

    def search(self, wire: Wire, query: str = WORD) -> Json:
        """An answer, of which this much always holds: it is marked, or it is whole."""
        answer = wire.call("memory.search", query=query, workspace=self.workspace, limit=500)
        ids = [hit["memoryId"] for hit in answer["hits"]]
        wanted = {one for one, text in self.kept.items() if query in text}
        assert len(ids) == len(set(ids))
        if answer["degraded"]:
            self.marked += 1
            assert any(arm.get("shortfall") for arm in answer["arms"]), "it says that it is short, not where"
        else:
            assert set(ids) == wanted, "an answer that is not marked leaves something out, or makes something up"
        return answer

    def remember(self, wire: Wire, text: str) -> bool:
        """Whether it was taken. Taken or refused, it is in the files or it is not."""
        try:
            memory_id = wire.call("memory.remember", text=text, workspace=self.workspace)["memoryId"]
        except Refused as refused:
            assert refused.data["problem"] and refused.data["next"]
            assert not self.in_files(text), f"refused, and written all the same: {refused}"
            return False
        assert self.in_files(f"<!-- memory:{memory_id} ") and self.in_files(text)
        self.kept[memory_id] = text
        return True

    def by_hand(self, name: str, texts: Sequence[str]) -> None:
        """A file of these records, written as an editor would."""
        scope = a_workspace_scope(workspace_key(self.workspace))
        records = [a_memory(text, memory_id="mem_" + text_digest(text)[:32], scope=scope) for text in texts]
        write_records(self.memory / name, records, scope)
        self.kept |= {record.memory_id: record.text for record in records}

    def in_files(self, text: str) -> bool:
        return any(text in path.read_text("utf-8") for path in self.memory.rglob("*.md"))

    def list(self, wire: Wire) -> set[str] | None:
        """The ids that are listed; None when the daemon says that it cannot tell just now, or not all."""
        found: set[str] = set()
        after = None
        while after is not None or not found:
            try:
                page = wire.call("memory.list", workspace=self.workspace, limit=500, after=after)
            except Refused as refused:
                assert refused.data["kind"] == "index-unavailable", refused
                return None
            if page.get("degraded"):
                return None
            found |= {record["memoryId"] for record in page["records"]}
            after = page["next"]
            if not page["records"]:
                break
        return found

    def heals(self) -> None:
        """It comes back by itself; then everything is found, listed and well, and the file on the disk is whole."""
        end = time.monotonic() + HEALED_SECONDS
        with self.connect() as wire:
            while (trouble := self.trouble(wire)) and time.monotonic() < end:
                time.sleep(0.05)
            assert trouble == "", trouble
            listed = self.list(wire)
            assert listed == self.kept.keys(), f"listed: {listed}"
        self.well = True

    def trouble(self, wire: Wire) -> str:
        """What is not well yet; empty when all is."""
        answer, health = self.search(wire), wire.call("health")
        if answer["degraded"]:
            return f"searches: {answer['arms']}, {health['parts']}"
        if health["parts"]["index"] != "ok" or health["memory"]["records"] != len(self.kept):
            return f"health: {health['parts']}, {health['memory']}"
        on_disk = looked_at(self.index)
        return "" if on_disk == f"ok, {len(self.kept)} records" else f"the file: {on_disk}"


def looked_at(index: Path) -> str:
    """What SQLite says of the file, and how many records can be found by it."""
    try:
        with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as connection:
            (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
            (records,) = connection.execute("SELECT count(*) FROM record WHERE searchable = 1").fetchone()
    except sqlite3.Error as error:
        return str(error)
    return f"{verdict}, {records} records"


def a_shelf(daemon: RunningDaemon, folder: Path) -> Shelf:
    """A hundred records, some of them remembered, some written by hand; all of them indexed."""
    folder.mkdir(parents=True)
    made = Shelf(daemon, str(folder))
    made.by_hand("by-hand.md", [f"The {WORD} rule of yard {n}: {'so ' * (n % 40)}be it." for n in range(RECORDS)])
    with made.connect() as wire:
        wire.call("memory.search", query=WORD, workspace=made.workspace)
        for number in range(3):
            assert made.remember(wire, f"Remembered {WORD}, lot {number} of the north yard {'xyz'[number]}.")
        assert not made.search(wire)["degraded"]
    return made


class Shelves:
    """The shelf in use, as long as it is well; another one after a test that failed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: list[Shelf] = []

    def take(self) -> Shelf:
        """One whose index is well, though it may have been broken before. It is well again once it `heals`."""
        if not self._made or not self._made[-1].well:
            daemon = RunningDaemon(Path(tempfile.mkdtemp(prefix="r")))
            daemon.start()
            self._made.append(a_shelf(daemon, self._folder / str(len(self._made))))
        self._made[-1].well = False
        return self._made[-1]

    def close(self) -> None:
        for shelf in self._made:
            shelf.daemon.kill()
            shutil.rmtree(shelf.daemon.folder, ignore_errors=True)


# ------------------------------------------------------------------------------------------------ ways to break it


def sql(statement: str) -> Callable[[Path], None]:
    def run(index: Path) -> None:
        with closing(sqlite3.connect(index, isolation_level=None, timeout=10)) as connection:
            connection.execute(statement)

    return run


def into_one_file(index: Path) -> None:
    """What stands in the log goes into the file itself."""
    sql("PRAGMA wal_checkpoint(TRUNCATE)")(index)


def trashed(*places: float) -> Callable[[Path], None]:
    """Pages overwritten at these parts of the file, and the caches of who has it open made to look again."""

    def run(index: Path) -> None:
        into_one_file(index)
        size = index.stat().st_size
        with index.open("r+b", buffering=0) as stream:
            for place in places:
                stream.seek(int(size * place) // 4096 * 4096)
                stream.write(GARBAGE[:4096])

    return run


def truncated(index: Path) -> None:
    into_one_file(index)
    os.truncate(index, index.stat().st_size // 3 // 4096 * 4096)


def overwritten(index: Path) -> None:
    index.write_bytes(GARBAGE)


def replaced(index: Path) -> None:
    other = index.with_name("garbage")
    other.write_bytes(GARBAGE)
    other.rename(index)


def emptied(index: Path) -> None:
    os.truncate(index, 0)


def made_a_folder(index: Path) -> None:
    deleted(index)
    index.mkdir()
    (index / "something").write_text("of somebody")


def log_trashed(index: Path) -> None:
    log = index.with_name(index.name + "-wal")
    data = bytearray(log.read_bytes() or GARBAGE)
    data[32 : max(33, len(data))] = (GARBAGE * (len(data) // len(GARBAGE) + 1))[: max(1, len(data) - 32)]
    log.write_bytes(bytes(data))


def deleted(index: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        index.with_name(index.name + suffix).unlink(missing_ok=True)


WAYS: dict[str, Callable[[Path], None]] = {
    "search-table-dropped": sql("DROP TABLE IF EXISTS posting"),
    "search-tables-data-dropped": sql("DROP TABLE posting_data"),
    "search-tables-index-dropped": sql("DROP TABLE posting_idx"),
    "search-tables-data-emptied": sql("DELETE FROM posting_data"),
    "records-dropped": sql("DROP TABLE record"),
    "counts-dropped": sql("DROP TABLE df"),
    "files-dropped": sql("DROP TABLE file"),
    "versions-dropped": sql("DROP TABLE meta"),
    "first-page-trashed": trashed(0.0),
    "a-page-trashed": trashed(0.5),
    "pages-trashed": trashed(0.1, 0.3, 0.6, 0.9),
    "truncated": truncated,
    "emptied": emptied,
    "overwritten": overwritten,
    "replaced": replaced,
    "made-a-folder": made_a_folder,
    "log-trashed": log_trashed,
    "deleted": deleted,
}
