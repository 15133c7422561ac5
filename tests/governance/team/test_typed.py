"""Facts that are verified without a person."""

import pytest

from governance.team.contracts.rows import EvidenceRow
from governance.team.contracts.staging import Statement
from governance.team.contracts.turns import Commit, Strength, Support, TerminalState
from governance.team.typed import CommandExit, CommitChangedPath, TypedFacts, Unverified, ended, template
from tests.support.team_recall import FakeCommits, FakeHistory, a_bound, a_turn, an_event
from tests.support.team_stage import a_stage, fields, update

HASH, OTHER = "a" * 40, "b" * 40
CHANGED = f"Commit `{HASH}` changed `src/app.py`."
EXITED = "`make test` exited with 0."


def a_row(kind: str, pointer: str, number: int = 1, turn_key: str = "turn-session-a-0") -> EvidenceRow:
    return EvidenceRow(
        evidence_id=f"ev-{number}",
        kind=kind,
        pointer_digest="p",
        display="d",
        pointer=pointer,
        strength=Strength.DIRECT,
        limitations=(),
        turn_key=turn_key,
    )


def a_run(command: str = "make test", state: TerminalState = TerminalState.COMPLETED, said: str = "ok", at: int = 0):
    """A turn that ran a command."""
    return a_turn(
        0,
        an_event("user", "Test it.", at),
        an_event("tool-call", command, at + 1, name="shell", call_id="c1", state=state),
        an_event("tool-result", said, at + 2, name="shell", call_id="c1", state=state),
    )


def of(text: str, *cited: str) -> Statement:
    return Statement(statement_id="s1", text=text, evidence_ids=cited or ("ev-1",))


async def verified(statement: Statement, row: EvidenceRow, *turns, commits=()) -> bool:
    facts = TypedFacts(commits=FakeCommits(*commits), history=FakeHistory(*turns))
    found = await facts.verified(a_bound(), [statement], [row])
    assert found <= {"s1"}
    return bool(found)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (CHANGED, CommitChangedPath(hash=HASH, path="src/app.py")),
        (f"Commit {HASH} changed src/app.py", CommitChangedPath(hash=HASH, path="src/app.py")),
        (EXITED, CommandExit(command="make test", code=0)),
        ("`make test` exited with 2", CommandExit(command="make test", code=2)),
        (f"Commit {HASH[:9]} changed src/app.py.", None),
        (f"The commit {HASH} changed src/app.py.", None),
        (f"{CHANGED} So never touch it.", None),
        ("make test exited with 0.", None),
        ("`make test` passes.", None),
    ],
)
def test_only_the_two_templates_are_read(text, found):
    assert template(text) == found


@pytest.mark.parametrize(
    ("commit", "holds"),
    [
        (Commit(commit=HASH, at=1, paths=("src/app.py",)), True),
        (Commit(commit=HASH, at=1, paths=("src/other.py",)), False),
        (Commit(commit=OTHER, at=1, paths=("src/app.py",)), False),
    ],
)
async def test_a_commit_changed_a_path_when_git_says_so(commit, holds):
    row = a_row("commit", f'{{"at":1,"hash":"{HASH}"}}')
    assert await verified(of(CHANGED), row, commits=[commit]) is holds


async def test_the_commit_has_to_be_cited():
    commit = Commit(commit=HASH, at=1, paths=("src/app.py",))
    other = a_row("commit", f'{{"at":1,"hash":"{OTHER}"}}')
    assert not await verified(of(CHANGED), other, commits=[commit])
    row = a_row("commit", f'{{"at":1,"hash":"{HASH}"}}')
    assert not await verified(of(CHANGED, "ev-9"), row, commits=[commit])


@pytest.mark.parametrize(
    ("run", "text", "holds"),
    [
        pytest.param(a_run(), EXITED, True, id="went well"),
        pytest.param(a_run(), "`make test` exited with 1.", False, id="it did not fail"),
        pytest.param(a_run("make test -v"), EXITED, False, id="another command"),
        pytest.param(a_run("make lint && make test"), EXITED, False, id="part of a command"),
        pytest.param(
            a_run(state=TerminalState.FAILED, said="Exit code 2\nno"),
            "`make test` exited with 2.",
            True,
            id="claude says the code",
        ),
        pytest.param(
            a_run(state=TerminalState.FAILED, said='{"exit_code": 2}'),
            "`make test` exited with 2.",
            True,
            id="codex says the code",
        ),
        pytest.param(
            a_run(state=TerminalState.FAILED, said="Process exited with code 2"),
            "`make test` exited with 2.",
            True,
            id="in words",
        ),
        pytest.param(
            a_run(state=TerminalState.FAILED, said="it failed"), "`make test` exited with 2.", False, id="no code"
        ),
        pytest.param(
            a_run(state=TerminalState.FAILED, said="exit code 2, exit code 3"),
            "`make test` exited with 2.",
            False,
            id="two codes",
        ),
        pytest.param(a_run(state=TerminalState.FAILED, said="exit code 0"), EXITED, False, id="failed with 0"),
        pytest.param(a_run(state=TerminalState.CANCELLED), EXITED, False, id="cancelled"),
    ],
)
async def test_a_command_ended_so_when_the_turn_has_just_this_call(run, text, holds):
    assert await verified(of(text), a_row("turn", "{}"), run) is holds


async def test_a_command_that_was_run_twice_is_no_fact():
    twice = a_turn(
        0,
        an_event("user", "Test it.", 0),
        *(
            an_event(kind, said, 10 * n + m, name="shell", call_id=f"c{n}", state=TerminalState.COMPLETED)
            for n in (1, 2)
            for m, (kind, said) in enumerate([("tool-call", "make test"), ("tool-result", "ok")])
        ),
    )
    assert ended(twice, "make test") == [0, 0]
    assert not await verified(of(EXITED), a_row("turn", "{}"), twice)


async def test_a_turn_that_is_gone_or_changes_verifies_nothing():
    assert not await verified(of(EXITED), a_row("turn", "{}", turn_key="turn-gone"), a_run())
    assert not await verified(of(EXITED), a_row("turn", "{}", turn_key=""), a_run())
    history = FakeHistory(a_run())
    history.changes.append(a_run(said="other"))
    facts = TypedFacts(commits=FakeCommits(), history=history)
    assert await facts.verified(a_bound(), [of(EXITED)], [a_row("turn", "{}")]) == frozenset()


async def test_without_it_every_statement_waits_for_a_person():
    assert await Unverified().verified(a_bound(), [of(EXITED)], [a_row("turn", "{}")]) == frozenset()


async def test_stage_writes_down_what_was_verified_of_drafts_and_of_merged_statements(tmp_path):
    async with a_stage(tmp_path, a_run(), a_turn(1), a_turn(2)) as stage:
        object.__setattr__(stage.staging, "facts", TypedFacts(commits=FakeCommits(), history=stage.recalled.history))
        old = stage.approve("`make test` is slow.")
        task = await stage.draft(EXITED, "Something about herons.")
        first, second = (one.draft_ref for one in task.drafts)
        cited = task.drafts[0].statements[0].evidence_ids
        merged = fields((EXITED, cited), ("It is slow.", [f"target:{old}/content"]))
        await stage.adjudicate(task, update(second, old, merged))
        assert [one.support for one in await stage.assessments(first)] == [Support.TYPED_FACT]
        assert [one.support for one in await stage.assessments(second)] == [Support.TYPED_FACT, Support.UNVERIFIED]
