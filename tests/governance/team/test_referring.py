"""The evidence beside a statement says when and by which words, and nothing of this machine."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.team.contracts.ports import Private
from governance.team.contracts.rows import Target
from governance.team.contracts.turns import Turn, TurnContent
from governance.team.errors import Kind, TeamFault
from governance.team.referring import Referring
from tests.support.team_recall import FakeHistory
from tests.support.team_review import Desk, a_desk, a_turn, an_evidence
from tests.support.team_stage import FakePrivates


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with a_desk(tmp_path) as opened:
        yield opened


class Changing(FakeHistory):
    """Turns that change whenever they are read."""

    async def content(self, turn: Turn) -> TurnContent:
        raise TeamFault(Kind.PAYLOAD_CHANGED, "It changed.", "Again.")


async def test_turns_commits_and_paths_are_told_with_their_dates_and_without_this_machine(desk: Desk) -> None:
    candidate = await desk.entry("Publish only from the release branch.")
    commit = an_evidence(
        evidence_id="ev-2-b", kind="commit", display="commit abc", pointer='{"hash":"abc","at":1794528000000}'
    )
    path = an_evidence(evidence_id="ev-3-c", kind="path", display=f"{desk.bound.root}/a.py", pointer='{"path":"a.py"}')
    desk.citations.rows[candidate.candidate_id] = {"s1": (an_evidence(), commit, path)}
    said = f"We publish from /home/anna/app and {desk.bound.root}/release alone."
    history = FakeHistory(a_turn(("user", said)))
    found = await Referring(desk.citations, history, FakePrivates()).of(desk.bound, [candidate])
    turn, committed, touched = found[candidate.candidate_id]["s1"]
    assert (turn.at, turn.quote) == ("2026-11-12", "We publish from ~/app and release alone.")
    assert (committed.at, committed.quote) == ("2026-11-13", None)
    assert (touched.at, touched.display) == (None, "a.py")


async def test_a_turn_that_is_gone_or_changes_is_told_without_a_quote(desk: Desk) -> None:
    candidate = await desk.entry("Publish only from the release branch.")
    desk.citations.rows[candidate.candidate_id] = {"s1": (an_evidence(),)}
    said = a_turn(("user", "Publish from the branch."))
    for history in (FakeHistory(), Changing(said)):
        found = await Referring(desk.citations, history, FakePrivates()).of(desk.bound, [candidate])
        assert [one.quote for one in found[candidate.candidate_id]["s1"]] == [None]


async def test_a_statement_without_evidence_has_none(desk: Desk) -> None:
    candidate = await desk.entry("Publish only from the release branch.")
    found = await Referring(desk.citations, FakeHistory(), FakePrivates()).of(desk.bound, [candidate])
    assert found == {candidate.candidate_id: {"s1": ()}}


async def test_what_the_users_own_records_say_is_told_of_those_that_would_be_replaced(desk: Desk) -> None:
    own = Target(source_kind="private", id="mem_own", revision="r")
    gone = Target(source_kind="private", id="mem_gone", revision="r")
    shared = Target(source_kind="approved", id="mem_shared", revision="r")
    candidate = await desk.stage(desk.an_entry("Tag releases.", own, gone, shared))
    privates = FakePrivates(
        Private(memory_id="mem_own", text="Never publish from main: see /home/anna/notes.", revision="r"),
        Private(memory_id="mem_shared", text="Another one.", revision="r"),
    )
    found = await Referring(desk.citations, FakeHistory(), privates).replaced(desk.bound, candidate)
    assert found == {"mem_own": "Never publish from main: see ~/notes."}
