"""What batch extraction is given: ports, and the settings of the moment (formation.md 4.5)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Annotated

from msgspec import Meta

from governance.formation.contracts import (
    ANY_AGENT,
    Fault,
    FormationGate,
    Likeness,
    Material,
    Mode,
    ModelDriver,
    no_fault,
)
from governance.formation.prompts import Additions, PromptPolicy
from governance.formation.queue import Queue
from recall.contracts import Database, Frozen, Millis

_AS_THEY_ARE: Additions = PromptPolicy()


class BatchPolicy(Frozen, frozen=True, kw_only=True):
    """Settings. `mode`: which types of memories the prompt offers; `importance`: of what is committed, 0..100;
    `dedupe`: whether anything is compared with what is stored before it is committed."""

    mode: Mode = Mode.CODE
    auto_commit: bool = True
    exclude_subagents: bool = True
    importance: Annotated[int, Meta(ge=0, le=100)] = 50
    dedupe: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchPorts:
    """`database`: governance.db, of which `queue` is a part. `user`, `agent`: of the isolation key, beside the
    workspace. `host`: the agent product, for what a user adds to the prompts. `zone`: in which days are told to the
    model, and times are read that name none."""

    database: Database
    queue: Queue
    material: Material
    gate: FormationGate
    driver: ModelDriver
    likeness: Likeness
    now: Callable[[], Millis]
    new_id: Callable[[str], str]
    user: str
    agent: str = ANY_AGENT
    host: str = ""
    prompts: Additions = _AS_THEY_ARE
    zone: tzinfo = UTC
    fault: Fault = no_fault
