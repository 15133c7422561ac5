"""Who sees a scope when nobody's session asks (pure)."""

from recall.contracts import RuntimeScope, Scope, ScopeRef


def only(scope: ScopeRef) -> RuntimeScope:
    """A view that sees just this scope."""
    workspace, user = (scope.key if scope.kind is kind else "" for kind in (Scope.WORKSPACE, Scope.USER))
    return RuntimeScope(session_id="", agent_id="", workspace=workspace, user=user)
