"""Scenes, persona, doctrine and skills by the agent that runs: what it is handed, and its answer (formation.md 4.3).

The answer says at once what a model would do call by call, and goes through the same desks. It is bound to everything
that the task was made of: where that is other now, nothing of it is taken.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from governance.formation.contracts import (
    Document,
    DocumentsResult,
    DocumentVersion,
    ExtractL2Request,
    ExtractL3Request,
    ExtractSkillsRequest,
    Layer,
    RunError,
    Skills,
    ToolSpec,
)
from governance.formation.docresults import Begun, Setting, Work, over_budget
from governance.formation.doctrine_desk import TOOLS as DOCTRINE_TOOLS
from governance.formation.doctrine_desk import DoctrineDesk
from governance.formation.documents import (
    begin_l2,
    begin_l3,
    changed_scenes,
    rows_l2,
    rows_l3,
    texts_l2,
    texts_l3,
    written,
)
from governance.formation.errors import AnswerFault, ParameterFault, StaleRead
from governance.formation.formats import Formats
from governance.formation.prompts import shown
from governance.formation.scene_desk import TOOLS as SCENE_TOOLS
from governance.formation.scene_desk import SceneDesk
from governance.formation.shelf import whole
from governance.formation.skill_desk import NOT_WRITABLE, SkillDesk
from governance.formation.skill_desk import TOOLS as SKILL_TOOLS
from governance.formation.skills import Conversation, begin_skills
from governance.formation.toolloop import MOST_TOOLS, Ended, cleaned
from governance.formation.tools import CREATE, MERGE, RETIRE, SUBMIT, UPDATE, Schema
from recall.contracts import Frozen

WRITING = (CREATE, UPDATE, MERGE, RETIRE)
SHOWN_SKILLS = 40_000  # characters of skills that are shown whole; of the others the agent sees a line


class TaskSetting(Setting, Protocol):
    @property
    def formats(self) -> Formats: ...


class DocumentBinding(Frozen, frozen=True, kw_only=True):
    """What an answer is bound to. `read_set`: of skills, those that were shown whole."""

    layer: Layer
    scope_key: str
    input_hash: str
    read_set: tuple[DocumentVersion, ...] = ()


class DocumentTask(Frozen, frozen=True, kw_only=True):
    """What the running agent is handed. `instructions`: words of ours. `material`: fenced data, without secrets.
    `schema`: JSON Schema of the answer."""

    format: str
    task_id: str
    binding: DocumentBinding
    instructions: str
    material: str
    schema: Mapping[str, object]


class DocumentBatch(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the agent answers: of L2 and skills `changes`, each with its `op`; of L3 `content` and `rationale`."""

    format: str
    task_id: str
    changes: tuple[dict[str, object], ...] = ()
    content: str | None = None
    rationale: str = ""


async def scenes_task(request: ExtractL2Request, setting: TaskSetting, task_id: str) -> DocumentTask | None:
    """The task of L2; None: there are no memories. Raises ParameterFault, also `message-over-budget`."""
    begun = begin_l2(request, setting, "")
    _fits(texts_l2(request))
    if not request.memories:
        return None
    rows = rows_l2(request, all_of_it=True)
    return _task((Layer.L2, request.scope_key, ()), begun, rows, setting, task_id)


async def doctrine_task(request: ExtractL3Request, setting: TaskSetting, task_id: str) -> DocumentTask | None:
    """The task of L3; None: no scene is other than it was. Raises ParameterFault, also `message-over-budget`."""
    begun = begin_l3(request, setting, "")
    _fits(texts_l3(request))
    if not changed_scenes(request):
        return None
    rows = rows_l3(request, all_of_it=True)
    return _task((Layer.L3, request.scope_key, ()), begun, rows, setting, task_id)


