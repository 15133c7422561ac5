"""Candidates and our assessments of them, stored."""

import sqlite3

import msgspec
import pytest

from governance.migrations import queue_steps
from governance.team.binding import Place, bound_of
from governance.team.contracts.base import Owner
from governance.team.contracts.rows import Assessment, Candidate, CandidateState, Cited, Target
from governance.team.contracts.turns import Strength, Support
from governance.team.errors import Kind, TeamFault
from governance.team.store import bindings, candidates, texts
from governance.team.store.candidates import Wanted
from governance.team.store.texts import Source
from tests.support.fakes import FakeDatabase
from tests.support.team_recall import FORMATS, INSTALLATION

HERE, THERE = Owner(repository_key="r", worktree_key="w1"), Owner(repository_key="r", worktree_key="w2")


@pytest.fixture
def connection():
    return FakeDatabase(queue_steps()).connection


def a_candidate(number: int = 1, task: str = "extract-1", owner: Owner = HERE, **fields) -> Candidate:
    given = {
        "candidate_id": f"{task}-c{number}",
        "kind": "entry",
        "task_id": task,
        "owner": owner,
        "state": CandidateState.DRAFT,
        "revision": 1,
        "memory_id": f"mem_{number}",
        "target_path": "e/1.md",
        "payload": "{}",
        "created_at": 5,
        "changed_at": 5,
    }
    return Candidate(**(given | fields))


def an_assessment(statement_id: str = "s1", **fields) -> Assessment:
    given = {
        "statement_id": statement_id,
        "revision": 1,
        "citations": (Cited(evidence_id="ev-1", pointer_digest="p", task_id="t"),),
        "citations_digest": "c",
        "text_digest": "x",
        "strength": Strength.OBSERVED,
        "limitations": ("source-local-only",),
        "support": Support.UNVERIFIED,
    }
    return Assessment(**(given | fields))


def moved(candidate: Candidate, state: CandidateState, **fields) -> Candidate:
    return msgspec.structs.replace(candidate, state=state, revision=candidate.revision + 1, **fields)


def test_a_candidate_reads_back_as_it_was_written(connection):
    one = a_candidate(
        flags=("quarantined",),
        supersedes=(Target(source_kind="approved", id="m", revision="d"),),
        covers=(Target(source_kind="private", id="n"),),
    )
    candidates.insert(connection, one, [an_assessment("b"), an_assessment("a")], "heron")
    assert candidates.get(connection, one.candidate_id) == one
    assert [made.statement_id for made in candidates.assessments(connection, one.candidate_id)] == ["a", "b"]
    assert candidates.assessments(connection, one.candidate_id)[1] == an_assessment("b")
    with pytest.raises(sqlite3.IntegrityError):
        candidates.insert(connection, one, [])


def test_only_its_worktree_has_it(connection):
    candidates.insert(connection, a_candidate(), [])
    assert candidates.owned(connection, HERE, "extract-1-c1")
    for owner, name in ((THERE, "extract-1-c1"), (HERE, "extract-1-c9")):
        with pytest.raises(TeamFault) as fault:
            candidates.owned(connection, owner, name)
        assert fault.value.kind is Kind.CANDIDATE_NOT_FOUND


def test_lists_are_filtered_and_in_the_order_of_their_making(connection):
    for number in (10, 2, 1):
        candidates.insert(connection, a_candidate(number), [])
    candidates.insert(connection, a_candidate(1, "extract-0", created_at=1, kind="skill"), [])
    candidates.insert(connection, a_candidate(1, "extract-2", owner=THERE), [])
    ids = [one.candidate_id for one in candidates.listed(connection, HERE, Wanted())]
    assert ids == ["extract-0-c1", "extract-1-c1", "extract-1-c2", "extract-1-c10"]
    assert len(candidates.listed(connection, HERE, Wanted(kinds=("skill",)))) == 1
    assert len(candidates.listed(connection, HERE, Wanted(ids=("extract-1-c2", "none")))) == 1
    assert candidates.listed(connection, HERE, Wanted(states=(CandidateState.STAGED,))) == ()
    assert candidates.count(connection, HERE, Wanted(limit=1)) == 4
    assert len(candidates.listed(connection, HERE, Wanted(limit=1))) == 1
    assert candidates.next_number(connection, "extract-1") == 11
    assert candidates.next_number(connection, "extract-9") == 1
    assert candidates.counts(connection, HERE) == {"draft": 4}


