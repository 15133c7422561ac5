"""What searches, listings and looks at the index say of memory files that others write, and whether it was true."""

import sqlite3
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from host.runtime import USER_KEY
from recall import indexing
from recall.canonical import bytes_digest
from recall.contracts import MemoryLocator, MemoryRecord, Origin, RuntimeScope
from recall.files import FileRecord, parse
from recall.library import Library, Root
from recall.markers import FileHome
from recall.workspace import workspace_key
from tests.support.builders import a_workspace_scope
from tests.support.daemon import Json, Refused, RunningDaemon, Wire
from tests.support.library import a_library

SETTLED_SECONDS = 20

Said = tuple[MemoryRecord, MemoryLocator]
Placed = Mapping[str, Said]  # by memory id, of whatever version of the file
Contents = Mapping[str, Iterable[bytes]]  # absolute path -> everything that the file may ever have held


class Sample(NamedTuple):
    """The index at one moment: its version, the version as made anew from all its files, and these."""

    version: str
    recomputed: str
    files: frozenset[tuple[str, str, str, str, int, str]]  # scope, key, root, relative path, version, digest


@dataclass
class Witness:
    """Searches without a pause, and remembers. `steady`: what must be found for the word `quokka`, always."""

    daemon: RunningDaemon
    workspace: str
    queries: tuple[str, ...]
    steady: set[str]
    said: list[Said] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    searches: int = 0
    unmarked: int = 0  # answers to the one question whose answer never changes, that were not marked as short
    wrong: list[str] = field(default_factory=list)

    def search(self, stop: threading.Event) -> None:
        with self.daemon.connect() as wire:
            while not stop.is_set():
                for query in self.queries:
                    answer = wire.call("memory.search", query=query, workspace=self.workspace, limit=20)
                    self._hear(query, answer)
                    for hit in answer["hits"][:6]:
                        self._ask(wire, hit["memoryId"])
                    self.samples.append(sampled(self.daemon.data / "index.db"))
                    self.searches += 1

    def _hear(self, query: str, answer: Json) -> None:
        ids = [hit["memoryId"] for hit in answer["hits"]]
        short = {arm["name"]: arm["shortfall"] for arm in answer["arms"] if arm.get("shortfall")}
        if len(set(ids)) < len(ids):
            self.wrong.append(f"{query}: one record twice: {ids}")
        if "broken" in short.values():
            self.wrong.append(f"{query}: {short}")
        if query == "quokka" and not answer["degraded"]:
            self.unmarked += 1
            if set(ids) != self.steady:
                self.wrong.append(f"{query}: found {ids}, though nobody touched that file")

    def _ask(self, wire: Wire, memory_id: str) -> None:
        try:
            got = wire.call("memory.get", memoryId=memory_id, workspace=self.workspace)
        except Refused as refused:  # it may have gone between the two requests
            if refused.data["kind"] != "unknown-memory":
                self.wrong.append(str(refused))
            return
        self.said.append((msgspec.convert(got["record"], MemoryRecord), msgspec.convert(got["locator"], MemoryLocator)))

    def untrue(self, contents: Contents) -> tuple[list[Said], int]:
        """What was said of a record and was not so in the file as it was at that version; and how often that version
        is known. Where it is not (the index was not looked at in time), it must be so in any of the file's versions.
        """
        digests = {(f"{one[2]}/{one[3]}", one[4]): one[5] for sample in self.samples for one in sample.files}
        places = {
            path: {bytes_digest(data): placed_in(path, data) for data in set(held)} for path, held in contents.items()
        }
        wrong, exact = [], 0
        for record, locator in self.said:
            of_file = places[locator.source_file]
            known = of_file.get(digests.get((locator.source_file, locator.source_version), ""))
            exact += known is not None
            if not any(
                one.get(unversioned(locator)) == record.text for one in ([known] if known else of_file.values())
            ):
                wrong.append((record, locator))
        return wrong, exact

    def contents_seen(self) -> int:
        """How many different contents the index had, after checking that they and its versions stand for each other."""
        contents, versions = defaultdict(set), defaultdict(set)
        for sample in self.samples:
            contents[sample.version].add(sample.files)
            versions[sample.files].add(sample.version)
            assert sample.version == sample.recomputed, "the version is not that of the files"
        assert [version for version, seen in contents.items() if len(seen) > 1] == [], "one version, several contents"
        assert [seen for seen in versions.values() if len(seen) > 1] == [], "the same contents under several versions"
        return len(versions)


