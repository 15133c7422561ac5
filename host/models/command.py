"""A command as the model (formation.md 4.2): the prompt on its standard input, its answer on its standard output.

It is for programs that are signed in already, as `claude -p`. It runs in a process group of its own, in an empty
folder, with the mark by which our hooks leave its session alone. It ends with the call, with its time and with the
daemon. It is given text and gives text: there are no tool calls and no counts.
"""

import asyncio
import contextlib
import fcntl
import os
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import msgspec

from governance.formation.contracts import FinishReason, ModelRequest, ModelResponse
from governance.formation.errors import ModelError, ModelErrorKind
from host.config import FormationSettings
from host.models.endpoint import refused
from host.models.wire import LARGEST_ANSWER
from host.namespace import env
from host.principals import MARKS

PLACES = 8  # folders, of which a running call holds one
FOLDER = "command"
KEEPER = Path(__file__).with_name("keeper.py")
ALSO_MARKS = frozenset({"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A ModelDriver. `scratch`: where its empty folders are."""

    command: Sequence[str]
    model: str
    scratch: Path
    environ: Mapping[str, str] = field(repr=False)  # with the key in it

    @property
    def id(self) -> str:
        return f"command:{self.model}"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """One run. Raises ModelError. A request with results of tools is refused: it cannot be told as text."""
        if any(message.tool_calls or message.role == "tool" for message in request.messages):
            raise refused(
                "The command driver takes text alone, and this step uses tools.", "Set `formation.driver` to another."
            )
        lock, folder = _place(self.scratch)
        try:
            async with asyncio.timeout(request.timeout_ms / 1000):
                said, ended = await self._run(folder, prompt(request).encode("utf-8", "replace"))
        except TimeoutError:
            waited = f"{request.timeout_ms / 1000:g} s"
            raise ModelError(ModelErrorKind.TIMEOUT, f"The command did not end within {waited}.") from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            lock.close()
        return ModelResponse(text=self._judged(said, ended), finish_reason=FinishReason.STOP, model_id=self.id)

    def _judged(self, said: bytes, ended: str) -> str:
        """What it said, as text. Raises ModelError."""
        if ended == "missing":
            raise refused(f"The command {self.command[0]} cannot be run.", "Check `formation.command`.")
        if ended != "exit 0":
            how = f"ended with {ended.removeprefix('exit ')}" if ended else "was killed"
            raise ModelError(ModelErrorKind.UNAVAILABLE, f"The command {how}. Run it by hand to see what it says.")
        try:
            return said.decode()
        except UnicodeDecodeError:
            raise ModelError(ModelErrorKind.PROTOCOL, "The command's answer is not UTF-8.") from None

    async def _run(self, folder: Path, said: bytes) -> tuple[bytes, str]:
        """What the command answered, and how it ended. Whatever happens, nothing of it is left afterwards."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with contextlib.closing(ours):
            with contextlib.closing(theirs):
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-I", "-S", str(KEEPER), str(theirs.fileno()), *self.command),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.DEVNULL,  # it may hold what the command was given
                    env=self._environment(),
                    cwd=folder,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            assert process.stdin is not None and process.stdout is not None
            try:
                _, answer = await asyncio.gather(_write(process.stdin, said), _read(process.stdout))
                return answer, await _last_words(ours)
            finally:
                ours.close()  # at this the keeper kills the group, itself included
                await asyncio.shield(_gone(process, process.stdout))

    def _environment(self) -> dict[str, str]:
        """Ours, with the mark of our own sessions, and without those of an agent that may have started the daemon:
        by them some products refuse to run within themselves."""
        kept = {name: value for name, value in self.environ.items() if name not in MARKS | ALSO_MARKS}
        return kept | {env("internal"): "1"}


async def _write(pipe: asyncio.StreamWriter, said: bytes) -> None:
    """The prompt, and its end. A command may end without having read it."""
    with contextlib.suppress(ConnectionError):
        pipe.write(said)
        await pipe.drain()
    with contextlib.suppress(ConnectionError):
        pipe.close()
        await pipe.wait_closed()


async def _read(pipe: asyncio.StreamReader) -> bytes:
    """All it says. Raises ModelError (`protocol`) when that is too much."""
    content = bytearray()
    while piece := await pipe.read(64 * 1024):
        content += piece
        if len(content) > LARGEST_ANSWER:
            raise ModelError(
                ModelErrorKind.PROTOCOL, f"The command's answer is longer than {LARGEST_ANSWER // 1024 // 1024} MiB."
            )
    return bytes(content)


async def _gone(process: asyncio.subprocess.Process, pipe: asyncio.StreamReader) -> None:
    """Until it is gone, and what it still said with it: a pipe that is not read to its end stays open."""
    while await pipe.read(64 * 1024):
        pass
    await process.wait()


async def _last_words(line: socket.socket) -> str:
    loop, told = asyncio.get_running_loop(), b""
    with contextlib.suppress(ConnectionError):
        while piece := await loop.sock_recv(line, 64):
            told += piece
    return told.decode("ascii", "replace").strip()


def _place(scratch: Path) -> tuple[BinaryIO, Path]:
    """An empty folder of one's own, and what holds it until it is closed. The same few are used again and again, since
    agent products keep a record for each folder that they were run in. Raises ModelError."""
    root = scratch / FOLDER
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for number in range(1, PLACES + 1):
            lock = (root / f"{number}.lock").open("ab")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # let go of when the process ends, however it does
            except BlockingIOError:
                lock.close()
                continue
            folder = root / str(number)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            return lock, folder
    except OSError as error:
        raise refused(f"The folder {root} cannot be used: {error.strerror}.", "Check its permissions.") from None
    raise ModelError(ModelErrorKind.UNAVAILABLE, f"{PLACES} commands are running already.")


def prompt(request: ModelRequest) -> str:
    """The request as one text. A tool that must be called is told as the form of the answer."""
    parts = [request.system, *(message.content for message in request.messages)]
    tools = [tool for tool in request.tools if tool.name == request.tool_choice] or (
        request.tools if len(request.tools) == 1 and request.tool_choice != "none" else ()
    )
    if tools:
        schema = msgspec.json.format(msgspec.json.encode(tools[0].schema), indent=1).decode()
        parts.append(f"Answer with one JSON value that fits this schema, and with nothing else:\n{schema}")
    return "\n\n".join(part for part in parts if part) + "\n"


def make(settings: FormationSettings, environ: Mapping[str, str], scratch: Path) -> Command:
    """The driver of these settings. Raises ModelError (`configuration`)."""
    if not settings.command or not settings.command[0]:
        raise refused("No command is named.", 'Set `formation.command`, as ["claude", "-p"].')
    name = settings.model or os.path.basename(settings.command[0])
    return Command(command=settings.command, model=name, scratch=scratch, environ=environ)
