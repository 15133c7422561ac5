"""What the checkpoint engine is given: ports, and the settings of the moment (formation.md 4.5)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Annotated

from msgspec import Meta

from governance.formation.contracts import (
    ANY_AGENT,
    Fault,
    FormationGate,
    Known,
    Material,
    ModelDriver,
    no_fault,
)
from governance.formation.prompts import Additions, PromptPolicy
from governance.formation.queue import Queue
from recall.contracts import Database, Frozen, Millis

_AS_THEY_ARE: Additions = PromptPolicy()


class CheckpointPolicy(Frozen, frozen=True, kw_only=True):
    """Settings. None of them is part of what an operation was asked: they may change between two attempts.
    `timeout_seconds`: of one call; `importance`: of what is committed, 0..100; `min_sessions` 0: no floor;
    `gap_max_age_days` 0: no ledger."""

    timeout_seconds: Annotated[float, Meta(gt=0)] = 60.0
    auto_commit: bool = True
    exclude_subagents: bool = True
    dedupe: bool = True
    importance: Annotated[int, Meta(ge=0, le=100)] = 50
    min_sessions: Annotated[int, Meta(ge=0)] = 2
    gap_max_age_days: Annotated[int, Meta(ge=0)] = 90


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointPorts:
    """`database`: governance.db, of which `queue` is a part. `driver`: None when the running agent is the model.
    `user`, `agent`: of the isolation key, beside the workspace. `host`: the agent product, and `workspace`: its folder
    by key, for what a user adds to the prompts. `zone`: in which days are told to the model."""

    database: Database
    queue: Queue
    material: Material
    gate: FormationGate
    known: Known
    driver: ModelDriver | None
    now: Callable[[], Millis]
    new_id: Callable[[str], str]
    user: str
    agent: str = ANY_AGENT
    host: str = ""
    prompts: Additions = _AS_THEY_ARE
    zone: tzinfo = UTC
    fault: Fault = no_fault
