"""The command line's line to the daemon: one request, a typed answer; a daemon is started when there is none.

A daemon runs for one data folder. One that keeps another than this environment names is not asked: its answers would be
about other memories.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from host.cli.answers import Health
from host.client import DaemonAbsent, DaemonSilent, Refused, call_sync, connect
from host.config import Paths, environment, locate
from host.errors import RemoraError
from host.launch import launch, wait_until_ready
from host.namespace import SCRIPT, env

T = TypeVar("T")
TIMEOUT_SECONDS = 30.0
LIFE_SECONDS = 3.0  # for what a daemon answers at once, however much it has to do
AT_ONCE = frozenset({"health", "shutdown"})
MODEL_SECONDS = 3600.0  # for what a model is asked about: many calls of a minute or three
ASKS_A_MODEL = frozenset({"checkpoint.run", "checkpoint.retry", "extract.run", "team.run"})
# A refusal's kind -> what to do about it from here; the daemon speaks of methods.
NEXT_STEPS = {
    "unknown-memory": f"List what there is with: {SCRIPT} list",
    "unknown-audit-entry": f"List them with: {SCRIPT} audit list",
    "unknown-packet": f"List those that were with: {SCRIPT} audit list --kind delivery",
    "unknown-item": f"List what waits with: {SCRIPT} review",
    "reviewer-kind": "Decide at a terminal of your own: an agent's shell, or a pipe, is not one.",
    "wrong-state": f"See what was decided with: {SCRIPT} review ITEM",
    "no-driver": "Print a task for the agent with --emit-task, or name a model with --driver.",
    "unknown-task": "Ask for a task with --emit-task, from the same workspace, and answer with its id.",
    "unknown-letter": f"See what was given up with: {SCRIPT} checkpoint --list",
    "not-found": f"List what there is with: {SCRIPT} list",
    "read-only": f"Wherever a memory stands, it can be kept from the agent: {SCRIPT} mute MEMORY",
    "unusable-file": f"Mend the file first; what is wrong with it says: {SCRIPT} lint",
    "index-unavailable": f"Try again in a moment; how far it is says: {SCRIPT} status",
}


def paths() -> Paths:
    """Where this user's daemon keeps its things."""
    return locate(environment())


def ask(method: str, params: Mapping[str, object], answer: type[T]) -> T:
    """One request. Starts the daemon when none answers. Raises Refused with what the daemon objects to, and RemoraError
    when it keeps another data folder."""
    try:
        check_data()
        return ask_running(method, params, answer)
    except DaemonAbsent:
        start_daemon()
    check_data()
    return ask_running(method, params, answer)


def ask_running(method: str, params: Mapping[str, object], answer: type[T]) -> T:
    """One request to a daemon that runs, whatever data it keeps. Raises DaemonAbsent when there is none, and
    DaemonSilent with what to do when it hangs."""
    seconds = LIFE_SECONDS if method in AT_ONCE else MODEL_SECONDS if method in ASKS_A_MODEL else TIMEOUT_SECONDS
    try:
        raw = call_sync(paths().socket, method, dict(params), timeout=seconds)
    except DaemonSilent as silence:
        if not isinstance(silence.__cause__, TimeoutError):  # something else listens there
            raise
        raise DaemonSilent(
            f"The daemon at {paths().socket} did not answer within {seconds:.0f} s. It hangs, or the machine is busy.",
            f"Ask again in a moment. If it stays so, end it with `{SCRIPT} stop`, then: {SCRIPT} start",
        ) from silence.__cause__
    except Refused as refused:
        if (step := NEXT_STEPS.get(refused.kind)) is None:
            raise
        raise Refused(refused.kind, refused.code, refused.problem, step) from refused
    return msgspec.json.decode(raw, type=answer)


def keeps_ours(health: Health) -> bool:
    """Whether the daemon's data folder is the one that this environment names."""
    return not health.data or os.path.realpath(health.data) == os.path.realpath(paths().data)


def check_data() -> None:
    """Raise RemoraError when the daemon that runs keeps another data folder, DaemonAbsent when there is none."""
    refuse_others(ask_running("health", {}, Health))


def refuse_others(health: Health) -> None:
    """Raise RemoraError when the daemon keeps another data folder than this environment names."""
    if keeps_ours(health):
        return
    where = paths()
    raise RemoraError(
        f"The daemon at {where.socket} (pid {health.pid}) keeps the data folder {health.data}, not {where.data}: "
        f"it was started with another HOME or {env('data')}.",
        f"Use its environment, end it with `{SCRIPT} stop`, or name a socket in another folder with {env('socket')}.",
    )


def start_daemon() -> None:
    """Start the daemon in the background and wait until it is healthy."""
    where = paths()
    wait_until_ready(launch(["--background"], environment(), where.log_file), where.socket)


def listen(method: str, field: str, kind: type[T], handle: Callable[[T], bool]) -> None:
    """Call `method`, then hand the `field` of every notification to `handle` until it answers False."""
    try:
        check_data()
    except DaemonAbsent:
        start_daemon()
        check_data()
    asyncio.run(_listen(method, field, kind, handle))


async def _listen(method: str, field: str, kind: type[T], handle: Callable[[T], bool]) -> None:
    async with connect(paths().socket) as client:
        await client.call(method, {})
        async for notice in client.notifications():
            params = msgspec.json.decode(notice.params, type=dict[str, msgspec.Raw])
            if not handle(msgspec.json.decode(params[field], type=kind)):
                return
