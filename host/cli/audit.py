"""`audit`: read why something was, or was not, handed over."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import count, repeat
from pathlib import Path
from typing import TypedDict, Unpack

import click

from governance.contracts import AuditEntry, AuditKind
from governance.explain import explain, used
from host.cli.answers import Entries, Explained, Opened, Verified
from host.cli.entries import described, row, without_empty
from host.cli.export import export
from host.cli.link import ask, listen
from host.cli.memory_answers import Shown
from host.cli.output import json_option, only_one, say, show_json, workspace_option
from host.cli.stats import stats
from host.cli.tables import print_panel, print_table, when
from host.cli.wording import folder, standing
from host.client import Refused
from host.contracts import Reason
from host.errors import RemoraError
from host.namespace import SCRIPT

HASHED = (
    "A session goes by the agent product's own id; what a list shows is a keyed hash of it. An entry's id works too."
)
CONDITIONS = {
    "session": "sessionId",
    "memory": "memoryId",
    "packet": "packetId",
    "kind": "kind",
    "outcome": "outcome",
    "reason": "reason",
}


PACKET = "pkt_"
MOST = 1_000  # entries of one packet; the audit gives no more at once


class About(TypedDict):
    """What `explain` may be asked about, when not about an entry."""

    session: str | None
    step: int | None
    memory: str | None


@click.group()
def audit() -> None:
    """Read why something was, or was not, handed over.

    \b
    Examples:
      remora-pre audit list --reason no-confident-hit
      remora-pre audit explain --session SESSION --step 12
    """


audit.add_command(export)
audit.add_command(stats)


@audit.command(name="list")
@click.option("--session", help="Only this session.")
@click.option("--memory", help="Only entries that concern this memory.")
@click.option("--packet", help="Only entries that concern this packet.")
@click.option(
    "--kind",
    type=click.Choice([str(kind) for kind in AuditKind]),
    multiple=True,
    callback=only_one,
    help="Only entries of this kind.",
)
@click.option("--outcome", help="Only this outcome: packet, silence, held-out, claimed, delivered, dropped, …")
@click.option("--reason", type=click.Choice([str(reason) for reason in Reason]), help="Only this reason.")
@click.option("--step", type=int, help="Only this step of the session.")
@click.option("--would", is_flag=True, help="What would have been handed over, where remora only watches.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many at most.")
@json_option
def listing(as_json: bool, limit: int, step: int | None, would: bool, **given: str | None) -> None:
    """List the latest entries, newest first: one line a pass, claim, delivery or drop.

    \b
    Examples:
      remora-pre audit list --kind delivery
      remora-pre audit list --kind pass --outcome packet
    """
    params: dict[str, object] = {CONDITIONS[name]: value for name, value in given.items() if value is not None}
    params["limit"] = limit
    if step is not None:
        params["step"] = step
    if would:
        params["outcome"] = "would"
    found = ask("audit.query", params, Entries)
    if as_json:
        show_json(found)
    elif found.entries:
        _print(found.entries)
    else:
        say("No entry matches.")
        if given["session"]:
            say(HASHED)


def _print(entries: Sequence[AuditEntry]) -> None:
    print_table(*without_empty([row(entry) for entry in entries]))


@audit.command()
@click.argument("named", metavar="ENTRY|PACKET")
@json_option
def show(named: str, as_json: bool) -> None:
    """Show one entry whole: the gate's signals, each source, each candidate, the packet, and what came after.

    A packet stands for the pass that made it.

    \b
    Examples:
      remora-pre audit show aud_0123456789abcdef0123456789abcdef
      remora-pre audit show pkt_0123456789abcdef0123456789abcdef
    """
    opened = _opened(named)
    if as_json:
        show_json(opened)
        return
    for line in described(opened.entry):
        say(line)
    if opened.packet is not None:
        text = opened.packet.rendered or "(its text was erased: a memory of it was forgotten)"
        print_panel(f"packet, {opened.packet.state}", text)
    if opened.later:
        say("What came after:")
        _print(opened.later)
        items = opened.entry.packet.items if opened.entry.packet else ()
        for later in opened.later:
            for line in used(later, items):
                say(f"{when(later.at)} {line}")


def _opened(named: str) -> Opened:
    """The entry of that id; of a packet, its first: the pass that made it."""
    if not named.startswith(PACKET):
        return ask("audit.get", {"auditId": named}, Opened)
    found = ask("audit.query", {"packetId": named, "limit": MOST}, Entries).entries
    if not found:
        raise RemoraError(f"No packet {named[:64]!r} is known.", f"List them with: {SCRIPT} audit list --kind delivery")
    return ask("audit.get", {"auditId": found[-1].audit_id}, Opened)


@audit.command(name="explain")
@click.argument("named", metavar="[ENTRY|PACKET]", required=False)
@click.option("--session", help="The session to explain; with --step.")
@click.option("--step", type=int, help="The step of the session.")
@click.option("--memory", help="Explain why this memory was, or was not, shown.")
@workspace_option
@json_option
def explaining(named: str | None, workspace: Path, as_json: bool, **about: Unpack[About]) -> None:
    """Explain an entry, a packet, a step of a session, or the fate of a memory, in sentences.

    \b
    Examples:
      remora-pre audit explain ENTRY
      remora-pre audit explain --session SESSION --step 12
      remora-pre audit explain --memory mem_0123456789abcdef0123456789abcdef
    """
    match (named, about["session"], about["step"], about["memory"]):
        case (str(one), None, None, None):
            opened = _opened(one)
            entries = (*reversed(opened.later), opened.entry)  # newest first, as a query gives them
            explained = Explained(lines=tuple(explain(entries)), entries=entries)
        case (None, str(session), int(step), None):
            explained = ask("audit.explain", {"sessionId": session, "step": step}, Explained)
        case (None, None, None, str(memory)):
            explained = ask("audit.explain", {"memoryId": memory}, Explained)
        case _:
            raise click.UsageError("Give an entry or a packet, or --session with --step, or --memory.")
    if as_json:
        show_json(explained)
        return
    for line in explained.lines:
        say(line)
    if about["session"] and not explained.entries:
        say(HASHED)
    if about["memory"]:
        say(_standing(about["memory"], folder(workspace)))


def _standing(memory_id: str, place: str) -> str:
    """How a memory stands now, seen from a workspace: one that is muted, say, is in no pass from then on."""
    try:
        found = ask("memory.get", {"memoryId": memory_id, "workspace": place}, Shown)
    except Refused as refused:
        return str(refused)
    marks = (*found.record.flags, *(("muted",) if found.muted else ()))
    return f"Now it is {standing(found.record.status, found.record.state, marks)}."


@audit.command()
@click.option("--limit", type=click.IntRange(0), default=0, help="Stop after so many entries; 0 goes on.")
@json_option
def follow(limit: int, as_json: bool) -> None:
    """Show entries as they are made, until Ctrl-C.

    \b
    Example:
      remora-pre audit follow
    """
    left = count(limit - 1, -1) if limit else repeat(1)

    def handle(entry: AuditEntry) -> bool:
        if as_json:
            show_json(entry, indent=None)
        else:
            say("  ".join(cell for cell in row(entry) if cell))
        return bool(next(left))

    with suppress(KeyboardInterrupt):
        listen("audit.subscribe", "entry", AuditEntry, handle)


@audit.command()
@json_option
def verify(as_json: bool) -> None:
    """Check that no entry was removed, changed or moved. Exit code 1 when one was.

    \b
    Example:
      remora-pre audit verify
    """
    verified = ask("audit.verify", {}, Verified)
    if as_json:
        show_json(verified)
    if not verified.ok:
        place = f" at entry {verified.row}" if verified.row else ""
        problem = f"The chain is broken{place}: {verified.problem}."
        raise RemoraError(problem, "Entries from there on cannot be trusted.")
    if not as_json:
        before = f" {verified.before} older ones were let go and are summed up." if verified.before else ""
        say(f"{verified.entries} entries, the chain holds.{before}")
