"""What a tool is: a name, a type of arguments, a type of answer, and an act. Its schemas are made of the types.

A new tool is one such entry in `host/mcp/registry.py`.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from host.errors import RemoraError
from host.namespace import tool

P = TypeVar("P")
T = TypeVar("T")
Json = dict[str, Any]


class Arguments(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Arguments of a tool. A name that is not known is an error: most likely another one was meant."""


class Document(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The answer of a tool as data."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool says: `text` for reading, `document` the same as data. Hooks have no document."""

    text: str
    document: Document | Json | None = None


class Daemon(Protocol):
    """The way to the daemon. `hangs`: it gave no sign of life a moment ago."""

    @property
    def hangs(self) -> bool: ...

    async def ask(self, method: str, params: Mapping[str, object], kind: type[T]) -> T:
        """The daemon's answer. Starts a daemon when there is none. Raises RemoraError."""
        ...

    async def pass_on(self, host: str, payload: bytes) -> bytes:
        """What the daemon answers to a hook, within its patience. Empty: nothing, whatever the reason."""
        ...


class Caller(Protocol):
    """Who calls: its way to the daemon, and where it works."""

    async def ask(self, method: str, params: Mapping[str, object], kind: type[T]) -> T:
        """As that of `Daemon`."""
        ...

    async def pass_on(self, host: str, payload: bytes) -> bytes:
        """As that of `Daemon`."""
        ...

    async def workspace(self) -> str:
        """The folder that the client works in, an absolute path."""
        ...

    @property
    def agent(self) -> str:
        """What the client calls itself, as `claude-code`; empty: it does not say."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool(Generic[P]):
    """One tool. `part`: its name without the mark of the preview. `reads`: it changes nothing. `hidden`: it is not for
    a model to call. `long`: clients that cut long answers are asked not to cut its. `taken`: the schema of arguments
    that have no struct."""

    part: str
    title: str
    description: str
    arguments: type[P]
    document: type[Document] | None
    run: Callable[[P, Caller], Awaitable[Answer]]
    reads: bool = False
    hidden: bool = False
    long: bool = False
    taken: Json | None = None

    @property
    def name(self) -> str:
        return tool(self.part)

    def decode(self, arguments: Mapping[str, object] | None) -> P:
        """The arguments by their type; numbers may come as text. Raises RemoraError that names what does not fit."""
        try:
            return msgspec.convert(dict(arguments or {}), self.arguments, strict=False)
        except msgspec.ValidationError as error:
            raise RemoraError(f"{self.name} cannot use these arguments: {error}.", self._takes()) from error

    def input_schema(self) -> Json:
        """The JSON schema of the arguments."""
        return schema(self.arguments) if self.taken is None else self.taken

    def output_schema(self) -> Json | None:
        """The JSON schema of the document."""
        return None if self.document is None else schema(self.document)

    def _takes(self) -> str:
        taken = self.input_schema()
        needed = taken.get("required", [])
        named = (one if one in needed else f"{one} (optional)" for one in taken.get("properties", {}))
        return f"It takes: {', '.join(named)}."


def schema(kind: type) -> Json:
    """The JSON schema of a struct, an object at its root as MCP wants it. Without the names of our own types."""
    (_,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    root: Json = parts.pop(kind.__name__)
    root.pop("title", None)
    root.pop("description", None)
    for field in root["properties"].values():
        if "enum" in field:  # some models take no choice whose type is not said
            field.setdefault("type", "string")
    return root | ({"$defs": parts} if parts else {})
