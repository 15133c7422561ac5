"""History for tests of recall: sessions of turns in memory, and a worktree that needs no disk."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from governance.migrations import queue_steps
from governance.team.binding import Place, bound_of
from governance.team.chunking import CHUNK_BYTES
from governance.team.collecting import Collector, Sources
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.recalling import ExtractionRequest, Filters, TaskContext, Window
from governance.team.contracts.turns import (
    Commit,
    Ineligible,
    RejectedSessions,
    Seal,
    Selection,
    SessionTurns,
    TerminalState,
    Turn,
    TurnContent,
    TurnEvent,
)
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.leases import Issue
from governance.team.recalling import Recalling
from governance.team.requests import bounds
from governance.team.store import bindings
from governance.team.store.bindings import Installation
from governance.team.times import written
from recall.analyzer import distinct
from recall.canonical import digest, text_digest
from recall.contracts import Millis
from tests.support.clock import START, CountedIds
from tests.support.fakes import FakeDatabase

FORMATS = Formats(prefix="remora-pre", mark="pre", folder=".remora-pre")
INSTALLATION = Installation(secret=b"s" * 32, uuid="db-one")
ROOT = "/project"
PROVIDERS = ("claude-code", "codex")
AT = START - 5_000_000  # of events


def a_bound(root: str = ROOT, common: str = "") -> Bound:
    place = Place(
        root=root,
        common=common or f"{root}/.git",
        device=1,
        inode=2,
        remote="git@code.example:org/project.git",
        workspace_key="ws_" + "a" * 32,
    )
    return bound_of(place, INSTALLATION.secret, FORMATS)


def a_call(holder: str = "one", now: Millis = START, principal: str = "agent") -> Call:
    return Call(principal=principal, holder=holder, now=now)


def a_request(query: str | None = None, days: float = 30, **filters: Any) -> ExtractionRequest:
    """Of the `days` before START."""
    return ExtractionRequest(
        format=FORMATS.document("extraction-request"),
        window=Window(after=written(START - round(days * 86_400_000)), before=written(START)),
        query=query,
        filters=Filters(**filters) if filters else None,
    )


def an_event(kind: Any, text: str, number: int, **fields: Any) -> TurnEvent:
    seen = text_digest(text.encode("utf-8", "replace").decode())
    given = {"event_seq": number, "event_id": f"e{number}", "digest": seen, "at": AT} | fields
    return TurnEvent(kind=kind, text=text, **given)


def a_turn(place: int, *events: TurnEvent, session: str = "session-a", revision: int = 1, **fields: Any) -> TurnContent:
    """A turn of that session; without events one of a question and its answer."""
    parts = events or (
        an_event("user", f"How is number {place} done?", place * 10),
        an_event("assistant", f"Number {place} is done by hand.", place * 10 + 1),
    )
    given: dict[str, Any] = {
        "turn_key": f"turn-{session}-{place}",
        "session_key": session,
        "provider": "claude-code",
        "place": place,
        "first_seq": parts[0].event_seq,
        "last_seq": parts[-1].event_seq,
        "at": START - 5_000_000 + place,
        "seal": Seal.HARD_SEALED,
        "active": True,
        "revision": revision,
        "payload_digest": digest([one.digest for one in parts]),
    }
    return TurnContent(turn=Turn(**(given | fields)), events=tuple(parts))


def a_tool(text: str, number: int, **fields: Any) -> TurnEvent:
    return an_event("tool-result", text, number, state=TerminalState.COMPLETED, **fields)


class FakeHistory:
    """A `History` in memory. `changes`: contents that a turn has from the next reading on, as a live session's may.

    What it selects is what a real one would of these sessions: sealed, active turns in the window, by words.
    """

    def __init__(self, *contents: TurnContent, rejected: Mapping[Ineligible, int] | None = None) -> None:
        self.contents = {one.turn.turn_key: one for one in contents}
        self.changes: list[TurnContent] = []
        self.rejected = rejected or {}
        self.read: list[str] = []

    def put(self, *contents: TurnContent) -> None:
        self.contents |= {one.turn.turn_key: one for one in contents}

    async def select(self, bound: Bound, request: ExtractionRequest, limit: int) -> Selection:
        found = [one.turn for one in self._ordered() if one.turn.recallable and self._matches(one, request)]
        if len(found) > limit:
            raise TeamFault(Kind.QUERY_TOO_BROAD, f"{len(found)} turns match.", "Ask for less.")
        sessions: dict[str, list[Turn]] = {}
        for turn in found:
            sessions.setdefault(turn.session_key, []).append(turn)
        return Selection(
            sessions=tuple(
                SessionTurns(session_key=key, provider=turns[0].provider, turns=tuple(turns))
                for key, turns in sorted(sessions.items())
            ),
            rejected=tuple(RejectedSessions(reason=reason, count=count) for reason, count in self.rejected.items()),
            matched=len(found),
        )

    async def content(self, turn: Turn) -> TurnContent:
        self.read.append(turn.turn_key)
        while self.changes:
            self.put(self.changes.pop())
        found = self.contents[turn.turn_key]
        if found.turn.payload_digest != turn.payload_digest:
            raise TeamFault(Kind.PAYLOAD_CHANGED, "The turn is another now.", "Try again.")
        return found

    async def current(self, turn_keys: Sequence[str]) -> Sequence[Turn]:
        return [self.contents[key].turn for key in turn_keys if key in self.contents]

    def _ordered(self) -> Iterable[TurnContent]:
        return sorted(self.contents.values(), key=lambda one: (one.turn.session_key, one.turn.place))

    def _matches(self, content: TurnContent, request: ExtractionRequest) -> bool:
        after, before = bounds(request.window)
        if not after <= content.turn.at < before:
            return False
        if request.filters and request.filters.session_keys:
            return content.turn.session_key in request.filters.session_keys
        wanted = set(distinct(request.query or ""))
        said = {term for event in content.events for term in distinct(event.text)}
        return len(wanted & said) * 2 >= len(wanted)


class FakeCommits:
    """A `Commits` that knows these."""

    def __init__(self, *commits: Commit) -> None:
        self.commits = commits

    async def named(self, bound: Bound, text: str) -> Sequence[Commit]:
        return [one for one in self.commits if one.commit in text]

    async def abbreviated(self, bound: Bound, text: str) -> Sequence[Commit]:
        return [one for one in self.commits if one.commit[:8] in text and one.commit not in text]

    async def between(self, bound: Bound, since: Millis, until: Millis, limit: int) -> Sequence[Commit]:
        return [one for one in self.commits if since <= one.at <= until][:limit]


class NoContext:
    """A `Context` of a repository that has no memory yet. `asked`: by which texts."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.context = TaskContext(digest=digest([]))

    async def around(self, bound: Bound, texts: Sequence[str], now: Millis) -> Sequence[TaskContext]:
        self.asked += texts
        return [self.context for _ in texts]


