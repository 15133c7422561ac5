"""The calls of one exchange with the daemon: which is next, and what becomes of those that it did not take. Pure."""

from collections import deque
from collections.abc import Iterable, Sequence

import msgspec

from host.inprocess.talk import Call
from recall.contracts import EventEnvelope

KEPT_BYTES = 8 * 1024 * 1024  # of all that waits for a daemon
CALL_BYTES = 1_024  # of a call, its events left out
PASSING = frozenset({"store-unavailable", "too-many-connections"})  # refusals of now, not of what was said
ENDING = frozenset({"frame-too-large", "internal"})  # refusals after which the connection is closed

# What is true later, too. What a hook tells, the daemon finds in the product's own transcript.
TELLING = frozenset({"step", "event.append", "inbox.delivered", "inbox.release"})


class Outbox:
    """Calls in their order. `answer`: of the last one, once it came; `problem`: what the daemon objected to last."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self.answer: msgspec.Raw | None = None
        self.problem = ""
        self._waiting = deque(calls)
        self._later: list[Call] = []
        self._ended = False

    def next(self) -> Call | None:
        """The call to make now; None: there is none, or nobody listens any more."""
        if self._ended or not self._waiting:
            return None
        self.answer = None
        return self._waiting[0]

    def answered(self, answer: msgspec.Raw) -> None:
        """The call was taken."""
        self._waiting.popleft()
        self.answer = answer

    def refused(self, kind: str, problem: str) -> None:
        """The call was not taken. Events that were refused for one of them are told one by one."""
        call = self._waiting.popleft()
        self.problem = problem
        self._ended = kind in ENDING
        if kind in PASSING:
            self._later.append(call)
        else:
            self._waiting.extendleft(reversed(_apart(call)))

    def left(self) -> list[Call]:
        """What is still to be told, in order. A claim is not repeated: the request that it was for has gone."""
        waiting = [*self._later, *self._waiting]
        return [_told(call) for call in waiting if call.method in TELLING]


def weight(call: Call) -> int:
    """About how many bytes a call holds."""
    events = call.params.get("events")
    sizes = (
        (len(bytes(one.payload)) for one in events if isinstance(one, EventEnvelope))
        if isinstance(events, tuple)
        else ()
    )
    return sum(sizes, CALL_BYTES)


def kept(calls: Sequence[Call]) -> list[Call]:
    """Of calls that wait for a daemon, the newest that may be kept."""
    left, each = KEPT_BYTES, []
    for call in reversed(calls):
        left -= weight(call)
        if left < 0:
            break
        each.append(call)
    return each[::-1]


def _apart(call: Call) -> Sequence[Call]:
    """A call with several events as calls with one each, the claim with the last; of one event, nothing."""
    events = call.params.get("events")
    if not isinstance(events, tuple) or len(events) < 2:
        return ()
    each = [Call(method=call.method, params={**call.params, "events": (event,)}) for event in events]
    return (*(_told(one) for one in each[:-1]), each[-1])


def _told(call: Call) -> Call:
    """The call without its claim."""
    if call.method != "step":
        return call
    return Call(method="event.append", params={key: said for key, said in call.params.items() if key != "claim"})