async def skills_task(
    request: ExtractSkillsRequest, skills: Skills, setting: TaskSetting, task_id: str
) -> DocumentTask | None:
    """The task of skills; None: nothing was said. Raises ParameterFault."""
    begun, conversation = begin_skills(request, setting, "")
    if not conversation.rows:
        return None
    read, lines = await _skills(conversation, skills)
    rows: list[Mapping[str, object]] = [
        *conversation.rows,
        *({"skill": whole(one)} for one in read),
        *({"skill": one} for one in lines),
    ]
    return _task((Layer.SKILL, request.scope_key, tuple(map(_version, read))), begun, rows, setting, task_id)


async def scenes_taken(
    request: ExtractL2Request, batch: DocumentBatch, bound: DocumentBinding, setting: Setting, agent: str
) -> DocumentsResult:
    """What an answer to L2 comes to; `request` is made anew, of what stands there now. One change that is refused, and
    none is taken. Raises ParameterFault, and StaleRead when it is not what the task was made of."""
    begun = begin_l2(request, setting, agent)
    _bound(bound, DocumentBinding(layer=Layer.L2, scope_key=request.scope_key, input_hash=begun.input_hash))
    desk = SceneDesk(request, begun.at)
    desk.used("list", {})
    desk.read_all()
    return begun.result(await _all(desk, batch.changes), desk, setting.now())


async def doctrine_taken(
    request: ExtractL3Request, batch: DocumentBatch, bound: DocumentBinding, setting: Setting, agent: str
) -> DocumentsResult:
    """What an answer to L3 comes to; as `scenes_taken`."""
    begun = begin_l3(request, setting, agent)
    _bound(bound, DocumentBinding(layer=Layer.L3, scope_key=request.scope_key, input_hash=begun.input_hash))
    desk = DoctrineDesk(request, changed_scenes(request), begun.at)
    given = {"content": batch.content or "", "rationale": batch.rationale}
    ended = Ended(error=await _refused(desk, SUBMIT, given, ""))
    return written(request, begun.result(ended, desk, setting.now()), desk)


async def skills_taken(
    request: ExtractSkillsRequest,
    skills: Skills,
    batch: DocumentBatch,
    bound: DocumentBinding,
    by: "Answering",
) -> DocumentsResult:
    """What an answer about skills comes to; as `scenes_taken`. A skill that is not ours to change is refused alone."""
    begun, conversation = begin_skills(request, by.setting, by.agent)
    read, _ = await _skills(conversation, skills)
    now = DocumentBinding(
        layer=Layer.SKILL,
        scope_key=request.scope_key,
        input_hash=begun.input_hash,
        read_set=tuple(map(_version, read)),
    )
    _bound(bound, now)
    desk = SkillDesk(request.scope_key, conversation.messages, skills, begun.at)
    for one in read:
        await desk.use("read", {"id": one.id})
    ended = await _all(desk, batch.changes, alone=frozenset({NOT_WRITABLE}))
    return begun.result(ended, desk, by.setting.now(), *desk.refused)


class Answering(Protocol):
    """Who answers, and with what setting. `agent`: `agent:<host>`."""

    @property
    def setting(self) -> Setting: ...

    @property
    def agent(self) -> str: ...


async def _all(desk: Work, changes: Sequence[Mapping[str, object]], alone: frozenset[str] = frozenset()) -> Ended:
    """Every change at the desk; the first that is refused ends it, but for those refused `alone`."""
    if len(changes) > MOST_TOOLS:
        problem = f"An answer holds at most {MOST_TOOLS} changes; this one has {len(changes)}."
        return Ended(error=RunError(code="over-limit", problem=problem))
    for place, change in enumerate(changes):
        op = change.get("op")
        if op not in WRITING or op not in {tool.name for tool in desk.tools}:
            problem = f"Change {place}: `op` is none of {', '.join(_ops(desk.tools))}."
            return Ended(error=RunError(code="schema", problem=problem))
        given = {key: value for key, value in change.items() if key != "op"}
        error = await _refused(desk, str(op), given, f"Change {place}: ")
        if error is not None and error.code not in alone:
            return Ended(error=error)
    return Ended(error=await _refused(desk, SUBMIT, {}, ""))


