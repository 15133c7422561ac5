"""The next-step inbox: the ladder as a table, the slot as a state machine over a real database file."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from governance.contracts import AuditEntry, AuditKind
from host.contracts import LONGEST_LIFE, Claimed, Context, InboxState, MemoryPacket, Named, Reason, Silence
from host.database import open_database
from host.errors import StoreFault
from host.inbox import Facts, Holder, Inbox, InboxPolicy, Slot, ladder
from recall.canonical import text_digest
from recall.contracts import Database
from tests.support.builders import AGENT, SESSION, a_cursor, a_memory_id, a_packet
from tests.support.clock import START

T = TypeVar("T")
POLICY = InboxPolicy()


def packet_of(**fields: Any) -> MemoryPacket:
    made = a_packet(**fields)
    return msgspec.structs.replace(made, exact_digest=text_digest(made.rendered))


def facts_for(packet: MemoryPacket, **fields: Any) -> Facts:
    """Everything as it was when the packet was built."""
    given = {
        "context_version": packet.context_cursor.context_version,
        "window": packet.window,
        "step": packet.step or 0,
        "boundary_used": False,
        "last_delivery_step": None,
        "digests": {item.memory_id: item.record_digest for item in packet.items},
        "visible_records": frozenset(),
        "visible_texts": frozenset(),
        "rerendered": packet.rendered,
    } | fields
    return Facts(**given)


PACKET = packet_of(created_at=START, expiry=START + 600_000, step=4, window=1)
ITEM = PACKET.items[0].memory_id


@pytest.mark.promise("stale-is-dropped")
@pytest.mark.parametrize(
    ("facts", "now", "expected"),
    [
        ({}, START, None),
        ({}, START + 599_999, None),
        ({"boundary_used": True}, START, Reason.BOUNDARY_USED),
        ({}, START + 600_000, Reason.EXPIRED),
        ({}, START + 86_400_000, Reason.EXPIRED),
        ({}, START - 3_600_000, Reason.EXPIRED),  # the clock was set back: elapsed time is unknown
        ({"step": 7}, START, None),
        ({"step": 8}, START, Reason.EXPIRED),
        ({"context_version": 2}, START, Reason.STALE_CONTEXT),
        ({"context_version": 0}, START, Reason.STALE_CONTEXT),
        ({"window": 2}, START, Reason.STALE_CONTEXT),
        ({"muted": frozenset({ITEM})}, START, Reason.MUTED),
        ({"muted": frozenset({ITEM}), "window": 2}, START, Reason.STALE_CONTEXT),
        ({"muted": frozenset({ITEM}), "digests": {}}, START, Reason.MUTED),
        ({"digests": {}}, START, Reason.STALE_INDEX),
        ({"digests": {ITEM: "another"}}, START, Reason.STALE_INDEX),
        ({"rerendered": "something else"}, START, Reason.DIGEST_MISMATCH),
        ({"visible_records": frozenset({ITEM})}, START, Reason.ALREADY_VISIBLE),
        ({"visible_texts": frozenset({PACKET.exact_digest})}, START, Reason.ALREADY_VISIBLE),
    ],
)
def test_the_ladder_names_the_first_rung_that_fails(facts: dict[str, Any], now: int, expected: Reason | None) -> None:
    assert ladder(PACKET, facts_for(PACKET, **facts), now, POLICY) == expected


RECORD = Named(memory_id=a_memory_id(9), record_digest="d" * 64)
CONTEXT = Context(state="1" * 16, text="Kept in view", records=(RECORD,))
ALONE = packet_of(created_at=START, expiry=START + 600_000, step=4, window=1, items=(), context=CONTEXT)
WITH_ITEM = msgspec.structs.replace(PACKET, context=CONTEXT)


@pytest.mark.parametrize("packet", [ALONE, WITH_ITEM])
@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, None),
        ({"digests": {}}, Reason.STALE_INDEX),
        ({"digests": {ITEM: PACKET.items[0].record_digest}}, Reason.STALE_INDEX),  # what it names counts as well
        ({"moved": True}, Reason.STALE_INDEX),
        ({"muted": frozenset({RECORD.memory_id})}, Reason.MUTED),
        ({"context_version": 2}, Reason.STALE_CONTEXT),
        ({"visible_records": frozenset({RECORD.memory_id})}, None),  # a list may name what the window holds
    ],
)
def test_what_is_said_of_the_runtime_context_is_checked_like_an_item(
    packet: MemoryPacket, facts: dict[str, Any], expected: Reason | None
) -> None:
    digests = {one.memory_id: one.record_digest for one in packet.named}
    assert ladder(packet, facts_for(packet, **({"digests": digests} | facts)), START, POLICY) == expected


def test_no_packet_is_none_pending_before_anything_else() -> None:
    assert ladder(None, facts_for(PACKET, boundary_used=True), START, POLICY) is Reason.NONE_PENDING


def test_a_tampered_text_is_refused_even_when_it_renders_the_same() -> None:
    tampered = msgspec.structs.replace(PACKET, rendered=PACKET.rendered + "!")

    reason = ladder(tampered, facts_for(tampered), START, POLICY)

    assert reason is Reason.DIGEST_MISMATCH


def test_a_pause_between_deliveries_can_be_asked_for() -> None:
    pausing = InboxPolicy(min_steps_between=2)

    assert ladder(PACKET, facts_for(PACKET, last_delivery_step=3), START, pausing) is Reason.COOLDOWN
    assert ladder(PACKET, facts_for(PACKET, last_delivery_step=2), START, pausing) is None


class PlainLedger:
    """The audit's part in a transaction: keeps entries, and can be told to fail."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.entries: list[AuditEntry] = []
        self.broken = False

    async def append(
        self, entries: Sequence[AuditEntry], also: Callable[[sqlite3.Connection], T] | None = None
    ) -> Sequence[AuditEntry]:
        def work(connection: sqlite3.Connection) -> None:
            if self.broken:
                raise sqlite3.OperationalError("disk full")
            if also is not None:
                also(connection)

        await self._database.write(work)
        self.entries.extend(entries)
        return entries


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[tuple[Inbox, PlainLedger]]:
    schema = files("host").joinpath("schema", "inbox_001.sql").read_text("utf-8")
    async with open_database(tmp_path / "inbox.db", [schema]) as database:
        ledger = PlainLedger(database)
        yield Inbox(database, ledger, POLICY), ledger


