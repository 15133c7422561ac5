"""`memory.import`: many memories at once, from somewhere else. Done again it imports nothing: what is there counts."""

from collections.abc import Sequence

import msgspec

from governance.procedures import written_risk
from host.connection import Peer
from host.errors import ProtocolFault
from host.lifecycle import kept_back
from host.neighbours import Neighbours
from host.parts import Parts
from host.protocol import Request, decode_params
from host.verbs import Clean, Table, Words, bounded, cleaned, invalid, own_root, reach
from recall.compare import folded, same
from recall.contracts import Frozen, MemoryKind, MemoryRecord, Millis, Origin, Scope
from recall.files import Refused
from recall.library import Root

MOST_RECORDS = 256
MOST_CHARACTERS = 512 * 1024  # of all texts of one request
MAX_SOURCE = 128
DAY = 86_400_000


class Foreign(Frozen, frozen=True, kw_only=True):
    """A memory of somewhere else. `source`: a short name of where it came from, kept as the tag `from:<source>`."""

    text: str
    source: str
    title: str | None = None
    tags: tuple[str, ...] = ()
    kind: MemoryKind = MemoryKind.SEMANTIC
    created_at: Millis | None = None


class ImportParams(Frozen, frozen=True, kw_only=True):
    records: tuple[Foreign, ...]
    workspace: str = ""
    scope: Scope = Scope.WORKSPACE


class NotTaken(Frozen, frozen=True, kw_only=True):
    """A record of the request, by its place in it, that was not imported, and why."""

    index: int
    problem: str


class Imported(Frozen, frozen=True, kw_only=True):
    imported: int
    duplicates: int
    quarantined: int
    refused: tuple[NotTaken, ...]
    redacted: tuple[str, ...]


class Import:
    """Foreign records in, records of ours out."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._neighbours = Neighbours(parts)

    def table(self) -> Table:
        return {"memory.import": self._import}

    async def _import(self, request: Request, peer: Peer) -> Imported:
        params = decode_params(request, ImportParams)
        _within_bounds(params.records)
        scope = await reach(self._parts, params.workspace)
        root = own_root(self._parts, params.scope, scope)
        async with self._parts.writing:
            taken, refused, duplicates = await self._sorted(params.records, root)
            done = await self._parts.library.remember_all([record for _, record, _ in taken], root)
        outcomes = list(zip(taken, done, strict=True))
        await kept_back(self._parts, [record for (_, record, _), one in outcomes if not isinstance(one, Refused)])
        lost = [NotTaken(index=at, problem=one.problem) for (at, _, _), one in outcomes if isinstance(one, Refused)]
        kept = [words for (_, _, words), one in outcomes if not isinstance(one, Refused)]
        return Imported(
            imported=len(kept),
            duplicates=duplicates,
            quarantined=sum(words.poisoned for words in kept),
            refused=tuple(sorted((*refused, *lost), key=lambda one: one.index)),
            redacted=tuple(sorted({family for words in kept for family in words.redacted})),
        )

    async def _sorted(
        self, records: Sequence[Foreign], root: Root
    ) -> tuple[list[tuple[int, MemoryRecord, Clean]], list[NotTaken], int]:
        """(what is new, what cannot be taken and why, how many are there already)."""
        taken: list[tuple[int, MemoryRecord, Clean]] = []
        refused: list[NotTaken] = []
        seen: set[str] = set()
        for index, foreign in enumerate(records):
            try:
                words = self._words(foreign)
            except ProtocolFault as fault:
                refused.append(NotTaken(index=index, problem=f"{fault.problem} {fault.next_step}".strip()))
                continue
            mark = folded(words.text)
            if mark not in seen and not await self._known(words, root):
                taken.append((index, self._record(foreign, words, root), words))
            seen.add(mark)
        return taken, refused, len(records) - len(taken) - len(refused)

    async def _known(self, words: Clean, root: Root) -> bool:
        return any(same(words.text, one.payload) for one in await self._neighbours.of(words, root.scope))

    def _words(self, foreign: Foreign) -> Clean:
        said = Words(text=foreign.text, title=foreign.title, tags=foreign.tags)
        bounded(said)
        source = " ".join(foreign.source.split())
        if not 1 <= len(source) <= MAX_SOURCE:
            raise invalid(f"A source has 1 to {MAX_SOURCE} characters.", "Give a short name of where it came from.")
        now = self._parts.clock.now()
        if foreign.created_at is not None and not 0 <= foreign.created_at <= now + DAY:
            raise invalid(
                "It was made before 1970, or is still to be made.", "Give createdAt in milliseconds, or none."
            )
        return cleaned(msgspec.structs.replace(said, tags=(*said.tags, f"from:{source}")))

    def _record(self, foreign: Foreign, words: Clean, root: Root) -> MemoryRecord:
        memory_id = self._parts.new_id("mem_")
        return MemoryRecord(
            memory_id=memory_id,
            anchor_id=f"memory:{memory_id}",
            kind=foreign.kind,
            scope=root.scope,
            text=words.text,
            created_at=self._parts.clock.now() if foreign.created_at is None else foreign.created_at,
            title=words.title,
            tags=words.tags,
            flags=words.flags,
            origin=Origin.IMPORTED,
            risk_level=written_risk(foreign.kind, words.text),
        )


def _within_bounds(records: Sequence[Foreign]) -> None:
    if not 1 <= len(records) <= MOST_RECORDS:
        raise invalid(f"One request imports 1 to {MOST_RECORDS} memories.", "Send them in several requests.")
    if sum(len(record.text) for record in records) > MOST_CHARACTERS:
        raise invalid(f"The texts have more than {MOST_CHARACTERS} characters.", "Send them in several requests.")
