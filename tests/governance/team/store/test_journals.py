"""What is written down of a promotion follows its states, and no others."""

import sqlite3
from collections.abc import Callable, Iterator

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from governance.migrations import queue_steps
from governance.team.contracts.rows import Intent
from governance.team.errors import Kind, TeamFault
from governance.team.store import journals, plans
from tests.support.promoting import NOW, OWNER, PLAN, a_file, a_plan, fails

BEFORE = (journals.Before(data=b"old", mode=0o600), journals.Before(data=None, mode=0o644))


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for script in queue_steps():
        connection.executescript(script)
    plans.put(connection, a_plan(), [a_file("a", b"new", b"old", "write"), a_file("b", b"b", None, "write")], {})
    yield connection
    connection.close()


@pytest.fixture
def begun(database: sqlite3.Connection) -> sqlite3.Connection:
    journals.begin(database, PLAN, BEFORE, ("x", "x/y"), NOW + 1)
    return database


def intents(database: sqlite3.Connection) -> list[Intent]:
    return [file.intent for file in plans.files(database, PLAN)]


def test_at_the_beginning_the_old_bytes_and_the_folders_are_written_down(begun: sqlite3.Connection) -> None:
    plan, (one, two) = plans.needed(begun, PLAN), plans.files(begun, PLAN)

    assert (plan.state, plan.phase, plan.changed_at) == ("applying", "staging", NOW + 1)
    assert (one.old, one.originally_present, one.mode) == (b"old", True, 0o600)
    assert (two.old, two.originally_present, two.mode) == (None, False, 0o644)
    assert journals.folders(begun, PLAN) == ("x", "x/y")


def test_a_plan_begins_once(begun: sqlite3.Connection) -> None:
    assert fails(lambda: journals.begin(begun, PLAN, BEFORE, (), NOW)).kind is Kind.PLAN_STATE_INVALID


@pytest.mark.parametrize(
    ("way", "last"),
    [
        (["mutating"], "done"),
        (["mutating", "staging"], "refused"),
        (["mutating", "mutating"], "refused"),
        (["undoing"], "done"),
        (["undoing", "undoing"], "done"),
        (["mutating", "returning", "returning"], "done"),
        (["undoing", "returning"], "refused"),
        (["returning", "undoing"], "refused"),
        (["undoing", "mutating"], "refused"),
    ],
)
def test_phases_follow_each_other(begun: sqlite3.Connection, way: list[str], last: str) -> None:
    *first, final = way
    for phase in first:
        journals.phase(begun, PLAN, phase)
    if last == "refused":
        assert fails(lambda: journals.phase(begun, PLAN, final)).kind is Kind.PLAN_STATE_INVALID
    else:
        journals.phase(begun, PLAN, final, "why")
        assert (plans.needed(begun, PLAN).phase, plans.needed(begun, PLAN).reason) == (final, "why")


ALLOWED = {
    ("pending", "intent"),
    ("intent", "applied"),
    ("intent", "rolled_back"),
    ("intent", "foreign"),
    ("applied", "rolled_back"),
}
REACHED: dict[str, list[Intent]] = {
    "pending": [],
    "intent": [Intent.INTENT],
    "applied": [Intent.INTENT, Intent.APPLIED],
    "rolled_back": [Intent.INTENT, Intent.ROLLED_BACK],
    "foreign": [Intent.INTENT, Intent.FOREIGN],
}


@pytest.mark.parametrize("to", [one for one in Intent if one is not Intent.PENDING])
@pytest.mark.parametrize("start", list(REACHED))
def test_an_intent_goes_where_the_table_lets_it(begun: sqlite3.Connection, start: str, to: Intent) -> None:
    for one in REACHED[start]:
        journals.intent(begun, PLAN, 0, one)
    if (start, to) in ALLOWED:
        journals.intent(begun, PLAN, 0, to)
        assert intents(begun) == [to, Intent.PENDING]
    else:
        assert fails(lambda: journals.intent(begun, PLAN, 0, to)).kind is Kind.PLAN_STATE_INVALID


def test_applied_is_the_end_and_no_old_bytes_are_left(begun: sqlite3.Connection) -> None:
    journals.applied(begun, PLAN, NOW)

    plan = plans.needed(begun, PLAN)
    assert (plan.state, plan.phase, plan.cleanup) == ("applied", "done", "pending")
    assert [file.old for file in plans.files(begun, PLAN)] == [None, None]
    assert journals.unfinished(begun) == (PLAN,)
    journals.cleaned(begun, PLAN)
    assert journals.unfinished(begun) == ()


