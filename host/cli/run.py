"""`serve`, `start`, `stop`, `status`, `metrics`: the life of the daemon. `status` and `stop` never start one."""

import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click
import msgspec

from host.cli import hung as hung_up
from host.cli.answers import Formation, Health, MemoryHealth, Progress, Speaking, Text, Waiting
from host.cli.link import ask, ask_running, keeps_ours, paths, refuse_others, start_daemon
from host.cli.numbers import lines
from host.cli.output import count_of, json_option, say, show_json, unbroken
from host.cli.review_answers import ReviewPage
from host.cli.wording import folder
from host.client import DaemonAbsent, DaemonSilent
from host.errors import RemoraError, SocketFault
from host.namespace import SCRIPT
from host.setup import claude_code
from host.setup.records import Records
from host.sockets import leave_stopped, start_anew

PATIENCE = 200  # looks
PAUSE_SECONDS = 0.05
PROBLEMS_SHOWN = 5
# What a person at the terminal sees of http hooks that find nobody.
SHOWN = (
    'Open sessions of Claude Code show a line at each hook, "hook failed … ECONNREFUSED", until it runs again: '
    f"{SCRIPT} start. To have silence while it runs: {SCRIPT} mute --for 1h"
)
# What is wrong with a place in a memory file, or with the file -> what to do about it.
REMEDIES = {
    "malformed-anchor": "Correct the marker.",
    "orphan-anchor": "Write the text below it, or take the marker out.",
    "duplicate-anchor": "Take one of the two out, or give it an id of its own.",
    "orphan-content": "Put a marker above it.",
    "malformed-entry": "Take the file back from git, or mend it.",
    "identity-mismatch": "Take the file back from git, or mend it.",
    "conflict-markers": "Finish the merge.",
    "not-utf-8": "Save it as UTF-8.",
    "too-large": "Split it.",
    "too-many-records": "Split it.",
}


@click.command()
@click.option("--no-http", is_flag=True, help="Do not listen for HTTP hooks.")
def serve(no_http: bool) -> None:
    """Run the daemon in the foreground.

    The log goes to standard error; Ctrl-C stops it.

    \b
    Example:
      remora-pre serve
    """
    options = ["--no-http"] if no_http else []
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-P", "-m", "host.daemon", *options])


@click.command()
@json_option
def start(as_json: bool) -> None:
    """Start the daemon in the background.

    One that runs already is left alone.

    \b
    Example:
      remora-pre start
    """
    health = _health()
    start_anew(paths().socket.parent)
    if health is None:
        start_daemon()
    else:
        refuse_others(health)
    if as_json:
        show_json({"started": health is None, "socket": str(paths().socket)})
    else:
        say("It runs already." if health else f"Started. It listens on {paths().socket}.")


@click.command()
@json_option
def stop(as_json: bool) -> None:
    """Stop the daemon.

    It finishes what is under way first; one that hangs is ended by a signal. Sessions that run do not start it again;
    a session that starts does, and so does a command that needs it.

    \b
    Example:
      remora-pre stop
    """
    running, hung = _looked()
    unmarked = _mark_stopped()  # before it goes: a hook that finds nobody finds the mark
    if hung or (running and not _shut_down()):
        killed, hung = hung_up.end(paths().socket, paths().lock), True
        how = "It had to be killed." if killed else "It ended at a signal."
    if as_json:
        show_json({"stopped": running, "marked": not unmarked, "hung": hung})
    else:
        say("Stopped." if running else "It does not run.")
        if hung:
            say(f"It did not answer. {how} Nothing that was kept is lost.")
        if unmarked:
            say(f"An open session may start it again. {unmarked}")
        elif any(record.host == claude_code.HOST for record in Records(paths().state / "settings").all()):
            say(SHOWN)


@click.command()
@json_option
def status(as_json: bool) -> None:
    """Say how the daemon is.

    Exit code 1 when it does not run, does not answer within three seconds, when a part of it is not well, or when it
    keeps another data folder than the environment names.

    \b
    Example:
      remora-pre status
    """
    where, hung, health = paths(), False, None
    try:
        health = _health()
    except DaemonSilent:
        if not as_json:
            raise
        hung = True
    data = health.data if health is not None and health.data else str(where.data)
    if as_json:
        running = hung or health is not None
        show_json({"running": running, "hung": hung, "health": health, "socket": str(where.socket), "data": data})
    elif health is None:
        say(f"It does not run. Start it with: {SCRIPT} start")
    else:
        say("It runs." if health.ready else "It runs, but not everything is well.")
        parts = {name: _plain(state) for name, state in health.parts.items()} | _at_work(health.index)
        for name, state in sorted(parts.items()):
            say(f"  {name}: {state}")
        say(f"  memory: {count_of(health.memory.records, 'record')} in {count_of(health.memory.files, 'file')}")
        say(f"  socket file: {where.socket}")
        say(f"  data folder: {data}")
        _tell_problems(health.memory)
        _tell_waiting(health.waiting)
        _tell_watched(health.hosts)
        if not keeps_ours(health):
            say(f"Commands from here mean another data folder, {where.data}, and are refused.")
    if health is None or not health.ready or not keeps_ours(health):
        raise click.exceptions.Exit(1)


