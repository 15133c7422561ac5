"""`checkpoint.run`, `checkpoint.list`, `checkpoint.retry`, `extract.run`, `extract.recover`, `formation.stage`,
`formation.status`: formation on the wire (formation.md 4.3, 5, 6).

A model is asked by whoever the settings or the call name; without one the running agent is handed a task, and its
answer comes back by `formation.stage`. What is formed waits in the review queue, or is committed by the policy.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from functools import wraps

import msgspec

from governance.formation.contracts import Layer, ModelDriver, Pipeline, RangeResult, RangeStatus
from governance.formation.errors import (
    FormationFault,
    ModelError,
    ModelErrorKind,
    ParameterFault,
    StaleRead,
    StateFault,
)
from governance.formation.notes import NoteTask
from governance.formation.store import ranges, tasks
from governance.formation.store.tasks import TaskKind, TaskRow
from host.connection import Peer
from host.errors import ProtocolFault
from host.formation.facade import AGENT
from host.formation.ports import Ask, FormationStatus, Recovered
from host.growing.layers import Layers
from host.growing.noting import Noted, Noting, not_noted
from host.growing.shapes import (
    Extracted,
    ExtractParams,
    Ran,
    Retried,
    RetryParams,
    RunParams,
    Staged,
    StageParams,
    StatusParams,
    Waits,
)
from host.namespace import SCRIPT
from host.parts import Parts
from host.protocol import Request, decode_params, refusal
from host.verbs import Handler, guarded, invalid

MOST_SESSIONS = 200  # that are looked through for those of a workspace
MOST_RUN = 32  # sessions of one call
NONE_YET = (
    "No session of this workspace was heard yet.",
    f"Connect your agent, or take in what it did before: {SCRIPT} import --history",
)
NONE_SINCE = ("No session of this workspace was heard since then.", "Name an earlier time, or a session.")
AGAIN = "Nothing is lost: ask again later."
MODEL_STEPS = {  # what is wrong with the configuration says itself what to do
    ModelErrorKind.RATE_LIMITED: AGAIN,
    ModelErrorKind.UNAVAILABLE: AGAIN,
    ModelErrorKind.TIMEOUT: "Ask again, or raise `formation.timeout_seconds`.",
    ModelErrorKind.PROTOCOL: "Check `base_url` and `api` under [formation].",
}


class FormationServing:
    """The table of these methods."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._formation = parts.formation
        self._noting = Noting(parts)
        self._layers = Layers(parts)

    def table(self) -> Mapping[str, Handler]:
        own: dict[str, Handler] = {
            "checkpoint.run": self._checkpoint,
            "checkpoint.list": self._list,
            "checkpoint.retry": self._retry,
            "extract.run": self._extract,
            "extract.recover": self._recover,
            "formation.stage": self._stage,
            "formation.status": self._status,
        }
        return guarded({method: answered(handler) for method, handler in own.items()})

    async def _status(self, request: Request, peer: Peer) -> FormationStatus:
        here = self._workspace(decode_params(request, StatusParams).workspace)
        found = await self._formation.status()
        return msgspec.structs.replace(found, waiting=self._formation.waits(here)) if here else found

    # ----------------------------------------------------------------------------------------------------- checkpoints

    async def _checkpoint(self, request: Request, peer: Peer) -> Ran:
        params = decode_params(request, RunParams)
        self._open()
        here = self._workspace(params.workspace)
        sessions = [await self._named(params.session_id, here)] if params.session_id else await self._that_wait(here)
        if params.emit_task:
            return await self._range_task(sessions, params.agent, here)
        results: list[RangeResult] = []
        for session_id in sessions:
            try:
                results += await self._formation.run(Ask(session_id=session_id, driver=params.driver))
            except ParameterFault as fault:
                if params.session_id:
                    raise
                results.append(_passed_over(session_id, fault))
        return Ran(results=tuple(results), waiting=await self._waiting(here))

    async def _range_task(self, sessions: Sequence[str], agent: str, here: str) -> Ran:
        """The first range that can be handed over, and what there is to say of those before it."""
        results: list[RangeResult] = []
        for session_id in sessions:
            try:
                found = await self._noting.range_task(session_id, agent)
            except ParameterFault as fault:
                if len(sessions) == 1:
                    raise
                found = _passed_over(session_id, fault)
            if isinstance(found, NoteTask):
                return Ran(results=tuple(results), task=found, waiting=await self._waiting(here))
            results.append(found)
        return Ran(results=tuple(results), waiting=await self._waiting(here))

    async def _that_wait(self, here: str) -> list[str]:
        found = await self._formation.waiting(here)
        return list(dict.fromkeys(one.session_id for one in found))[:MOST_RUN]

    async def _waiting(self, here: str) -> int:
        return len(await self._formation.waiting(here))

    async def _list(self, request: Request, peer: Peer) -> Waits:
        here = self._workspace(decode_params(request, StatusParams).workspace)
        self._formation.ready()
        letters = await self._parts.kept.read(ranges.letters)
        return Waits(
            waiting=await self._formation.waiting(here),
            jobs=tuple(one for one in await self._formation.jobs() if here in ("", one.workspace_key)),
            letters=tuple(one for one in letters if here in ("", one.workspace_key)),
        )

    async def _retry(self, request: Request, peer: Peer) -> Retried:
        params = decode_params(request, RetryParams)
        self._open()
        if await self._formation.retry(params.id):
            return Retried(id=params.id)
        letter = await self._parts.kept.read(lambda connection: ranges.letter(connection, params.id))
        if letter is None:
            problem = f"There is no range and no job {params.id[:80]!r} to try again."
            raise ParameterFault("unknown-letter", problem, "checkpoint.list says what there is.")
        snapshot = await self._formation.snapshot(letter.session_id)
        driver = await self._driver(params.driver)
        if driver is None:
            raise _no_driver()
        engine = self._formation.batches if letter.pipeline is Pipeline.BATCH else self._formation.checkpoints
        result = await engine(driver).retry(params.id, snapshot)
        await self._formation.recount()
        await self._formation.projected()
        return Retried(id=params.id, result=result)

    # --------------------------------------------------------------------------------------------------- notes, layers

    async def _extract(self, request: Request, peer: Peer) -> Extracted:
        params = decode_params(request, ExtractParams)
        self._open()
        here = self._workspace(params.workspace)
        if params.layer in (Layer.L2, Layer.L3):
            return await self._layer(params, here, "")
        sessions = await self._sessions(params, here)
        if params.layer is Layer.SKILL:
            return await self._layer(params, here, sessions[0])
        if params.emit_task:
            return await self._note_task(sessions, params.agent)
        driver = await self._driver(params.driver)
        if driver is None:
            raise _no_driver()
        noted: list[Noted] = []
        for session_id in sessions:
            try:
                noted.append(await self._noting.run(session_id, driver))
            except ParameterFault as fault:  # one of several is incognito, say: the others are noted all the same
                if len(sessions) == 1:
                    raise
                noted.append(not_noted(session_id, fault))
        return Extracted(noted=tuple(noted))

    async def _note_task(self, sessions: Sequence[str], agent: str) -> Extracted:
        noted: list[Noted] = []
        for session_id in sessions:
            try:
                found = await self._noting.task(session_id, agent)
            except ParameterFault as fault:
                if len(sessions) == 1:
                    raise
                found = not_noted(session_id, fault)
            if isinstance(found, NoteTask):
                return Extracted(noted=tuple(noted), task=found)
            noted.append(found)
        return Extracted(noted=tuple(noted))

    async def _layer(self, params: ExtractParams, here: str, session_id: str) -> Extracted:
        if not here:
            raise invalid("No workspace was given.", "Give the folder's path.")
        if params.emit_task:
            task = await self._layers.task(params.layer, here, session_id, params.agent)
            return Extracted(
                document_task=task, layered=None if task else await self._layers.nothing(params.layer, here)
            )
        driver = await self._driver(params.driver)
        if driver is None:
            raise _no_driver()
        return Extracted(layered=await self._layers.run(params.layer, here, session_id, driver))

    async def _sessions(self, params: ExtractParams, here: str) -> list[str]:
        """The sessions that are meant, oldest first. Raises ParameterFault (`unknown-session`)."""
        if params.session_id:
            return [await self._named(params.session_id, here)]
        key = self._parts.places.key
        logged = [
            one
            for one in await self._parts.eventlog.sessions(MOST_SESSIONS)
            if one.workspace and (not here or key(one.workspace) == here)
        ]
        wanted = logged[:1] if params.since is None else [one for one in logged if one.last_at >= params.since]
        if not wanted:
            raise ParameterFault("unknown-session", *(NONE_SINCE if logged else NONE_YET))
        return [one.session_id for one in reversed(wanted[:MOST_RUN])]

    async def _named(self, session_id: str, here: str) -> str:
        """The session that is named. What was said in one workspace is not handed to another: raises ParameterFault
        (`unknown-session`)."""
        there = (await self._formation.snapshot(session_id)).workspace_key
        if here and there and here != there:
            problem = f"The session {session_id[:64]!r} is of another workspace."
            raise ParameterFault("unknown-session", problem, "Name the folder that it was in.")
        return session_id

    async def _recover(self, request: Request, peer: Peer) -> Recovered:
        return await self._formation.recover()

    # ----------------------------------------------------------------------------------------------------- the answers

    async def _stage(self, request: Request, peer: Peer) -> Staged:
        params = decode_params(request, StageParams)
        self._open()
        task_id = params.batch.get("taskId")
        if not isinstance(task_id, str):
            raise invalid("The batch names no task.", "Give `taskId` as the task says it.")
        row = await self._parts.kept.read(lambda connection: tasks.of(connection, task_id))
        here = self._workspace(params.workspace)
        if row is None or not await self._ours(row, here):
            problem = f"There is no task {task_id[:80]!r} of this workspace."
            raise ParameterFault("unknown-task", problem, "Ask for a task, and answer with its id.")
        if row.kind in (TaskKind.NOTES, TaskKind.CHECKPOINT):
            noted = await self._noting.stage(row, params.batch, params.agent)
            return Staged(noted=noted, waiting=await self._waiting(row.workspace_key))
        return Staged(layered=await self._layers.stage(row, params.batch, params.agent))

    # ------------------------------------------------------------------------------------------------------ the pieces

    def _open(self) -> None:
        """Raises StateFault, and ParameterFault (`disabled`)."""
        self._formation.ready()
        if not self._formation.enabled:
            raise ParameterFault("disabled", "Formation is off.", "Set `enabled = true` under [formation].")

    async def _ours(self, row: TaskRow, here: str) -> bool:
        """Whether a task is of this workspace, or of a session that has moved into it since."""
        if here in ("", row.workspace_key):
            return True
        return bool(row.session_id) and (await self._formation.snapshot(row.session_id)).workspace_key == here

    def _workspace(self, folder: str) -> str:
        return self._parts.places.key(folder, again=True) if folder else ""

    async def _driver(self, spec: str) -> ModelDriver | None:
        """The model that is to be asked; None: the running agent is it. Raises ModelError."""
        if spec == AGENT:
            return None
        if spec:
            return await self._formation.make_driver(spec)
        if self._formation.driver is None and self._formation.driver_problem:
            raise invalid(self._formation.driver_problem, "Mend the settings, or name another driver.")
        return self._formation.driver


