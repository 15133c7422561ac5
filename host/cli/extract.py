"""`extract`: notes of a conversation with their quotes, and scenes, doctrine and skills of what was kept."""

import shlex
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TypedDict, Unpack

import click

from governance.formation.contracts import Layer
from host.cli import durations
from host.cli.history import take_in, tell
from host.cli.link import ask
from host.cli.output import count_of, json_option, say, show_json, workspace_option
from host.cli.task import Task, no_task, show_task
from host.cli.wording import folder
from host.clock import MachineZone, SystemClock
from host.errors import RemoraError
from host.models import whole
from host.namespace import SCRIPT
from host.past_sessions import events, opened, ordered
from recall.contracts import Frozen, Millis
from recall.workspace import workspace_key

DRIVER_HELP = "Ask this model in place of the configured one: openai, anthropic, command, or scripted:FILE."
LAYER_HELP = "What to make: notes (l1), scenes (l2), the doctrine (l3), or skills."
ENDED_EARLY = {"failed", "cancelled"}
SHOWN = 8  # notes that were not taken


class Rejected(Frozen, frozen=True, kw_only=True):
    index: int
    code: str
    detail: str = ""


class Problem(Frozen, frozen=True, kw_only=True):
    code: str
    problem: str


class Noted(Frozen, frozen=True, kw_only=True):
    session_id: str
    status: str
    windows: int = 0
    calls: int = 0
    notes: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    buried: int = 0
    rejected: tuple[Rejected, ...] = ()
    shortened: tuple[str, ...] = ()
    remaining: int = 0
    error: Problem | None = None
    idempotent: bool = False


class Layered(Frozen, frozen=True, kw_only=True):
    layer: str
    status: str
    items: tuple[str, ...] = ()
    known: int = 0
    calls: int = 0
    diagnostics: tuple[str, ...] = ()
    error: Problem | None = None
    note: str = ""


class Extracted(Frozen, frozen=True, kw_only=True):
    noted: tuple[Noted, ...] = ()
    layered: Layered | None = None
    task: Task | None = None
    document_task: Task | None = None


class Recovered(Frozen, frozen=True, kw_only=True):
    records: int
    versions: int
    superseded: int
    cursors: int = 0
    torn: tuple[str, ...] = ()
    aside: str = ""
    note: str = ""


class Wish(TypedDict):
    """What the person asks for."""

    session: str
    since: Millis | None
    layer: str
    driver: str
    emit_task: bool


