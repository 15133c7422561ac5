"""What the tests of the in-process adapters share: a scripted model that any SDK can be pointed at, a real daemon that
knows one thing, and the requests as the model got them.
"""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

from host.frame import tags
from host.inprocess.companion import Companion
from host.namespace import DATABASE_FILE
from tests.fake_model.fake_model import FakeModelServer, Log, Script
from tests.support.daemon import RunningDaemon

Json = dict[str, Any]
LESSON = "The heron gateway refuses uploads above 4 MB with code H-413; split the archive with heron-split first."
FAILURE = "heron gateway: upload refused with H-413"
PATIENCE = 30  # seconds until something that hangs is given up
QUESTION = "Why does the heron gateway refuse my upload with H-413?"


class Model:
    """The scripted model, listening while its block runs. `requests`: the bodies that it got, in order."""

    def __init__(self, replies: list[Json]) -> None:
        self.requests: list[Json] = []
        self.there, self.go = threading.Event(), threading.Event()
        self._at: dict[int, Callable[[], None]] = {}
        self._server = FakeModelServer(Script({"replies": replies}, {}), _Heard(self._hear))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def _hear(self, body: Json) -> None:
        self.requests.append(body)
        act = self._at.pop(len(self.requests) - 1, None)
        if act is not None:
            act()

    def at(self, number: int, act: Callable[[], None]) -> None:
        """Do that when the request of this number (from 0) has come, before its answer is sent."""
        self._at[number] = act

    def held(self) -> None:
        """An act for a request that is to be given up: say that it is there, and wait until the model ends."""
        self.there.set()
        self.go.wait(PATIENCE)

    @property
    def url(self) -> str:
        return self._server.url

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.go.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Heard(Log):
    """A request log that calls back before the model answers."""

    def __init__(self, heard: Callable[[Json], None]) -> None:
        super().__init__(None)
        self._heard = heard

    def write(self, entry: Json) -> None:
        if entry["method"] == "POST" and not entry["path"].split("?")[0].endswith("count_tokens"):
            self._heard(entry["body"] or {})


class Remora:
    """A daemon of its own, a workspace in which LESSON is known, and companions for programs that work there."""

    def __init__(self, daemon: RunningDaemon, workspace: Path) -> None:
        self.daemon = daemon
        self.workspace = workspace

    def at(self, workspace: Path) -> "Remora":
        """Another workspace of the same daemon."""
        workspace.mkdir(parents=True)
        return Remora(self.daemon, workspace)

    def companion(self, **options: Any) -> Companion:
        """For a program that works here. It waits longer than usual for a pass: the machine may be busy."""
        companion = Companion(self.workspace, **({"socket": self.daemon.socket, "seconds": 5} | options))
        companion.wait_ms = 2000
        return companion

    def ask(self, method: str, **params: Any) -> Json:
        with self.daemon.connect() as wire:
            return wire.call(method, **params)

    def remember(self, text: str, **fields: Any) -> str:
        memory: str = self.ask("memory.remember", text=text, workspace=str(self.workspace), **fields)["memoryId"]
        return memory

    def sessions(self) -> list[str]:
        """The sessions of this workspace, the first one first."""
        rows = self._rows("SELECT session_id FROM log_session WHERE workspace = ? ORDER BY id")
        return [session for (session,) in rows]

    def settled(self) -> list[str]:
        """What claims of this workspace came to, oldest first."""
        entries = [
            one
            for session in self.sessions()
            for one in reversed(self.ask("audit.query", sessionId=session, limit=1000)["entries"])
        ]
        return [one["outcome"] for one in entries if one["outcome"] in ("claimed", "delivered", "released")]

    def events(self) -> list[tuple[str, Json]]:
        """Every stored event of this workspace, in order: its type and payload."""
        rows = self._rows("SELECT event_type, payload FROM event WHERE workspace = ? ORDER BY id")
        return [(kind, json.loads(payload)) for kind, payload in rows]

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.daemon.data / DATABASE_FILE}?mode=ro", uri=True)) as database:
            return database.execute(query, (str(self.workspace),)).fetchall()


@contextmanager
def remora(folder: Path, lesson: str = LESSON) -> Iterator[Remora]:
    """A running daemon with one memory in a workspace of its own."""
    workspace = folder / "project"
    workspace.mkdir(parents=True)
    with RunningDaemon(folder) as daemon:
        one = Remora(daemon, workspace)
        if lesson:
            one.remember(lesson)
        yield one


def packets(body: Json) -> list[str]:
    """The tags of packets in the conversation of a request."""
    return [tag for text in strings(conversation(body)) for tag in tags(text)]


def conversation(body: Json) -> list[Any]:
    """The messages or the input of a request."""
    listed = body.get("messages", body.get("input", []))
    return listed if isinstance(listed, list) else [listed]


def instructions(body: Json) -> str:
    """Everything of a request that is not its conversation."""
    rest = {key: value for key, value in body.items() if key not in ("messages", "input")}
    system = [one for one in conversation(body) if isinstance(one, dict) and one.get("role") in ("system", "developer")]
    return "\n".join(strings([rest, system]))


def strings(value: object) -> Iterator[str]:
    """Every string of a JSON value, keys left out."""
    match value:
        case str():
            yield value
        case list() | tuple():
            for item in value:
                yield from strings(item)
        case dict():
            for item in value.values():
                yield from strings(item)
