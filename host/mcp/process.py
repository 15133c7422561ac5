"""The life of `remora-pre mcp`: it greets its client, loads the SDK, serves, and ends with its client."""

import asyncio
import gc
import importlib
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from host.config import Paths, environment, locate
from host.errors import RemoraError
from host.launch import launch, wait_until_ready
from host.mcp import greeting
from host.mcp.channel import Channel, end, given, taken
from host.mcp.link import Link, client_of, kept_environment
from host.mcp.resources import first_page
from host.namespace import SCRIPT

LOAD_SECONDS = 2.0  # until the SDK is loaded without need: a session's start is left to its client
LOOK_SECONDS = 2.0  # between looks whether the client is there still
GREETING_SECONDS = 0.3  # for the daemon to list resources; then the list is empty
SWITCH_SECONDS = 0.0005  # while the SDK is loaded, the thread that greets has its turn this often
OURS = (Path(__file__).parent, Path(__file__).parents[1] / "maintained.py")


def run(*, debug: bool = False) -> None:
    """Serve one client on standard input and output until it is gone. Does not return."""
    parent = os.getppid()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a client that interrupts us means the end, without a traceback
    logging.basicConfig(
        stream=sys.stderr, level=logging.DEBUG if debug else logging.ERROR, format=f"{SCRIPT}: %(message)s"
    )
    paths = locate(environment())
    channel = Channel(given(), taken(), _greetings(paths))
    channel.listen()
    channel.needed.wait(LOAD_SECONDS)
    server, stdio = _imported()
    asyncio.run(_serve(server, stdio, channel, paths, parent))


async def _serve(server: Any, stdio: Any, channel: Channel, paths: Paths, parent: int) -> None:
    link = Link(paths, lambda: _start(paths), client_of(environment()))
    made = server.Serving(link, _cwd()).server()
    beside = [asyncio.create_task(_outlived(parent, end)), asyncio.create_task(_ready(link))]
    channel.ready()
    async with stdio.stdio_server(stdin=channel, stdout=channel) as (reading, writing):
        await made.run(reading, writing, server.Serving.options(made))
    del beside  # held until now, for a task that nobody holds may be collected
    end()


def _greetings(paths: Paths) -> greeting.Greetings:
    """What was answered last time, by the same software."""

    def unstarted() -> None:
        raise RemoraError("No daemon runs yet.")

    async def listed() -> greeting.Json:
        link = Link(paths, unstarted)
        if link.hangs:
            raise RemoraError("The daemon hangs.")
        async with asyncio.timeout(GREETING_SECONDS):
            return await first_page(link, _cwd())

    def resources() -> greeting.Json:  # in the thread that reads
        return asyncio.run(listed())

    return greeting.Greetings(paths.state / greeting.FILE, greeting.stamp(*OURS), resources)


async def _ready(link: Link) -> None:
    """Have a daemon there before it is asked for. What is wrong with it, the first call tells."""
    try:
        await link.ready()
    except RemoraError as error:
        logging.getLogger(SCRIPT).info("no daemon yet: %s", error)


async def _outlived(parent: int, over: Callable[[], None], now: Callable[[], int] = os.getppid) -> None:
    """End when the process that started us is gone: somebody else may hold the other end of our input open."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if now() != parent:
            over()
            return


def _start(paths: Paths) -> None:
    """Start a daemon in the background and wait until it answers. It outlives us, and knows nothing of the agent. One
    that a person stops meanwhile stays so."""
    wait_until_ready(
        launch(["--background", "--revive"], kept_environment(environment()), paths.log_file), paths.socket
    )


def _cwd() -> str:
    """The folder we were started in; empty when it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _imported() -> tuple[Any, Any]:
    """Our server and the SDK's transport, imported here alone: they take most of the start. Collecting garbage
    meanwhile would take as long again, and what they make stays."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.disable()
    try:
        return importlib.import_module("host.mcp.server"), importlib.import_module("mcp.server.stdio")
    finally:
        gc.freeze()
        gc.enable()
        sys.setswitchinterval(before)
