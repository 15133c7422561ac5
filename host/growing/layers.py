"""Scenes, doctrine and skills of a workspace, as they are asked for: by a model, or as a task for the running agent
(formation.md 3, 4.3). What comes of it waits in the review queue, as a proposal a document.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from governance.formation import docitems, doctasks
from governance.formation.contracts import (
    Atom,
    Diagnostic,
    DocumentsResult,
    ExtractL2Request,
    ExtractL3Request,
    ExtractSkillsRequest,
    Layer,
    Mode,
    ModelDriver,
    RunError,
    RunStatus,
)
from governance.formation.decisions import export_reviewed_lessons
from governance.formation.doctasks import DocumentBatch, DocumentBinding, DocumentTask
from governance.formation.documents import extract_l2, extract_l3
from governance.formation.errors import ParameterFault
from governance.formation.formats import Formats
from governance.formation.notes import Setting
from governance.formation.prompts import addition, load
from governance.formation.queue import Outcome
from governance.formation.skills import extract_skills
from governance.formation.store import notes, tasks
from governance.formation.store.tasks import TaskKind, TaskRow
from host.clock import MachineZone
from host.formation.engines import prompts_of
from host.formation.held_skills import HeldSkills
from host.growing.handing import CHANGES, as_task
from host.namespace import name
from host.packets import Packets
from host.parts import Parts
from recall.canonical import digest, short_id
from recall.contracts import Frozen

PROMPTS = {Layer.L2: "scenes", Layer.L3: "doctrine", Layer.SKILL: "skills"}
PERSONA = "persona"
KINDS = {Layer.L2: TaskKind.L2, Layer.L3: TaskKind.L3, Layer.SKILL: TaskKind.SKILL}
UNCHANGED = {
    Layer.L2: "No lesson was kept here yet: keep some in the review, then ask again.",
    Layer.L3: "No scene is other than it was.",
    Layer.SKILL: "Nothing was said in that session.",
}
IN_SCENES = "Every lesson that you kept is in a scene already."


class Layered(Frozen, frozen=True, kw_only=True):
    """What came of a run. `items`: proposals that wait now; `known`: how many of the run were there already, or were
    said no to. `note`: why there was nothing to do."""

    layer: Layer
    status: str
    items: tuple[str, ...] = ()
    known: int = 0
    calls: int = 0
    diagnostics: tuple[str, ...] = ()
    error: RunError | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answering:
    """Who answers, with what setting."""

    setting: Setting
    agent: str


class Layers:
    """Over the parts of a running daemon."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._packets = Packets(parts)
        self._formats = Formats(prefix=name())

    @property
    def _mode(self) -> Mode:
        return Mode(self._parts.formation.settings.mode)

    async def run(self, layer: Layer, here: str, session_id: str, driver: ModelDriver) -> Layered:
        """Have a model make documents, and propose them. `session_id`: of skills. Raises ParameterFault, StaleRead."""
        setting, run_id = self._setting(layer, here), self._parts.new_id("run_")
        if layer is Layer.L2:
            result = await extract_l2(driver, await self._l2(here, run_id), setting)
        elif layer is Layer.L3:
            result = await extract_l3(driver, await self._l3(here, run_id), setting)
        else:
            skills = await self._held(here)
            result = await extract_skills(driver, await self._skills(here, session_id, run_id), skills, setting)
        return await self._proposed(layer, here, run_id, result)

    async def task(self, layer: Layer, here: str, session_id: str, agent: str) -> DocumentTask | None:
        """The same as a task for the running agent; None: there is nothing to do. Raises ParameterFault."""
        setting = self._setting(layer, here)
        if layer is Layer.L2:
            made = await doctasks.scenes_task(await self._l2(here, ""), setting, "")
        elif layer is Layer.L3:
            made = await doctasks.doctrine_task(await self._l3(here, ""), setting, "")
        else:
            request = await self._skills(here, session_id, "")
            made = await doctasks.skills_task(request, await self._held(here), setting, "")
        if made is None:
            return None
        binding, now = msgspec.json.encode(made.binding).decode(), self._parts.clock.now()
        task_id = short_id("task_", [layer, here, session_id, digest(made.binding)])
        row = TaskRow(
            task_id=task_id,
            kind=KINDS[layer],
            workspace_key=here,
            session_id=session_id,
            from_seq=0,
            through_seq=0 if layer is not Layer.SKILL else await self._last(session_id),
            binding=binding,
            created_at=now,
            changed_at=now,
        )
        await self._parts.kept.write(lambda connection: tasks.put(connection, row))
        schema = doctasks.schema_of(layer, self._formats.document_batch, task_id)
        said = as_task(made.instructions, CHANGES)
        return msgspec.structs.replace(made, task_id=task_id, schema=schema, instructions=said)

    async def nothing(self, layer: Layer, here: str) -> Layered:
        """There is nothing to make it of."""
        return Layered(layer=layer, status=RunStatus.COMPLETED, note=await self._why(layer, here))

    async def _why(self, layer: Layer, here: str) -> str:
        return IN_SCENES if layer is Layer.L2 and await self._atoms(here) else UNCHANGED[layer]

    async def stage(self, row: TaskRow, batch: Mapping[str, object], agent: str) -> Layered:
        """Take the running agent's answer. Raises ParameterFault, and StaleRead when the task is of what stood there
        before."""
        layer, here = Layer(row.kind.value), row.workspace_key
        try:
            given = msgspec.convert(dict(batch), DocumentBatch)
        except msgspec.ValidationError as error:
            raise ParameterFault(
                "schema", f"The answer cannot be read: {error}.", "Answer as its schema says."
            ) from error
        if given.format != self._formats.document_batch:
            raise ParameterFault("schema", f"An answer has the format {self._formats.document_batch}.")
        bound = msgspec.json.decode(row.binding, type=DocumentBinding)
        setting, by = self._setting(layer, here), f"agent:{agent or 'unknown'}"
        if layer is Layer.L2:
            result = await doctasks.scenes_taken(await self._l2(here, row.task_id), given, bound, setting, by)
        elif layer is Layer.L3:
            result = await doctasks.doctrine_taken(await self._l3(here, row.task_id), given, bound, setting, by)
        else:
            request = await self._skills(here, row.session_id, row.task_id, row.through_seq)
            answering = Answering(setting=setting, agent=by)
            result = await doctasks.skills_taken(request, await self._held(here), given, bound, answering)
        if result.error is not None:
            raise ParameterFault(result.error.code, result.error.problem, "Mend the answer, and stage it again.")
        done = await self._proposed(layer, here, row.task_id, result)
        now = self._parts.clock.now()
        await self._parts.kept.write(lambda connection: tasks.done(connection, row.task_id, now))
        return done

    async def _proposed(self, layer: Layer, here: str, run_id: str, result: DocumentsResult) -> Layered:
        now = self._parts.clock.now()
        run = docitems.Run(workspace_key=here, run_id=run_id, layer=layer, at=now)
        put = await self._parts.documents.propose(run, result, self._mode)
        standing = await self._parts.documents.standing(here)
        files = [f"{one}: it is gone, and was left out" for one in standing.missing]
        files += [f"{one}: {why}" for one, why in standing.unreadable.items()]
        asked = bool(result.provenance.calls) or bool(result.changes) or result.error is not None
        return Layered(
            layer=layer,
            status=result.status,
            items=tuple(one.item_id for one in put if one.outcome is Outcome.INSERTED),
            known=sum(one.outcome is not Outcome.INSERTED for one in put),
            calls=result.provenance.calls,
            diagnostics=(*map(_said, result.diagnostics), *files),
            error=result.error,
            note="" if asked else await self._why(layer, here),
        )

    # ---------------------------------------------------------------------------------------------------- what it is of

    async def _l2(self, here: str, run_id: str) -> ExtractL2Request:
        return await self._parts.documents.l2(here, run_id, await self._atoms(here), self._mode)

    async def _l3(self, here: str, run_id: str) -> ExtractL3Request:
        return await self._parts.documents.l3(here, run_id, self._mode)

    async def _skills(
        self, here: str, session_id: str, run_id: str, through: int | None = None
    ) -> ExtractSkillsRequest:
        last = await self._last(session_id) if through is None else through
        messages = await self._parts.formation.material.messages(session_id, 0, last, here)
        said = tuple(one for one in messages if one.content)
        return ExtractSkillsRequest(run_id=run_id or session_id, scope_key=here, messages=said, mode=self._mode)

    async def _held(self, here: str) -> HeldSkills:
        return HeldSkills(await self._parts.documents.standing(here))

    async def _last(self, session_id: str) -> int:
        return (await self._parts.formation.snapshot(session_id)).boundary_seq

    async def _atoms(self, here: str) -> tuple[Atom, ...]:
        """The lessons that a person kept here, of whatever window, whose evidence is as it was."""
        kept = await self._parts.kept.read(lambda connection: notes.kept_in(connection, here))
        atoms: list[Atom] = []
        for note in kept:
            packet = await self._packets.of_note(note.id)
            if packet is not None:
                atoms += export_reviewed_lessons(packet, [note]).memories
        return tuple(atoms)

    def _setting(self, layer: Layer, here: str) -> Setting:
        prompt = PERSONA if layer is Layer.L3 and self._mode is Mode.CHAT else PROMPTS[layer]
        additions = prompts_of(self._parts.formation.settings.prompts, self._parts.places.key)
        return Setting(
            prompt=load(prompt, addition(additions, prompt, workspace=here)),
            formats=self._formats,
            now=self._parts.clock.now,
            zone=MachineZone(),
        )


def _said(one: Diagnostic) -> str:
    return f"{one.code}: {one.detail}" if one.detail else one.code
