"""Standard input and output of the MCP server: lines to the SDK and back. Until it is loaded, greetings are given.

Standard output belongs to the protocol alone: it is led to standard error for everybody else, and the wire is a
descriptor that nobody else knows. A thread of its own reads, from the first moment on; what it has read goes to the
SDK in order, greeted or not. When nobody reads our messages any more, the process ends.
"""

import asyncio
import contextlib
import fcntl
import os
import sys
import threading
from collections import deque
from typing import BinaryIO, NoReturn, Protocol, Self

SHORT = 4_096  # bytes of a line that may ask what is answered at a greeting; hooks are longer


class Greets(Protocol):
    """Who answers while the SDK is not there; see `host/mcp/greeting.py`."""

    def answer(self, line: bytes) -> bytes | None: ...

    def note(self, line: bytes) -> object: ...

    def sent(self, line: str) -> bool: ...

    def news(self) -> str: ...


def end() -> NoReturn:
    """The end of the process, at once: what is left in buffers of others is not written, no thread holds it up."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(0)


def taken() -> BinaryIO:
    """Standard output, taken from everybody else: what they write there goes to standard error from now on."""
    sys.stdout.flush()
    private = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)  # above the standard ones: one of those may be closed
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = sys.stderr
    return os.fdopen(private, "wb", buffering=0)


def given() -> BinaryIO:
    """Standard input, taken from everybody else: who reads it, a child for one, finds nothing."""
    private = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    return os.fdopen(private, "rb")


class Channel:
    """Both ends. As an asynchronous iterator it gives the client's lines; `write` and `flush` are those of a file."""

    def __init__(self, source: BinaryIO, wire: BinaryIO, greets: Greets) -> None:
        self._source = source
        self._wire = wire
        self._greets = greets
        self._lines: deque[bytes | None] = deque()  # None: the end
        self._turn = threading.Lock()  # a line is greeted before the SDK sees it, or not at all
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        self.needed = threading.Event()  # something waits for the SDK

    def listen(self) -> None:
        """Begin to read."""
        threading.Thread(target=self._read, name="input", daemon=True).start()

    def ready(self) -> None:
        """The SDK is there, in this loop: from now on it answers."""
        with self._turn:
            self._loop = asyncio.get_running_loop()

    async def write(self, text: str) -> None:
        """Send a message of the SDK, unless its question was answered already."""
        if line := text if self._greets.sent(text) else self._greets.news():
            await asyncio.to_thread(self._put, line.encode("utf-8", "replace"))

    async def flush(self) -> None:
        """Nothing is held back."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        while not self._lines:
            self._news.clear()
            await self._news.wait()
        line = self._lines.popleft()
        if line is None:
            raise StopAsyncIteration
        return line

    def _read(self) -> None:
        try:
            for line in self._source:
                self._take(line)
        except (OSError, ValueError):
            pass  # as its end
        self._take(None)

    def _take(self, line: bytes | None) -> None:
        with self._turn:
            loop = self._loop
            if loop is None:
                self._greet(line)
            elif line is not None and len(line) <= SHORT:
                self._greets.note(line)
            self._lines.append(line)
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._news.set)

    def _greet(self, line: bytes | None) -> None:
        """Answer a line that came before the SDK, or have it loaded. A client that goes away and waits for nothing has
        no need of it."""
        if line is None:
            if not self.needed.is_set():
                end()
        elif (said := self._greets.answer(line)) is not None:
            self._put(said)
        elif b'"id"' in line:  # no notification
            self.needed.set()

    def _put(self, data: bytes) -> None:
        try:
            while data:
                data = data[self._wire.write(data) or 0 :]
        except OSError:
            end()
