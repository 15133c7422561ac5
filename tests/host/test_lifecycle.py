"""Rounds: what evidence does to procedures, facts and episodes in a whole remora."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from governance.contracts import AuditKind, EvidenceKind, EvidenceTrace, Stage
from governance.formation.queue import QueueFilter
from governance.procedures import DAY, LifePolicy
from governance.review import Act, Decision, ItemFlag, ItemKind, Principal, QueueItem, State
from host.corrections import Corrections
from host.lifecycle import Lifecycle, propose_memory
from recall.contracts import ContextCursor, MemoryKind, Origin, Status
from recall.survey import anywhere
from tests.support.builders import a_memory_id
from tests.support.checkouts import a_checkout
from tests.support.entries import an_entry
from tests.support.team_entries import an_entry as an_entry_of
from tests.support.team_entries import write_entry
from tests.support.team_trust import trusts
from tests.support.world import World

RECIPE = "To seal the build:\n1. run `make clean`\n2. run `make seal`\n3. verify that build/seal.stamp is there"
RISKY = f"{RECIPE}\n4. run `git push --force origin main`"
USED = (EvidenceKind.REUSE, EvidenceKind.SUCCESS)


async def evidence(world: World, memory_id: str, session: int, *kinds: EvidenceKind) -> None:
    """What a session did with a memory, as the audit is told it."""
    traces = tuple(
        EvidenceTrace(kind=kind, memory_id=memory_id, source_version=1, record_digest="d", call_id=f"call-{number}")
        for number, kind in enumerate(kinds)
    )
    ref = f"{session:02d}" * 16
    cursor = ContextCursor(session_id=ref, event_seq=1, context_version=1)
    entry = an_entry(audit_id="", session_ref=ref, cursor=cursor, at=world.clock.now(), evidence=traces)
    await world.parts.ledger.append([entry])


async def learned(world: World, text: str = RECIPE, **fields: Any) -> str:
    """A procedure that no person wrote."""
    given = {"kind": MemoryKind.PROCEDURAL, "origin": Origin.EXTRACTED} | fields
    return await world.remember(text, **given)


async def queued(world: World, *states: State) -> list[QueueItem]:
    return list((await world.parts.queue.list(QueueFilter(states=states))).items)


def stage(world: World, memory_id: str) -> Stage | None:
    return world.parts.lives.stages.get(memory_id)


async def moves(world: World) -> list[tuple[str, str]]:
    return [(one.outcome, one.reason) for one in await world.audit(kind=AuditKind.POLICY) if one.memory_id]


@pytest.mark.promise("procedures-rise-by-evidence")
async def test_two_sessions_are_not_enough_and_the_third_with_success_is_a_proposal(world: World) -> None:
    memory_id, rounds = await learned(world), Lifecycle(world.parts)
    for session in (1, 2):
        await evidence(world, memory_id, session, *USED)
        assert await rounds.round() == 0
    assert (stage(world, memory_id), await queued(world)) == (None, [])
    await evidence(world, memory_id, 3, EvidenceKind.REUSE)
    assert await rounds.round() == 1
    (item,) = await queued(world)
    assert (stage(world, memory_id), item.kind, item.state) == (Stage.CANDIDATE, ItemKind.PROMOTION, State.PENDING)
    assert item.evidence == {"sessions": 3, "success": 2, "correction": 0}
    assert sorted(one.kind for one in item.citations) == ["reuse"] * 3 + ["success"] * 2 + ["words"]
    assert await moves(world) == [("stage-candidate", "evidence")]
    await evidence(world, memory_id, 4, *USED)
    assert await rounds.round() == 0  # it waits, and is not proposed twice
    assert await queued(world) == [item]


async def test_being_shown_or_read_is_no_use(world: World) -> None:
    memory_id, rounds = await learned(world), Lifecycle(world.parts)
    for session in range(9):
        await evidence(world, memory_id, session, EvidenceKind.SEEN, EvidenceKind.READ, EvidenceKind.CITE)
    assert await rounds.round() == 0
    assert await queued(world) == []


@pytest.mark.promise("correction-blocks")
async def test_one_correction_takes_a_candidate_back_and_ends_its_proposal(world: World) -> None:
    memory_id, rounds = await learned(world), Lifecycle(world.parts)
    for session in range(12):
        await evidence(world, memory_id, session, *USED)
    await rounds.round()
    assert stage(world, memory_id) is Stage.CANDIDATE
    await evidence(world, memory_id, 20, EvidenceKind.CORRECTION)
    await Corrections(world.parts).correct([memory_id], "aud_1")
    assert stage(world, memory_id) is Stage.OBSERVED
    (waiting,) = await queued(world, State.PENDING)
    assert waiting.flags == (ItemFlag.CORRECTED,)
    assert [item.kind for item in await queued(world, State.SUPERSEDED)] == [ItemKind.PROMOTION]
    for session in range(30, 40):
        await evidence(world, memory_id, session, *USED)
    assert await rounds.round() == 0
    assert stage(world, memory_id) is Stage.OBSERVED
    await Corrections(world.parts).clear(memory_id)
    world.parts.lives.look_again([memory_id])
    assert await rounds.round() == 1  # settled by a person: 1 of 22 sessions
    assert len(await queued(world, State.PENDING)) == 2


@pytest.mark.promise("high-risk-waits")
async def test_a_kept_one_that_can_do_harm_becomes_active_with_the_approval(world: World) -> None:
    memory_id, rounds = await learned(world, RISKY), Lifecycle(world.parts)
    (found,) = await world.parts.library.survey(partial(anywhere, memory_ids=[memory_id]))
    digest = found.locator.record_digest
    assert await rounds.kept(found.record, digest) is Stage.VALIDATED
    assert await rounds.approved(found.record, digest) is Stage.VALIDATED  # nobody approved it
    await world.parts.marks.approve(memory_id, "another digest", world.clock.now())
    assert await rounds.approved(found.record, digest) is Stage.VALIDATED
    await world.parts.marks.approve(memory_id, digest, world.clock.now())
    assert await rounds.approved(found.record, digest) is Stage.ACTIVE
    assert [move for move, _ in await moves(world)] == ["stage-validated", "stage-active"]


async def test_a_harmless_one_is_active_once_it_was_kept(world: World) -> None:
    memory_id = await learned(world)
    (found,) = await world.parts.library.survey(partial(anywhere, memory_ids=[memory_id]))
    assert await Lifecycle(world.parts).kept(found.record, found.locator.record_digest) is Stage.ACTIVE


async def test_episodes_and_facts_are_proposed_and_stay_what_they_are(world: World) -> None:
    episode = await learned(world, "make seal failed; deleting the stamp helped.", kind=MemoryKind.EPISODIC)
    fact = await learned(world, kind=MemoryKind.SEMANTIC)
    plain = await learned(world, "Use pnpm, never npm.", kind=MemoryKind.SEMANTIC)
    for memory_id in (episode, fact, plain):
        for session in (1, 2, 3):
            await evidence(world, memory_id, session, *USED)
    assert await Lifecycle(world.parts).round() == 2
    assert {(item.record_id, item.target) for item in await queued(world)} == {
        (episode, "semantic"),
        (fact, "procedural"),
    }
    (found,) = await world.parts.library.survey(partial(anywhere, memory_ids=[episode]))
    assert (found.record.kind, found.record.status) == (MemoryKind.EPISODIC, Status.ACTIVE)


async def test_what_a_person_archived_is_not_proposed_again(world: World) -> None:
    memory_id, rounds = await learned(world), Lifecycle(world.parts)
    for session in (1, 2, 3):
        await evidence(world, memory_id, session, *USED)
    await rounds.round()
    (item,) = await queued(world)
    decision = Decision(actor=Principal.HUMAN, kind=Act.ARCHIVE, at=1, expected_revision=1, reason="no")
    await world.parts.queue.decide(item.item_id, decision)
    for session in range(4, 12):
        await evidence(world, memory_id, session, *USED)
    await rounds.round()
    assert await queued(world, State.PENDING) == []


async def test_a_procedure_that_nobody_used_rests_and_a_person_can_have_it_back(world: World) -> None:
    mine = await world.remember(RECIPE, kind=MemoryKind.PROCEDURAL)
    pinned = await world.remember(RECIPE, kind=MemoryKind.PROCEDURAL, pinned=True)
    note = await world.remember("The port is 7070.")
    rounds = Lifecycle(world.parts)
    assert await rounds.sweep() == 0
    world.clock.set(world.clock.now() + 80 * DAY)
    await evidence(world, mine, 1, EvidenceKind.REUSE)
    world.clock.set(world.clock.now() + 80 * DAY)
    assert await rounds.sweep() == 0  # used 80 days ago
    world.clock.set(world.clock.now() + 11 * DAY)
    assert await rounds.sweep() == 1
    assert world.parts.lives.stages == {mine: Stage.DEPRECATED, pinned: Stage.ACTIVE}
    assert stage(world, note) is None
    (item,) = await queued(world)
    assert (item.flags, item.record_id) == ((ItemFlag.UNUSED,), mine)
    assert await rounds.sweep() == 0
    (found,) = await world.parts.library.survey(partial(anywhere, memory_ids=[mine]))
    assert found.record.status is Status.ACTIVE  # the file is as it was
    assert await rounds.kept(found.record, found.locator.record_digest) is Stage.ACTIVE
    world.clock.set(world.clock.now() + 91 * DAY)
    assert await rounds.sweep() == 1
    assert len(await queued(world, State.PENDING)) == 1  # the newer takes the older one's place


async def test_how_long_nobody_used_it_counts_from_when_it_was_first_met(world: World) -> None:
    """An old file, or one without a date: nobody knows what was done with it before."""
    old = await world.remember(RECIPE, kind=MemoryKind.PROCEDURAL, created_at=1)
    rounds = Lifecycle(world.parts)
    assert await rounds.sweep() == 0
    world.clock.set(world.clock.now() + 90 * DAY)
    assert (await rounds.sweep(), stage(world, old)) == (0, Stage.ACTIVE)
    world.clock.set(world.clock.now() + 1)
    assert (await rounds.sweep(), stage(world, old)) == (1, Stage.DEPRECATED)


async def test_a_store_that_fails_costs_a_round_and_no_more(world: World) -> None:
    memory_id, rounds = await learned(world), Lifecycle(world.parts)
    for session in (1, 2, 3):
        await evidence(world, memory_id, session, *USED)
    full = "CREATE TRIGGER full BEFORE INSERT ON procedure BEGIN SELECT RAISE(ABORT, 'no room'); END"
    await world.parts.kept.write(lambda given: given.execute(full))
    assert (await rounds.round(), stage(world, memory_id)) == (0, None)
    await world.parts.kept.write(lambda given: given.execute("DROP TRIGGER full"))
    assert (await rounds.round(), stage(world, memory_id)) == (1, Stage.CANDIDATE)
    assert len(await queued(world)) == 1


async def test_a_candidate_whose_evidence_was_forgotten_can_be_one_again(world: World) -> None:
    memory_id, rounds = await learned(world), Lifecycle(world.parts)
    await evidence(world, memory_id, 1, *USED)
    strict, mild = Lifecycle(world.parts), Lifecycle(world.parts, LifePolicy(sessions=1, successes=1))
    await mild.round()
    assert stage(world, memory_id) is Stage.CANDIDATE
    world.parts.lives.look_again([memory_id])
    await strict.round()  # as if less had been seen
    assert (stage(world, memory_id), len(await queued(world, State.PENDING))) == (Stage.OBSERVED, 0)
    for session in (2, 3):
        await evidence(world, memory_id, session, *USED)
    world.clock.set(world.clock.now() + 1)
    await rounds.round()
    assert (stage(world, memory_id), len(await queued(world, State.PENDING))) == (Stage.CANDIDATE, 1)


async def test_evidence_of_a_memory_that_is_gone_moves_nothing(world: World) -> None:
    for session in (1, 2, 3):
        await evidence(world, a_memory_id(77), session, *USED)
    assert await Lifecycle(world.parts).round() == 0
    assert await propose_memory(world.parts, [a_memory_id(77)], ItemFlag.CORRECTED, "x") == 0


async def test_thresholds_are_a_policy(world: World) -> None:
    memory_id = await learned(world)
    await evidence(world, memory_id, 1, *USED)
    assert await Lifecycle(world.parts, LifePolicy(sessions=1, successes=1)).round() == 1


@pytest.mark.promise("nothing-executed")
async def test_a_round_writes_no_file_and_runs_nothing(world: World) -> None:
    memory_id = await learned(world, RISKY)
    before = {path: path.read_bytes() for path in world.folder.rglob("*.md")}
    for session in range(9):
        await evidence(world, memory_id, session, *USED)
    await Lifecycle(world.parts).round()
    assert {path: path.read_bytes() for path in world.folder.rglob("*.md")} == before


@pytest.mark.promise("procedures-rise-by-evidence")
async def test_what_a_team_promoted_is_in_force_once_it_was_used_with_success_and_nobody_is_asked_again(
    world: World, tmp_path: Path
) -> None:
    top, rounds = a_checkout(tmp_path / "shop"), Lifecycle(world.parts)
    entry = an_entry_of(RECIPE, type="work_method")
    write_entry(top, entry)
    await trusts(world, top)
    await rounds.sweep()
    (walked,) = await world.parts.library.survey(partial(anywhere, memory_ids=[entry.id]))
    assert rounds.stage(walked.record) is Stage.CANDIDATE and stage(world, entry.id) is None

    for session in (1, 2, 3):
        await evidence(world, entry.id, session, *USED)
    assert await rounds.round() == 1

    assert stage(world, entry.id) is Stage.ACTIVE
    assert await queued(world, State.PENDING) == []