class Recalled:
    """Recall over a fake history and a database in memory."""

    def __init__(self, *contents: TurnContent, commits: Sequence[Commit] = (), database: Any = None) -> None:
        self.history = FakeHistory(*contents)
        self.commits = FakeCommits(*commits)
        self.database = database or FakeDatabase(queue_steps())
        self.ids = CountedIds()
        self.context = NoContext()
        self.bound = a_bound()
        self.collector = Collector(history=self.history, commits=self.commits, formats=FORMATS)
        self.sources = Sources(database=self.database, collector=self.collector)
        self.issue = Issue.of(self.ids)
        self.recalling = Recalling(
            database=self.database,
            collector=self.collector,
            context=self.context,
            formats=FORMATS,
            providers=PROVIDERS,
            issue=self.issue,
        )

    async def ask(self, request: ExtractionRequest | None = None, limit: int = 8, **call: Any) -> Any:
        """A recall by the wire's names: what goes out, decoded."""
        await self.database.write(lambda connection: bindings.installation(connection, INSTALLATION))
        answer = await self.recalling.recall(self.bound, a_call(**call), request or a_request(), limit)
        return msgspec.json.decode(msgspec.json.encode(answer))

    async def tasks(self, request: ExtractionRequest | None = None, limit: int = 8, **call: Any) -> list[str]:
        return [one["taskId"] for one in (await self.ask(request, limit, **call))["sources"]]


def filling(place: int, session: str = "session-a") -> TurnContent:
    """A turn that fills a chunk."""
    return a_turn(place, an_event("user", "u" * CHUNK_BYTES, place * 10), session=session)