def test_candidates_of_the_repositorys_other_bindings_are_counted_and_no_strangers(connection):
    def bind(root: str, inode: int, remote: str | None, common: str = "") -> Owner:
        place = Place(
            root=root, common=common or f"{root}/.git", device=1, inode=inode, remote=remote, workspace_key="ws_1"
        )
        bound = bound_of(place, INSTALLATION.secret, FORMATS)
        bindings.put(connection, bound, 1)
        return bound.owner

    remote = "git@code.example:org/project.git"
    here = bind("/new", 7, remote)
    others = {
        "worktree": bind("/tree", 7, remote, common="/new/.git"),
        "moved": bind("/old", 7, None),
        "another clone": bind("/clone", 8, remote),
        "stranger": bind("/stranger", 9, "git@code.example:org/other.git"),
        "nameless stranger": bind("/nameless", 10, None),
    }
    for number, owner in enumerate(others.values()):
        candidates.insert(connection, a_candidate(1, f"extract-{number}", owner=owner), [])
    assert candidates.elsewhere(connection, here) == {"draft": 3}
    assert candidates.elsewhere(connection, others["nameless stranger"]) == {}


def test_every_change_is_one_revision_and_one_generation(connection):
    one = a_candidate()
    candidates.insert(connection, one, [], "heron")
    before = candidates.projection(connection, HERE).generation
    staged = candidates.change(connection, moved(one, CandidateState.STAGED, changed_at=6), "gateway")
    assert candidates.get(connection, one.candidate_id) == staged
    assert candidates.projection(connection, HERE).generation == before + 1
    assert [hit.candidate_id for hit in candidates.search(connection, HERE, ["gateway"], 5)] == [one.candidate_id]
    assert candidates.search(connection, HERE, ["heron"], 5) == ()
    candidates.change(connection, moved(staged, CandidateState.STAGED))
    assert candidates.search(connection, HERE, ["gateway"], 5)
    assert candidates.projection(connection, HERE).generation == before + 2


@pytest.mark.parametrize(
    "to",
    [
        pytest.param(lambda one: msgspec.structs.replace(one, revision=1), id="the same revision"),
        pytest.param(lambda one: msgspec.structs.replace(one, revision=3), id="one too far"),
        pytest.param(lambda one: moved(one, CandidateState.PROMOTED), id="a draft is not promoted"),
        pytest.param(
            lambda one: msgspec.structs.replace(moved(one, CandidateState.STAGED), candidate_id="x"), id="another"
        ),
    ],
)
def test_a_change_of_what_is_not_so_any_more_is_refused(connection, to):
    one = a_candidate()
    candidates.insert(connection, one, [])
    with pytest.raises(TeamFault) as fault:
        candidates.change(connection, to(one))
    assert fault.value.kind is Kind.CANDIDATE_STALE
    assert candidates.get(connection, one.candidate_id) == one


@pytest.mark.parametrize("end", [CandidateState.PROMOTED, CandidateState.DISCARDED])
def test_what_has_ended_is_searched_no_more_and_stays_so(connection, end):
    one = a_candidate(state=CandidateState.STAGED)
    candidates.insert(connection, one, [], "heron")
    ended = candidates.change(connection, moved(one, end))
    assert texts.items(connection, "w1", Source.CANDIDATE) == frozenset()
    for state in CandidateState:
        with pytest.raises(TeamFault):
            candidates.change(connection, moved(ended, state))
    found = candidates.of_memory(connection, THERE, one.memory_id)
    assert (found is not None) == (end is CandidateState.PROMOTED)


def test_a_person_confirms_all_but_what_was_verified_by_itself(connection):
    candidates.insert(connection, a_candidate(), [an_assessment("a"), an_assessment("b", support=Support.TYPED_FACT)])
    candidates.confirm(connection, ["extract-1-c1"], 9)
    first, second = candidates.assessments(connection, "extract-1-c1")
    assert (first.support, first.confirmed_at, first.revision) == (Support.HUMAN_CONFIRMED, 9, 2)
    assert (second.support, second.confirmed_at) == (Support.TYPED_FACT, None)
    candidates.assess(connection, "extract-1-c1", [an_assessment("c")])
    assert [one.statement_id for one in candidates.assessments(connection, "extract-1-c1")] == ["c"]


def test_search_leaves_out_what_is_named_and_still_gives_the_limit(connection):
    for number in range(1, 5):
        candidates.insert(connection, a_candidate(number), [], "heron")
    found = candidates.search(connection, HERE, ["heron"], 2, but=["extract-1-c1"])
    assert [one.candidate_id for one in found] == ["extract-1-c2", "extract-1-c3"]


@pytest.mark.parametrize("column", ["flags", "supersedes", "covers", "state"])
def test_a_row_that_cannot_be_read_is_told(connection, column):
    candidates.insert(connection, a_candidate(), [an_assessment()])
    connection.execute(f"UPDATE team_candidate SET {column} = '?'")
    connection.execute("UPDATE team_assessment SET citations = '?'")
    for read in (candidates.get, candidates.assessments):
        with pytest.raises(TeamFault) as fault:
            read(connection, "extract-1-c1")
        assert fault.value.kind is Kind.STATE_CORRUPT


def test_another_analyzer_is_noticed(connection):
    candidates.insert(connection, a_candidate(), [], "heron")
    assert not candidates.outdated(connection, HERE)
    connection.execute("UPDATE team_projection SET analyzer_version = 'old'")
    assert candidates.outdated(connection, HERE)
