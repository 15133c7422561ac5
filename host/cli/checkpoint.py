"""`checkpoint`: what sessions said since the last time is formed into memories, now."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, Unpack

import click
from click.shell_completion import CompletionItem

from governance.formation.contracts import DeadLetter, Job, JobState, RangeResult, RangeStatus, RejectionCode
from host.cli.link import ask, ask_running
from host.cli.output import count_of, json_option, say, show_json, workspace_option
from host.cli.tables import print_table, when
from host.cli.task import Task, no_task, show_task
from host.cli.wording import folder
from host.errors import RemoraError
from host.models import whole
from host.namespace import SCRIPT
from recall.contracts import Frozen, Millis

DRIVER_HELP = "Ask this model in place of the configured one: openai, anthropic, command, or scripted:FILE."
NO_DRIVER, WAITS = "no-driver", "waits"
SAID = {
    NO_DRIVER: "for your agent to run it",
    "subagent": "a subagent's session",
    "own-session": "a session of our own",
    "workspace-off": "the workspace is off",
    "disabled": "formation is off",
    "store": "governance.db cannot be used",
    "cursor-moved": "somebody else formed it meanwhile",
    "operation-reused": "its texts are not what they were",
    "coverage-changed": "its texts are not what they were",
    "range-ahead": "a range that failed before reaches beyond it",
    "unknown-session": "what was said in it is not held any more",
    "configuration": "the model cannot be asked",
    "rate-limited": "the model answers no more calls for now",
    "unavailable": "the model cannot be reached",
    "timeout": "the model did not answer in time",
    "protocol": "the model answered what no model answers",
}
GIVEN_UP = {
    "schema": "what the model answered could not be used",
    "length": "what the model answered was cut",
    "localization": "the model could make nothing of it",
    "admission": "what the model answered could not be judged",
    "evidence": "what was said could not be put together",
}
TOLD = SAID | GIVEN_UP
DONE_FOR = frozenset({RangeStatus.UNAVAILABLE, RangeStatus.PENDING, RangeStatus.DISCARDED})
OF_A_MODEL = frozenset({"configuration", "rate-limited", "unavailable", "timeout", "protocol"})
FAILED = frozenset({RangeStatus.PENDING, RangeStatus.DISCARDED})


class WaitingRange(Frozen, frozen=True, kw_only=True):
    session_id: str
    from_seq: int
    through_seq: int
    since: Millis
    reason: str = ""


class Ran(Frozen, frozen=True, kw_only=True):
    results: tuple[RangeResult, ...] = ()
    task: Task | None = None
    waiting: int = 0


class Waits(Frozen, frozen=True, kw_only=True):
    waiting: tuple[WaitingRange, ...]
    jobs: tuple[Job, ...]
    letters: tuple[DeadLetter, ...]


class Retried(Frozen, frozen=True, kw_only=True):
    id: str
    result: RangeResult | None = None


class Wish(TypedDict):
    """What the person asks for."""

    session: str
    driver: str
    emit_task: bool
    retry: str
    listing: bool


def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Sessions of which something waits. None without a daemon."""
    where = folder(ctx.params.get("workspace") or Path())
    try:
        found = ask_running("checkpoint.list", {"workspace": where}, Waits)
    except (RemoraError, OSError):
        return []
    names = dict.fromkeys(one.session_id for one in found.waiting)
    return [CompletionItem(one) for one in names if one.startswith(incomplete)]


@click.command()
@click.option("--session", default="", metavar="ID", shell_complete=complete, help="This session, up to now.")
@click.option("--driver", default="", metavar="DRIVER", help=DRIVER_HELP)
@click.option("--emit-task", is_flag=True, help="Print the oldest range as a task for the agent that runs.")
@click.option("--retry", default="", metavar="ID", help="Try a range that was given up, or a failed job, again.")
@click.option("--list", "listing", is_flag=True, help="Only list what waits, and what was given up.")
@workspace_option
@json_option
def checkpoint(workspace: Path, as_json: bool, **wish: Unpack[Wish]) -> None:
    """Form memories of what sessions said since the last time.

    Without a session, whatever waits in the workspace. Memories rest on quotes of what the user wrote; one that was
    said in one session alone waits for a second. Where no model is configured, the agent that runs is the model: it is
    handed a task, and its answer comes back by `stage`.

    \b
    Examples:
      remora-pre checkpoint --list
      remora-pre checkpoint --session 5c0a --driver scripted:propose.json
      remora-pre checkpoint --emit-task
    """
    where, session, driver = folder(workspace), wish["session"], whole(wish["driver"])
    emit_task, retry = wish["emit_task"], wish["retry"]
    if sum(map(bool, (emit_task, retry, wish["listing"]))) > 1:
        raise click.UsageError("One of --emit-task, --retry and --list at a time.")
    if emit_task and driver:
        raise click.UsageError("A task is for the agent that runs: leave --driver out.")
    if session and (retry or wish["listing"]):
        raise click.UsageError("--retry and --list are not about one session: leave --session out.")
    if wish["listing"]:
        _list(ask("checkpoint.list", {"workspace": where}, Waits), as_json=as_json)
        return
    if retry:
        _tell_retried(ask("checkpoint.retry", {"id": retry, "driver": driver}, Retried), as_json=as_json)
        return
    params = {"workspace": where, "sessionId": session, "driver": driver, "emitTask": emit_task}
    ran = ask("checkpoint.run", params, Ran)
    if ran.task is not None:
        show_task(ran.task)
    elif emit_task:
        no_task([line(one) for one in ran.results], "nothing waits here")
    elif as_json:
        show_json(ran)
    else:
        _tell(ran)
    _end(ran.results)


