"""`doctor`: what is wrong with the installation, why it matters and what to do. Looks, and changes nothing."""

from pathlib import Path

import click

from host.cli.bars import bar
from host.cli.output import count_of, existing_workspace_option, json_option, say, show_json, unbroken
from host.cli.tables import print_table
from host.config import environment
from host.contracts import Rollout, Surface
from host.doctor.checks import examine, strictly
from host.doctor.findings import Finding, Level, is_well
from host.doctor.scene import look
from host.doctor.versions import Seen, seen

HEADINGS = ("host", "version", "in the table", "limit", "tells arrival", "known by", "takes text at", "found")
COLOURS = {Level.PROBLEM: "red", Level.WARNING: "yellow", Level.NOTE: "blue"}


@click.command()
@existing_workspace_option
@json_option
@click.pass_context
def doctor(ctx: click.Context, workspace: Path, as_json: bool) -> None:
    """Check the whole installation, and say what to do about what is wrong.

    Starts no daemon and changes nothing. Exit code 1 when there is something to mend; notes are worth knowing only.

    \b
    Examples:
      remora-pre doctor
      remora-pre doctor --json
    """
    scene = look(environment(), workspace)
    with bar("Looking at the installation") as told:
        found = strictly(scene) if ctx.find_root().params.get("debug") else examine(scene, told=told)
        hosts = seen(scene)
    if as_json:
        show_json({"well": is_well(found), "findings": found, "hosts": hosts})
    else:
        for one in found:
            _tell(one)
        if hosts:
            print_table(HEADINGS, map(_cells, hosts))
            say()
        say(_summary(found))
    if not is_well(found):
        raise click.exceptions.Exit(1)


def _cells(one: Seen) -> list[str]:
    """A host as the table of hosts has it."""
    takes = one.takes
    places = ", ".join(surface for surface in Surface if surface in takes.surfaces) or "nowhere"
    limits = {"characters": takes.max_chars, "bytes": takes.max_bytes}
    limit = ", ".join(f"{most} {unit}" for unit, most in limits.items() if most) if takes.surfaces else ""
    state = "watched only" if takes.most is not Rollout.ACTIVE else places
    return [
        one.host,
        one.version or "?",
        one.versions,
        limit,
        "yes" if takes.acknowledges else "no",
        one.evidence,
        state,
        one.where,
    ]


def _tell(one: Finding) -> None:
    head = click.style(f"{one.level}: ", fg=COLOURS[one.level], bold=True)
    click.echo(head, nl=False)
    say(unbroken(f"{one.what} [{one.state}]"))
    say(unbroken(f"  Why: {one.why}"))
    say(unbroken(f"  Do:  {one.todo}"))
    say()


def _summary(found: list[Finding]) -> str:
    counts = {level: sum(one.level is level for one in found) for level in Level}
    told = [count_of(count, str(level)) for level, count in counts.items() if count]
    return f"Found {', '.join(told)}." if told else "Everything is well."
