"""`mute`, `unmute`, `mutes`: what is not handed over for now: a memory, a kind, or everything in a workspace."""

from pathlib import Path
from typing import TypedDict, Unpack

import click

from host.cli.durations import for_option
from host.cli.known import any_memory_argument
from host.cli.link import ask
from host.cli.memory_answers import Muted, MutedHere, WorkspaceStanding
from host.cli.output import json_option, only_one, say, show_json, workspace_option
from host.cli.tables import one_line, print_table, when
from host.cli.wording import folder, known_folder, present_folder, settled
from recall.contracts import MemoryKind, Millis

kind_option = click.option(
    "--kind",
    type=click.Choice([str(kind) for kind in MemoryKind]),
    multiple=True,
    callback=only_one,
    help="All of this kind, in this workspace.",
)


class Target(TypedDict):
    """What a person named: a memory, a kind, or neither, which is everything."""

    memory_id: str | None
    kind: str | None


@click.command()
@any_memory_argument
@kind_option
@for_option
@workspace_option
@click.option("--off", is_flag=True, help="Let it be handed over again; the same as unmute.")
@json_option
def mute(workspace: Path, off: bool, as_json: bool, for_ms: Millis | None, **target: Unpack[Target]) -> None:
    """Hand a memory, a kind, or for a time everything, no longer over.

    All is kept and can be found. Waiting packets that carry it go. With a time alone nothing is handed over in this
    workspace until then. Works for texts in files of others as well: nothing is written there.

    \b
    Examples:
      remora-pre mute mem_0123456789abcdef0123456789abcdef --for 1d
      remora-pre mute --kind episodic
      remora-pre mute --for 1h
    """
    if off and for_ms is not None:
        raise click.UsageError("--off ends a mute now: it takes no --for.")
    if not off and (target["memory_id"], target["kind"], for_ms) == (None, None, None):
        raise click.UsageError("Say what: a MEMORY, a --kind, or with --for everything in this workspace.")
    # a memory may be muted wherever it is seen from; a mute of the workspace is a choice for that folder
    place = folder(workspace) if off or target["memory_id"] is not None else present_folder(workspace)
    wanted: dict[str, object] = {"workspace": place, "muted": not off}
    _change(target, wanted | ({} if for_ms is None else {"forMs": for_ms}), as_json=as_json)


@click.command()
@any_memory_argument
@kind_option
@workspace_option
@json_option
def unmute(workspace: Path, as_json: bool, **target: Unpack[Target]) -> None:
    """Let a memory, a kind, or the workspace speak again.

    Without a memory and a kind, a mute of everything ends. What is muted by itself stays so.

    \b
    Examples:
      remora-pre unmute mem_0123456789abcdef0123456789abcdef
      remora-pre unmute --kind episodic
      remora-pre unmute
    """
    _change(target, {"workspace": folder(workspace), "muted": False}, as_json=as_json)


@click.command()
@workspace_option
@json_option
def mutes(workspace: Path, as_json: bool) -> None:
    """Show what is muted here, and until when.

    \b
    Example:
      remora-pre mutes
    """
    found = ask("workspace.get", {"workspace": known_folder(workspace)}, WorkspaceStanding)
    if as_json:
        show_json({"mutes": found.mutes, "memories": found.memories})
        return
    rows = [(one.kind or "everything", _end(one.until), "") for one in found.mutes]
    rows += [(one.memory_id, _end(one.until), one_line(one.text)) for one in found.memories]
    if rows:
        print_table(("muted", "until", "text"), rows)
    else:
        say("Nothing is muted here.")


def _change(target: Target, wanted: dict[str, object], *, as_json: bool) -> None:
    if target["memory_id"] is not None and target["kind"] is not None:
        raise click.UsageError("Name a MEMORY or a --kind, not both.")
    if target["memory_id"] is not None:
        done: Muted | MutedHere = ask("memory.mute", wanted | {"memoryId": target["memory_id"]}, Muted)
    else:
        named = {} if target["kind"] is None else {"kind": target["kind"]}
        done = ask("workspace.mute", wanted | named, MutedHere)
    if as_json:
        show_json(done)
        return
    purged = f" Packets purged: {done.packets_purged}." if done.packets_purged else ""
    say((_of_memory(done) if isinstance(done, Muted) else _of_workspace(done)) + purged)


def _of_memory(done: Muted) -> str:
    return settled("muted", holds=done.muted, changed=done.changed, until=_until(done.until))


def _of_workspace(done: MutedHere) -> str:
    what = "Everything" if done.kind is None else f"{done.kind.capitalize()} memory"
    if done.muted:
        return f"{what} is muted here {'now' if done.changed else 'already'}{_until(done.until)}."
    return f"{what} is {'no longer muted' if done.changed else 'not muted'} here."


def _until(until: Millis | None) -> str:
    return "" if until is None else f", until {when(until)} UTC"


def _end(until: Millis | None) -> str:
    return f"{when(until)} UTC" if until is not None else "for good"