def line(result: RangeResult) -> str:
    """One range on one line: whose, from where to where, what became of it, and what it cost."""
    if result.status is RangeStatus.NO_RANGE:
        return f"{result.session_id}  {result.status}  nothing was said since the last time"
    place = f"{result.session_id}  {result.from_seq}..{result.through_seq}"
    status = WAITS if result.reason == NO_DRIVER else result.status
    parts = (place, status, _of(result), count_of(result.calls, "call") if result.calls else "")
    return "  ".join(one for one in parts if one)


def _of(result: RangeResult) -> str:
    said = [TOLD.get(result.reason, result.reason)] if result.reason else []
    if result.committed:
        memories = "1 memory" if len(result.committed) == 1 else f"{len(result.committed)} memories"
        said.append(f"{memories} committed (extracted, at most a hint)")
    if result.deferred:
        said.append(_deferred(result))
    if result.pending:
        said.append(f"{len(result.pending)} for you to review")
    others = dict(result.rejected)
    if known := others.pop(RejectionCode.ALREADY_KNOWN, 0):
        said.append(f"{known} known already")
    if others:
        said.append("not taken: " + ", ".join(f"{count} {code}" for code, count in sorted(others.items())))
    if result.idempotent:
        said.append("done before")
    return ", ".join(said)


def _deferred(result: RangeResult) -> str:
    facts = count_of(len(result.deferred), "fact")
    if result.floor:
        return f"{facts} seen in {result.seen} of {result.floor} sessions"
    return f"{facts} to be seen in another session"


def _tell(ran: Ran) -> None:
    for result in ran.results:
        say(line(result))
    if not ran.results:
        say("Nothing waits here.")
    if any(one.deferred for one in ran.results):
        say(f"What waits for another session: {SCRIPT} review --state deferred")
    for problem in dict.fromkeys(one.problem for one in ran.results if one.problem):
        say(problem)
    if any(one.reason in OF_A_MODEL for one in ran.results):
        say(f"Nothing is lost: it waits, and is tried again. How the model stands says: {SCRIPT} doctor")
    if any(one.reason == NO_DRIVER for one in ran.results):
        say(f"Ask your agent to run the checkpoints, or hand it the task yourself: {SCRIPT} checkpoint --emit-task")
    if any(one.status in FAILED for one in ran.results):
        say(f"What failed, and what was given up: {SCRIPT} checkpoint --list")
    if ran.results and ran.waiting > len(ran.results):
        say(f"{_wait(ran.waiting)} in this workspace.")


def _wait(ranges: int) -> str:
    return "1 range still waits" if ranges == 1 else f"{ranges} ranges still wait"


def _end(results: Sequence[RangeResult]) -> None:
    """End with 1 where something was not formed."""
    if any(one.status in DONE_FOR for one in results):
        raise click.exceptions.Exit(1)


def _tell_retried(done: Retried, *, as_json: bool) -> None:
    if as_json:
        show_json(done)
    elif done.result is None:
        say(f"{done.id} is in line again.")
    else:
        say(line(done.result))
    _end([done.result] if done.result is not None else [])


def _list(found: Waits, *, as_json: bool) -> None:
    if as_json:
        show_json(found)
        return
    failed = [one for one in found.jobs if one.state is JobState.FAILED]
    if not (found.waiting or failed or found.letters):
        say("Nothing waits here, and nothing was given up.")
        return
    rows = [
        (one.session_id, f"{one.from_seq}..{one.through_seq}", WAITS, TOLD.get(one.reason, one.reason), "")
        for one in found.waiting
    ]
    rows += [(one.session_id, f"..{one.boundary_seq}", "failed", one.reason, one.job_id) for one in failed]
    rows += [
        (
            one.session_id,
            f"{one.from_seq}..{one.through_seq}",
            "given up",
            f"{GIVEN_UP.get(one.class_, one.class_)}, {when(one.at)}",
            one.letter_id,
        )
        for one in found.letters
    ]
    print_table(("session", "events", "state", "why", "retry"), rows)
