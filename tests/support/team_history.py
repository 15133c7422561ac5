"""History for the team workflow: a real repository, a real event log, and sessions that worked in it."""

import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from governance.team.binding import bound_of
from governance.team.contracts.base import Bound
from governance.team.contracts.recalling import ExtractionRequest, Filters, Window
from governance.team.contracts.turns import Selection, Turn
from governance.team.formats import Formats
from governance.team.times import written
from host.products import Providers
from host.team.bind import located
from host.team.commits import DulwichCommits
from host.team.history import TeamHistory
from host.team.remembering import HistoryNeeds, history_of
from recall.contracts import EventEnvelope, Millis
from tests.support.builders import a_prompt, a_reply, a_start, an_event
from tests.support.clock import START
from tests.support.world import World, a_world

MINUTE = 60_000
HOUR = 60 * MINUTE
FORMATS = Formats(prefix="remora-pre", mark="pre", folder=".remora-pre")
SECRET = b"s" * 32
_IDENTITY = ("-c", "user.name=Dev", "-c", "user.email=dev@example.com", "-c", "commit.gpgsign=false")


def git(root: str | Path, *words: str, at: Millis | None = None) -> str:
    """Run git there, without the user's configuration. `at`: the time of a commit."""
    environ = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    if at is not None:
        environ |= {"GIT_AUTHOR_DATE": f"{at // 1000} +0000", "GIT_COMMITTER_DATE": f"{at // 1000} +0000"}
    ran = subprocess.run(
        ["git", *_IDENTITY, *words], cwd=root, env=environ, check=True, capture_output=True, text=True, timeout=60
    )
    return ran.stdout.strip()


def a_repository(root: Path) -> Path:
    """A real repository with one commit of long ago."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root, {"README.md": "# Project\n"}, "Begin", START - 400 * 24 * HOUR)
    return root


def commit(root: Path, files: dict[str, str], message: str, at: Millis) -> str:
    """Write files and commit them; the full hash."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", message, at=at)
    return git(root, "rev-parse", "HEAD")


def a_bound(root: Path) -> Bound:
    """The worktree as an operation holds it."""
    return bound_of(located(str(root)), SECRET, FORMATS)


def a_request(
    after: Millis = START - 24 * HOUR, before: Millis = START + 24 * HOUR, query: str | None = None, **filters: object
) -> ExtractionRequest:
    return ExtractionRequest(
        format=FORMATS.document("extraction-request"),
        window=Window(after=written(after), before=written(before)),
        query=query,
        filters=Filters(**filters) if filters else None,  # type: ignore[arg-type]
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Talk:
    """Events of one session, each with an id, a minute apart unless said otherwise."""

    session: str
    folder: str
    start: Millis = START

    def at(self, number: int, step: int = 0) -> Millis:
        return self.start + number * MINUTE + step * 1_000

    def prompt(self, number: int, text: str, **fields: object) -> EventEnvelope:
        given = {"event_id": f"prompt:{self.session}:{number}"} | fields
        return a_prompt(text, **self._place(number, 0), **given)

    def reply(self, number: int, text: str, step: int = 9, **fields: object) -> EventEnvelope:
        given = {"event_id": f"reply:{self.session}:{number}:{step}"} | fields
        return a_reply(text, **self._place(number, step), **given)

    def call(self, number: int, args: str, tool: str = "shell", step: int = 1, **payload: object) -> EventEnvelope:
        call_id = f"{self.session}-{number}-{step}"
        told = {"tool": tool, "args": args} | payload
        return an_event("tool/call", told, call_id=call_id, event_id=f"call:{call_id}", **self._place(number, step))

    def result(
        self, number: int, text: str, tool: str = "shell", step: int = 1, ok: bool | None = True, **payload: object
    ) -> EventEnvelope:
        call_id = f"{self.session}-{number}-{step}"
        told = {"tool": tool, "text": text} | ({} if ok is None else {"ok": ok}) | payload
        place = self._place(number, step + 1)
        return an_event("tool/result", told, call_id=call_id, event_id=f"result:{call_id}", **place)

    def end(self, number: int, **payload: object) -> EventEnvelope:
        return an_event(
            "turn/end", dict(payload), event_id=f"turn:{self.session}:{number}:end", **self._place(number, 20)
        )

    def begin(self) -> EventEnvelope:
        return a_start(event_id=f"start:{self.session}", **self._place(0, -1))

    def turn(self, number: int, text: str = "", answer: str = "") -> list[EventEnvelope]:
        """A prompt, a command that goes well, and an answer."""
        return [
            self.prompt(number, text or f"Question {number}?"),
            self.call(number, f"make step-{number}"),
            self.result(number, f"step {number} done"),
            self.reply(number, answer or f"Answer {number}."),
        ]

    def turns(self, count: int) -> list[EventEnvelope]:
        return [self.begin(), *(event for number in range(count) for event in self.turn(number))]

    def _place(self, number: int, step: int) -> dict[str, object]:
        return {"session_id": self.session, "workspace": self.folder, "timestamp": self.at(number, step)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Histories:
    """A world with a repository, and its history."""

    world: World
    root: Path
    bound: Bound
    history: TeamHistory
    commits: DulwichCommits
    providers: Providers

    def talk(self, session: str = "s-1", folder: Path | str | None = None, start: Millis = START) -> Talk:
        return Talk(session=session, folder=str(folder or self.root), start=start)

    async def log(self, events: Sequence[EventEnvelope]) -> None:
        await self.world.parts.eventlog.append(tuple(events), self.world.clock.now(), past=True)

    async def select(self, request: ExtractionRequest | None = None, limit: int = 200) -> Selection:
        return await self.history.select(self.bound, request or a_request(), limit)

    async def said(self, request: ExtractionRequest | None = None) -> list[str]:
        """What the user said in the selected turns, session by session."""
        found = await self.select(request)
        texts = [await self.history.content(turn) for each in found.sessions for turn in each.turns]
        return [content.events[0].text for content in texts]

    async def turns(self, request: ExtractionRequest | None = None) -> list[Turn]:
        return [turn for each in (await self.select(request)).sessions for turn in each.turns]


@asynccontextmanager
async def a_history(folder: Path, root: Path | None = None) -> AsyncIterator[Histories]:
    """A remora over `folder` and the history of a repository beside it."""
    top = root or a_repository(folder / "project")
    async with a_world(folder / "data", start=START + HOUR) as world:
        parts = world.parts
        providers = Providers(parts.main)
        history, commits = history_of(
            HistoryNeeds(
                eventlog=parts.eventlog,
                main=parts.main,
                kept=parts.kept,
                places=parts.places,
                rollouts=parts.rollouts,
                providers=providers,
                ref=parts.audit.ref,
                clock=world.clock,
                own=(str(folder / "scratch"),),
            )
        )
        try:
            yield Histories(
                world=world, root=top, bound=a_bound(top), history=history, commits=commits, providers=providers
            )
        finally:
            await commits.close()
