"""The tools on formation: the agent that runs is the model (formation.md 4.3). It asks for a task, reads what was said,
and stages what it noted; a person decides about each note later.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from host.errors import RemoraError
from host.mcp.team_tools import asks
from host.mcp.tool import Answer, Arguments, Caller, Document, Json, T, Tool
from host.namespace import SCRIPT, name, tool
from recall.contracts import Frozen

LAYERS = Literal["l1", "l2", "l3", "skill"]
SHOWN = 8  # notes that were not taken
NOTED = frozenset({f"{name('note-batch')}@v1", f"{name('document-batch')}@v1"})  # what is no document of a team's
stage_for_the_team = asks("team.stage")
SessionId = Annotated[
    str, Meta(description="Id of the session. Left out: the one of this workspace that was heard last.", max_length=256)
]


class CheckpointArguments(Arguments, frozen=True, kw_only=True):
    session_id: Annotated[str, Meta(description="Id of the session. Left out: what waits.", max_length=256)] = ""


class ExtractArguments(Arguments, frozen=True, kw_only=True):
    session_id: SessionId = ""
    layer: Annotated[
        LAYERS,
        Meta(
            description="l1: notes of a conversation. l2: scenes out of the lessons that were kept. l3: the doctrine "
            "out of the scenes. skill: skills out of a conversation."
        ),
    ] = "l1"


class StageArguments(Arguments, frozen=True, kw_only=True):
    document: Annotated[Json, Meta(description="Your answer to a task, as its contract says: format, taskId, …")]


class Handed(Document, frozen=True, kw_only=True):
    """`task`: what to do, the material, and what the answer must be; left out when there is nothing to do. `waiting`:
    ranges of this workspace that wait."""

    note: str
    task: Json | None = None
    waiting: int = 0


class Taken(Document, frozen=True, kw_only=True):
    """`items`: proposals that wait for the user now. `refused`: notes that were not taken, and why."""

    note: str
    items: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    waiting: int = 0


# ------------------------------------------------------------------------------------------------ the daemon's answers


class _Result(Frozen, frozen=True, kw_only=True):
    status: str
    reason: str = ""
    pending: tuple[str, ...] = ()
    committed: tuple[str, ...] = ()


class _Rejected(Frozen, frozen=True, kw_only=True):
    index: int
    code: str
    detail: str = ""


class _Noted(Frozen, frozen=True, kw_only=True):
    notes: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    buried: int = 0
    rejected: tuple[_Rejected, ...] = ()
    remaining: int = 0
    idempotent: bool = False


class _Layered(Frozen, frozen=True, kw_only=True):
    items: tuple[str, ...] = ()
    known: int = 0
    diagnostics: tuple[str, ...] = ()
    note: str = ""


class _Ran(Frozen, frozen=True, kw_only=True):
    results: tuple[_Result, ...] = ()
    task: dict[str, object] | None = None
    waiting: int = 0


class _Extracted(Frozen, frozen=True, kw_only=True):
    task: dict[str, object] | None = None
    document_task: dict[str, object] | None = None
    layered: _Layered | None = None


class _Staged(Frozen, frozen=True, kw_only=True):
    noted: _Noted | None = None
    layered: _Layered | None = None
    waiting: int = 0


# ------------------------------------------------------------------------------------------------------------ the acts


async def checkpoint(asked: CheckpointArguments, caller: Caller) -> Answer:
    ran = await _ask(caller, "checkpoint.run", _Ran, sessionId=asked.session_id, emitTask=True)
    if ran.task is not None:
        return _handed(ran.task, ran.waiting)
    why = ", ".join(sorted({one.reason for one in ran.results if one.reason})) or "nothing waits"
    handed = Handed(note=f"There is no range to note: {why}.", waiting=ran.waiting)
    return Answer(text=handed.note, document=handed)


async def extract(asked: ExtractArguments, caller: Caller) -> Answer:
    found = await _ask(caller, "extract.run", _Extracted, sessionId=asked.session_id, layer=asked.layer, emitTask=True)
    task = found.task or found.document_task
    if task is not None:
        return _handed(task, 0)
    handed = Handed(note=found.layered.note if found.layered else "There is nothing that was not noted before.")
    return Answer(text=handed.note, document=handed)


async def stage(asked: StageArguments, caller: Caller) -> Answer:
    if asked.document.get("format") not in (None, *NOTED):
        return await stage_for_the_team(asked, caller)
    done = await _ask(caller, "formation.stage", _Staged, batch=asked.document)
    if done.layered is not None:
        items, refused = done.layered.items, done.layered.diagnostics
    elif done.noted is not None:
        items = done.noted.notes
        refused = tuple(f"note {one.index}: {one.code}. {one.detail}".strip() for one in done.noted.rejected[:SHOWN])
        if len(done.noted.rejected) > SHOWN:
            refused += (f"and {len(done.noted.rejected) - SHOWN} more",)
    else:
        raise RemoraError("The daemon did not say what it took.", f"See what waits with: {SCRIPT} review")
    wait = "1 waits" if len(items) == 1 else f"{len(items)} wait"
    said = [f"Taken: {wait} for the user, who decides with: {SCRIPT} review" if items else "Nothing new."]
    if done.noted is not None and done.noted.remaining:
        left = "1 message is" if done.noted.remaining == 1 else f"{done.noted.remaining} messages are"
        said.append(f"{left} left: ask {tool('memory_extract')} again.")
    if done.waiting:
        ranges = "1 range still waits" if done.waiting == 1 else f"{done.waiting} ranges still wait"
        said.append(f"{ranges}: ask {tool('memory_checkpoint')} again.")
    said += refused
    taken = Taken(note=said[0], items=items, refused=refused, waiting=done.waiting)
    return Answer(text="\n".join(said), document=taken)


def _handed(task: dict[str, object], waiting: int) -> Answer:
    """The task: its instructions, the material, and what the answer must be, then the same as data."""
    packet: Any = task.get("packet")
    material = packet.get("material") if isinstance(packet, dict) else task.get("material")
    contract = task.get("contract") or task.get("schema")
    answer = {"taskId": task.get("taskId")} | ({"binding": task["binding"]} if isinstance(packet, dict) else {})
    text = "\n\n".join(
        (
            str(task.get("instructions", "")),
            str(material or ""),
            f"Answer by calling {tool('memory_stage')} with `document`, a JSON object. It names "
            f"{msgspec.json.encode(answer).decode()} and is made so:",
            msgspec.json.encode(contract).decode(),
        )
    )
    note = f"A task: read it, then stage your answer with {tool('memory_stage')}."
    return Answer(text=text, document=Handed(note=note, task=task, waiting=waiting))


async def _ask(caller: Caller, method: str, answer: type[T], /, **params: object) -> T:
    given = params | {"workspace": await caller.workspace(), "agent": caller.agent}
    return await caller.ask(method, given, answer)


CHECKPOINT = Tool(
    part="memory_checkpoint",
    title="Note what waits",
    description="Get the oldest part of a conversation in this workspace that nobody noted yet, as a task. Use it when "
    f"the user asks you to run the checkpoints. Answer the task with {tool('memory_stage')}.",
    arguments=CheckpointArguments,
    document=Handed,
    run=checkpoint,
    long=True,
)
EXTRACT = Tool(
    part="memory_extract",
    title="Take notes",
    description="Get a task: notes of a conversation, or scenes, doctrine and skills of what was kept. Answer it with "
    f"{tool('memory_stage')}.",
    arguments=ExtractArguments,
    document=Handed,
    run=extract,
    long=True,
)
STAGE = Tool(
    part="memory_stage",
    title="Stage an answer",
    description="Hand over your answer to a task. It waits in the user's review; nothing is remembered before.",
    arguments=StageArguments,
    document=None,
    run=stage,
    long=True,
)
