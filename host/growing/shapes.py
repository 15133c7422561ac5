"""What is asked of formation on the wire, and what it answers. Only shapes."""

from typing import Annotated

import msgspec

from governance.formation.contracts import DeadLetter, Job, Layer, RangeResult
from governance.formation.doctasks import DocumentTask
from governance.formation.notes import NoteTask
from host.formation.ports import WaitingRange
from host.growing.layers import Layered
from host.growing.noting import Noted
from recall.contracts import Frozen, Millis

Name = Annotated[str, msgspec.Meta(max_length=256)]


class StatusParams(Frozen, frozen=True, kw_only=True):
    workspace: str = ""


class RunParams(Frozen, frozen=True, kw_only=True):
    """`session_id` empty: what waits in the workspace. `driver`: as the setting, or `scripted:FILE`; empty: as
    configured. `emit_task`: hand the oldest range over as a task. `agent`: the product that asks."""

    workspace: str = ""
    session_id: Name = ""
    driver: Annotated[str, msgspec.Meta(max_length=4096)] = ""
    emit_task: bool = False
    agent: Name = ""


class ExtractParams(RunParams, frozen=True, kw_only=True):
    """`session_id` empty: the sessions of the workspace that were heard of `since` (epoch ms), or the last one."""

    layer: Layer = Layer.L1
    since: Millis | None = None


class RetryParams(Frozen, frozen=True, kw_only=True):
    """`id`: of a range that was given up, or of a job that is begun no more."""

    id: Name
    driver: Annotated[str, msgspec.Meta(max_length=4096)] = ""


class StageParams(Frozen, frozen=True, kw_only=True):
    """`batch`: the agent's answer to a task."""

    batch: dict[str, object]
    workspace: str = ""
    agent: Name = ""


class Ran(Frozen, frozen=True, kw_only=True):
    """What became of ranges; or the task, for the running agent. `waiting`: ranges of the workspace that wait still."""

    results: tuple[RangeResult, ...] = ()
    task: NoteTask | None = None
    waiting: int = 0


class Extracted(Frozen, frozen=True, kw_only=True):
    """What was noted of each session, or what was made of what was kept; or the task."""

    noted: tuple[Noted, ...] = ()
    layered: Layered | None = None
    task: NoteTask | None = None
    document_task: DocumentTask | None = None


class Waits(Frozen, frozen=True, kw_only=True):
    """`letters`: ranges that were given up. `jobs`: at work, in line, or begun no more."""

    waiting: tuple[WaitingRange, ...]
    jobs: tuple[Job, ...]
    letters: tuple[DeadLetter, ...]


class Retried(Frozen, frozen=True, kw_only=True):
    """`result`: of a range; None for a job, which is in line again."""

    id: str
    result: RangeResult | None = None


class Staged(Frozen, frozen=True, kw_only=True):
    """What was taken of an answer. `waiting`: ranges of the workspace that wait still."""

    noted: Noted | None = None
    layered: Layered | None = None
    waiting: int = 0
