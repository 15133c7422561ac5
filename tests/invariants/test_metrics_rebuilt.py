"""Ten thousand entries with kills, full disks and retention in between: checkpoint and rest give the live numbers."""

import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import structlog

from governance.audit import Audit
from governance.contracts import (
    Action,
    AuditEntry,
    AuditKind,
    EvidenceKind,
    EvidenceTrace,
    Removal,
    VerdictTrace,
)
from governance.errors import AuditUnavailable
from governance.metrics import EMPTY, Metrics, as_json, fold
from governance.pruning import DAY, Limits, Pruning
from host.clock import SetClock
from host.compose import main_schema
from host.database import open_database
from host.inbox import let_go
from host.ledger import AuditLedger
from host.past import SECTION, fold_past, pasts
from host.retention import SECTIONS, Retention
from host.tally import Tally
from recall.contracts import ActivationLevel, ArmReport, ContextCursor
from tests.support.builders import a_memory_id
from tests.support.clock import START, CountedIds
from tests.support.entries import a_trace, an_entry

ENTRIES = 10_000
TORN = "CREATE TRIGGER torn BEFORE {} BEGIN SELECT RAISE(FAIL, 'killed'); END"
LIMITS = Limits(age=3 * DAY, bytes=2 * 2**20)


def random_entry(chance: random.Random, at: int) -> AuditEntry:
    """Anything that the host writes."""
    session, packet = f"{chance.randrange(6):032x}", chance.randrange(300)
    memories = tuple(a_memory_id(chance.randrange(20)) for _ in range(chance.randrange(1, 3)))
    evidence = tuple(
        EvidenceTrace(
            kind=chance.choice(list(EvidenceKind)),
            memory_id=a_memory_id(chance.randrange(20)),
            source_version=1,
            record_digest="d" * 64,
            coverage=chance.choice((None, 300_000, 1_000_000)),
        )
        for _ in range(chance.choice((0, 0, 0, 1, 2)))
    )
    trace = a_trace(packet, items=memories, bytes=chance.randrange(900), level=ActivationLevel.EXCERPT)
    given: dict[str, Any] = {
        "at": at,
        "session_ref": session,
        "cursor": ContextCursor(session_id=session, event_seq=at - START, context_version=1),
        "evidence": evidence,
    }
    kind = chance.choice([*AuditKind, AuditKind.PASS, AuditKind.PASS])
    match kind:
        case AuditKind.PASS:
            outcome = chance.choice(("silence", "silence", "packet", "would", "held-out"))
            removed = (
                Removal(candidate_id=a_memory_id(chance.randrange(20)), reason=chance.choice(("scope", "muted"))),
            )
            given |= {
                "outcome": outcome,
                "reason": chance.choice(("cooldown", "tool-failure", "no-confident-hit")),
                "arms": (ArmReport(name="lexical", hits=chance.randrange(9), micros=5),)
                if chance.random() < 0.5
                else (),
                "votes": memories,
                "latency": {"gate": chance.randrange(90), "recall": chance.randrange(9_000)},
                "verdict": VerdictTrace(action=Action.ALLOW, reason="clear", removed=removed),
                "packet": None if outcome == "silence" else trace,
            }
        case AuditKind.FEEDBACK:
            verbs = ("useful", "noise", "wrong", "forgotten", "corrected", "cleared", "muted")
            given |= {"outcome": chance.choice(verbs), "reason": "user", "memory_id": memories[0]}
        case AuditKind.POLICY:
            given |= {"outcome": "rollout", "session_ref": "", "cursor": None, "evidence": ()}
        case _:
            given |= {"outcome": chance.choice(("claimed", "silence")), "reason": "released", "packet": trace}
    return an_entry(**given | {"kind": kind})


class Life:
    """One daemon's life over the database, and what an observer that never dies has counted."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "log.db"
        self.clock = SetClock(START)
        self.live: Metrics = EMPTY
        self.ids = CountedIds()
        self.stack = AsyncExitStack()

    async def begin(self) -> None:
        self.database = await self.stack.enter_async_context(open_database(self.file, main_schema(), durable=False))
        self.audit = Audit(self.database, b"k" * 32, self.ids)
        self.tally = Tally()
        last = await self.audit.head()
        self.tally.expect()
        self.ledger = AuditLedger(self.audit, self.heard)
        await self.tally.restore(self.audit, last)
        pruning = Pruning(
            self.database, self.audit, self.ledger.append, SECTIONS, lambda connection, _: let_go(connection, 0)
        )
        self.retention = Retention(
            pruning, LIMITS, self.clock, structlog.wrap_logger(structlog.testing.CapturingLogger())
        )

    def heard(self, entries: Sequence[AuditEntry]) -> None:
        self.tally.heard(entries)
        self.live = fold(self.live, entries)

    async def dies(self) -> None:
        """Nothing of what was in memory is left."""
        await self.stack.aclose()
        await self.begin()

    async def torn(self, what: str) -> None:
        await self.database.write(lambda connection: connection.execute(TORN.format(what)))

    async def mended(self) -> None:
        await self.database.write(lambda connection: connection.execute("DROP TRIGGER torn"))


@pytest.mark.promise("metrics-rebuilt", "chain-tampering")
async def test_checkpoint_and_rest_give_what_was_counted_live(tmp_path: Path) -> None:
    chance = random.Random(20_261_130)
    life = Life(tmp_path)
    past: list[AuditEntry] = []
    await life.begin()
    written = 0
    while written < ENTRIES:
        life.clock.set(life.clock.now() + chance.randrange(0, DAY // 40))
        entries = [random_entry(chance, life.clock.now()) for _ in range(chance.randrange(1, 40))]
        match chance.randrange(20):
            case 0:
                await life.torn("INSERT ON audit")
                with pytest.raises(AuditUnavailable):
                    await life.ledger.append(entries)
                await life.mended()
                await life.dies()
            case 1:
                await life.torn(chance.choice(("DELETE ON audit", "INSERT ON audit_checkpoint")))
                await life.retention.round()
                await life.mended()
            case 2 | 3 | 4:
                await life.retention.round()
            case 5:
                await life.dies()
            case _:
                past += await life.ledger.append(entries)
                written += len(entries)
    await life.retention.round()
    await life.dies()

    checkpoint = await life.audit.checkpoint()
    rest = [entry async for _, entry in life.audit.walk()]
    found = await life.audit.verify()
    assert (found.ok, found.before) == (True, checkpoint.entries)
    assert checkpoint.entries > ENTRIES // 4 and len(rest) > 100
    assert fold(checkpoint.metrics, rest) == life.live == await life.tally.whole()
    assert as_json(life.live)["leaks"] == as_json(fold(EMPTY, past))["leaks"]
    gone = past[: len(past) - sum(entry.outcome != "checkpoint" for entry in rest)]
    assert pasts(checkpoint.sections[SECTION]) == pasts(fold_past(None, gone, life.clock.now()))
    await life.stack.aclose()
