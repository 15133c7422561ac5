"""`stage`: the answer to a task comes back, and what is good of it waits for review."""

from pathlib import Path
from typing import Any

import click
import msgspec

from governance.team.contracts.staging import AdjudicationTask, RejectedDraft
from governance.team.contracts.staging import Staged as TeamStaged
from governance.team.decoding import format_of
from host.cli.extract import Layered, Noted, tell_layered, tell_noted
from host.cli.link import ask
from host.cli.output import count_of, json_option, say, show_json, workspace_option
from host.cli.team_calls import asked, document, with_json
from host.cli.wording import folder
from host.namespace import SCRIPT, name
from recall.contracts import Frozen

NOTED = frozenset({f"{name('note-batch')}@v1", f"{name('document-batch')}@v1"})  # what is no document of a team's

KIND_OF = {f"{name('skill-candidate')}@v1": "skill", f"{name('consolidation-patch')}@v1": "consolidation"}


class Staged(Frozen, frozen=True, kw_only=True):
    noted: Noted | None = None
    layered: Layered | None = None
    waiting: int = 0


@click.command()
@click.option("--request", required=True, metavar="FILE", help="The answer, a JSON file; - is standard input.")
@click.option("--agent", default="", metavar="NAME", help="Who made it, as claude-code.")
@workspace_option
@json_option
def stage(request: str, agent: str, workspace: Path, as_json: bool) -> None:
    """Hand over the answer to a task.

    The task is one of `recall`, of `synthesize`, or of `checkpoint` or `extract` with `--emit-task`. What is noted of a
    conversation is judged as a model's answer is: what has no quote of it is not taken. The rest waits for you in
    `review`. The same answer twice is one answer.

    \b
    Examples:
      remora-pre stage --request answer.json
      remora-pre stage --request - < answer.json
    """
    given = document(request)
    if given.get("format") in (None, *NOTED):
        _noted(given, agent, workspace, as_json=as_json)
        return
    params = {"document": given, "agent": agent}
    raw = asked("team.stage", workspace, params, msgspec.Raw)
    if as_json:
        show_json(raw)
    elif format_of(bytes(raw)) == f"{name('adjudication-task')}@v1":
        tell_task(msgspec.json.decode(raw, type=AdjudicationTask))
    else:
        tell_staged(msgspec.json.decode(raw, type=TeamStaged), KIND_OF.get(given["format"], "entry"))


def tell_task(task: AdjudicationTask) -> None:
    """Drafts that are to be compared with what there is."""
    say(f"{task.task_id}  {count_of(len(task.drafts), 'draft')}, pool of {len(task.pool)}")
    _tell_rejected(task.rejected)
    say(f"Hand it to the agent, which decides about each: {with_json()}")


def tell_staged(done: TeamStaged, kind: str) -> None:
    """What became of the drafts. `kind`: as `review` takes it."""
    for one in done.candidates:
        covered = f", covered by {', '.join(one.covered_by)}" if one.covered_by else ""
        instead = f", in place of {', '.join(one.supersedes)}" if one.supersedes else ""
        say(f"{one.candidate_id}  {one.state}{covered}{instead}")
    _tell_rejected(done.rejected)
    if done.note:
        say(done.note)
    elif not done.candidates:
        say("Nothing was proposed; these turns are not offered again.")
    if any(one.state == "staged" for one in done.candidates):
        say(f"To review: {SCRIPT} review --kind {kind}")


def _tell_rejected(rejected: tuple[RejectedDraft, ...]) -> None:
    for one in rejected:
        say(f"Not taken: draft {one.index}: {one.code}. {one.detail}".strip())


def _noted(given: dict[str, Any], agent: str, workspace: Path, *, as_json: bool) -> None:
    where = folder(workspace)
    done = ask("formation.stage", {"workspace": where, "batch": given, "agent": agent}, Staged)
    if as_json:
        show_json(done)
        return
    if done.noted is not None:
        tell_noted(done.noted, where)
    if done.layered is not None:
        tell_layered(done.layered, where)
    if done.waiting:
        wait = "1 range still waits" if done.waiting == 1 else f"{done.waiting} ranges still wait"
        say(f"{wait}: {SCRIPT} checkpoint --emit-task")
