"""A review shows every item whole, and the exact files that a yes would write."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.team.approving import approval_digest
from governance.team.contracts.ports import Private
from governance.team.contracts.rows import Target
from governance.team.errors import Kind, TeamFault
from governance.team.reviewing import MOST_REPLACED, REPLACES
from recall.canonical import bytes_digest, text_digest
from recall.team_entry import Entry, parse, render
from tests.support.team_entries import an_entry, path_of, write_entry
from tests.support.team_recall import FakeHistory
from tests.support.team_review import EVIDENCE, USER, Desk, a_desk, a_turn, an_evidence

SAID = "it failed because we published from main"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with a_desk(tmp_path) as opened:
        yield opened


async def test_an_item_is_shown_whole_with_what_it_rests_on_and_the_file_that_it_would_be(desk: Desk) -> None:
    candidate = await desk.entry("Publish only from the release branch; trusted publishing only.", scene="Release")
    desk.citations.rows[candidate.candidate_id] = {"s1": (an_evidence(),)}
    desk.history = FakeHistory(a_turn(("user", "Hello."), ("user", f"Last week {SAID}. See /home/anna/x.")))
    review = await desk.review()
    (item,) = review.items
    assert (item.revision, item.type, item.strength, item.support) == (2, "work_method", "direct", "unverified")
    assert item.payload == candidate.payload and item.flags == () and review.broken == ()
    (statement,) = item.statements
    assert statement.statement_text_digest == text_digest(statement.text)
    (reference,) = statement.evidence
    assert (reference.evidence_id, reference.at) == (EVIDENCE, "2026-11-12")
    assert reference.quote == f"Last week {SAID}."
    assert review.approval is not None
    (change,) = review.approval.changes
    assert change.target_path == candidate.target_path and change.content is not None
    written = parse(change.content.encode())
    assert isinstance(written, Entry)
    assert (written.id, written.claim_support, written.scene) == (candidate.memory_id, "human-confirmed", "Release")
    assert written.occurred == ("2026-11-12",)
    assert change.diff.startswith(f"--- /dev/null\n+++ b/{candidate.target_path}\n@@ -0,0 +1,17 @@\n+---\n+id: mem_")


async def test_a_review_changes_nothing_and_says_the_same_twice(desk: Desk) -> None:
    await desk.entry("Publish only from the release branch.")
    before = sorted(desk.root.rglob("*"))
    first, second = await desk.review(), await desk.review()
    assert first == second
    assert sorted(desk.root.rglob("*")) == before and await desk.confirmed() == 0


async def test_an_update_shows_both_files_and_the_old_one_differs_in_two_lines(desk: Desk) -> None:
    old = an_entry("Publish from main.")
    write_entry(desk.root, old)
    target = Target(source_kind="approved", id=old.id, revision=bytes_digest(render(old)))
    candidate = await desk.stage(desk.an_entry("Publish only from the release branch.", target))
    approval = (await desk.review()).approval
    assert approval is not None
    changes = {change.target_path: change for change in approval.changes}
    assert set(changes) == {candidate.target_path, path_of(old)}
    lines = changes[path_of(old)].diff.splitlines()[2:]
    removed = [line for line in lines if line.startswith("-")]
    assert removed == ["-status: approved", "-superseded_by: null"]
    assert f"+superseded_by: {candidate.memory_id}" in lines


async def test_nothing_staged_is_said_so(desk: Desk) -> None:
    review = await desk.review()
    assert (review.items, review.approval, review.note) == ((), None, "Nothing is staged.")


async def test_a_person_at_the_terminal_confirms_there(desk: Desk) -> None:
    await desk.entry("Publish only from the release branch.")
    approval = (await desk.review(call=USER)).approval
    assert approval is not None and approval.prepare_request.confirmation.via == "terminal"
    assert (await desk.asked()).confirmation.via == "chat"


async def test_the_digest_is_of_the_approval_that_is_kept_and_of_nothing_else(desk: Desk) -> None:
    await desk.entry("Publish only from the release branch.")
    request = await desk.asked()
    assert request.approval_digest is not None
    kept = desk.approvals.get(request.approval_digest)
    assert kept is not None and approval_digest(kept) == request.approval_digest
    assert kept.format == "remora-pre-approval@v1" and kept.policy_version == "sanitize-pre@1"


async def test_51_items_are_listed_and_50_of_them_can_be_approved_at_a_time(desk: Desk) -> None:
    for number in range(51):
        await desk.entry(f"Rule number {number} is kept by all.")
    review = await desk.review()
    assert len(review.items) == 51
    assert review.approval is not None and len(review.approval.prepare_request.candidates) == 50
    assert review.note == "50 of 51 items are in the approval."


async def test_201_items_are_counted_and_200_are_listed(desk: Desk) -> None:
    for number in range(201):
        await desk.entry(f"Rule number {number} is kept by all.")
    review = await desk.review()
    assert (len(review.items), review.more) == (200, 1)


async def test_a_name_that_is_none_is_refused_and_a_name_of_another_kind_is_reported(desk: Desk) -> None:
    entry = await desk.entry("Publish only from the release branch.")
    skill = await desk.stage(desk.a_skill("release", "Push the tag, then wait."))
    with pytest.raises(TeamFault) as refused:
        await desk.review(ids=["extract-none-c1"])
    assert refused.value.kind is Kind.CANDIDATE_NOT_FOUND
    review = await desk.review(ids=[entry.candidate_id, skill.candidate_id])
    assert [item.candidate_id for item in review.items] == [entry.candidate_id]
    assert [(one.candidate_id, one.kind) for one in review.broken] == [(skill.candidate_id, "candidate-kind-mismatch")]


async def test_two_items_that_write_one_file_are_not_in_one_approval(desk: Desk) -> None:
    old = an_entry("Publish from main.")
    write_entry(desk.root, old)
    target = Target(source_kind="approved", id=old.id)
    first = await desk.stage(desk.an_entry("Publish only from the release branch.", target))
    second = await desk.stage(desk.an_entry("Publish from a tag alone.", target))
    review = await desk.review()
    assert [item.candidate_id for item in review.items] == [first.candidate_id]
    assert [(one.candidate_id, one.kind) for one in review.broken] == [(second.candidate_id, "candidate-stale")]


async def test_what_is_in_an_approved_plan_does_not_keep_the_rest_from_approval(desk: Desk) -> None:
    first = await desk.entry("Publish only from the release branch.")
    plan = await desk.prepare(await desk.asked())
    assert (await desk.asked()).approval_digest == plan.approval_digest  # alone, it is what was approved
    second = await desk.entry("Tag every release.")
    review = await desk.review()
    assert review.approval is not None
    assert [one.candidate_id for one in review.approval.prepare_request.candidates] == [second.candidate_id]
    assert [(one.candidate_id, one.kind) for one in review.broken] == [(first.candidate_id, "plan-state-invalid")]
    assert plan.plan_id in review.broken[0].problem
    assert review.broken[0].revision == 0  # what a plan holds cannot be discarded


async def test_a_tree_that_cannot_be_read_whole_is_not_reviewed(desk: Desk) -> None:
    await desk.entry("Publish only from the release branch.")
    whole = desk.read(desk.bound)
    desk.read = lambda _: type(whole)(folder=whole.folder, complete=False, problem="a folder could not be read.")
    with pytest.raises(TeamFault) as refused:
        await desk.review()
    assert refused.value.kind is Kind.SYNC_PARTIAL


async def test_a_secret_is_shown_as_broken_by_six_characters_and_its_length(desk: Desk) -> None:
    secret = "ghp_" + "a1B2" * 9
    await desk.entry(f"Use the token {secret} to publish.")
    good = await desk.entry("Tag every release.")
    review = await desk.review()
    (broken,) = review.broken
    assert broken.kind == "sanitization-blocked" and "secret.github-token" in broken.problem
    assert "ghp_a1" in broken.problem and "(40 characters)" in broken.problem and secret not in broken.problem
    assert review.approval is not None
    assert [one.candidate_id for one in review.approval.prepare_request.candidates] == [good.candidate_id]


async def test_a_skill_is_shown_with_its_name_and_file(desk: Desk) -> None:
    await desk.stage(desk.a_skill("release", "Push the tag, then wait."))
    review = await desk.review("skill")
    assert review.items[0].content == "create release: How to do it.\n\nPush the tag, then wait."
    assert review.approval is not None
    (change,) = review.approval.changes
    assert change.target_path == ".remora-pre/memory/skills/release/SKILL.md"


async def test_what_is_cited_and_has_no_row_is_told_by_its_name(desk: Desk) -> None:
    candidate = await desk.entry("Publish only from the release branch.")
    (statement,) = (await desk.review()).items[0].statements
    assert [(one.kind, one.display) for one in statement.evidence] == [("record", EVIDENCE)]
    desk.citations.rows[candidate.candidate_id] = {"s1": (an_evidence(),)}
    (statement,) = (await desk.review()).items[0].statements
    assert [(one.kind, one.display) for one in statement.evidence] == [("turn", "turn 1, claude-code")]


async def test_what_the_users_own_record_says_is_shown_when_it_would_hold_no_more(desk: Desk) -> None:
    """No file shows it: a yes to other words must not take it away unseen."""
    own = Target(source_kind="private", id="mem_own", revision="r")
    said = f"Never publish\u200b from main. {'x' * MOST_REPLACED}"
    desk.privates.records["mem_own"] = Private(memory_id="mem_own", text=said, revision="r")
    await desk.stage(desk.an_entry("Tag releases.", own))
    (item,) = (await desk.review()).items
    (flag,) = item.flags
    assert flag.code == REPLACES
    assert "mem_own" in flag.detail and "Never publish⟦U+200B⟧ from main." in flag.detail
    assert flag.detail.endswith(f"” and {len(said) - MOST_REPLACED} more characters")
