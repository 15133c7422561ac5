"""What surfaces ask of formation, and what they are told."""

from typing import Literal

from governance.formation.contracts import Pipeline, Trigger
from governance.formation.store.jobs import WaitingRange
from recall.contracts import Frozen

State = Literal["ok", "off", "state-failed"]

__all__ = ["Ask", "FormationStatus", "Recovered", "State", "WaitingRange"]


class Ask(Frozen, frozen=True, kw_only=True):
    """Have a session formed now. `driver`: as the setting, or `scripted:FILE`; empty: as configured."""

    session_id: str
    pipeline: Pipeline = Pipeline.CHECKPOINT
    trigger: Trigger = Trigger.COMMAND
    driver: str = ""


class FormationStatus(Frozen, frozen=True, kw_only=True):
    """`driver`: `agent`, or the driver's id. `driver_problem`: why the configured one cannot be used. `waiting`: ranges
    that wait. `poison`: jobs that are begun no more. `given_up`: ranges that were given up. `outbox`: changes that are
    not in the files yet."""

    state: State
    problem: str = ""
    driver: str = "agent"
    driver_problem: str = ""
    waiting: int = 0
    queued: int = 0
    running: int = 0
    poison: int = 0
    given_up: int = 0
    outbox: int = 0
    outbox_problem: str = ""


class Recovered(Frozen, frozen=True, kw_only=True):
    """What `extract --recover` made again. `torn`: lines that could not be read, as `file:number`. `aside`: where the
    broken file is now; empty: nothing was put aside. `note`: what was not in the lines."""

    records: int
    versions: int
    superseded: int
    cursors: int
    torn: tuple[str, ...] = ()
    aside: str = ""
    note: str = ""
