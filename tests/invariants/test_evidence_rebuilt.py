"""Ten thousand events with kills, full disks and retention in between: checkpoint and rest give the live graph."""

import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import structlog

from governance import standing as module
from governance.audit import Audit
from governance.contracts import AuditEntry, AuditKind, EvidenceKind
from governance.errors import AuditUnavailable
from governance.evidence import Given, Occasion, corrections, of_delivery, of_event, of_read, traced
from governance.evidence_store import EvidenceStore, folded, load_standings, trimmed
from governance.pruning import DAY, Limits, Pruning
from governance.standing import Standings, opened, with_rows
from host.clock import SetClock
from host.compose import main_schema
from host.database import open_database
from host.ledger import AuditLedger
from host.reading import Covered
from host.retention import SECTIONS, Retention
from recall.contracts import ContextCursor
from tests.support.builders import a_memory_id
from tests.support.clock import START, CountedIds
from tests.support.entries import a_trace, an_entry

EVENTS = 10_000
LIMITS = Limits(age=3 * DAY, bytes=2 * 2**20)
TORN = "CREATE TRIGGER torn BEFORE {} BEGIN SELECT RAISE(FAIL, 'killed'); END"


class Daemon:
    """One daemon's life after another over the database, and an observer that never dies."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.file = folder / "log.db"
        self.chance = chance
        self.clock = SetClock(START)
        self.ids = CountedIds()
        self.stack = AsyncExitStack()
        self.observer = Standings()
        self.seq = 0
        self.packets = 0

    async def begin(self) -> None:
        self.database = await self.stack.enter_async_context(open_database(self.file, main_schema(), durable=False))
        self.store = EvidenceStore(self.database)
        self.audit = Audit(self.database, b"k" * 32, self.ids, self.store.carried)
        self.standings = await load_standings(self.audit, self.store)
        self.ledger = AuditLedger(self.audit, self.heard)
        pruning = Pruning(self.database, self.audit, self.ledger.append, SECTIONS, trimmed)
        log = structlog.wrap_logger(structlog.testing.CapturingLogger())
        self.retention = Retention(pruning, LIMITS, self.clock, log)

    def heard(self, entries: Sequence[AuditEntry]) -> None:
        self.standings.heard(entries)
        self.observer.heard(entries)

    async def dies(self) -> None:
        await self.stack.aclose()
        await self.begin()
        assert self.standings.tallied() == self.observer.tallied()

    async def torn(self, what: str) -> None:
        await self.database.write(lambda connection: connection.execute(TORN.format(what)))

    async def mended(self) -> None:
        await self.database.write(lambda connection: connection.execute("DROP TRIGGER torn"))

    def event(self) -> AuditEntry:
        """The entry of one event, as hearing, claims and feedback make them."""
        chance, self.seq = self.chance, self.seq + 1
        memory = chance.randrange(30)
        given = [Given(memory_id=a_memory_id(memory), source_version=1, record_digest=f"{chance.randrange(3)}" * 64)]
        ref, now = f"{chance.randrange(40):032x}"[::-1], self.clock.now()
        occasion = Occasion(session_ref=ref, event_seq=self.seq, context_version=self.seq, at=now, call_id=f"c{memory}")
        cursor = ContextCursor(session_id=ref, event_seq=self.seq, context_version=self.seq)
        entry = an_entry(at=now, session_ref=ref, cursor=cursor)
        match chance.randrange(12):
            case 0 | 1:
                self.packets += 1
                packet = a_trace(self.packets, items=(given[0].memory_id,))
                rows = of_delivery(given, packet.packet_id, occasion)
                return an_entry(
                    at=now,
                    session_ref=ref,
                    cursor=cursor,
                    kind=AuditKind.DELIVERY,
                    packet=packet,
                    evidence=traced(rows),
                )
            case 2:
                ratio = chance.choice((0, 300_000, 1_000_000))
                covered = Covered(
                    **{name: getattr(given[0], name) for name in given[0].__struct_fields__}, ratio=ratio, fresh=True
                )
                return _carrying(entry, of_read([covered], occasion))
            case 3 | 4 | 5:
                kinds = (EvidenceKind.CITE, EvidenceKind.REUSE, EvidenceKind.SUCCESS, EvidenceKind.CORRECTION)
                return _carrying(entry, of_event(chance.choice(kinds), given, occasion, occasion.call_id))
            case 6 if chance.random() < 0.2:
                outcome = chance.choice(("forgotten", "wrong", "cleared"))
                evidence = corrections(given) if outcome == "wrong" else ()
                said = {"kind": AuditKind.FEEDBACK, "outcome": outcome, "reason": outcome, "session_ref": ""}
                return an_entry(at=now, cursor=None, memory_id=given[0].memory_id, evidence=evidence, **said)
        return entry


def _carrying(entry: AuditEntry, rows: Sequence[object]) -> AuditEntry:
    fields = {name: getattr(entry, name) for name in entry.__struct_fields__}
    return AuditEntry(**fields | {"evidence": traced(rows)})  # type: ignore[arg-type]  # rows of evidence


@pytest.mark.promise("evidence-rebuilt")
async def test_checkpoint_and_rest_give_the_graph_that_was_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT", 12 * DAY)  # so that rows are let go as well
    monkeypatch.setattr(module, "ROWS", 900)
    monkeypatch.setattr(module, "SLACK", 50)
    chance = random.Random(20_261_130)
    daemon, written = Daemon(tmp_path, chance), 0
    await daemon.begin()
    while written < EVENTS:
        daemon.clock.set(daemon.clock.now() + chance.randrange(0, DAY // 20))
        entries = [daemon.event() for _ in range(chance.randrange(1, 40))]
        match chance.randrange(20):
            case 0:
                await daemon.torn(chance.choice(("INSERT ON audit", "INSERT ON evidence")))
                try:
                    await daemon.ledger.append(entries)
                    written += len(entries)  # none of them carried anything
                except AuditUnavailable:
                    await daemon.dies()
                await daemon.mended()
            case 1:
                await daemon.torn(
                    chance.choice(("DELETE ON audit", "INSERT ON audit_checkpoint", "DELETE ON evidence"))
                )
                await daemon.retention.round()
                await daemon.mended()
            case 2 | 3:
                await daemon.retention.round()
            case 4:
                await daemon.dies()
            case _:
                await daemon.ledger.append(entries)
                written += len(entries)
    await daemon.retention.round()
    rows = await daemon.store.rows()

    past, again = await daemon.database.read(folded)
    section = opened((await daemon.audit.checkpoint()).sections[module.EVIDENCE])
    assert again == rows and len(rows) > 400
    assert past.items() <= section.past.items()  # without what was forgotten since
    assert sum(sum(one.kinds.values()) for one in past.values()) > 500
    assert with_rows(past, again).tallied() == daemon.observer.tallied()
    await daemon.database.write(lambda connection: connection.execute("DELETE FROM evidence WHERE event_seq % 3 = 0"))
    assert (await daemon.store.rebuild()).differed
    assert await daemon.store.rows() == rows
    await daemon.dies()
    assert daemon.standings.tallied() == daemon.observer.tallied()
    await daemon.stack.aclose()