def test_returned_it_is_as_before_it_began(begun: sqlite3.Connection) -> None:
    before = plans.files(begun, PLAN)
    journals.intent(begun, PLAN, 0, Intent.INTENT)
    journals.returned(begun, PLAN, NOW)

    plan = plans.needed(begun, PLAN)
    assert (plan.state, plan.phase, plan.cleanup, plan.approved_at) == ("approved", "", "", NOW)
    assert intents(begun) == [Intent.PENDING] * 2
    assert before[0].old == b"old" and plans.files(begun, PLAN)[0].old is None
    assert journals.folders(begun, PLAN) == ()


def test_what_is_unfinished_is_told_by_repository(begun: sqlite3.Connection) -> None:
    assert journals.unfinished(begun, OWNER.repository_key) == (PLAN,)
    assert journals.unfinished(begun, "another") == ()


PHASES = ("staging", "mutating", "undoing", "returning")
FOLLOWS = {
    ("staging", "mutating"),
    *((before, "undoing") for before in ("staging", "mutating", "undoing")),
    *((before, "returning") for before in ("staging", "mutating", "returning")),
}


class Journal(RuleBasedStateMachine):
    """A plan and the intents of its two files, in any order of what may be tried; the model says what may be."""

    def __init__(self) -> None:
        super().__init__()
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        for script in queue_steps():
            self.connection.executescript(script)
        files = [a_file("a", b"new", b"old", "write"), a_file("b", b"b", None, "write")]
        plans.put(self.connection, a_plan(), files, {})
        self.state, self.phase, self.cleanup = "approved", "", ""
        self.intents = ["pending", "pending"]

    def _tried(self, act: Callable[[], object], allowed: bool) -> bool:
        """Done when it is allowed, refused when it is not."""
        try:
            act()
        except TeamFault as fault:
            assert not allowed and fault.kind is Kind.PLAN_STATE_INVALID
            return False
        assert allowed
        return True

    @rule()
    def begin(self) -> None:
        if self._tried(lambda: journals.begin(self.connection, PLAN, BEFORE, (), NOW), self.state == "approved"):
            self.state, self.phase = "applying", "staging"

    @rule(to=st.sampled_from(PHASES))
    def go_to_phase(self, to: str) -> None:
        allowed = self.state == "applying" and (self.phase, to) in FOLLOWS
        if self._tried(lambda: journals.phase(self.connection, PLAN, to), allowed):
            self.phase = to

    @rule(place=st.integers(0, 1), to=st.sampled_from([one for one in Intent if one is not Intent.PENDING]))
    def note(self, place: int, to: Intent) -> None:
        allowed = self.state == "applying" and (self.intents[place], to.value) in ALLOWED
        if self._tried(lambda: journals.intent(self.connection, PLAN, place, to), allowed):
            self.intents[place] = to.value

    @rule()
    def apply(self) -> None:
        if self._tried(lambda: journals.applied(self.connection, PLAN, NOW), self.state == "applying"):
            self.state, self.phase, self.cleanup = "applied", "done", "pending"

    @rule()
    def clean(self) -> None:
        journals.cleaned(self.connection, PLAN)
        self.cleanup = "done" if self.cleanup == "pending" else self.cleanup

    @rule()
    def take_back(self) -> None:
        if self._tried(lambda: journals.returned(self.connection, PLAN, NOW), self.state == "applying"):
            self.state, self.phase, self.intents = "approved", "", ["pending", "pending"]

    @rule()
    def void(self) -> None:
        held = self.state in ("approved", "applying")
        if self._tried(lambda: plans.move(self.connection, PLAN, "voided", NOW), held):
            journals.erase(self.connection, PLAN)
            self.state, self.phase = "voided", ""

    @invariant()
    def the_rows_are_as_the_model_has_them(self) -> None:
        plan, files = plans.needed(self.connection, PLAN), plans.files(self.connection, PLAN)
        assert (plan.state, plan.phase, plan.cleanup) == (self.state, self.phase, self.cleanup)
        assert [file.intent for file in files] == self.intents
        assert (files[0].old is not None) == (self.state == "applying")

    @invariant()
    def what_may_have_left_something_is_unfinished(self) -> None:
        left = self.state in ("approved", "applying") or self.cleanup == "pending"
        assert journals.unfinished(self.connection) == ((PLAN,) if left else ())

    def teardown(self) -> None:
        self.connection.close()


TestJournal = Journal.TestCase