async def _refused(desk: Work, name: str, given: Mapping[str, object], where: str) -> RunError | None:
    try:
        await desk.use(name, given)
    except AnswerFault as fault:
        return RunError(code=fault.code, problem=f"{where}{fault.problem}")
    return None


def _task(
    of: tuple[Layer, str, tuple[DocumentVersion, ...]],
    begun: Begun,
    rows: Sequence[Mapping[str, object]],
    setting: TaskSetting,
    task_id: str,
) -> DocumentTask:
    layer, scope_key, read_set = of
    return DocumentTask(
        format=setting.formats.document_task,
        task_id=task_id,
        binding=DocumentBinding(layer=layer, scope_key=scope_key, input_hash=begun.input_hash, read_set=read_set),
        instructions=begun.system,
        material=shown(map(cleaned, rows)),
        schema=schema_of(layer, setting.formats.document_batch, task_id),
    )


def schema_of(layer: Layer, name: str, task_id: str) -> Schema:
    """JSON Schema of an answer."""
    head: Schema = {"format": {"const": name}, "taskId": {"const": task_id}}
    if layer is Layer.L3:
        (submit,) = (tool for tool in DOCTRINE_TOOLS if tool.name == SUBMIT)
        return _closed({**head, **_properties(submit)})
    ops: list[Schema] = [
        _closed({"op": {"const": tool.name}, **_properties(tool)}, ["op", *_needed(tool)])
        for tool in (SCENE_TOOLS if layer is Layer.L2 else SKILL_TOOLS)
        if tool.name in WRITING
    ]
    changes: Schema = {"type": "array", "maxItems": MOST_TOOLS, "items": {"anyOf": ops}}
    return _closed({**head, "changes": changes})


def _closed(properties: Mapping[str, object], needed: Sequence[str] | None = None) -> Schema:
    required = list(properties if needed is None else needed)
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


def _properties(tool: ToolSpec) -> dict[str, object]:
    found = tool.schema["properties"]
    return dict(found) if isinstance(found, Mapping) else {}


def _needed(tool: ToolSpec) -> list[str]:
    found = tool.schema["required"]
    return [str(one) for one in found] if isinstance(found, list) else []


def _ops(tools: Sequence[ToolSpec]) -> list[str]:
    return [tool.name for tool in tools if tool.name in WRITING]


def _fits(texts: Sequence[str]) -> None:
    if error := over_budget(texts):
        raise ParameterFault(error.code, error.problem, "Have some scenes merged by hand, or fewer lessons kept.")


def _bound(bound: DocumentBinding, now: DocumentBinding) -> None:
    if bound != now:
        raise StaleRead("What the task was made of is other now.", "Ask for the task again, and answer that one.")


def _version(document: Document) -> DocumentVersion:
    return DocumentVersion(id=document.id, version=document.version)


async def _skills(conversation: Conversation, skills: Skills) -> tuple[list[Document], list[dict[str, object]]]:
    """The skills nearest to the conversation, as many as are shown whole; of the others a line each."""
    said = "\n".join(str(row["content"]) for row in conversation.rows)
    every = {one.id: one for one in await skills.list()}
    near = [one.id for one in await skills.search(said)]
    read: list[Document] = []
    left = SHOWN_SKILLS
    for one in [*near, *(other for other in sorted(every) if other not in near)]:
        found = await skills.get(one)
        if found is not None and len(found.content) <= left:
            read.append(found)
            left -= len(found.content)
    whole_ones = {one.id for one in read}
    lines: list[dict[str, object]] = [
        {"id": one.id, "name": one.name, "summary": one.meta.summary}
        for one in every.values()
        if one.id not in whole_ones
    ]
    return read, lines
