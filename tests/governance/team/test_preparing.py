"""One confirmation is one plan, of exactly what was shown; anything else is refused, and nothing is confirmed then."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from governance.team.contracts.base import Call
from governance.team.contracts.promoting import Confirmation, PrepareRequest, PromotionPlan
from governance.team.contracts.rows import Target
from governance.team.contracts.turns import Support
from governance.team.errors import Kind, TeamFault
from governance.team.preparing import document_of, plan_digest
from governance.team.store import plans
from recall.canonical import bytes_digest
from tests.support.team_entries import an_entry, path_of, write_entry
from tests.support.team_review import AGENT, USER, Desk, a_desk, assess, statements_of

HOUR = 3_600_000
RULE = "Publish only from the release branch."


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with a_desk(tmp_path) as opened:
        yield opened


async def refused(desk: Desk, request: PrepareRequest) -> TeamFault:
    with pytest.raises(TeamFault) as found:
        await desk.prepare(request)
    return found.value


async def test_what_was_shown_is_what_is_planned_and_the_digest_is_echoed(desk: Desk) -> None:
    old = an_entry("Publish from main.")
    write_entry(desk.root, old)
    candidate = await desk.stage(desk.an_entry(RULE, Target(source_kind="approved", id=old.id)))
    review = await desk.review()
    assert review.approval is not None
    plan = await desk.prepare(review.approval.prepare_request)
    assert (plan.state, plan.approval_digest, plan.idempotent) == ("approved", review.approval.digest, False)
    assert plan.plan_digest == plan_digest(plan) and plan.candidate_ids == (candidate.candidate_id,)
    files = await desk.database.read(lambda connection: plans.files(connection, plan.plan_id))
    shown = {change.target_path: change.content for change in review.approval.changes}
    assert {file.target_path: (file.new or b"").decode() for file in files} == shown
    blobs = {file.target_path: file.target_blob for file in plan.per_file}
    assert blobs == {candidate.target_path: None, path_of(old): bytes_digest((desk.root / path_of(old)).read_bytes())}
    assert await desk.supports(candidate.candidate_id) == {Support.HUMAN_CONFIRMED}


async def test_facts_that_were_verified_keep_that_and_the_entry_says_mixed(desk: Desk) -> None:
    candidate = desk.an_entry(f"{RULE} The release was cut.", parts=(RULE, "The release was cut."))
    typed, plain = map(assess, statements_of(candidate))
    await desk.stage(candidate, msgspec.structs.replace(typed, support=Support.TYPED_FACT), plain)
    approval = (await desk.review()).approval
    assert approval is not None and "claim_support: mixed" in (approval.changes[0].content or "")
    await desk.prepare(approval.prepare_request)
    assert await desk.supports(candidate.candidate_id) == {Support.TYPED_FACT, Support.HUMAN_CONFIRMED}


async def test_the_same_request_again_is_the_same_plan(desk: Desk) -> None:
    await desk.entry(RULE)
    request = await desk.asked()
    plan = await desk.prepare(request)
    again = await desk.prepare(request, USER)
    assert again == msgspec.structs.replace(plan, idempotent=True)
    assert await desk.states() == {"approved": 1}


async def test_the_request_again_after_its_files_are_written_names_the_plan(desk: Desk) -> None:
    await desk.entry(RULE)
    request = await desk.asked()
    plan = await desk.prepare(request)

    await desk.database.write(lambda connection: plans.move(connection, plan.plan_id, "applying", desk.now))
    assert (await desk.prepare(request)).state == "applying"
    await desk.database.write(lambda connection: plans.move(connection, plan.plan_id, "applied", desk.now))
    again = await desk.prepare(request)
    assert (again.plan_id, again.state, again.idempotent) == (plan.plan_id, "applied", True)


async def test_without_an_approval_the_plan_is_generated_and_nothing_is_confirmed(desk: Desk) -> None:
    candidate = await desk.entry(RULE)
    request = msgspec.structs.replace(await desk.asked(), approval_digest=None)
    plan = await desk.prepare(request)
    assert (plan.state, plan.approval_digest) == ("generated", None)
    assert await desk.supports(candidate.candidate_id) == {Support.UNVERIFIED}
    assert await desk.prepare(request) == msgspec.structs.replace(plan, idempotent=True)


async def test_an_approval_takes_the_place_of_unconfirmed_plans_of_the_same_items(desk: Desk) -> None:
    await desk.entry(RULE)
    request = await desk.asked()
    first = await desk.prepare(msgspec.structs.replace(request, approval_digest=None))
    second = await desk.prepare(request)
    assert first.plan_id != second.plan_id
    assert await desk.states() == {"approved": 1, "voided": 1}


async def test_an_item_of_an_approved_plan_is_not_confirmed_again(desk: Desk) -> None:
    await desk.entry(RULE)
    request = await desk.asked()
    await desk.prepare(request)
    fault = await refused(desk, msgspec.structs.replace(request, approval_digest=None))
    assert fault.kind is Kind.PLAN_STATE_INVALID
    assert await desk.states() == {"approved": 1}


@pytest.mark.parametrize(
    ("candidates", "kind"),
    [(0, Kind.REQUEST_INVALID), (2, Kind.REQUEST_INVALID), (51, Kind.CAPACITY_EXCEEDED)],
    ids=["none", "one twice", "51"],
)
async def test_a_request_of_no_item_of_one_twice_or_of_51_is_refused(desk: Desk, candidates: int, kind: Kind) -> None:
    await desk.entry(RULE)
    request = await desk.asked()
    (one,) = request.candidates
    several = [msgspec.structs.replace(one, candidate_id=f"{one.candidate_id}{n}") for n in range(candidates)]
    asked = tuple(several) if candidates != 2 else (one, one)
    assert (await refused(desk, msgspec.structs.replace(request, candidates=asked))).kind is kind


async def test_an_item_of_another_kind_or_worktree_is_refused(desk: Desk) -> None:
    await desk.entry(RULE)
    request = await desk.asked()
    assert (await refused(desk, msgspec.structs.replace(request, kind="skill"))).kind is Kind.CANDIDATE_KIND_MISMATCH
    await desk.execute("UPDATE team_candidate SET worktree_key = 'another'")
    assert (await refused(desk, request)).kind is Kind.CANDIDATE_NOT_FOUND


async def test_only_a_person_s_yes_counts_and_only_a_person_or_their_agent_brings_it(desk: Desk) -> None:
    await desk.entry(RULE)
    request = await desk.asked()
    said = msgspec.structs.replace(request, confirmation=Confirmation(by="agent", via="chat"))
    assert (await refused(desk, said)).kind is Kind.REVIEWER_KIND
    for principal in ("runner", "policy"):
        with pytest.raises(TeamFault) as found:
            await desk.prepare(request, msgspec.structs.replace(AGENT, principal=principal))
        assert found.value.kind is Kind.REVIEWER_KIND
    assert await desk.confirmed() == 0 and await desk.states() == {}


async def test_what_differs_is_named_also_when_the_review_is_forgotten(desk: Desk) -> None:
    await desk.entry(RULE)
    old = an_entry("Publish from main.")
    file = write_entry(desk.root, old)
    await desk.stage(desk.an_entry("Tag every release.", Target(source_kind="approved", id=old.id)))
    request = await desk.asked()
    file.write_bytes(file.read_bytes().replace(b"priority: 60", b"priority: 61"))
    assert f"targetBlob of {path_of(old)}" in (await refused(desk, request)).problem
    desk.approvals = type(desk.approvals)()
    assert "candidates, files or policyVersion" in (await refused(desk, request)).problem
    fewer = msgspec.structs.replace(request, candidates=request.candidates[:1])
    assert (await refused(desk, fewer)).kind is Kind.APPROVAL_MISMATCH


async def test_a_plan_that_is_too_old_is_void_and_its_approval_matches_no_more(desk: Desk) -> None:
    candidate = await desk.entry(RULE)
    request = await desk.asked()
    await desk.prepare(request)
    desk.now += 25 * HOUR
    assert (await refused(desk, request)).kind is Kind.APPROVAL_EXPIRED
    assert await desk.states() == {"voided": 1}
    assert await desk.supports(candidate.candidate_id) == {Support.UNVERIFIED}
    fault = await refused(desk, request)
    assert fault.kind is Kind.APPROVAL_MISMATCH and "revision" in fault.problem
    assert (await desk.prepare(await desk.asked())).state == "approved"


async def test_without_an_approval_what_does_not_hold_says_so_itself(desk: Desk) -> None:
    candidate = await desk.entry(RULE)
    request = msgspec.structs.replace(await desk.asked(), approval_digest=None)
    desk.citations.reasons[candidate.candidate_id] = "the session is gone."
    assert (await refused(desk, request)).kind is Kind.BINDING_DRIFT
    assert (await refused(desk, with_some_approval(request))).kind is Kind.APPROVAL_MISMATCH


async def test_a_stored_plan_is_sent_as_it_was_prepared_with_its_state_of_now(desk: Desk) -> None:
    await desk.entry(RULE)
    plan = await desk.prepare(await desk.asked())
    stored = await desk.database.read(lambda connection: plans.needed(connection, plan.plan_id))
    assert document_of(stored) == plan
    await desk.database.write(lambda connection: plans.move(connection, plan.plan_id, "voided", desk.now))
    gone = await desk.database.read(lambda connection: plans.needed(connection, plan.plan_id))
    assert document_of(gone) == msgspec.structs.replace(plan, state="voided")
    with pytest.raises(TeamFault) as corrupt:
        document_of(msgspec.structs.replace(gone, document="{"))
    assert corrupt.value.kind is Kind.STATE_CORRUPT


def test_the_digest_of_a_plan_is_of_all_but_its_state() -> None:
    plan = msgspec.convert(
        {
            "format": "f",
            "planId": "p",
            "owner": {"repositoryKey": "r", "worktreeKey": "w"},
            "kind": "entry",
            "state": "generated",
            "candidateIds": ["c"],
            "approvalDigest": None,
            "assessmentDigest": "a",
            "policyVersion": "v",
            "perFile": [],
            "planDigest": "",
        },
        PromotionPlan,
    )
    said = plan_digest(plan)
    assert plan_digest(msgspec.structs.replace(plan, state="approved", plan_digest="x", idempotent=True)) == said
    assert plan_digest(msgspec.structs.replace(plan, plan_id="q")) != said
    assert plan_digest(msgspec.structs.replace(plan, policy_version="w")) != said


def with_some_approval(request: PrepareRequest) -> PrepareRequest:
    """The request with some approval."""
    return msgspec.structs.replace(request, approval_digest="0" * 64)


@pytest.mark.parametrize(("call", "recorded"), [(AGENT, "chat"), (USER, "terminal")])
async def test_an_agent_that_says_that_it_is_a_terminal_is_recorded_as_a_chat(
    desk: Desk, call: Call, recorded: str
) -> None:
    await desk.entry("Publish only from the release branch.")
    asked = await desk.asked()
    terminal = msgspec.structs.replace(asked.confirmation, via="terminal")
    plan = await desk.prepare(msgspec.structs.replace(asked, confirmation=terminal), call)
    stored = await desk.database.read(lambda connection: plans.needed(connection, plan.plan_id))
    assert stored.confirmed_via == recorded
