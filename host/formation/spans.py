"""The spans of a session that its user denied: what was done incognito, or while the workspace was off."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from governance.formation.contracts import Barrier
from host.runtime import SESSION_SET, Wish
from recall.contracts import EventEnvelope

Asleep = Callable[[EventEnvelope], bool]  # whether its workspace was off when it came
_wish = msgspec.json.Decoder(Wish)


def denied(events: Iterable[EventEnvelope], asleep: Asleep, last: int) -> tuple[Barrier, ...]:
    """The spans, merged, in order; both ends are inside. `events`: of one session, in order: at least its messages and
    what its user set. `last`: the session's last event; a span that nothing ended reaches to it."""
    spans: list[tuple[int, int]] = []
    since, session_id = 0, ""  # since: where incognito began, 0: it is not on
    slept = 0
    for event in events:
        session_id, seq = event.session_id, event.event_seq
        if event.event_type == SESSION_SET:
            wished = _incognito(event)
            if wished and not since:
                since = seq
            elif wished is False and since:
                spans.append((since, seq))
                since = 0
        elif asleep(event):
            slept = slept or seq
            spans.append((slept, seq))
        else:
            slept = 0
    if since:
        spans.append((since, max(last, since)))
    return tuple(Barrier(session_id=session_id, from_seq=one, through_seq=end) for one, end in _merged(spans))


def within(seq: int, spans: Sequence[Barrier]) -> bool:
    """Whether an event lies in one of the spans."""
    return any(one.from_seq <= seq <= one.through_seq for one in spans)


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((begin, end))
    return merged


def _incognito(event: EventEnvelope) -> bool | None:
    try:
        return _wish.decode(event.payload).incognito
    except msgspec.DecodeError:
        return None
