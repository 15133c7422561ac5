"""When a running session is formed in batches (formation.md 6). Pure.

Early on there is most to learn and little to read, so it is done after the first, second and fourth turn of the user,
and from then on after every fifth; and when a session has been idle for ten minutes.
"""

FIRST = (1, 2, 4)
EVERY = 5
IDLE_MS = 600_000


def due(turns: int, formed: int, idle_ms: int = 0) -> bool:
    """Whether it is time. `turns`: of the user, so far in the session; `formed`: how many there were when it was done
    last, 0 if never; `idle_ms`: since the session's last event."""
    if turns <= formed:
        return False
    return idle_ms >= IDLE_MS or mark(turns) > formed


def mark(turns: int) -> int:
    """The last turn, of so many, after which it is done; 0: none yet."""
    last = FIRST[-1]
    if turns >= last:
        return last + (turns - last) // EVERY * EVERY
    return max((turn for turn in FIRST if turn <= turns), default=0)
