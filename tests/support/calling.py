"""A caller of MCP tools: over the service of a remora in this process, or over answers of a test."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from host.client import Refused
from host.errors import ProtocolFault
from tests.support.asking import Asking

T = TypeVar("T")


@dataclass
class Calling:
    """Asks the service as the daemon's wire does, as one who works in `folder`."""

    remora: Asking
    folder: str
    hangs: bool = False
    agent: str = "a-client"

    async def workspace(self) -> str:
        return self.folder

    async def ask(self, method: str, params: Mapping[str, object], kind: type[T]) -> T:
        try:
            given = await self.remora.reply(method, **params)
        except ProtocolFault as fault:
            raise Refused(fault.kind, fault.code, fault.problem, fault.next_step) from fault
        return msgspec.json.decode(msgspec.json.encode(given), type=kind)

    async def pass_on(self, host: str, payload: bytes) -> bytes:
        reply = await self.remora.service.hook(host, payload)
        return reply.result if isinstance(reply.result, bytes) else b""


@dataclass
class Told:
    """Answers with what a test says, by method, and keeps what it was asked."""

    answers: Mapping[str, object] = field(default_factory=dict)
    hooked: bytes = b""
    asked: list[tuple[str, Any]] = field(default_factory=list)
    hangs: bool = False
    agent: str = "a-client"

    async def workspace(self) -> str:
        return "/project"

    async def ask(self, method: str, params: Mapping[str, object], kind: type[T]) -> T:
        self.asked.append((method, dict(params)))
        answer = self.answers[method]
        if isinstance(answer, Exception):
            raise answer
        return msgspec.convert(answer, kind)

    async def pass_on(self, host: str, payload: bytes) -> bytes:
        self.asked.append((host, msgspec.json.decode(payload)))
        return self.hooked
