"""One confirmation, of what was shown (team.md 15, items 12 to 14 and 20), over real files and a real database."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from governance import screen
from governance.screening.matching import Matcher, Rule
from governance.screening.personal import PERSONAL
from governance.screening.secrets import SECRETS
from governance.team import rendering
from governance.team.contracts.promoting import Confirmation, ConfirmedStatement, PrepareRequest
from governance.team.contracts.rows import Target
from governance.team.contracts.turns import Support
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from recall.canonical import text_digest
from tests.support.team_entries import an_entry, write_entry
from tests.support.team_promoting import Promotions, promotions
from tests.support.team_review import AGENT, Desk, a_desk

HOUR = 3_600_000
RULE, OTHER = "Publish only from the release branch.", "Tag every release."
OLD = an_entry("Publish from main.")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with a_desk(tmp_path) as opened:
        yield opened


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Promotions]:
    async with promotions(tmp_path) as made:
        yield made


async def refused(desk: Desk, request: PrepareRequest) -> TeamFault:
    with pytest.raises(TeamFault) as found:
        await desk.prepare(request)
    return found.value


async def reviewed(desk: Desk) -> PrepareRequest:
    """An update of an approved entry and a new one, reviewed together."""
    write_entry(desk.root, OLD)
    await desk.stage(desk.an_entry(RULE, Target(source_kind="approved", id=OLD.id)))
    await desk.entry(OTHER)
    return await desk.asked()


# -------------------------------------------------------------------------------------------------------- item 12


@pytest.mark.promise("team-12")
async def test_item_12_a_prepare_request_with_the_statements_of_the_parts_is_refused(desk: Desk) -> None:
    """A merged candidate has statements of its own: those of what it was merged of are not confirmed by anyone."""
    part = await desk.entry(f"{RULE} {OTHER}", parts=(RULE, OTHER))
    before = await desk.asked(ids=[part.candidate_id])
    await desk.execute("UPDATE team_candidate SET state = 'discarded', revision = revision + 1")
    merged = await desk.stage(desk.an_entry(f"{RULE} {OTHER} Every time.", parts=(RULE, OTHER, "Every time.")))
    request = await desk.asked()
    (now,), (was,) = request.candidates, before.candidates
    with_old = msgspec.structs.replace(now, statements=was.statements)
    for digest in (request.approval_digest, None):
        asked = msgspec.structs.replace(request, candidates=(with_old,), approval_digest=digest)
        fault = await refused(desk, asked)
        assert fault.kind is Kind.APPROVAL_MISMATCH and "statements" in fault.problem
    assert await desk.confirmed() == 0
    assert (await desk.prepare(request)).candidate_ids == (merged.candidate_id,)


# -------------------------------------------------------------------------------------------------------- item 13


Meddle = Callable[[Desk, PrepareRequest], Awaitable[PrepareRequest]]


async def added(desk: Desk, request: PrepareRequest) -> PrepareRequest:
    third = await desk.entry("Run the tests first.")
    (one,) = (await desk.asked(ids=[third.candidate_id])).candidates
    return msgspec.structs.replace(request, candidates=(*request.candidates, one))


async def dropped(desk: Desk, request: PrepareRequest) -> PrepareRequest:
    return msgspec.structs.replace(request, candidates=request.candidates[:1])


async def discarded(desk: Desk, request: PrepareRequest) -> PrepareRequest:
    await desk.execute(
        "UPDATE team_candidate SET state = 'discarded', revision = 3 WHERE candidate_id = ?",
        request.candidates[1].candidate_id,
    )
    return request


async def rewritten(desk: Desk, request: PrepareRequest) -> PrepareRequest:
    """What a stored candidate states is another text, at the same revision, and assessed as such."""
    name, other = request.candidates[1].candidate_id, OTHER.replace("every", "any")
    await desk.execute("UPDATE team_candidate SET payload = replace(payload, ?, ?)", OTHER, other)
    digest = text_digest(other)
    await desk.execute("UPDATE team_assessment SET text_digest = ? WHERE candidate_id = ?", digest, name)
    return request


async def restated(desk: Desk, request: PrepareRequest) -> PrepareRequest:
    """Somebody says that another text was confirmed."""
    (first, second) = request.candidates
    (one,) = second.statements
    other = ConfirmedStatement(
        statement_id=one.statement_id, statement_text_digest="0" * 64, citations_digest=one.citations_digest
    )
    return msgspec.structs.replace(request, candidates=(first, msgspec.structs.replace(second, statements=(other,))))


async def cited_otherwise(desk: Desk, request: PrepareRequest) -> PrepareRequest:
    await desk.execute("UPDATE team_assessment SET citations_digest = ?", "0" * 64)
    return request


async def gone(desk: Desk, request: PrepareRequest) -> PrepareRequest:
    desk.citations.reasons[request.candidates[0].candidate_id] = "the session was deleted."
    return request


async def edited(desk: Desk, request: PrepareRequest) -> PrepareRequest:
    """The same size, and the same times: only the bytes are others."""
    file = write_entry(desk.root, OLD)
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(b"Publish from main.", b"Publish from Main!"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    return request


async def taken(desk: Desk, request: PrepareRequest) -> PrepareRequest:
    """Something lies where a new entry would be."""
    approval = desk.approvals.get(request.approval_digest or "")
    assert approval is not None
    (new, *_) = [file.target_path for file in approval.files if file.target_blob is None]
    (desk.root / new).parent.mkdir(parents=True, exist_ok=True)
    (desk.root / new).write_bytes(b"a stranger's words\n")
    return request


async def newer_policy(desk: Desk, request: PrepareRequest) -> PrepareRequest:
    class Newer(Formats, frozen=True, kw_only=True):
        @property
        def policy(self) -> str:
            return "sanitize-pre@2"

    given = {name: getattr(desk.formats, name) for name in ("prefix", "mark", "folder")}
    desk.formats = Newer(**given)
    return request


@pytest.mark.promise("team-13")
@pytest.mark.parametrize(
    ("meddle", "field"),
    [
        (added, "candidates: "),
        (dropped, "candidates: "),
        (discarded, "discarded"),
        (rewritten, "statementTextDigest of "),
        (restated, "statementTextDigest of "),
        (cited_otherwise, "citationsDigest of "),
        (gone, "binding-drift"),
        (edited, "targetBlob of "),
        (taken, "target-drift"),
        (newer_policy, "policyVersion: sanitize-pre@2"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
async def test_item_13_whatever_changes_after_the_review_is_a_mismatch_and_nothing_is_confirmed(
    desk: Desk, meddle: Meddle, field: str
) -> None:
    request = await meddle(desk, await reviewed(desk))
    before = sorted((path, path.read_bytes()) for path in desk.root.rglob("*.md"))
    fault = await refused(desk, request)
    assert fault.kind is Kind.APPROVAL_MISMATCH and field in fault.problem, fault.problem
    assert await desk.confirmed() == 0 and await desk.states() == {}
    assert sorted((path, path.read_bytes()) for path in desk.root.rglob("*.md")) == before


@pytest.mark.promise("team-13")
async def test_item_13_another_output_of_the_sanitiser_is_a_mismatch(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await reviewed(desk)
    was = rendering.sanitised
    monkeypatch.setattr(rendering, "sanitised", lambda text: was(text.replace("release", "RELEASE")))
    fault = await refused(desk, request)
    assert fault.kind is Kind.APPROVAL_MISMATCH and "sanitizedDigest of " in fault.problem
    assert await desk.confirmed() == 0 and await desk.states() == {}
    monkeypatch.undo()
    assert (await desk.prepare(request)).state == "approved"


@pytest.mark.promise("team-13")
@pytest.mark.parametrize("principal", ["runner", "policy"])
async def test_item_13_neither_runner_nor_policy_prepares(desk: Desk, principal: str) -> None:
    request = await reviewed(desk)
    with pytest.raises(TeamFault) as found:
        await desk.prepare(request, msgspec.structs.replace(AGENT, principal=principal))
    assert found.value.kind is Kind.REVIEWER_KIND
    assert await desk.confirmed() == 0 and await desk.states() == {}


@pytest.mark.promise("team-13")
@pytest.mark.parametrize("by", ["agent", "runner", "policy", "User", ""])
async def test_item_13_only_the_user_confirms(desk: Desk, by: str) -> None:
    request = msgspec.structs.replace(await reviewed(desk), confirmation=Confirmation(by=by, via="chat"))
    assert (await refused(desk, request)).kind is Kind.REVIEWER_KIND
    assert await desk.confirmed() == 0 and await desk.states() == {}


@pytest.mark.promise("team-13")
@pytest.mark.parametrize("back", [0, 25, 9_000], ids=["on", "set back by the 25 hours", "set back by a year"])
async def test_item_13_an_approval_is_not_promoted_25_hours_later_also_with_the_clock_set_back(
    shop: Promotions, back: int
) -> None:
    plan = await shop.entry_plan()
    shop.desk.now += 25 * HOUR
    if back:
        await shop.planned(await shop.desk.entry(OTHER))  # the clock was seen there
        shop.desk.now -= back * HOUR
    fault = await shop.refused(plan)
    assert fault.kind is Kind.APPROVAL_EXPIRED
    assert (await shop.stored(plan)).state == "voided"
    assert not (shop.root / plan.per_file[0].target_path).exists()
    assert await shop.desk.supports(plan.candidate_ids[0]) == {Support.UNVERIFIED}
    assert (await shop.refused(plan)).kind is Kind.PLAN_STATE_INVALID


@pytest.mark.promise("team-13")
async def test_item_13_an_approval_serves_one_plan(shop: Promotions) -> None:
    candidate = await shop.desk.entry(RULE)
    request = await shop.desk.asked()
    await shop.discard(await shop.desk.prepare(request))
    assert (await refused(shop.desk, request)).kind is Kind.APPROVAL_MISMATCH
    plan = await shop.planned(candidate)
    assert plan.approval_digest != request.approval_digest
    assert (await shop.promote(plan)).applied


# -------------------------------------------------------------------------------------------------------- item 14


@pytest.mark.promise("team-14")
async def test_item_14_without_an_approval_a_plan_is_promoted_only_by_its_digest(shop: Promotions) -> None:
    plan = await shop.planned(await shop.desk.entry(RULE), digest=False)
    assert (plan.state, plan.approval_digest) == ("generated", None)
    for digest in (None, "0" * 64):
        fault = await shop.refused(plan, digest=digest)
        assert fault.kind is Kind.PLAN_DIGEST_MISMATCH
        assert await shop.desk.confirmed() == 0 and not list(shop.root.rglob("*.md"))
    result = await shop.promote(plan, digest=plan.plan_digest)
    assert result.applied and (shop.root / plan.per_file[0].target_path).exists()
    assert await shop.desk.supports(plan.candidate_ids[0]) == {Support.HUMAN_CONFIRMED}


# -------------------------------------------------------------------------------------------------------- item 20


@pytest.fixture
def newer_screen(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """What an update of the program does: one more kind of secret is known."""
    rule = Rule(family="secret.heron-token", pattern=r"heron-[0-9]{8}")

    def update() -> None:
        monkeypatch.setattr(screen, "_SECRETS", Matcher((*SECRETS, *PERSONAL, rule), "secret.flood"))
        monkeypatch.setattr(screen, "_RANK", {**screen._RANK, rule.family: 999})
        screen._known_secrets.cache_clear()

    return update


@pytest.mark.promise("team-20")
async def test_item_20_a_secret_that_is_known_only_since_the_plan_is_not_written(
    shop: Promotions, newer_screen: Callable[[], None]
) -> None:
    plan = await shop.entry_plan("Use heron-12345678 in the staging area.")
    try:
        newer_screen()
        fault = await shop.refused(plan)
        assert fault.kind is Kind.SANITIZATION_BLOCKED and "secret.heron-token" in fault.problem
        assert "heron-…" in fault.problem and "(14 characters)" in fault.problem and "12345678" not in fault.problem
        assert (await shop.stored(plan)).state == "voided"
        assert not (shop.root / plan.per_file[0].target_path).exists()
    finally:
        screen._known_secrets.cache_clear()


@pytest.mark.promise("team-20")
async def test_item_20_a_secret_that_is_known_since_the_review_is_not_planned(
    desk: Desk, newer_screen: Callable[[], None]
) -> None:
    await desk.entry("Use heron-12345678 in the staging area.")
    request = await desk.asked()
    try:
        newer_screen()
        for digest in (request.approval_digest, None):
            fault = await refused(desk, msgspec.structs.replace(request, approval_digest=digest))
            assert fault.kind is Kind.SANITIZATION_BLOCKED and "12345678" not in fault.problem
        assert await desk.confirmed() == 0 and await desk.states() == {}
    finally:
        screen._known_secrets.cache_clear()


@pytest.mark.promise("team-20")
async def test_item_20_a_plan_whose_session_is_gone_by_now_is_not_written(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    shop.desk.citations.reasons[plan.candidate_ids[0]] = "the session or the turn is not there any more"
    assert (await shop.refused(plan)).kind is Kind.BINDING_DRIFT
    assert (await shop.stored(plan)).state == "voided" and not list(shop.root.rglob("*.md"))
