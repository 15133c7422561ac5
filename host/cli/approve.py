"""`approve`: the user's word on a high-risk procedure, without which it is never shown."""

from pathlib import Path

import click

from governance.contracts import Stage
from host.cli.known import any_memory_argument
from host.cli.link import ask
from host.cli.output import json_option, say, show_json, workspace_option
from host.cli.review import principal
from host.cli.tables import one_line, print_table, when
from host.cli.wording import folder
from recall.contracts import Frozen, MemoryRecord, Millis


class Waiting(Frozen, frozen=True, kw_only=True):
    """A procedure that waits, and when a pass would have shown it last."""

    record: MemoryRecord
    record_digest: str
    stage: Stage
    asked_at: Millis | None = None


class Approvals(Frozen, frozen=True, kw_only=True):
    waiting: tuple[Waiting, ...]


class Approved(Frozen, frozen=True, kw_only=True):
    memory_id: str
    approved: bool
    changed: bool
    stage: Stage


class Seen(Frozen, frozen=True, kw_only=True):
    """A memory as `memory.get` gives it, as far as it is needed here."""

    class Place(Frozen, frozen=True, kw_only=True):
        record_digest: str

    record: MemoryRecord
    locator: Place


@click.command()
@any_memory_argument
@click.option("--off", is_flag=True, help="Take the approval back.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@workspace_option
@json_option
def approve(memory_id: str | None, off: bool, yes: bool, workspace: Path, as_json: bool) -> None:
    """Let a high-risk procedure be shown, or list those that wait.

    It holds for the procedure as it stands: once it is changed, it waits again. Only a person approves, at a terminal
    of their own. Nothing is ever run by it.

    \b
    Examples:
      remora-pre approve
      remora-pre approve mem_0123456789abcdef0123456789abcdef
      remora-pre approve mem_0123456789abcdef0123456789abcdef --off
    """
    where = folder(workspace)
    if memory_id is None:
        if off or yes:
            raise click.UsageError("Which procedure? Name it, as `approve` lists it.")
        _list(where, as_json=as_json)
        return
    named: dict[str, object] = {"memoryId": memory_id, "workspace": where}
    wanted = named | {"approved": not off, "principal": principal()}
    if not off:
        seen = ask("memory.get", named, Seen)
        wanted["expected"] = seen.locator.record_digest
        if not yes:
            say(seen.record.text, err=as_json)
            click.confirm("May this be shown to the agent?", abort=True, err=as_json)
    done = ask("memory.approve", wanted, Approved)
    if as_json:
        show_json(done)
    elif done.approved:
        say(f"Approved as it stands. The procedure is {done.stage} now.")
    else:
        say("The approval was taken back." if done.changed else "It was not approved.")


def _list(where: str, *, as_json: bool) -> None:
    found = ask("memory.approvals", {"workspace": where}, Approvals)
    if as_json:
        show_json(found)
    elif not found.waiting:
        say("No procedure waits for your approval here.")
    else:
        print_table(("memory", "stage", "asked for", "text"), (_row(one) for one in found.waiting))


def _row(one: Waiting) -> tuple[str, ...]:
    asked = "not yet" if one.asked_at is None else f"{when(one.asked_at)} UTC"
    return one.record.memory_id, one.stage, asked, one_line(one.record.title or one.record.text)
