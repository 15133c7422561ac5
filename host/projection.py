"""What of the runtime context has to be said in this context window, compared with what it shows already. Pure.

The same as before: nothing. Something else: one message that says that it replaces the former. Nothing any more: one
fixed message. Never anything: nothing. What begins a window is not told twice either: records that it shows already
are left out, and when all of them are, there is nothing to say, though what is in view counts as shown from then on.
"""

from collections.abc import Sequence, Set

from host.contracts import Context
from host.maintained import Line, Maintained, listed

BEGINS = "Kept in view from here on, by title:"
REPLACES = "Kept in view now, in place of all that was kept in view before:"
CLEARED = "Nothing is kept in view any more: what was pinned or in use before is not now."


def project(visible: str | None, now: Maintained, held: Set[str] = frozenset()) -> Context | None:
    """What is to be said; None: nothing.

    `visible`: the state that the window shows, None if it never showed any. `held`: memory ids of what it holds in
    full, or will with the same packet. A Context without text: all is held.
    """
    if visible == now.state or (visible is None and not now.lines):
        return None
    if not now.lines:
        return Context(state=now.state, text=CLEARED)
    if visible is not None:
        return _said(REPLACES, now.lines, now)
    left = [line for line in now.lines if line.record is None or line.record.memory_id not in held]
    return _said(BEGINS, left, now) if left else Context(state=now.state)


def _said(lead: str, lines: Sequence[Line], now: Maintained) -> Context:
    return Context(
        state=now.state,
        text=f"{lead}\n{listed(lines, more=now.more)}",
        records=tuple(line.record for line in lines if line.record is not None),
    )
