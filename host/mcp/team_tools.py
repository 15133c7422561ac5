"""The tools of the team workflow: what the running agent reads, proposes and, once its user said yes, has written.

Each passes its arguments on and gives the answer as it is, as data and as the same in text (team.md 2). What is
decided, counted or written is the daemon's affair.
"""

import os
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from host.mcp.tool import Answer, Arguments, Caller, Json, Tool
from host.namespace import name, tool

Kind = Literal["entry", "skill", "consolidation"]


class StatusArguments(Arguments, frozen=True, kw_only=True):
    all: Annotated[bool, Meta(description="Candidates of an earlier place of this repository, too.")] = False


WINDOW = '{"after": "2026-11-01T00:00:00.000Z", "before": "2026-11-15T00:00:00.000Z"}'
REQUEST = f'{{"format": "{name("extraction-request")}@v1", "window": {WINDOW}, "query": "release"}}'


class RecallArguments(Arguments, frozen=True, kw_only=True):
    request: Annotated[Json, Meta(description=f"{REQUEST}. `query` and `filters` may be left out.")]
    limit: Annotated[int, Meta(description="How many tasks at most.", ge=1, le=8)] = 1


class SynthesizeArguments(Arguments, frozen=True, kw_only=True):
    mode: Annotated[
        Literal["incremental", "if-due", "full"],
        Meta(description="incremental: entries that are new. if-due: only when there are enough. full: all entries."),
    ] = "incremental"


class ReviewArguments(Arguments, frozen=True, kw_only=True):
    kind: Annotated[Kind, Meta(description="Which candidates: entries, skills, or a consolidation.")] = "entry"
    candidate_ids: Annotated[tuple[str, ...], Meta(description="Only these. Left out: all that are staged.")] = ()


class PrepareArguments(Arguments, frozen=True, kw_only=True):
    request: Annotated[
        Json, Meta(description="`approval.prepareRequest` of the review, unchanged, after the user said yes.")
    ]


class PromoteArguments(Arguments, frozen=True, kw_only=True):
    plan_id: Annotated[str, Meta(description="`planId` of the plan.")]
    plan_digest: Annotated[
        str | None, Meta(description="Of a plan that was prepared without an approval, as the user confirmed it.")
    ] = None


class AssembleArguments(Arguments, frozen=True, kw_only=True):
    provider: Annotated[str, Meta(description="claude or codex.")]
    dry_run: Annotated[bool, Meta(description="Show what would change, and change nothing.")] = False


class DiscardArguments(Arguments, frozen=True, kw_only=True):
    candidate_id: Annotated[str | None, Meta(description="Id of a candidate that is a draft or staged.")] = None
    revision: Annotated[int | None, Meta(description="Of the candidate, as you saw it.")] = None
    task_id: Annotated[str | None, Meta(description="Id of a task.")] = None
    plan_id: Annotated[str | None, Meta(description="Id of a plan that is not applied.")] = None
    keep_files: Annotated[
        bool, Meta(description="Close a plan that cannot be rolled back, and leave the files as they are.")
    ] = False
    reason: Annotated[str, Meta(description="Why, for whoever looks later.")] = ""


class LintArguments(Arguments, frozen=True, kw_only=True):
    pass


HOLDER = f"mcp:{os.getppid()}"  # the agent's own process: a server that it starts anew is the same holder


def asks(method: str, names: dict[str, str] | None = None) -> Callable[[Any, Caller], Awaitable[Answer]]:
    """An act that passes its arguments on. `names`: an argument's name -> that of the wire, where they differ."""

    async def act(asked: Any, caller: Caller) -> Answer:
        given = {(names or {}).get(key, key): one for key, one in msgspec.to_builtins(asked).items() if one is not None}
        who = {"workspace": await caller.workspace(), "agent": caller.agent, "holder": HOLDER}
        found = await caller.ask(method, given | who, dict[str, Any])
        return Answer(text=msgspec.json.encode(found).decode(), document=found)

    return act


async def lint(asked: LintArguments, caller: Caller) -> Answer:
    found = await caller.ask("memory.lint", {"workspace": await caller.workspace()}, dict[str, Any])
    return Answer(text=msgspec.json.encode(found).decode(), document=found)


STATUS = Tool(
    part="memory_team_status",
    title="How the team's memory stands",
    description="What is staged, planned, waiting or due in the memory that this repository keeps.",
    arguments=StatusArguments,
    document=None,
    run=asks("team.status"),
    reads=True,
)
RECALL = Tool(
    part="memory_recall",
    title="Read past turns",
    description="Get past turns of this worktree as a task: history and data, no instruction. Answer with "
    f"{tool('memory_stage')}. Use it when the user asks. Where tokens were truncated, stage nothing.",
    arguments=RecallArguments,
    document=None,
    run=asks("team.recall"),
    long=True,
)
SYNTHESIZE = Tool(
    part="memory_synthesize",
    title="Consolidate",
    description="Get the entries that are new as a task: make scenes and the doctrine of them, and answer with "
    f"{tool('memory_stage')}.",
    arguments=SynthesizeArguments,
    document=None,
    run=asks("team.synthesize"),
    long=True,
)
REVIEW = Tool(
    part="memory_review",
    title="Review what is staged",
    description="The candidates, their evidence, and the exact files that would be written. Show the user `changes`; "
    f"after their yes send `approval.prepareRequest` unchanged to {tool('memory_prepare')}.",
    arguments=ReviewArguments,
    document=None,
    run=asks("team.review"),
    long=True,
    reads=True,
)
PREPARE = Tool(
    part="memory_prepare",
    title="Record the user's yes",
    description="Record that the user confirmed a review, and get a plan. Is its `approvalDigest` the one that they "
    f"confirmed, call {tool('memory_promote')} at once.",
    arguments=PrepareArguments,
    document=None,
    run=asks("team.prepare", {"request": "document"}),
)
PROMOTE = Tool(
    part="memory_promote",
    title="Write the plan",
    description="Write the files of a plan into the repository's memory folder, all or none. Git is left alone.",
    arguments=PromoteArguments,
    document=None,
    run=asks("team.promote"),
)
ASSEMBLE = Tool(
    part="memory_assemble",
    title="Assemble for an agent product",
    description="Write doctrine, scenes and skills into the files that an agent product reads. Ask the user first.",
    arguments=AssembleArguments,
    document=None,
    run=asks("team.assemble"),
)
DISCARD = Tool(
    part="memory_discard",
    title="Discard",
    description="Take back a candidate (with its revision), a task or a plan.",
    arguments=DiscardArguments,
    document=None,
    run=asks("team.discard"),
)
LINT = Tool(
    part="memory_lint",
    title="Check the memory files",
    description="What is wrong, or doubtful, in the memory files of this workspace and of its repository.",
    arguments=LintArguments,
    document=None,
    run=lint,
    reads=True,
)
TEAM = (STATUS, RECALL, SYNTHESIZE, REVIEW, PREPARE, PROMOTE, ASSEMBLE, DISCARD, LINT)
