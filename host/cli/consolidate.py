"""`synthesize` and `assemble`: scenes and the doctrine out of entries, and both where agent products read them."""

from pathlib import Path

import click

from governance.team.contracts.consolidating import Synthesis
from governance.team.contracts.results import Assembly
from host.cli.output import count_of, json_option, say, show_json, unbroken, workspace_option
from host.cli.team_calls import asked, with_json
from host.namespace import SCRIPT


@click.command()
@click.option("--if-due", is_flag=True, help="Only when enough entries are new.")
@click.option("--full", is_flag=True, help="All entries, those of earlier runs too.")
@workspace_option
@json_option
def synthesize(if_due: bool, full: bool, workspace: Path, as_json: bool) -> None:
    """Get the entries that are new as a task: make scenes and the doctrine of them.

    The agent that runs answers with a patch, which `stage` takes. It waits for review as one candidate.

    \b
    Examples:
      remora-pre synthesize --if-due
      remora-pre synthesize --full --json
    """
    if if_due and full:
        raise click.UsageError("Either --if-due or --full.")
    mode = "if-due" if if_due else "full" if full else "incremental"
    found = asked("team.synthesize", workspace, {"mode": mode}, Synthesis)
    if as_json:
        show_json(found)
    elif found.task is not None:
        entries = len(found.task.entries)
        say(f"{found.task.task_id}  {'1 entry' if entries == 1 else f'{entries} entries'}")
        say(f"Hand the task to the agent: {with_json()}")
    elif found.pending_run_id is not None:
        say(f"{found.pending_run_id} waits for review: {SCRIPT} review --kind consolidation")
        if found.note:
            say(found.note)
    else:
        say(found.note or f"not due: {found.due} of {found.needed} entries")


@click.command()
@click.argument("provider", metavar="PROVIDER")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@workspace_option
@json_option
def assemble(provider: str, dry_run: bool, workspace: Path, as_json: bool) -> None:
    """Write doctrine, scenes and skills where an agent product reads them.

    PROVIDER is claude (CLAUDE.md, .claude/skills) or codex (AGENTS.md, .codex/skills). They stand in one block between
    two marks; all else in the file stays as it is. A skill that was edited by hand is not touched.

    \b
    Examples:
      remora-pre assemble claude --dry-run
      remora-pre assemble codex
    """
    done = asked("team.assemble", workspace, {"provider": provider, "dryRun": dry_run}, Assembly)
    if as_json:
        show_json(done)
        return
    if done.diff:
        say(done.diff.rstrip("\n"))
    changed = "would change" if dry_run else "changed"
    for one in done.files:
        say(f"{changed if one.changed else 'unchanged'}  {unbroken(one.target_path)}  {one.bytes} bytes")
        for warning in one.warnings:
            say(f"  {warning}")
    for skill in done.skills:
        say(f"{changed if skill.changed else 'unchanged'}  {unbroken(skill.path)}")
    if done.omitted_scenes:
        say(f"{count_of(done.omitted_scenes, 'scene')} of less heat left out.")
    if dry_run:
        say("Nothing was written.")