def answered(handler: Handler) -> Handler:
    """The handler, with faults of formation as answers that say what to do."""

    @wraps(handler)
    async def said(request: Request, peer: Peer) -> object:
        try:
            return await handler(request, peer)
        except ParameterFault as fault:
            raise ProtocolFault(
                fault.code, fault.problem, fault.next_step or "See what is there, and ask again."
            ) from fault
        except StaleRead as fault:
            raise ProtocolFault("stale-read", fault.problem, fault.next_step or "Ask for it anew.") from fault
        except ModelError as error:
            raise ProtocolFault(f"model-{error.kind}", error.problem, MODEL_STEPS.get(error.kind, "")) from error
        except StateFault as fault:
            raise refusal(fault.code, fault.problem, fault.next_step or "Everything else runs on.") from fault
        except FormationFault as fault:
            raise ProtocolFault("formation-failed", fault.problem, fault.next_step or "Ask again.") from fault
        except sqlite3.Error as error:
            problem = f"governance.db cannot be used just now: {error}."
            raise refusal("state-failed", problem, "Check the disk, and try again.") from error

    return said


def _passed_over(session_id: str, fault: ParameterFault) -> RangeResult:
    """A session of several that cannot be formed: what was said in it is not held any more, say."""
    return RangeResult(
        session_id=session_id,
        from_seq=0,
        through_seq=0,
        status=RangeStatus.UNAVAILABLE,
        reason=fault.code,
        problem=fault.problem,
    )


def _no_driver() -> ParameterFault:
    return ParameterFault(
        "no-driver",
        "No model is configured: the running agent is the model.",
        "Ask for a task (`emitTask`) and have the agent answer it, or name a driver.",
    )
