"""A real daemon process on temporary folders, and a plain client for its socket: for the client, reliability and
bench suites. Standard library only, so that what is measured is the daemon."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

from host import namespace

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 20
STOP_SECONDS = 10


class Refused(Exception):
    """The daemon answered with an error: `data` is its kind, problem and next."""

    def __init__(self, error: Json) -> None:
        self.code: int = error["code"]
        self.data: Json = error.get("data") or {}
        super().__init__(f"{error['code']}: {error.get('message')} {self.data}")


class Wire:
    """One connection: JSON-RPC, a line each way. `call` waits; `send` and `receive` pipeline."""

    def __init__(self, path: Path, *, timeout: float = 30) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(str(path))
        except OSError:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rb")
        self._next = 0
        self.notifications: list[Json] = []

    def call(self, method: str, **params: Any) -> Json:
        """The result. Raises Refused, or ConnectionError when the daemon is gone."""
        number = self.send(method, **params)
        while True:
            message = self.receive()
            if message.get("id") == number:
                if "error" in message:
                    raise Refused(message["error"])
                result: Json = message["result"]
                return result
            self.notifications.append(message)

    def send(self, method: str, **params: Any) -> int:
        self._next += 1
        self.send_bytes(request(self._next, method, params))
        return self._next

    def send_bytes(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self) -> Json:
        line = self._file.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("The daemon closed the connection.")
        message: Json = json.loads(line)
        return message

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def request(number: int, method: str, params: Json) -> bytes:
    """One request as it goes over the wire."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


def a_message(session: str, number: int, text: str, **fields: Any) -> Json:
    """The prompt of that number in its session, as a producer sends it."""
    return {
        "schemaVersion": 1,
        "sessionId": session,
        "agentId": "main",
        "workspace": "/project",
        "channel": "session",
        "eventType": "user/message",
        "timestamp": 1_780_000_000_000 + number,
        "sourceKind": "user",
        "eventId": f"e{number}",
        "payload": {"text": text},
    } | fields


class RunningDaemon:
    """`python -m host.daemon` on `folder`. Use as a block, or start, kill and start again on the same data."""

    def __init__(
        self, folder: Path, *, home: Path | None = None, env: dict[str, str] | None = None, engine: bool = False
    ) -> None:
        """`engine`: search by meaning too. Off unless a test is about it: its model takes a second and 150 MB."""
        self.folder = folder
        self.engine = engine
        self.home = home or folder / "home"
        self.data = folder / "data"
        self.socket = folder / "s" / "d.sock"
        self.log = folder / "daemon.log"
        self.command: tuple[str, ...] = (sys.executable, "-m", "host.daemon")
        self._env = env or {}
        self.process: subprocess.Popen[bytes] | None = None

    def environment(self) -> dict[str, str]:
        """What the daemon, its command line and the hooks of its clients share."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
        own = {
            "HOME": str(self.home),
            namespace.env("data"): str(self.data),
            namespace.env("socket"): str(self.socket),
            "PYTHONPATH": str(ROOT),
        }
        return kept | own | self._env

    def start(self) -> float:
        """Start and wait until it greets. Returns the seconds that took."""
        self.home.mkdir(parents=True, exist_ok=True)
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        settings = self.data / "config.toml"
        if not self.engine and not settings.exists():
            settings.write_text("[recall]\nengine = false\n", encoding="utf-8")
        begun = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        while not self._greets():
            if self.process.poll() is not None or time.monotonic() - begun > READY_SECONDS:
                raise RuntimeError(f"The daemon did not start:\n{self.log.read_text(errors='replace')[-4000:]}")
            time.sleep(0.005)
        return time.monotonic() - begun

    def _greets(self) -> bool:
        with contextlib.suppress(OSError, ConnectionError), self.connect() as wire:
            wire.call("hello", client="test", protocol=namespace.PROTOCOL, capabilities=[])
            return True
        return False

    def connect(self) -> Wire:
        return Wire(self.socket)

    def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, sign: signal.Signals) -> int:
        if self.process is None:
            return 0
        self.process.send_signal(sign)
        code = self.process.wait(STOP_SECONDS)
        self.process = None
        return code

    def rss_bytes(self) -> int:
        """Resident memory of the process."""
        if self.process is None:
            return 0
        said = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(self.process.pid)], capture_output=True, text=True, check=True
        )
        return int(said.stdout) * 1024

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.stop()
                return
            self.kill()