def sampled(index: Path) -> Sample:
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        (version,) = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
        files = connection.execute(
            "SELECT r.scope_kind, r.scope_key, r.path, f.relative, f.version, f.digest"
            " FROM file f JOIN root r ON r.id = f.root WHERE f.present = 1"
        ).fetchall()
        return Sample(version, indexing.recomputed(connection), frozenset(files))


# ------------------------------------------------------------------------------------------------ files


def parsed(path: str, data: bytes) -> tuple[FileRecord, ...]:
    home = FileHome(path=path, relative=Path(path).name, scope=a_workspace_scope(), origin=Origin.USER)
    return parse(data, home).records


def placed_in(path: str, data: bytes) -> Mapping[MemoryLocator, str]:
    """Where each record of these bytes stands, and the text that stands there."""
    return {
        one.locator: data[one.locator.byte_start : one.locator.byte_end].decode("utf-8") for one in parsed(path, data)
    }


def unversioned(locator: MemoryLocator) -> MemoryLocator:
    """File versions count what one index has seen: two indexes may differ in them, and in nothing else."""
    return msgspec.structs.replace(locator, source_version=0)


# ------------------------------------------------------------------------------------------------ index against files


async def by_a_fresh_library(folder: Path, sources: Iterable[Root], workspace: str) -> Placed:
    """What a library finds that reads these roots for the first time."""
    scope = RuntimeScope(session_id="", agent_id="", workspace=workspace_key(workspace), user=USER_KEY)
    async with a_library(folder) as library:
        for root in sources:
            await library.adopt(root)
        assert (await library.status()).findings == ()
        found = {}
        for record in await _everything(library, scope):
            got = await library.get(record.memory_id, scope)
            assert got is not None
            found[record.memory_id] = got[0], unversioned(got[1])
        return found


async def _everything(library: Library, scope: RuntimeScope) -> list[MemoryRecord]:
    page = await library.listed(scope, 500)
    found = [*page.records]
    while page.next is not None:
        page = await library.listed(scope, 500, page.next)
        found += page.records
    return found


def settles(daemon: RunningDaemon, workspace: str, wanted: Placed) -> None:
    """The daemon's index comes to equal the files."""
    end = time.monotonic() + SETTLED_SECONDS
    with daemon.connect() as wire:
        while (found := _as_indexed(wire, workspace)) != (wanted, []) and time.monotonic() < end:
            time.sleep(0.1)
    assert found[1] == [], "listed more than once"
    assert found[0].keys() == wanted.keys()
    assert found[0] == wanted


def _as_indexed(wire: Wire, workspace: str) -> tuple[Placed, list[str]]:
    """What the daemon lists, page after page, and the ids that it lists more than once."""
    found: dict[str, Said] = {}
    times: Counter[str] = Counter()
    after = None
    while True:
        page = wire.call("memory.list", workspace=workspace, limit=500, after=after)
        for record in page["records"]:
            times[record["memoryId"]] += 1
            try:
                got = wire.call("memory.get", memoryId=record["memoryId"], workspace=workspace)
            except Refused:
                continue
            locator = unversioned(msgspec.convert(got["locator"], MemoryLocator))
            found[record["memoryId"]] = msgspec.convert(got["record"], MemoryRecord), locator
        after = page["next"]
        if after is None:
            return found, [one for one, count in times.items() if count > 1]
