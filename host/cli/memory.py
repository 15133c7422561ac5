"""`list`, `show`, `pin`, `forget`: what a person sees of memories and settles about one. All go through the
daemon."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict, Unpack

import click

from host.cli import drafts
from host.cli.answers import Health
from host.cli.known import memory_argument
from host.cli.link import ask, ask_running
from host.cli.memory_answers import Forgotten, Listed, Pinned, Shown
from host.cli.output import count_of, json_option, say, show_json, unbroken, workspace_option
from host.cli.review_answers import Reviewed
from host.cli.tables import one_line, print_table, when
from host.cli.wording import folder, settled, standing
from host.client import Refused
from host.errors import RemoraError
from host.namespace import SCRIPT
from recall.contracts import Flag, MemoryKind, MemoryRecord, Risk, Scope, Status

PAGE = 200
KINDS = [str(kind) for kind in MemoryKind]
SCOPES = [str(Scope.WORKSPACE), str(Scope.USER)]
STATUSES = [str(status) for status in Status]


class Wanted(TypedDict):
    """Which memories `list` shows; nothing said: all."""

    kinds: tuple[str, ...]
    scopes: tuple[str, ...]
    statuses: tuple[str, ...]
    pinned: bool
    muted: bool


@click.command(name="list")
@workspace_option
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only this kind; may be repeated.")
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(SCOPES, case_sensitive=False), help="Only this scope."
)
@click.option("--status", "statuses", multiple=True, type=click.Choice(STATUSES), help="Only this status.")
@click.option("--pinned", is_flag=True, help="Only pinned ones.")
@click.option("--muted", is_flag=True, help="Only muted ones.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many at most.")
@json_option
def listing(workspace: Path, limit: int, as_json: bool, **wanted: Unpack[Wanted]) -> None:
    """List the memories of a workspace.

    The user's own are among them. Newest first.

    \b
    Examples:
      remora-pre list --limit 20
      remora-pre list --kind procedural --pinned
    """
    narrowed = {name: list(value) if isinstance(value, tuple) else value for name, value in wanted.items() if value}
    records: list[MemoryRecord] = []
    after: str | None = None
    while len(records) < limit:
        asked = {"workspace": folder(workspace), "limit": min(PAGE, limit - len(records)), **narrowed}
        page = ask("memory.list", asked | ({"after": after} if after else {}), Listed)
        records += page.records
        after = page.next
        if not after:
            break
    unusable = ask_running("health", {}, Health).memory.problem_count
    if unusable:
        places = count_of(unusable, "place")
        say(f"{places} in memory files, of all workspaces, could not be used. See: {SCRIPT} status", err=True)
    if as_json:
        show_json({"records": records, "next": after})
        return
    if records:
        print_table(("memory", "kind", "scope", "status", "text"), (_row(record) for record in records))
    elif narrowed:
        say("No memory is like that.")
    else:
        say(f'No memories here yet. Keep one with: {SCRIPT} remember "…"')
    if after:
        say(f"There are more than {limit}: raise --limit.")


def _row(record: MemoryRecord) -> tuple[str, ...]:
    stands = standing(record.status, record.state, (*record.flags, *(("pinned",) if record.pinned else ())))
    said = f"{record.title}: {record.text}" if record.title else record.text  # many sections share a title
    return record.memory_id, record.kind, record.scope.kind, stands, one_line(said)


@click.command()
@memory_argument
@workspace_option
@json_option
def show(memory_id: str, workspace: Path, as_json: bool) -> None:
    """Show one memory and where it stands.

    \b
    Example:
      remora-pre show mem_0123456789abcdef0123456789abcdef
    """
    found = ask("memory.get", {"memoryId": memory_id, "workspace": folder(workspace)}, Shown)
    if as_json:
        show_json(found)
        return
    record, locator = found.record, found.locator
    stands = standing(record.status, record.state, ("pinned",) if record.pinned else ())
    say(f"{record.memory_id}  {record.kind}, {record.scope.kind}, {stands}, from {record.origin}")
    kept = f"kept {when(record.created_at)}" if record.created_at else "kept at an unknown time"
    say(kept + (f", said {found.sightings} times" if found.sightings > 1 else ""))
    for line in _particulars(record):
        say(line)
    if locator:
        file, start, end = unbroken(locator.source_file), locator.line_start, locator.line_end
        lines = f"line {start}" if start == end else f"lines {start} to {end}"
        say(f"{file}, {lines}, version {locator.source_version}")
    say()
    if record.title:
        say(record.title)
    say(record.text)


def _particulars(record: MemoryRecord) -> Iterator[str]:
    if record.superseded_by:
        yield f"superseded by {record.superseded_by}"
    if record.valid_from is not None:
        yield f"holds from {when(record.valid_from)}"
    if record.expires_at is not None:
        yield f"expires {when(record.expires_at)}"
    if record.flags:
        yield f"flags: {', '.join(record.flags)}"
    if record.status is Status.ACTIVE and {Flag.CORRECTED, Flag.QUARANTINED} & set(record.flags):
        yield f"It is not handed over until you decide: {SCRIPT} review {record.memory_id}"
    if record.kind is MemoryKind.PROCEDURAL and record.risk_level is Risk.HIGH:
        yield f"It can do harm, and is shown to the agent only while you approve it: {SCRIPT} approve"
    if record.tags:
        yield f"tags: {', '.join(record.tags)}"


@click.command()
@memory_argument
@workspace_option
@click.option("--off", is_flag=True, help="Take the pin out.")
@json_option
def pin(memory_id: str, workspace: Path, off: bool, as_json: bool) -> None:
    """Show a memory at the start of every session.

    \b
    Examples:
      remora-pre pin mem_0123456789abcdef0123456789abcdef
      remora-pre pin mem_0123456789abcdef0123456789abcdef --off
    """
    params = {"memoryId": memory_id, "workspace": folder(workspace), "pinned": not off}
    done = ask("memory.pin", params, Pinned)
    if as_json:
        show_json(done)
        return
    say(settled("pinned", holds=done.pinned, changed=done.changed))


def _text(any_id: str, where: str) -> str:
    """What a memory says, or an item of the review queue."""
    try:
        return ask("memory.get", {"memoryId": any_id, "workspace": where}, Shown).record.text
    except Refused as refused:
        if refused.kind != "unknown-memory":
            raise
        try:
            return ask("review.get", {"itemId": any_id, "workspace": where}, Reviewed).item.text
        except Refused:
            raise refused from None


@click.command()
@memory_argument
@workspace_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def forget(memory_id: str, workspace: Path, yes: bool, as_json: bool) -> None:
    """Remove a memory, or an item of the review queue, for good.

    Every waiting packet that carries it goes with it, and every word of it in notes and quotes.

    \b
    Example:
      remora-pre forget mem_0123456789abcdef0123456789abcdef
    """
    where = {"memoryId": memory_id, "workspace": folder(workspace)}
    if not yes:
        say(one_line(_text(memory_id, where["workspace"]), 300), err=as_json)
        click.confirm("Forget this?", abort=True, err=as_json)
    done = ask("memory.forget", where, Forgotten)
    if as_json:
        show_json(done)
    if not done.forgotten:
        raise RemoraError(f"{memory_id} was not found from here.", f"List what there is with: {SCRIPT} list")
    gone = drafts.forget(memory_id)  # what is forgotten stands nowhere of ours
    if not as_json:
        say(f"Forgotten. Packets purged: {done.packets_purged}." + (f" Drafts removed: {gone}." if gone else ""))
        if done.documents:
            say(f"These were made of it among others, and stand: {', '.join(done.documents)}. Look at them.")
