"""The MCP server's way to the daemon: a connection for each call, so that a daemon that was restarted is met like any
other, and a slow answer holds up nobody else's. Starts a daemon when there is none, unless a person stopped it. One
that hangs is noticed while it is waited for, and not waited for as long the next time.
"""

import asyncio
import contextlib
import os
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from host.client import Client, DaemonAbsent, DaemonSilent, Refused, connect
from host.config import Paths
from host.errors import RemoraError, SocketFault
from host.hook import INHERITED, INHERITED_FAMILIES
from host.namespace import LATE_FILE, PROTOCOL, SCRIPT, env, name, tool
from host.protocol import FRAME_BYTES, LARGE_FRAMES
from host.sockets import is_stopped
from recall.contracts import Frozen

T = TypeVar("T")

ASK_SECONDS = 20.0  # for the answer of a daemon that is well
SILENT_SECONDS = 1.0  # for a sign of life: before a call, and again and again while its answer is not there
HUNG_SECONDS = 0.5  # the same for a daemon that gave none the last time
LATE_SECONDS = 10.0  # for which a daemon that gave no sign of life is taken for one that hangs
HOOK_SECONDS = 0.6  # as the command hooks wait
ENVELOPE_BYTES = 4_096  # of a frame, beside what it carries
NOTHING = b"null"
SAYS_WHO = "AI_AGENT"
PLAIN = re.compile(r"[A-Za-z0-9._-]{1,128}")
# A refusal's kind -> what an agent can do about it; the daemon speaks of its own methods.
NEXT_STEPS = {
    "unknown-memory": f"Find its id with {tool('memory_search')}.",
    "index-unavailable": "Ask again in a moment.",
    "unusable-file": f"Tell the user: {SCRIPT} lint says what is wrong with the file.",
    "read-only": "It stands in a file of the user's own: propose a change of that file.",
    "reviewer-kind": "Ask the user.",
}


class _Health(Frozen, frozen=True, kw_only=True):
    data: str = ""
    pid: int = 0


class _Hooked(Frozen, frozen=True, kw_only=True):
    output: msgspec.Raw = msgspec.Raw(NOTHING)