def an_entry(kind: AuditKind = AuditKind.PASS) -> AuditEntry:
    return AuditEntry(
        audit_id="", at=START, session_ref="s", agent_ref="a", cursor=a_cursor(), kind=kind, outcome="x", reason="y"
    )


def a_holder(claim_id: str = "clm_1", request_id: str | None = "r1") -> Holder:
    return Holder(
        session_id=SESSION, agent_id=AGENT, surface="post-tool", claim_id=claim_id, at=START, request_id=request_id
    )


async def pending(inbox: Inbox) -> Slot:
    slot, _ = await inbox.slot(SESSION, AGENT)
    assert slot is not None
    return slot


async def test_the_newest_packet_takes_the_slot(opened: tuple[Inbox, PlainLedger]) -> None:
    inbox, _ = opened
    await inbox.offer(packet_of(packet_id="pkt_1"), [an_entry()])
    await inbox.offer(packet_of(packet_id="pkt_2"), [an_entry()])

    old, new = await inbox.find("pkt_1"), await pending(inbox)

    assert (old.state if old else None, new.packet.packet_id) == (InboxState.REPLACED, "pkt_2")


async def test_a_packet_that_is_kept_back_leaves_the_slot_as_it_is_and_can_be_erased(
    opened: tuple[Inbox, PlainLedger],
) -> None:
    inbox, ledger = opened
    await inbox.offer(packet_of(packet_id="pkt_1"), [an_entry()])

    await inbox.keep_back(packet_of(packet_id="pkt_2"), an_entry())

    kept = await inbox.find("pkt_2")
    assert (await pending(inbox)).packet.packet_id == "pkt_1"
    assert kept is not None and (kept.state, kept.packet.rendered != "") == (InboxState.DROPPED, True)
    assert len(ledger.entries) == 2
    assert await inbox.erase(kept.packet.items[0].memory_id) == 2


@pytest.mark.promise("audit-first")
async def test_without_its_audit_entry_nothing_can_be_claimed(opened: tuple[Inbox, PlainLedger]) -> None:
    inbox, ledger = opened
    ledger.broken = True

    with pytest.raises(sqlite3.OperationalError):
        await inbox.offer(packet_of(packet_id="pkt_1"), [an_entry()])

    assert await inbox.slot(SESSION, AGENT) == (None, ())


async def test_the_same_request_gets_the_same_packet_and_claim(opened: tuple[Inbox, PlainLedger]) -> None:
    inbox, _ = opened
    await inbox.offer(packet_of(packet_id="pkt_1"), [an_entry()])
    first = await inbox.claim(await pending(inbox), a_holder(), an_entry(AuditKind.CLAIM))

    again = await inbox.answered(SESSION, AGENT, "r1")

    assert isinstance(first, Claimed)
    assert again == first


async def test_the_same_request_gets_the_same_silence(opened: tuple[Inbox, PlainLedger]) -> None:
    inbox, _ = opened
    await inbox.refuse(a_holder(), Reason.NONE_PENDING)

    assert await inbox.answered(SESSION, AGENT, "r1") == Silence(reason=Reason.NONE_PENDING)
    assert await inbox.answered(SESSION, AGENT, "r2") is None


async def test_two_claims_of_one_packet_have_one_winner(opened: tuple[Inbox, PlainLedger]) -> None:
    inbox, ledger = opened
    await inbox.offer(packet_of(packet_id="pkt_1"), [an_entry()])
    seen = await pending(inbox)

    first = await inbox.claim(seen, a_holder("clm_1", "r1"), an_entry(AuditKind.CLAIM))
    second = await inbox.claim(seen, a_holder("clm_2", "r2"), an_entry(AuditKind.CLAIM))

    assert isinstance(first, Claimed)
    assert isinstance(second, Silence)
    assert [entry.kind for entry in ledger.entries] == [AuditKind.PASS, AuditKind.CLAIM]


