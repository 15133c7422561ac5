"""The table of live runtimes: found, restored from the log and the audit, worked on by one task each, let go."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from governance.contracts import AccessEvidence, AuditEntry, AuditKind
from host.contracts import MemoryPacket
from host.endings import Endings
from host.errors import ProtocolFault
from host.runtime import RuntimePolicy, SessionRuntime
from recall.contracts import EventEnvelope, EventType, Frozen, Millis, RuntimeScope
from recall.workspace import workspace_key

Key = tuple[str, str]
QUEUE_MAX = 512
CHUNK = 256
FOLD_CHUNK = 32  # between two of them others have their turn
LIVE_MAX = 1024
# An entry of these kinds shows that its event was heard to the end: a pass is written last, and nobody claims or
# acknowledges in between. A drop does not: an event that begins a context window writes drops first.
HEARD = frozenset({AuditKind.PASS, AuditKind.CLAIM, AuditKind.DELIVERY})


class History(Frozen, frozen=True, kw_only=True):
    """What the stores know of one (session, agent), in order.

    Of entries that were let go there is what they came to: `agree`, the last event that was heard (`heard_seq`), and
    the time up to which every event was (`settled_at`).
    """

    root_agent: str
    entries: tuple[AuditEntry, ...]
    packets: dict[str, MemoryPacket]
    evidence: dict[int, tuple[AccessEvidence, ...]]  # by event seq
    agree: dict[str, float] = {}
    heard_seq: int = 0
    settled_at: Millis = 0


class Stores:
    """What restoring needs, as plain calls: made by the composition root."""

    def __init__(
        self,
        replay: Callable[[str, str, int, int], Awaitable[Sequence[EventEnvelope]]],
        history: Callable[[str, str], Awaitable[History]],
        adopt: Callable[[str, str], Awaitable[None]],
        wake: Callable[[SessionRuntime], None],
        key: Callable[..., str] = lambda path, again=False: workspace_key(path),
    ) -> None:
        self.replay = replay  # (session, agent, after seq, limit) -> envelopes in order
        self.history = history
        self.adopt = adopt  # (workspace path, workspace key): its memory files become searchable
        self.wake = wake  # events that the log holds and nobody has heard get their turn
        self.key = key  # (workspace path, look anew) -> workspace key


class Sessions:
    """Runtimes by (session, agent). A runtime that is asked for is whole: its past is folded in first."""

    def __init__(self, stores: Stores, policy: RuntimePolicy, user: str) -> None:
        self._stores = stores
        self._policy = policy
        self._user = user
        self.endings = Endings()  # sessions that are over, for who tells what they did
        self._live: dict[Key, SessionRuntime] = {}
        self._opening: dict[Key, asyncio.Future[SessionRuntime]] = {}
        self._finding: set[asyncio.Future[SessionRuntime]] = set()  # kept, or they might be collected unfinished

    def known(self, session_id: str, agent_id: str) -> SessionRuntime | None:
        """The runtime if it is live."""
        return self._live.get((session_id, agent_id))

    async def present(self, session_id: str, agent_id: str) -> SessionRuntime | None:
        """The runtime if it is live, or is being restored just now."""
        opening = self._opening.get((session_id, agent_id))
        return self.known(session_id, agent_id) if opening is None else await opening

    def scope(self, session_id: str, agent_id: str, workspace: str) -> RuntimeScope:
        """Where an agent stands that works there."""
        return RuntimeScope(session_id=session_id, agent_id=agent_id, workspace=workspace, user=self._user)

    def all(self) -> list[SessionRuntime]:
        return list(self._live.values())

    def agents(self, session_id: str) -> list[SessionRuntime]:
        """Every live agent of a session."""
        return [runtime for (session, _), runtime in self._live.items() if session == session_id]

    def of(self, envelope: EventEnvelope) -> SessionRuntime | None:
        """The live runtime of an envelope that was just stored; None: it has a past, and is to be opened first."""
        key = (envelope.session_id, envelope.agent_id)
        runtime = self._live.get(key)
        if runtime is None and envelope.event_seq == 1 and key not in self._opening:  # the session's very first
            self._make_room()
            runtime = self._live[key] = SessionRuntime(self.scope(*key, ""), envelope.agent_id, self._policy)
        return runtime

    async def find(self, session_id: str, agent_id: str) -> SessionRuntime:
        """A session that the log knows. Raises ProtocolFault `unknown-session`."""
        runtime = self.known(session_id, agent_id)
        if runtime is not None:
            return runtime
        if not await self._stores.replay(session_id, agent_id, 0, 1):
            raise ProtocolFault(
                "unknown-session", "No event of this session and agent was received.", "Send one first."
            )
        return await self.open(session_id, agent_id)

    async def within(self, session_id: str, agent_id: str, wait_ms: int) -> SessionRuntime | None:
        """`find`, for as long as that takes no longer than `wait_ms`: a long past goes on being folded without us."""
        runtime = self.known(session_id, agent_id)
        if runtime is not None:
            return runtime
        finding = asyncio.ensure_future(self.find(session_id, agent_id))
        self._finding.add(finding)
        finding.add_done_callback(self._finding.discard)
        done, _ = await asyncio.wait({finding}, timeout=wait_ms / 1000)
        return finding.result() if done else None

    def let_go(self, runtime: SessionRuntime) -> None:
        """Forget a runtime that has nothing more to hear; the log keeps its past."""
        if not runtime.queue and not runtime.behind:
            self._live.pop((runtime.scope.session_id, runtime.scope.agent_id), None)

    def forsake(self, runtime: SessionRuntime) -> None:
        """Forget a runtime with all that it has not heard: the next who asks has it restored from the log. Who holds it
        still can do nothing more with it: what he would write could name an event that was heard in part."""
        runtime.forsaken = True
        key = (runtime.scope.session_id, runtime.scope.agent_id)
        if self._live.get(key) is runtime:
            del self._live[key]

    def idle_since(self, before: Millis) -> list[SessionRuntime]:
        """Runtimes whose last event is older than `before` and that have nothing to do, no claim either."""
        quiet = (one for one in self._live.values() if one.idle.is_set() and not one.queue and not one.lock.locked())
        return [one for one in quiet if one.last_seen < before]

    async def refill(self, runtime: SessionRuntime) -> None:
        """Read the next envelopes of a runtime that fell behind its log."""
        if not runtime.behind or runtime.queue:
            return
        scope = runtime.scope
        more = await self._stores.replay(scope.session_id, scope.agent_id, runtime.enqueued_seq, CHUNK)
        runtime.queue.extend(more)
        if more:
            runtime.enqueued_seq = more[-1].event_seq
        runtime.behind = len(more) == CHUNK or runtime.enqueued_seq < runtime.stored_seq

    async def open(self, session_id: str, agent_id: str) -> SessionRuntime:
        """The runtime, restored from the log and the audit unless it is live; once, however many ask at a time."""
        key = (session_id, agent_id)
        live = self._live.get(key)
        if live is not None:
            return live
        opening = self._opening.get(key)
        if opening is None:
            opening = asyncio.get_running_loop().create_future()
            self._opening[key] = opening
            try:
                self._make_room()
                runtime = self._live[key] = await self._restored(key)
                self._stores.wake(runtime)
                opening.set_result(runtime)
            except BaseException as error:
                opening.set_exception(error)
                opening.exception()  # seen: those who wait raise it themselves
                raise
            finally:
                del self._opening[key]
        return await opening

    def _make_room(self) -> None:
        """Beyond `LIVE_MAX` runtimes those that were quiet longest leave memory; the log keeps their past."""
        if len(self._live) < LIVE_MAX:
            return
        quiet = [one for one in self._live.values() if one.idle.is_set() and not one.lock.locked()]
        for runtime in sorted(quiet, key=lambda one: one.last_seen)[: LIVE_MAX // 8]:
            self.let_go(runtime)

    async def _restored(self, key: Key) -> SessionRuntime:
        history = await self._stores.history(*key)
        runtime = SessionRuntime(self.scope(*key, ""), history.root_agent, self._policy)
        await self._fold(runtime, history)
        return runtime

    async def _fold(self, runtime: SessionRuntime, history: History) -> None:
        """Events that were heard before are folded in, each with what was written before the next one; those that were
        not are queued."""
        heard = max((e.cursor.event_seq for e in history.entries if e.kind in HEARD and e.cursor), default=0)
        heard, settled = max(heard, history.heard_seq), history.settled_at
        waiting = deque(history.entries)
        runtime.agree = dict(history.agree)
        scope = runtime.scope
        whole = not (heard or settled)
        while not whole:
            chunk = await self._stores.replay(scope.session_id, scope.agent_id, runtime.enqueued_seq, FOLD_CHUNK)
            for envelope in chunk:
                whole = envelope.event_seq > heard and envelope.observed_at > settled
                if whole:
                    break
                await self.follow(runtime, envelope)
                segment = runtime.take(envelope)
                runtime.witnessed(history.evidence.get(envelope.event_seq, ()))
                if segment is not None:
                    runtime.note(segment)
                runtime.enqueued_seq = envelope.event_seq
                _apply(runtime, waiting, envelope.event_seq, history)
            whole = whole or len(chunk) < FOLD_CHUNK
        for entry in waiting:  # drops at an event that is to be heard again: whether before or after it is the same
            runtime.apply(entry, history.packets)
        runtime.behind = True

    async def follow(self, runtime: SessionRuntime, envelope: EventEnvelope) -> None:
        """The agent works in another folder: the scope follows, and its memory files become searchable."""
        workspace = envelope.workspace or runtime.workspace_path  # an event that names none stays where it is
        started = envelope.event_type == EventType.SESSION_START
        if not started and workspace == runtime.workspace_path:
            return
        key = self._stores.key(workspace, again=started)  # a folder may have become a repository since
        runtime.enter(workspace, key)
        await self._stores.adopt(workspace, key)


def _apply(runtime: SessionRuntime, waiting: deque[AuditEntry], upto: int, history: History) -> None:
    while waiting and (waiting[0].cursor is None or waiting[0].cursor.event_seq <= upto):
        runtime.apply(waiting.popleft(), history.packets)
