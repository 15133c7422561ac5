"""`feedback`: what a person says of a packet or a memory. It is kept, and `attention` shows what it proposes; what is
said to be wrong or harmful is corrected at once."""

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from governance.contracts import AuditKind
from host.cli import known
from host.cli.answers import Entries, Opened
from host.cli.link import ask, ask_running
from host.cli.memory_answers import Noted
from host.cli.output import json_option, say, show_json, workspace_option
from host.cli.tables import when
from host.cli.wording import folder
from host.errors import RemoraError
from host.namespace import SCRIPT

OPINIONS = ("useful", "noise", "late", "wrong", "harmful", "missed")
PACKET, ENTRY = "pkt_", "aud_"
OFFERED = 20


def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The packets that were handed over last, and memories."""
    try:
        found = ask_running("audit.query", {"kind": str(AuditKind.DELIVERY), "limit": OFFERED}, Entries).entries
    except (RemoraError, OSError):
        return []
    packets = {entry.packet.packet_id: when(entry.at) for entry in found if entry.packet is not None}
    offered = [CompletionItem(one, help=at) for one, at in packets.items() if one.startswith(incomplete)]
    return offered + known.complete(ctx, param, incomplete)


@click.command()
@click.argument("target", metavar="PACKET|ENTRY|MEMORY", shell_complete=complete)
@click.argument("opinion", type=click.Choice(OPINIONS))
@workspace_option
@json_option
def feedback(target: str, opinion: str, workspace: Path, as_json: bool) -> None:
    """Say what a packet, or a memory, was worth.

    It is written down, the last word on a packet counts, and how often it speaks changes by no feedback alone: what it
    proposes is shown by `attention`. A memory that is `wrong` or `harmful` is handed over no more until you `review`
    it. An entry of the audit stands for its packet, a memory for the last packet that carried it; `missed` is said of
    a memory that should have come.

    \b
    Examples:
      remora-pre feedback pkt_0123456789abcdef0123456789abcdef noise
      remora-pre feedback mem_0123456789abcdef0123456789abcdef missed
    """
    packet = _packet_of(target) if target.startswith(ENTRY) else target
    named = {"packetId": packet} if packet.startswith(PACKET) else {"memoryId": target}
    done = ask("memory.feedback", {"workspace": folder(workspace), "opinion": opinion, **named}, Noted)
    if as_json:
        show_json(done)
        return
    about = done.packet_id or target
    if not done.corrected:
        say(f"Noted: {about}, {done.opinion}. What it comes to: {SCRIPT} attention")
        return
    purged = f" Packets purged: {done.packets_purged}." if done.packets_purged else ""
    say(f"Noted: {about}, {done.opinion}. It is handed over no more until you decide: {SCRIPT} review.{purged}")


def _packet_of(audit_id: str) -> str:
    """The packet that an entry of the audit is about. Raises RemoraError when it is about none."""
    entry = ask("audit.get", {"auditId": audit_id}, Opened).entry
    if entry.packet is None:
        problem = f"The entry {audit_id} is about no packet: its outcome is {entry.outcome}."
        raise RemoraError(problem, f"List what was handed over with: {SCRIPT} audit list --kind delivery")
    return entry.packet.packet_id