async def test_a_claim_of_a_dead_holder_settles_nothing_late(opened: tuple[Inbox, PlainLedger]) -> None:
    inbox, _ = opened
    await inbox.offer(packet_of(packet_id="pkt_1"), [an_entry()])
    await inbox.claim(await pending(inbox), a_holder(), an_entry(AuditKind.CLAIM))
    held = await inbox.find("pkt_1")
    assert held is not None

    assert await inbox.settle(held, InboxState.PENDING, an_entry(AuditKind.DROP))

    assert not await inbox.settle(held, InboxState.DELIVERED, an_entry(AuditKind.DELIVERY))
    assert (await pending(inbox)).claim_id is None


async def test_what_is_not_settled_is_found_in_any_session_however_old_it_is(
    opened: tuple[Inbox, PlainLedger],
) -> None:
    inbox, _ = opened
    for number, session in enumerate(("s2", "s1", "s1"), start=1):
        cursor = a_cursor(session_id=session)
        made = START - number * 10**10
        packet = packet_of(packet_id=f"pkt_{number}", context_cursor=cursor, created_at=made, expiry=made + 600_000)
        await inbox.offer(packet, [an_entry()])
        if number == 2:
            slot, _ = await inbox.slot(session, AGENT)
            assert slot is not None
            await inbox.claim(slot, a_holder(), an_entry(AuditKind.CLAIM))
    third = await inbox.find("pkt_3")
    assert third is not None

    found = [(slot.packet.packet_id, slot.state) for slot in await inbox.unsettled()]
    await inbox.settle(third, InboxState.DROPPED, an_entry(AuditKind.DROP))

    assert found == [("pkt_2", "claimed"), ("pkt_3", "pending"), ("pkt_1", "pending")]
    assert [slot.packet.packet_id for slot in await inbox.unsettled()] == ["pkt_2", "pkt_1"]


async def test_forgetting_erases_the_text_everywhere(opened: tuple[Inbox, PlainLedger], tmp_path: Path) -> None:
    inbox, _ = opened
    packet = packet_of(packet_id="pkt_1")
    await inbox.offer(packet, [an_entry()])

    touched = await inbox.erase(packet.items[0].memory_id)

    kept = await inbox.find("pkt_1")
    assert touched == 1
    assert kept is not None
    assert kept.packet.rendered == ""
    assert kept.packet.items[0].text == ""
    assert await inbox.erase(a_memory_id(99)) == 0


async def test_a_silence_that_cannot_be_remembered_is_no_fault(opened: tuple[Inbox, PlainLedger]) -> None:
    inbox, _ = opened
    await inbox._database.write(lambda connection: connection.execute("DROP TABLE claim_answer"))

    await inbox.refuse(a_holder(), Reason.NONE_PENDING)

    assert await inbox.slot(SESSION, AGENT) == (None, ())


@pytest.mark.parametrize("life", [-1, 0, LONGEST_LIFE + 1])
async def test_a_packet_whose_time_does_not_end_is_not_kept(opened: tuple[Inbox, PlainLedger], life: int) -> None:
    inbox, _ = opened
    with pytest.raises(StoreFault):
        await inbox.offer(packet_of(packet_id="pkt_1", created_at=START, expiry=START + life), [an_entry()])
    assert await inbox.find("pkt_1") is None


async def test_a_memory_that_is_only_named_leads_to_its_packet_and_is_erased_from_it(
    opened: tuple[Inbox, PlainLedger],
) -> None:
    inbox, _ = opened
    packet = msgspec.structs.replace(ALONE, rendered="Kept in view: the old title")
    await inbox.offer(packet, [an_entry()])

    assert [slot.packet for slot in await inbox.carrying(RECORD.memory_id)] == [packet]
    assert await inbox.erase(RECORD.memory_id) == 1

    (slot,) = await inbox.carrying(RECORD.memory_id)
    assert slot.packet.rendered == "" and slot.packet.context is not None
    assert (slot.packet.context.text, slot.packet.context.state) == ("", CONTEXT.state)


async def test_delivered_packets_are_found_by_the_tag_of_their_frame(opened: tuple[Inbox, PlainLedger]) -> None:
    inbox, _ = opened
    packet = msgspec.structs.replace(PACKET, tag="abcdef01")
    await inbox.offer(packet, [an_entry()])
    assert await inbox.tagged({"abcdef01"}) == []  # it waits
    pending, _ = await inbox.slot(SESSION, AGENT)
    assert pending is not None
    await inbox.settle(pending, InboxState.DELIVERED, an_entry(AuditKind.DELIVERY))

    assert [slot.packet for slot in await inbox.tagged({"abcdef01", "00000000"})] == [packet]
    assert await inbox.tagged(()) == await inbox.tagged({"00000000"}) == []
