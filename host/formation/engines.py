"""The pipelines over the ports of a running daemon: one engine a run, with the model of that run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo

from governance.formation.batch import Batch, BatchPolicy, BatchPorts
from governance.formation.checkpoint import Checkpoint
from governance.formation.checkpoint_ports import CheckpointPolicy, CheckpointPorts
from governance.formation.contracts import (
    Fault,
    Mode,
    ModelDriver,
    RangeResult,
    Snapshot,
    no_fault,
)
from governance.formation.prompts import PromptPolicy
from governance.formation.queue import Queue
from host.clock import Clock
from host.config import FormationSettings, PromptName, PromptSettings
from host.formation.gate import Gate
from host.formation.known import LibraryKnown
from host.formation.likeness import LibraryLikeness
from host.formation.material import SessionMaterial
from host.kept import KeptDatabase
from host.rollouts import Rollouts
from host.runtime import USER_KEY
from recall.engine import Engine
from recall.library import Library


@dataclass(frozen=True, kw_only=True, slots=True)
class Engines:
    """`vectors`: search by meaning, where it is installed. `key`: a folder's workspace key."""

    settings: FormationSettings
    database: KeptDatabase
    queue: Queue
    material: SessionMaterial
    rollouts: Rollouts
    known: LibraryKnown
    library: Library
    vectors: Engine | None
    key: Callable[[str], str]
    clock: Clock
    new_id: Callable[[str], str]
    zone: tzinfo = UTC
    fault: Fault = no_fault

    def gate(self, driver: ModelDriver | None) -> Gate:
        """The gate of a run with that model; None: with the running agent, who is asked and does not answer here."""
        return Gate(
            enabled=self.settings.enabled,
            rollouts=self.rollouts,
            material=self.material,
            present=lambda: driver is not None,
        )

    def checkpoint_of(self, driver: ModelDriver | None) -> Checkpoint:
        """The checkpoint engine with that model."""
        settings = self.settings
        ports = CheckpointPorts(
            database=self.database,
            queue=self.queue,
            material=self.material,
            gate=self.gate(driver),
            known=self.known,
            driver=driver,
            prompts=prompts_of(settings.prompts, self.key),
            now=self.clock.now,
            new_id=self.new_id,
            user=USER_KEY,
            zone=self.zone,
            fault=self.fault,
        )
        policy = CheckpointPolicy(
            timeout_seconds=settings.timeout_seconds,
            auto_commit=settings.auto_commit,
            exclude_subagents=settings.exclude_subagents,
            dedupe=settings.dedupe,
            importance=round(settings.importance * 100),
            min_sessions=settings.min_sessions,
            gap_max_age_days=settings.gap_max_age_days,
        )
        return Checkpoint(ports, policy)

    async def checkpoint(self, snapshot: Snapshot, driver: ModelDriver | None) -> Sequence[RangeResult]:
        """Form the ranges of a session up to its boundary."""
        return await self.checkpoint_of(driver).run(snapshot)

    async def batch(self, snapshot: Snapshot, driver: ModelDriver | None) -> Sequence[RangeResult]:
        """Form a session window by window."""
        if driver is None:
            return ()
        return await self.batch_of(driver).run(snapshot)

    def batch_of(self, driver: ModelDriver) -> Batch:
        """The batch engine with that model."""
        settings = self.settings
        ports = BatchPorts(
            database=self.database,
            queue=self.queue,
            material=self.material,
            gate=self.gate(driver),
            driver=driver,
            likeness=LibraryLikeness(self.library, self.vectors, self.database, self.clock.now),
            prompts=prompts_of(settings.prompts, self.key),
            new_id=self.new_id,
            now=self.clock.now,
            user=USER_KEY,
            zone=self.zone,
            fault=self.fault,
        )
        policy = BatchPolicy(
            mode=Mode(settings.mode),
            auto_commit=settings.auto_commit,
            importance=round(settings.importance * 100),
            dedupe=settings.dedupe,
            exclude_subagents=settings.exclude_subagents,
        )
        return Batch(ports, policy)


def prompts_of(settings: PromptSettings, key: Callable[[str], str]) -> PromptPolicy:
    """What is added to prompts, with workspaces by their keys."""
    return PromptPolicy(
        user=_plain(settings.user),
        workspaces={key(folder): _plain(texts) for folder, texts in settings.workspaces.items()},
        agents={agent: _plain(texts) for agent, texts in settings.agents.items()},
    )


def _plain(texts: Mapping[PromptName, str]) -> dict[str, str]:
    return {str(name): text for name, text in texts.items()}
