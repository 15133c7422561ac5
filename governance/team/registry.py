"""The operations of the team workflow, one row each (team.md 2). Pure.

What a row promises is held against the adapters by `tests/acceptance/test_team_registry.py`: the command line and the
MCP server have the same operations, and neither has one that is not here. `approval` tells a host what to ask its user
for; of ours only `canonical-write` is bound, by a digest.
"""

from enum import StrEnum
from typing import Literal

from governance.team.contracts.base import Document
from governance.team.contracts.consolidating import ConsolidationPatch, Synthesis
from governance.team.contracts.promoting import ApplyResult, PrepareRequest, PromotionPlan, Review
from governance.team.contracts.recalling import AgentRecall, ExtractionRequest
from governance.team.contracts.results import (
    Assembly,
    Discarded,
    DiscardRequest,
    Initialised,
    TeamStatus,
)
from governance.team.contracts.staging import (
    AdjudicationResult,
    AdjudicationTask,
    DraftBatch,
    Share,
    SkillCandidate,
    Staged,
)
from recall.contracts import Frozen


class Stability(StrEnum):
    STABLE = "stable"
    EXPERIMENTAL = "experimental"
    ONE_SIDED = "one-sided"  # on one transport for a reason


class Capability(StrEnum):
    READ = "read"
    PREVIEW = "preview"
    EXECUTE = "execute"
    APPROVAL = "approval"
    CLI = "cli"
    MCP = "mcp"


class Effect(StrEnum):
    NONE = "none"
    PRIVATE = "private state"
    WORKTREE = "worktree"
    EXTERNAL = "external"


Approval = Literal["none", "history-read", "canonical-write", "human only"]
BOTH = frozenset({Capability.CLI, Capability.MCP})
READ = BOTH | {Capability.READ}
EXECUTE = BOTH | {Capability.EXECUTE}


class Operation(Frozen, frozen=True, kw_only=True):
    """`takes`, `gives`: the documents, by the part of their `format`; other arguments are in the reference. `words`: of
    its command, where they are not those of the id."""

    id: str
    words: tuple[str, ...] = ()
    version: int = 1
    stability: Stability = Stability.STABLE
    takes: dict[str, type[Document]] = {}
    gives: dict[str, type[Document]] = {}
    effects: tuple[Effect, ...] = (Effect.NONE,)
    capabilities: frozenset[Capability]
    approval: Approval = "none"

    @property
    def tool(self) -> str:
        """The part of its tool's name, without the mark of the preview."""
        return f"memory_{self.id.replace('.', '_')}"

    @property
    def command(self) -> tuple[str, ...]:
        """The words of its command."""
        return self.words or tuple(self.id.split("."))


OPERATIONS: tuple[Operation, ...] = (
    Operation(id="team.status", gives={"team-status": TeamStatus}, capabilities=READ),
    Operation(
        id="recall",
        takes={"extraction-request": ExtractionRequest},
        gives={"agent-recall": AgentRecall},
        effects=(Effect.PRIVATE,),
        capabilities=EXECUTE,
        approval="history-read",
    ),
    Operation(
        id="synthesize",
        gives={"synthesis": Synthesis},
        effects=(Effect.PRIVATE,),
        capabilities=EXECUTE,
        approval="history-read",
    ),
    Operation(
        id="stage",
        takes={
            "candidate-draft-batch": DraftBatch,
            "adjudication-result": AdjudicationResult,
            "skill-candidate": SkillCandidate,
            "consolidation-patch": ConsolidationPatch,
            "share": Share,
        },
        gives={"adjudication-task": AdjudicationTask, "staged": Staged},
        effects=(Effect.PRIVATE,),
        capabilities=EXECUTE,
    ),
    Operation(id="review", gives={"review": Review}, capabilities=READ | {Capability.PREVIEW}),
    Operation(
        id="decide",
        words=("review",),
        stability=Stability.ONE_SIDED,
        effects=(Effect.PRIVATE,),
        capabilities=frozenset({Capability.EXECUTE, Capability.APPROVAL, Capability.CLI}),
        approval="human only",
    ),
    Operation(
        id="prepare",
        takes={"prepare-request": PrepareRequest},
        gives={"promotion-plan": PromotionPlan},
        effects=(Effect.PRIVATE,),
        capabilities=EXECUTE | {Capability.APPROVAL},
        approval="canonical-write",
    ),
    Operation(
        id="promote",
        gives={"apply-result": ApplyResult},
        effects=(Effect.WORKTREE,),
        capabilities=EXECUTE | {Capability.APPROVAL},
        approval="canonical-write",
    ),
    Operation(
        id="assemble",
        gives={"assembly": Assembly},
        effects=(Effect.WORKTREE,),
        capabilities=EXECUTE | {Capability.PREVIEW},
        approval="canonical-write",
    ),
    Operation(
        id="discard",
        takes={"discard": DiscardRequest},
        gives={"discarded": Discarded},
        effects=(Effect.PRIVATE,),
        capabilities=EXECUTE,
    ),
    Operation(id="search", capabilities=READ),
    Operation(id="lint", capabilities=READ),
    Operation(id="extract", effects=(Effect.PRIVATE,), capabilities=EXECUTE, approval="history-read"),
    Operation(id="checkpoint", effects=(Effect.PRIVATE,), capabilities=EXECUTE, approval="history-read"),
    Operation(id="evidence", capabilities=READ, approval="history-read"),
    Operation(
        id="init",
        stability=Stability.ONE_SIDED,
        gives={"initialised": Initialised},
        effects=(Effect.WORKTREE,),
        capabilities=frozenset({Capability.EXECUTE, Capability.CLI}),
        approval="human only",
    ),
    Operation(
        id="team.run",
        stability=Stability.ONE_SIDED,
        gives={"staged": Staged},
        effects=(Effect.PRIVATE, Effect.EXTERNAL),
        capabilities=frozenset({Capability.EXECUTE, Capability.CLI}),
    ),
)


def unlike(operations: tuple[Operation, ...], commands: frozenset[tuple[str, ...]], tools: frozenset[str]) -> list[str]:
    """What does not agree: `commands` are those of the team workflow by their words, `tools` by the parts of their
    names. Empty: all is well."""
    found, ids = [], [one.id for one in operations]
    for one in operations:
        if one.stability is Stability.STABLE and not one.capabilities >= BOTH:
            found.append(f"{one.id} is stable and not on both transports")
        if (Capability.CLI in one.capabilities) is not (one.command in commands):
            found.append(f"{one.id}: the command line and its row do not agree")
        if (Capability.MCP in one.capabilities) is not (one.tool in tools):
            found.append(f"{one.id}: the MCP server and its row do not agree")
    rows, named = {one.command for one in operations}, {one.tool for one in operations}
    found += [f"{one} is there twice" for one in sorted({one for one in ids if ids.count(one) > 1})]
    found += [f"the command {' '.join(one)} has no row" for one in sorted(commands - rows)]
    found += [f"the tool {one} has no row" for one in sorted(tools - named)]
    return found
