"""A view of one scope alone."""

from host.views import only
from recall.contracts import Scope, ScopeRef, visible


def test_it_sees_its_scope_and_no_other() -> None:
    mine, other = (ScopeRef(kind=Scope.WORKSPACE, key=key) for key in ("ws_1", "ws_2"))
    user = ScopeRef(kind=Scope.USER, key="user")

    assert visible(mine, only(mine)) and visible(user, only(user))
    assert not visible(other, only(mine)) and not visible(user, only(mine)) and not visible(mine, only(user))
    assert not visible(mine, only(ScopeRef(kind=Scope.SESSION, key="ws_1")))
