"""What is in view in a session now, read from the index and judged like a packet; known until something changes.

Every pass asks, so an answer is kept for as long as nothing that it was made of has changed: the index, the marks, the
stages of procedures, what is muted, and the minute. What cannot be known just now, because files are being read for
the first time or the index is broken, is None, not empty: nothing is said of it then.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from weakref import WeakKeyDictionary

from governance.contracts import Action, Stage, Verdict
from governance.safety import NOTHING_LEFT, NOTHING_RANKED
from host.contested import contest_of, standing
from host.maintained import NOTHING, Maintained, Sight, maintained
from host.props import Props
from host.runtime import SessionRuntime
from recall.contracts import Candidate, Frozen, Millis, Ranked, Scored, Shown
from recall.errors import IndexFault
from recall.library import Library
from recall.providers import held_by

MINUTE: Millis = 60_000
PINS = 64  # that are looked at: far more than there is room for
FOREVER: Millis = 2**53
SESSIONS = 4_096  # of which it is known what waited when they began

Judge = Callable[[Ranked, SessionRuntime, str, Millis], Awaitable[Verdict]]  # (records, for whom, version, now)


class Known(Frozen, frozen=True, kw_only=True):
    """An answer, what it was made of, and when it ends by itself."""

    of: tuple[object, ...]
    until: Millis
    maintained: Maintained


class Maintainer:
    """Reads what is in view. One for all sessions."""

    def __init__(self, library: Library, props: Props, judge: Judge) -> None:
        self._library = library
        self._props = props
        self._judge = judge
        self._known: WeakKeyDictionary[SessionRuntime, Known] = WeakKeyDictionary()
        self._waiting: dict[str, int] = {}  # by session, as it was when it began

    async def of(self, runtime: SessionRuntime, now: Millis) -> Maintained | None:
        """What is in view in this session; None: that cannot be known now."""
        made_of = self._made_of(runtime, now)
        known = self._known.get(runtime)
        if known is None or known.of != made_of or now >= known.until:
            records = await self._records(runtime, now)
            if records is None:
                return None
            sight = Sight(records=tuple(records), stages=self._props.stages(), waiting=self._waits(runtime))
            until = min((one.expires_at for one in records if one.expires_at is not None), default=FOREVER)
            found = maintained(sight) if records or sight.waiting else NOTHING
            known = self._known[runtime] = Known(of=made_of, until=until, maintained=found)
        return known.maintained

    def _made_of(self, runtime: SessionRuntime, now: Millis) -> tuple[object, ...]:
        marks, scope = self._props.marks, runtime.scope
        return (
            marks.effective(self._library.version),
            self._props.stages(),
            marks.muted(now),
            marks.workspaces.kinds(scope.workspace, now),
            scope,
            runtime.host,
            self._waits(runtime),
            now // MINUTE,
        )

    def _waits(self, runtime: SessionRuntime) -> int:
        """How many ranges of other sessions waited when this one began, until none does. That another session ends
        meanwhile is no news to it, nor is its own compaction; a conversation that goes on is told nothing of it."""
        session = runtime.scope.session_id
        waiting = self._props.waits(runtime.scope.workspace, session)
        first = self._waiting.setdefault(session, 0 if runtime.goes_on else waiting)
        while len(self._waiting) > SESSIONS:
            del self._waiting[next(iter(self._waiting))]
        return first if waiting else 0

    async def _records(self, runtime: SessionRuntime, now: Millis) -> Sequence[Candidate] | None:
        """The records that may be in view, pinned ones first; in an order that neither time nor use changes."""
        index = self._library.snapshot(now - now % MINUTE)  # one answer a minute, whenever in it somebody asks first
        if index.partial(runtime.scope):
            return None
        version = self._props.marks.effective(index.version)
        active = [memory_id for memory_id, stage in self._props.stages().items() if stage is Stage.ACTIVE]
        try:
            pinned = await index.pinned(runtime.scope, PINS)
            others = await index.by_id(active, runtime.scope) if active else ()
        except IndexFault:
            return None
        fresh = self._uncontested([*pinned, *sorted(others, key=_newest_first)], runtime, now)
        verdict = await self._judge(Ranked(ranked=tuple(fresh)), runtime, version, now)
        refused = verdict.action is Action.SUPPRESS and verdict.reason not in (NOTHING_LEFT, NOTHING_RANKED)
        if refused or version != self._props.marks.effective(self._library.version):  # it moved on while we looked
            return None
        return [scored.candidate for scored in verdict.kept]

    def _uncontested(self, found: Iterable[Candidate], runtime: SessionRuntime, now: Millis) -> list[Scored]:
        """Each once; without what the product puts before the agent by itself, and what a person says otherwise of."""
        each = {one.memory_id: one for one in found if not held_by(runtime.host, one.loaded_by)}
        marks = self._props.marks
        said = Shown(corrected=marks.corrected, quarantined=marks.quarantined)
        candidates = tuple(each.values())
        return [Scored(candidate=one, score=0.0) for one in standing(candidates, contest_of(candidates, said, now))]


def _newest_first(one: Candidate) -> tuple[int, str]:
    return -one.created_at, one.memory_id
