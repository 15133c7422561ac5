"""Answers that a client waits for before its session begins: known from the last time, while the SDK is still loaded.

To load the SDK takes half a second, and products hold up a session's first request until a server has said who it is,
what tools it has and what resources. So the SDK's own answers to that are kept, and given at once when the same is
asked of the same software. The SDK gets the questions too; its answers to them are compared with what was given, and
not sent. What is not known waits for it.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from host.namespace import SCRIPT

FILE = "mcp-greetings.json"
SDK = "mcp"
ENVELOPE = "io.modelcontextprotocol/protocolVersion"  # in the requests of clients that shake no hands
ASKED = frozenset({"initialize", "server/discover", "tools/list", "resources/templates/list"})  # the same each time
RESOURCES = "resources/list"
CHANGED = '{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}\n'
Json = dict[str, Any]
Id = int | str


class Question(msgspec.Struct, frozen=True):
    """A request, as far as it is looked at."""

    id: Id
    method: str
    params: Json = {}


class Reply(msgspec.Struct, frozen=True):
    """A message of the SDK, as far as it is looked at: an answer has an id and a result."""

    id: Id | None = None
    result: Json | None = None


class _Kept(msgspec.Struct, frozen=True):
    stamp: str
    answers: dict[str, Json] = {}


_question = msgspec.json.Decoder(Question).decode
_reply = msgspec.json.Decoder(Reply).decode


class Greetings:
    """What was answered last time. `resources`: lists the resources now, or raises; of them nothing is kept. Where it
    raises the list is empty, and `news` says so once the SDK has another one."""

    def __init__(self, file: Path, stamp: str, resources: Callable[[], Json]) -> None:
        self._file = file
        self._stamp = stamp
        self._resources = resources
        self._known = _read(file, stamp)
        self._era = ""  # the version that the client shook hands on
        self._rooted = False  # it names folders of its own, which only the SDK can ask for
        self._open: dict[Id, str] = {}  # questions that the SDK has not answered yet -> their key
        self._given: dict[Id, Json] = {}
        self._changed = False

    def answer(self, line: bytes) -> bytes | None:
        """The line that answers this one; None for what is not known, or asks for nothing of this kind."""
        asked = self.note(line)
        if asked is None:
            return None
        found = self._known.get(self._open[asked.id])
        if found is not None and asked.method == RESOURCES:
            found = self._listed(found)
        if found is None:
            return None
        self._given[asked.id] = found
        return msgspec.json.encode({"jsonrpc": "2.0", "id": asked.id, "result": found}) + b"\n"

    def note(self, line: bytes) -> Question | None:
        """The question that a line asks, if it is one of this kind: what the SDK says to it will be kept."""
        try:
            asked = _question(line)
        except msgspec.MsgspecError:
            return None
        key = self._key(asked)
        if not key:
            return None
        self._open[asked.id] = key
        return asked

    def sent(self, line: str) -> bool:
        """Whether a message of the SDK is to be sent: not when its question was answered already. What it says to a
        question of this kind is kept for the next time."""
        if not self._open:
            return True
        try:
            said = _reply(line)
        except msgspec.MsgspecError:
            return True
        key = self._open.pop(said.id, "") if said.id is not None else ""
        if not key:
            return True
        given = self._given.pop(said.id, None) if said.id is not None else None
        if said.result is not None:
            self._learn(key, said.result)
            if given is not None and not given.get("resources", True) and said.result.get("resources"):
                self._changed = bool(self._era)  # clients that shake no hands take no such message
        return given is None

    def news(self) -> str:
        """The line that tells the client that a list given to it is another one by now; empty, or told already."""
        changed, self._changed = self._changed, False
        return CHANGED if changed else ""

    def _key(self, asked: Question) -> str:
        """What the answer depends on; empty for questions of another kind."""
        meta = asked.params.get("_meta")
        modern = meta.get(ENVELOPE) if isinstance(meta, dict) else None
        if asked.method == "initialize" and isinstance(wanted := asked.params.get("protocolVersion"), str):
            self._era = wanted
            offered = asked.params.get("capabilities")
            self._rooted = isinstance(offered, dict) and "roots" in offered
        era = modern if isinstance(modern, str) else self._era
        if not era or asked.params.get("cursor") is not None:
            return ""
        listed = asked.method == RESOURCES and (modern is not None or not self._rooted)
        return f"{asked.method} {era}" if asked.method in ASKED or listed else ""

    def _listed(self, frame: Json) -> Json:
        try:
            return frame | self._resources()
        except Exception:  # noqa: BLE001  (boundary: a connection; nobody waits for the daemon)
            return frame | {"resources": []}

    def _learn(self, key: str, result: Json) -> None:
        if key.startswith(RESOURCES):
            result = {name: value for name, value in result.items() if name not in ("resources", "nextCursor")}
        if self._known.get(key) == result:
            return
        self._known[key] = result
        with contextlib.suppress(OSError):
            draft = self._file.with_name(f"{self._file.name}.{os.getpid()}")
            draft.write_bytes(msgspec.json.encode(_Kept(self._stamp, self._known)))
            draft.replace(self._file)


def stamp(*sources: Path) -> str:
    """What the answers were made by: our version, the SDK's, and the state of our own files."""
    seen = [(one.name, one.stat().st_mtime_ns, one.stat().st_size) for folder in sources for one in _files(folder)]
    return hashlib.sha256(repr((_version(SCRIPT), _version(SDK), sorted(seen))).encode()).hexdigest()


def _files(source: Path) -> list[Path]:
    return sorted(source.glob("*.py")) if source.is_dir() else [source]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _read(file: Path, stamp: str) -> dict[str, Json]:
    """The answers that are kept, if the same software gave them."""
    try:
        kept = msgspec.json.decode(file.read_bytes(), type=_Kept)
    except (OSError, msgspec.MsgspecError):
        return {}
    return dict(kept.answers) if kept.stamp == stamp else {}
