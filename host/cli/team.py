"""`team`: how the memory of a repository stands, and the run without an agent, which is off by default."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from governance.team.contracts.results import TeamStatus
from governance.team.contracts.staging import Staged
from host.cli.output import count_of, json_option, say, show_json, workspace_option
from host.cli.recall import spoken_request
from host.cli.stage import tell_staged
from host.cli.team_calls import asked
from host.namespace import SCRIPT

STAGES = {"adjudication": "comparison"}  # a task's kind, where a person has another word for it
STANDS = {"pending": "waits", "claimed": "handed out", "stale": "out of date"}
ANSWERED = "submitted"
TRUST = {True: "trusted", False: "not trusted", None: "nobody was asked whether it is trusted"}


@click.group()
def team() -> None:
    """The memory that a repository keeps for a team.

    \b
    Example:
      remora-pre team status
    """


@team.command()
@click.option("--all", "every", is_flag=True, help="Candidates of an earlier place of this repository, too.")
@workspace_option
@json_option
def status(every: bool, workspace: Path, as_json: bool) -> None:
    """Say what is staged, planned, waiting or due.

    \b
    Example:
      remora-pre team status
    """
    found = asked("team.status", workspace, {"all": every}, TeamStatus)
    if as_json:
        show_json(found)
        return
    say(f"Memory of this repository: {found.entries} approved, {TRUST[found.trusted]}.")
    if found.trusted is None and found.entries:
        say(f"Whether you trust it: {SCRIPT} init --trust-memory, or --distrust-memory")
    say(f"Candidates: {_counts(found.candidates)}")
    say(f"Tasks: {_tasks(found.tasks)}")
    say(f"Plans: {_counts(found.plans)}")
    for one in found.waiting:
        say(f"  {one.id}  {one.state} since {one.at[:10]}")
    if found.waiting:
        say(f"To review: {', '.join(_reviews(found))}")
    for one in found.planned:
        say(f"Planned: {one.id}, {one.state} since {one.at[:10]}. To write it: {SCRIPT} promote --plan {one.id}")
    for one in found.drafted:
        again = f"To start it over: {SCRIPT} discard --task {one.id}"
        say(f"Drafted since {one.at[:10]}, and not compared yet. {again}")
    for one in found.stuck:
        say(f"Stuck: {one.id}, {one.state} since {one.at[:10]}. Try again: {SCRIPT} promote --plan {one.id}")
    new = "1 entry is new" if found.due == 1 else f"{found.due} entries are new"
    say(f"Consolidation: {new}; it is due at {found.needed}.")
    if found.due >= found.needed:
        say(f"It is due: have your agent do it, or: {SCRIPT} synthesize")
    if found.last_run is not None:
        say(f"Last run: {found.last_run.id}, {found.last_run.state}, {found.last_run.at[:10]}")
    for empty in found.empty:
        say(f"Nothing was found worth keeping: {empty.task_id}, {empty.at[:10]}, {empty.source}")
    if found.checkpoints:
        say(f"{count_of(found.checkpoints, 'checkpoint')} to note: {SCRIPT} checkpoint --emit-task")
    if found.elsewhere:
        say(f"Of earlier places of this repository: {_counts(found.elsewhere)}")


@team.command()
@click.option("--since", metavar="TIME", help="From when on: an ISO time, a date, or how long ago, as 14d.")
@click.option("--until", metavar="TIME", help="Up to when; left out: now.")
@click.option("--query", metavar="WORDS", help="Only turns that hold these words, or half of them.")
@click.option("--consolidate", is_flag=True, help="Make scenes and the doctrine, not entries.")
@click.option("--driver", default="", metavar="DRIVER", help="The model, as in `extract`.  [the configured one]")
@workspace_option
@json_option
def run(workspace: Path, as_json: bool, **given: Any) -> None:
    """Have a model read past turns and stage what it finds, without an agent.

    It is off until `[team] run = true` is set. It never goes further than staged: a person reviews.

    \b
    Example:
      remora-pre team run --since 7d
    """
    params: dict[str, object] = {"consolidate": given["consolidate"], "driver": given["driver"]}
    if not given["consolidate"]:
        params["request"] = spoken_request(given)
    done = asked("team.run", workspace, params, Staged)
    show_json(done) if as_json else tell_staged(done, "consolidation" if given["consolidate"] else "entry")


def _reviews(found: TeamStatus) -> list[str]:
    """The commands that show what waits."""
    return [f"{SCRIPT} review --kind {kind}" for kind in sorted({one.kind for one in found.waiting})]


def _tasks(counts: Mapping[str, int]) -> str:
    """Tasks by what they are and how they stand; those that were answered together."""
    told = dict[str, int]()
    for key, number in counts.items():
        stage, _, state = key.partition(".")
        words = "answered" if state == ANSWERED else f"{STAGES.get(stage, stage)} {STANDS.get(state, state)}"
        told[words] = told.get(words, 0) + number
    return _counts(told)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {state}" for state, number in sorted(counts.items()) if number) or "none"
