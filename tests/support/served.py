"""A served socket over fake methods, and a client's end of it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from host.protocol import FRAME_BYTES
from host.sockets import Listener
from host.wire import Connections
from tests.support.methods import FakeMethods, FakeShell


class ServedSocket:
    """A served socket, and what stands behind it."""

    def __init__(self, path: Path, most: int) -> None:
        self.methods = FakeMethods()
        self.shell = FakeShell()
        self.connections = Connections(self.methods, self.shell, "1.2", most)
        self.listener = Listener(path, self.connections)

    @asynccontextmanager
    async def client(self) -> AsyncIterator["Line"]:
        reader, writer = await asyncio.open_unix_connection(str(self.listener.path), limit=64 * FRAME_BYTES)
        try:
            async with asyncio.timeout(10):
                yield Line(reader, writer)
        finally:
            writer.close()


class Line:
    """The client's end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, method: str, number: object = 1, **params: Any) -> None:
        self.writer.write(
            json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"
        )

    async def receive(self) -> Any:
        """The next answer; None when the connection is closed, however it was."""
        try:
            line = await self.reader.readline()
        except ConnectionResetError:
            return None
        return json.loads(line) if line else None

    async def ask(self, method: str, **params: Any) -> Any:
        self.send(method, **params)
        return await self.receive()