class Since(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases alone
    """A time: a day, a time of ISO 8601, or how long ago."""

    name = "since"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Millis:
        if isinstance(value, int):
            return value
        text = str(value)
        try:
            return SystemClock().now() - durations.parse(text)
        except ValueError:
            pass
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            expected = "Give a day, 2026-11-03, or how long ago, 2d, up to 366d."
            self.fail(f"{text[:40]!r} is no time. {expected}", param, ctx)
        return round((at if at.tzinfo else at.replace(tzinfo=MachineZone())).timestamp() * 1000)


@click.command()
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--session", default="", metavar="ID", help="This session.")
@click.option("--since", type=Since(), metavar="TIME", help="The sessions of the workspace since then: 2d, 2026-11-03.")
@click.option(
    "--layer", type=click.Choice([str(one) for one in Layer]), default="l1", show_default=True, help=LAYER_HELP
)
@click.option("--driver", default="", metavar="DRIVER", help=DRIVER_HELP)
@click.option("--emit-task", is_flag=True, help="Print a task for the agent that runs.")
@click.option("--recover", is_flag=True, help="Make governance.db again from what was written down.")
@workspace_option
@json_option
def extract(file: Path | None, workspace: Path, as_json: bool, recover: bool, **wish: Unpack[Wish]) -> None:
    """Note facts and lessons of a conversation, each with its quotes.

    They wait in `review`. Without a session, the one of this workspace that was heard last. FILE is a transcript of
    Claude Code or Codex: it is taken in as history first. `--layer l2` makes scenes of the lessons that you kept, `l3`
    the doctrine of the scenes, `skill` skills of a conversation.

    \b
    Examples:
      remora-pre extract --driver scripted:notes.json
      remora-pre extract --since 2d --emit-task
      remora-pre extract --layer l2 --emit-task
    """
    _check(file, recover, wish)
    if recover:
        _tell_recovered(ask("extract.recover", {}, Recovered), as_json=as_json)
        return
    quiet = as_json or wish["emit_task"]
    sessions = [(wish["session"], folder(workspace))] if file is None else _taken_in(file, workspace, quiet=quiet)
    asked: dict[str, object] = {
        "layer": wish["layer"],
        "driver": whole(wish["driver"]),
        "emitTask": wish["emit_task"],
    }
    if wish["since"] is not None:
        asked["since"] = wish["since"]
    done: list[Extracted] = []
    for session, where in sessions:
        found = ask("extract.run", asked | {"sessionId": session, "workspace": where}, Extracted)
        task = found.task or found.document_task
        if task is not None:
            show_task(task)
            return
        done.append(found)
    if wish["emit_task"]:
        notes = [each.layered.note for each in done if each.layered]
        no_task(notes, "there is nothing that was not noted before" if not notes else "there is nothing to make it of")
    noted, layered = [one for each in done for one in each.noted], [one.layered for one in done if one.layered]
    if as_json:
        show_json({"noted": noted, "layered": layered})
    else:
        _tell(noted, layered, sessions[0][1])
    if {*(one.status for one in noted), *(one.status for one in layered)} & ENDED_EARLY:
        raise click.exceptions.Exit(1)


def _check(file: Path | None, recover: bool, wish: Wish) -> None:
    """Raises UsageError for what does not go together."""
    named = [bool(wish["session"]), wish["since"] is not None, file is not None]
    if sum(named) > 1:
        raise click.UsageError("Give one of FILE, --session and --since.")
    if recover and (any(named) or wish["driver"] or wish["emit_task"] or wish["layer"] != Layer.L1):
        raise click.UsageError("--recover is about everything that was formed: it goes alone.")
    if any(named) and wish["layer"] in (Layer.L2, Layer.L3):
        raise click.UsageError(f"--layer {wish['layer']} is made of what you kept here, not of a session.")
    if wish["since"] is not None and wish["layer"] == Layer.SKILL:
        raise click.UsageError("Skills are made of one session: name it with --session.")
    if wish["emit_task"] and wish["driver"]:
        raise click.UsageError("A task is for the agent that runs: leave --driver out.")


def tell_noted(noted: Noted, where: str) -> None:
    """What came of noting one session. `where`: its folder."""
    if noted.status == "completed" and not (noted.windows or noted.notes or noted.known or noted.rejected):
        say(f"{noted.session_id}  {noted.status}  nothing that was not noted before")
        return
    calls = f", {count_of(noted.calls, 'call')}" if noted.calls else ""
    known = f", {len(noted.known)} known already" if noted.known else ""
    buried = f", {noted.buried} that you said no to" if noted.buried else ""
    before = ", taken before" if noted.idempotent else ""
    say(f"{noted.session_id}  {noted.status}  {count_of(len(noted.notes), 'note')}{known}{buried}{calls}{before}")
    for one in noted.rejected[:SHOWN]:
        say(f"Not taken: {one.code}. {one.detail}".rstrip())
    if len(noted.rejected) > SHOWN:
        say(f"Not taken: {len(noted.rejected) - SHOWN} more.")
    if noted.shortened:
        say(f"Shown without their middle, as they are long: {count_of(len(noted.shortened), 'message')}.")
    if noted.error is not None:
        say(f"It ended early ({noted.error.code}): {noted.error.problem}")
    if noted.remaining:
        say(f"Not noted yet: {count_of(noted.remaining, 'message')}. Ask again to go on.")
    if noted.notes:
        say(f"{_they(noted.notes)} for you: {review_of(where)}")


def tell_layered(layered: Layered, where: str) -> None:
    """What came of making documents of the workspace of this folder."""
    if layered.note:
        say(layered.note)
        return
    calls = f", {count_of(layered.calls, 'call')}" if layered.calls else ""
    known = f", {layered.known} that wait already or that you said no to" if layered.known else ""
    say(f"{layered.layer}  {layered.status}  {count_of(len(layered.items), 'proposal')}{known}{calls}")
    for one in layered.diagnostics:
        say(one)
    if layered.error is not None:
        say(f"Nothing was proposed ({layered.error.code}): {layered.error.problem}")
    if layered.items:
        say(f"{_they(layered.items)} for you: {review_of(where)}")


def _they(items: Sequence[str]) -> str:
    return "It waits" if len(items) == 1 else "They wait"


def review_of(where: str) -> str:
    """The command that shows what waits in the workspace of a folder."""
    if workspace_key(where) == workspace_key(folder(Path())):
        return f"{SCRIPT} review"
    return f"{SCRIPT} review --workspace {shlex.quote(where)}"


def _tell(noted: Sequence[Noted], layered: Sequence[Layered], where: str) -> None:
    for one in noted:
        tell_noted(one, where)
    for made in layered:
        tell_layered(made, where)
    if not (noted or layered):
        say("There is nothing to do.")


def _taken_in(file: Path, workspace: Path, *, quiet: bool) -> list[tuple[str, str]]:
    """The sessions of a transcript with their folders, once they are in the log. Raises RemoraError for a file that is
    none."""
    named: dict[str, str] = {}
    for past in ordered([file]):
        if past.host:
            with opened(past.path) as lines:
                named |= {event.session_id: event.workspace or "" for event in events(past, lines)}
    if not named:
        raise RemoraError(f"{file} is no transcript that can be read.", "Give one of Claude Code or Codex.")
    report = take_in([file], workspace, everywhere=True, dry_run=False)
    if report.events and not quiet:
        tell(report)
    return list(named.items())


def _tell_recovered(done: Recovered, *, as_json: bool) -> None:
    if as_json:
        show_json(done)
        return
    say(f"{count_of(done.records, 'record')} in {count_of(done.versions, 'version')}, {done.superseded} superseded.")
    for one in done.torn:
        say(f"Could not be read, and was left out: {one}")
    if done.aside and done.aside not in done.note:
        say(f"The file that was there is kept as {done.aside}.")
    if done.note:
        say(done.note)
