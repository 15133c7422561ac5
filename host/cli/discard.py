"""`discard`: a candidate, a task or a plan is given up."""

from pathlib import Path
from typing import Any

import click

from governance.team.contracts.results import Discarded
from host.cli.output import json_option, say, show_json, unbroken, workspace_option
from host.cli.team_calls import asked


@click.command()
@click.option("--candidate", "candidate_id", metavar="ID", help="A draft or staged candidate.")
@click.option("--revision", type=click.IntRange(1), help="Of the candidate, as `review` shows it.")
@click.option("--task", "task_id", metavar="ID", help="A task: it is offered again.")
@click.option("--plan", "plan_id", metavar="ID", help="A plan that is not applied.")
@click.option("--keep-files", is_flag=True, help="Close a plan that cannot be rolled back, and leave its files.")
@click.option("--reason", default="", help="Why, for whoever looks later.")
@workspace_option
@json_option
def discard(workspace: Path, as_json: bool, **given: Any) -> None:
    """Give up a candidate, a task or a plan.

    \b
    Examples:
      remora-pre discard --candidate extract-0123-c1 --revision 2 --reason "said elsewhere"
      remora-pre discard --plan plan-0123456789abcdef0123456789abcdef
    """
    named = [key for key in ("candidate_id", "task_id", "plan_id") if given[key]]
    if len(named) != 1:
        raise click.UsageError("What? Name one of --candidate, --task and --plan.")
    if named == ["candidate_id"] and given["revision"] is None:
        raise click.UsageError("Give --revision of the candidate, as `review` shows it.")
    words = {"candidate_id": "candidateId", "task_id": "taskId", "plan_id": "planId", "keep_files": "keepFiles"}
    params = {words.get(key, key): one for key, one in given.items() if one is not None}
    done = asked("team.discard", workspace, params, Discarded)
    if as_json:
        show_json(done)
        return
    say(f"{done.id}  {done.state}{' before' if done.idempotent else ''}")
    for path in done.recovered:
        say(f"Put aside: {unbroken(path)}")
