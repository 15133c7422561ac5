"""`recall`: past turns of this worktree as a task, for the agent that runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from governance.team.contracts.recalling import AgentRecall, ExtractionRequest, Filters
from governance.team.contracts.turns import ResultEvidence
from governance.team.errors import TeamFault
from governance.team.requests import spoken
from host.cli.output import count_of, json_option, say, show_json, workspace_option
from host.cli.team_calls import asked, document, told, with_json
from host.clock import SystemClock
from host.namespace import SCRIPT, name

LEFT_OUT = {
    "too-few-turns": "with fewer than three turns that are over",
    "subagent": "of subagents",
    "own-runner": "of models that remora ran itself",
    "other-worktree": "of another worktree of this repository: recall there",
    "denied": "that you kept out",
}
NOTHING = (
    "Only turns that are over count, in sessions of this worktree with three of them. Name a longer time, or take in "
    f"earlier sessions: {SCRIPT} import --history"
)
RESULTS = [str(one) for one in ResultEvidence]


@click.command()
@click.option("--since", metavar="TIME", help="From when on: an ISO time, a date, or how long ago, as 14d.")
@click.option("--until", metavar="TIME", help="Up to when; left out: now.")
@click.option("--query", metavar="WORDS", help="Only turns that hold these words, or half of them.")
@click.option("--providers", metavar="NAMES", help="Only these agent products, as claude,codex.")
@click.option(
    "--result-evidence", "results", multiple=True, type=click.Choice(RESULTS), help="Only those that ended so."
)
@click.option("--request", metavar="FILE", help="The whole request as a document; - is standard input.")
@click.option("--limit", type=click.IntRange(1, 8), default=1, show_default=True, help="How many tasks at most.")
@workspace_option
@json_option
def recall(workspace: Path, as_json: bool, **given: Any) -> None:
    """Get past turns of this worktree as a task.

    The agent that runs reads them and answers with drafts, which `stage` takes. Only turns that are over are given,
    each until it was answered once. More than 200 turns are refused: name a shorter time, or words.

    \b
    Examples:
      remora-pre recall --since 14d
      remora-pre recall --since 14d --query "release failure" --providers claude,codex --json
    """
    request = document(given["request"]) if given["request"] else _request(given)
    found = asked("team.recall", workspace, {"request": request, "limit": given["limit"]}, AgentRecall)
    if as_json:
        show_json(found)
        return
    chosen = found.selection
    sessions = count_of(chosen.matched_sessions, "session")
    say(f"{count_of(chosen.matched_turns, 'turn')} of {sessions}; {count_of(chosen.pending_chunks, 'task')} to answer.")
    for rejected in chosen.rejected_sessions:
        why = LEFT_OUT.get(rejected.reason, rejected.reason)
        say(f"Left out: {count_of(rejected.count, 'session')} {why}.")
    for one in found.sources:
        first, last = one.chunk.turn_range.first + 1, one.chunk.turn_range.last + 1
        turns = f"turn {first}" if first == last else f"turns {first} to {last}"
        say(f"{one.task_id}  {turns}, {len(one.chunk.transcript.encode())} bytes")
    say(f"Hand the task to the agent: {with_json()}" if found.sources else found.note)
    if not chosen.matched_turns:
        say(NOTHING)


def _request(given: dict[str, Any]) -> ExtractionRequest:
    names = tuple(sorted({one.strip() for one in (given["providers"] or "").split(",")} - {""}))
    results = tuple(ResultEvidence(one) for one in sorted(set(given["results"])))
    filters = Filters(providers=names, result_evidence=results) if names or results else None
    return msgspec.structs.replace(spoken_request(given), filters=filters)


def spoken_request(given: Mapping[str, Any]) -> ExtractionRequest:
    """A request as it is typed: `since`, `until`, `query`. Raises UsageError, and Refused for a time that is none."""
    if not given["since"]:
        raise click.UsageError("From when on? Give --since, as 14d.")
    try:
        window = spoken(given["since"], given["until"], SystemClock().now())
    except TeamFault as fault:
        raise told(fault.kind, fault.problem, fault.next_step) from fault
    return ExtractionRequest(format=f"{name('extraction-request')}@v1", window=window, query=given["query"])
