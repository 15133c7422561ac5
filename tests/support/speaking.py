"""An MCP server's process as its client sees it: lines of bytes each way, and when it is gone."""

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.support.daemon import Wire

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
SERVE = (sys.executable, "-c", "from host.cli.main import main; main()", "mcp")
PATIENCE_SECONDS = 30.0


def hello(version: str = "2025-11-25", number: int = 0, **capabilities: Any) -> Json:
    """The first request of a client that shakes hands."""
    params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}}
    return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}


def discovery(number: int | str = "probe") -> Json:
    """The first request of a client of 2026-07-28."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"jsonrpc": "2.0", "id": number, "method": "server/discover", "params": {"_meta": meta}}


class Speaking:
    """A server's process. Use as a block: at its end the process is ended, whatever it does."""

    def __init__(
        self, folder: Path, environ: Mapping[str, str], command: Sequence[str] = SERVE, **environment: str
    ) -> None:
        self.lines: list[bytes] = []
        self._number = 100
        self.process = subprocess.Popen(
            list(command),
            cwd=folder,
            env={**environ, "PYTHONPATH": str(ROOT), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, *messages: Json | bytes) -> None:
        assert self.process.stdin is not None
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Json:
        """The next line, which must be JSON; kept in `lines`."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), f"it ended: {self.errors()}"
        self.lines.append(line)
        message: Json = json.loads(line)
        return message

    def ask(self, method: str, **params: Any) -> Json:
        """A request's answer: the whole message. What comes before it is kept in `lines`."""
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while (message := self.receive()).get("id") != self._number or "method" in message:
            pass
        return message

    def begin(self, version: str = "2025-11-25") -> Json:
        """Shake hands; the server's answer."""
        self.send(hello(version))
        answer = self.receive()
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool: str, **arguments: Any) -> Json:
        """The result of a tool."""
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        result: Json = answer["result"]
        return result

    def call_with(self, meta: Json, tool: str, **arguments: Any) -> Json:
        """The same with what stands beside a request of 2026-07-28."""
        result: Json = self.ask("tools/call", name=tool, arguments=arguments, **meta)["result"]
        return result

    def hang_up(self) -> int:
        """Close standard input, as a client that ends does; the exit code."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        return self.process.wait(PATIENCE_SECONDS)

    def rest(self) -> bytes:
        """What is left on standard output, to its end."""
        assert self.process.stdout is not None
        return self.process.stdout.read()

    def errors(self) -> str:
        """What was written to standard error; the process is ended for it."""
        self.process.kill()
        assert self.process.stderr is not None
        return self.process.stderr.read().decode("utf-8", "replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def alive(pid: int) -> bool:
    """Whether that process runs; one that ended and was not waited for yet does not."""
    try:
        return b") Z " not in Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False


def gone(pid: int, seconds: float = PATIENCE_SECONDS) -> bool:
    """Wait until that process has ended; whether it did in time."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], seconds)[0])
    finally:
        os.close(watched)


def loaded(server: Speaking) -> bool:
    """Whether the SDK is there: the part of it that is a library of the system."""
    return "pydantic_core" in Path(f"/proc/{server.process.pid}/maps").read_text("utf-8")


def shut_down(socket: Path) -> None:
    """End the daemon there and wait until it is gone."""
    with Wire(socket) as wire:
        pid = wire.call("health")["pid"]
        wire.call("shutdown")
    assert gone(pid)


def servers(socket: Path) -> list[int]:
    """The processes of MCP servers that were pointed to this socket and still run."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and str(socket).encode() in (folder / "environ").read_bytes():
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if b"mcp" in words and alive(int(folder.name)):
                    found.append(int(folder.name))
    return found