class Link:
    """`start`: starts a daemon and returns once it answers; it blocks, and is run on a thread, one at a time. `client`:
    what the agent product calls itself to its children, if it does."""

    def __init__(self, paths: Paths, start: Callable[[], None], client: str = "") -> None:
        self._paths = paths
        self._start = start
        self._client = client
        self._readying: asyncio.Task[None] | None = None  # for all who ask meanwhile
        self._ours = False  # whether the daemon was found to keep our data folder
        self._silent: float | None = None  # when it gave no sign of life; the clock of the loop

    @property
    def hangs(self) -> bool:
        """Whether the daemon gave no sign of life a moment ago, to us or to a hook."""
        seen = self._silent is not None and asyncio.get_running_loop().time() - self._silent < LATE_SECONDS
        return seen or self._is_late()

    def _is_late(self) -> bool:
        """Whether an answer to a hook was late, and the daemon has not been well since."""
        return os.path.lexists(self._paths.socket.parent / LATE_FILE)

    async def ask(self, method: str, params: Mapping[str, object], kind: type[T]) -> T:
        """The daemon's answer. Raises RemoraError with what to do."""
        await self.ready()
        asked = asyncio.create_task(self._asked(method, params, kind))
        try:
            async with asyncio.timeout(ASK_SECONDS):
                while not (await asyncio.wait({asked}, timeout=SILENT_SECONDS))[0]:
                    await self._live()
            return await asked
        except Refused as refused:
            step = NEXT_STEPS.get(refused.kind, refused.next_step)
            raise Refused(refused.kind, refused.code, refused.problem, step) from refused
        except TimeoutError as error:
            raise DaemonSilent(
                f"The memory daemon did not answer within {ASK_SECONDS:.0f} s.",
                f"Go on without; tell the user to look at `{SCRIPT} status`.",
            ) from error
        except DaemonAbsent as error:
            self._ours = False
            raise DaemonAbsent(error.problem, "It was just restarted, or ended. Ask again.") from error
        finally:
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)

    async def ready(self) -> None:
        """Return once a daemon of ours answers; starts one when none does and no person stopped it. Raises
        RemoraError. Who gives up waiting for it stops nothing."""
        if self._readying is None or self._readying.done():
            self._readying = asyncio.create_task(self._ready())
            self._readying.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may wait
        await asyncio.shield(self._readying)

    async def _ready(self) -> None:
        try:
            await self._live()
        except DaemonAbsent:
            self._ours = False
            self._refuse_stopped()
            try:
                await asyncio.to_thread(self._start)
            except RemoraError:
                self._refuse_stopped()  # it was stopped while it started
                raise
            await self._live()

    def _refuse_stopped(self) -> None:
        """Raise DaemonAbsent when a person stopped the daemon: an agent does not start it over his head."""
        if is_stopped(self._paths.socket.parent):
            raise DaemonAbsent(
                "The user stopped the memory daemon.",
                f"Go on without. It is started only by the user, or with their next session: `{SCRIPT} start`.",
            )

    async def _asked(self, method: str, params: Mapping[str, object], kind: type[T]) -> T:
        async with connect(self._paths.socket) as client:
            return await client.call_as(kind, method, params)

    async def pass_on(self, host: str, payload: bytes) -> bytes:
        """The daemon's answer to a hook, within the patience of a hook; empty when there is none, for any reason."""
        params = {"host": host, "payload": msgspec.Raw(payload), "client": self._client}
        if self._is_late():
            return b""
        try:
            async with asyncio.timeout(HOOK_SECONDS), connect(self._paths.socket) as client:
                if len(payload) > FRAME_BYTES - ENVELOPE_BYTES:
                    await _greet(client, LARGE_FRAMES)
                answer = await client.call_as(_Hooked, "hook", params)
        except TimeoutError:
            self._leave_late()
            return b""
        except (RemoraError, msgspec.MsgspecError):
            return b""
        output = bytes(answer.output)
        return b"" if output == NOTHING else output

    async def _live(self) -> None:
        """A sign of life, and of whose the daemon is. Raises DaemonAbsent, DaemonSilent, and what `_check` does."""
        seconds = SILENT_SECONDS if self._silent is None else HUNG_SECONDS
        try:
            async with asyncio.timeout(seconds), connect(self._paths.socket) as client:
                if self._ours:
                    await _greet(client)
                else:
                    self._check(await client.call_as(_Health, "health"))
        except TimeoutError as error:
            self._silent = asyncio.get_running_loop().time()
            raise DaemonSilent(
                f"The memory daemon at {self._paths.socket} hangs: it gave no answer within {seconds:g} s.",
                f"Go on without; tell the user that `{SCRIPT} stop` ends it and `{SCRIPT} start` starts another.",
            ) from error
        self._silent = None

    def _leave_late(self) -> None:
        """Leave the mark of hooks that an answer was late: the next ones do not wait, until the daemon is well."""
        with contextlib.suppress(OSError):
            os.close(
                os.open(
                    self._paths.socket.parent / LATE_FILE,
                    os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC,
                    0o600,
                )
            )

    def _check(self, health: _Health) -> None:
        """Raise SocketFault when the daemon keeps another data folder than this environment names: its memories are
        others."""
        ours = self._paths.data
        if health.data and os.path.realpath(health.data) != os.path.realpath(ours):
            raise SocketFault(
                f"The daemon at {self._paths.socket} (pid {health.pid}) keeps {health.data}, not {ours}.",
                f"Give the MCP server the environment of the daemon, {env('data')} above all.",
            )
        self._ours = True


async def _greet(client: Client, *capabilities: str) -> None:
    await client.call("hello", {"client": name("mcp"), "protocol": PROTOCOL, "capabilities": capabilities})


def kept_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What of an agent's environment a daemon is started with: what it needs, and none of the agent's secrets."""
    return {key: value for key, value in environ.items() if key in INHERITED or key.startswith(INHERITED_FAMILIES)}


def client_of(environ: Mapping[str, str]) -> str:
    """What the agent product calls itself to its children; empty when it does not, or not in plain letters."""
    said = environ.get(SAYS_WHO, "")
    return said if PLAIN.fullmatch(said) else ""
