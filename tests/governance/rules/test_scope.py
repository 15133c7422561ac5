"""A memory is shown only where its scope admits the audience."""

import pytest

from governance.rules.scope import scope
from recall.contracts import Scope, ScopeRef
from tests.support.audience import an_audience
from tests.support.builders import SESSION, WORKSPACE, a_candidate, a_user_scope
from tests.support.clock import START


@pytest.mark.promise("no-leak")
@pytest.mark.parametrize(
    ("kind", "key", "shown"),
    [
        (Scope.WORKSPACE, WORKSPACE, True),
        (Scope.WORKSPACE, "ws_" + "b" * 32, False),
        (Scope.WORKSPACE, "", False),
        (Scope.SESSION, SESSION, True),
        (Scope.SESSION, "session-11", False),
        (Scope.USER, "user", True),
        (Scope.USER, "somebody", False),
        (Scope.TURN, "turn-1", False),
        (Scope.EXTERNAL, "wiki", False),
    ],
)
def test_a_scope_admits_its_own_key_alone(kind: Scope, key: str, shown: bool) -> None:
    candidate = a_candidate(scope=ScopeRef(kind=kind, key=key))
    assert (scope(candidate, an_audience(), START) is None) is shown


def test_a_scope_that_admits_is_no_objection() -> None:
    assert scope(a_candidate(scope=a_user_scope()), an_audience(), START) is None
