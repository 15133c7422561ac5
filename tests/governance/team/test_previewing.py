"""Each candidate is judged by itself, and what can be written is told from what cannot."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from governance.team import previewing
from governance.team.approving import Judged
from governance.team.contracts.rows import CandidateState, Target
from governance.team.errors import Kind, TeamFault
from governance.team.previewing import Preview
from tests.support.team_review import Desk, a_desk, assess, statements_of


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with a_desk(tmp_path) as opened:
        yield opened


async def preview(desk: Desk, *texts: str, most: int = 50) -> Preview:
    asked = [await desk.entry(text) for text in texts]
    tree = await desk.previewing.tree(desk.bound)
    return await desk.previewing.of(desk.bound, asked, tree, most)


async def test_what_is_too_much_for_one_approval_is_the_rest(desk: Desk) -> None:
    found = await preview(desk, "Tag every release.", "Publish from the branch.", "Run the tests first.", most=2)
    assert (len(found.items), len(found.rest), len(found.files)) == (2, 1, 2)
    assert [file.target_path for file in found.files] == sorted(file.target_path for file in found.files)


async def test_items_that_are_too_large_together_do_not_all_fit(desk: Desk) -> None:
    large = ["\n".join(f"- Rule {number} of part {part} is kept." for number in range(1_500)) for part in range(4)]
    found = await preview(desk, *large)
    assert len(found.items) == 4
    tree = await desk.previewing.tree(desk.bound)
    assert previewing.fits(found.files, tree)
    assert not previewing.fits(found.files * 40, tree)


async def test_a_blocked_item_is_broken_and_still_told_to_a_reader(desk: Desk) -> None:
    found = await preview(desk, "The password is in `ghp_" + "a1B2" * 9 + "`.", "Tag every release.")
    assert [one.kind for one in found.broken] == ["sanitization-blocked"]
    assert len(found.blocked) == 1 and len(found.items) == 1


async def test_a_candidate_is_sound_when_staged_assessed_and_cited(desk: Desk) -> None:
    candidate = desk.an_entry("Tag every release.")
    judged = Judged(candidate=candidate, assessments=tuple(map(assess, statements_of(candidate))))
    previewing.sound(judged, {})
    promoted = msgspec.structs.replace(
        judged, candidate=msgspec.structs.replace(candidate, state=CandidateState.PROMOTED)
    )
    other = msgspec.structs.replace(judged, assessments=())
    reason = {candidate.candidate_id: "the session is gone."}
    for one, drifted, kind in (
        (promoted, {}, Kind.CANDIDATE_STALE),
        (other, {}, Kind.ASSESSMENT_NOT_FOUND),
        (judged, reason, Kind.BINDING_DRIFT),
    ):
        with pytest.raises(TeamFault) as refused:
            previewing.sound(one, drifted)
        assert refused.value.kind is kind


async def test_a_successor_whose_predecessor_is_gone_is_broken_and_the_others_are_not(desk: Desk) -> None:
    target = Target(source_kind="approved", id="mem_" + "7" * 32)
    lost = await desk.stage(desk.an_entry("Publish from a tag.", target))
    good = await desk.entry("Tag every release.")
    tree = await desk.previewing.tree(desk.bound)
    found = await desk.previewing.of(desk.bound, (lost, good), tree, 50)
    assert [(one.candidate_id, one.kind) for one in found.broken] == [(lost.candidate_id, "candidate-stale")]
    assert found.broken[0].revision == lost.revision  # to discard it
    assert [item.judged.candidate for item in found.items] == [good]


async def test_candidates_are_read_again_as_they_are_stored(desk: Desk) -> None:
    candidate = await desk.entry("Tag every release.")
    ids = (candidate.candidate_id,)
    (judged,) = await desk.database.read(lambda connection: previewing.judged_now(connection, ids))
    assert judged.candidate == candidate and len(judged.assessments) == 1
    with pytest.raises(TeamFault) as refused:
        await desk.database.read(lambda connection: previewing.judged_now(connection, ("extract-none-c1",)))
    assert refused.value.kind is Kind.CANDIDATE_NOT_FOUND


async def test_the_name_of_a_session_that_is_known_here_keeps_an_entry_out(desk: Desk) -> None:
    session_id = "0199a213-5c1f-7d1e-8b0a-0d2f5e6a7b8c"
    added = "INSERT INTO team_session (session_key, session_id, extent, facts, seen_at) VALUES (?, ?, '', '{}', 0)"
    await desk.execute(added, "session-" + "a" * 24, session_id)
    await desk.execute(added, "session-" + "b" * 24, "publish")
    found = await preview(desk, f"See {session_id} on how to publish.", "Tell how to publish.")
    assert [one.kind for one in found.broken] == ["sanitization-blocked"]
    assert "session-id" in found.broken[0].problem and session_id not in found.broken[0].problem
    assert len(found.items) == 1