def _at_work(index: Progress) -> dict[str, str]:
    """How far the index is, while it is not done."""
    if index.stage == "idle":
        return {}
    share = f", {100 * index.done // index.total} %" if index.total else ""
    return {"index": f"{index.stage}{share}"}


def _tell_waiting(waiting: Waiting) -> None:
    """What only a person can decide."""
    if waiting.approvals:
        say(f"{count_of(waiting.approvals, 'procedure')} would have been shown and can do harm: {SCRIPT} approve")
    if waiting.review:
        _tell_review(waiting.review)
    if waiting.checkpoints:
        _tell_checkpoints(waiting.checkpoints)


def _tell_review(everywhere: int) -> None:
    """`review` shows those of its own workspace alone."""
    here = everywhere
    with suppress(RemoraError):
        found = ask_running("review.list", {"workspace": folder(Path()), "limit": 1}, ReviewPage)
        here = min(found.total, everywhere)
    if here:
        say(f"{count_of(here, 'item')} in the review queue: {SCRIPT} review")
    if everywhere > here:
        wait = "1 item waits" if everywhere - here == 1 else f"{everywhere - here} items wait"
        say(f"{wait} for review in other folders.")


def _tell_checkpoints(everywhere: int) -> None:
    """An agent can run those of its own workspace alone."""
    here = 0
    with suppress(RemoraError):
        found = ask_running("formation.status", {"workspace": folder(Path())}, Formation)
        here = min(found.waiting, everywhere)
    if here:
        wait, them = ("1 checkpoint waits", "it") if here == 1 else (f"{here} checkpoints wait", "them")
        say(f"{wait} here: ask your agent to run {them}, or see what there is: {SCRIPT} checkpoint --list")
    if everywhere > here:
        others = everywhere - here
        say(f"{'1 checkpoint waits' if others == 1 else f'{others} checkpoints wait'} in other folders.")


def _tell_watched(hosts: Sequence[Speaking]) -> None:
    """Which products get nothing because of the version that they speak from."""
    for one in hosts:
        if one.watched:
            say(f"{one.host} is watched only: version {one.watched}. How to allow it says: {SCRIPT} doctor")


def _tell_problems(memory: MemoryHealth) -> None:
    """What is not used of the memory files, and what to do about it."""
    if memory.problem_count:
        say(f"{count_of(memory.problem_count, 'place')} in memory files could not be used:")
    for found in memory.problems[:PROBLEMS_SHOWN]:
        file = unbroken(found.file)
        place = f"{file}, line {found.line}" if found.line else file
        say(
            f"  {place}: {found.state}: {unbroken(found.problem).rstrip('.')}. {REMEDIES.get(found.state, '')}".rstrip()
        )
    if memory.problem_count > PROBLEMS_SHOWN:
        say(f"  and {memory.problem_count - PROBLEMS_SHOWN} more")
    for gone in memory.missing:
        say(f"The memory folder {gone} is not there. What is known of it is kept until it is back.")
    for one in memory.unasked:
        say(
            f"{unbroken(one.repository)} brings {count_of(one.records, 'record')}, shown as hints at most: "
            f"you were not asked whether you trust them. {SCRIPT} init asks, in that folder."
        )


@click.command()
@click.option("--prometheus", is_flag=True, help="In Prometheus' text format.")
@json_option
def metrics(prometheus: bool, as_json: bool) -> None:
    """Show the numbers of all that was decided, and how the daemon stands now.

    \b
    Examples:
      remora-pre metrics
      remora-pre metrics --prometheus > remora.prom
    """
    if prometheus:
        if as_json:
            raise click.UsageError("Give --json or --prometheus, not both.")
        say(ask("metrics", {"format": "prometheus"}, Text).text.rstrip("\n"))
        return
    raw = ask("metrics", {}, dict[str, msgspec.Raw])
    numbers = {name: msgspec.json.decode(value) for name, value in raw.items()}
    if as_json:
        show_json(numbers)
        return
    for line in lines(numbers):
        say(line)


def _looked() -> tuple[bool, bool]:
    """Whether a daemon runs, and whether it hangs."""
    try:
        return _health() is not None, False
    except DaemonSilent as silence:
        if not isinstance(silence.__cause__, TimeoutError):
            raise
        return True, True


def _shut_down() -> bool:
    """Have it end. Whether it did, while it answered."""
    try:
        ask_running("shutdown", {}, msgspec.Raw)
        _wait_until_gone()
    except DaemonSilent:
        return False
    except DaemonAbsent:  # it ended by itself meanwhile
        pass
    return True


def _health() -> Health | None:
    try:
        return ask_running("health", {}, Health)
    except DaemonAbsent:
        return None


def _mark_stopped() -> str:
    """Say to hooks that a person stopped it. Why that cannot be done, or nothing."""
    try:
        leave_stopped(paths().socket.parent)
    except SocketFault as fault:
        return str(fault)
    return ""


def _wait_until_gone() -> None:
    for _ in range(PATIENCE):
        if _health() is None:
            return
        time.sleep(PAUSE_SECONDS)
    raise RemoraError("The daemon is still there.", f"Look into its log, {paths().log_file}.")


def _plain(value: msgspec.Raw) -> str:
    """A JSON value for people: text as it is, the rest as JSON."""
    decoded = msgspec.json.decode(value)
    return decoded if isinstance(decoded, str) else bytes(value).decode()
