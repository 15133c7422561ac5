"""What the unattended run asks of a model, and what it makes of the answers (team.md 2, formation.md 4). Pure.

A model answers a task as an agent would, but gives only the list that is its own: the envelope is filled in here. One
bad draft falls alone. A decision that does not hold is `store`: what is stored twice is seen in review, what is left
out is not. A patch is taken whole or not at all.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from governance.formation.answer import Kind as Shape
from governance.formation.answer import Wanted, parse
from governance.formation.contracts import ChatMessage, ModelRequest, ModelResponse, ToolSpec
from governance.formation.errors import AnswerFault
from governance.formation.prompts import fence, shown
from governance.screen import redact
from governance.team.adjudicating import decided
from governance.team.contracts.consolidating import ConsolidationPatch, ConsolidationTask, PatchOperation
from governance.team.contracts.recalling import ExtractionTask
from governance.team.contracts.staging import (
    Adjudicated,
    AdjudicationResult,
    AdjudicationTask,
    Draft,
    DraftBatch,
    RejectedDraft,
)
from governance.team.drafting import MOST_DRAFTS, covering, shaped, unfit
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.prompts import prompt
from recall.contracts import Frozen

SUBMIT = "submit"
CANDIDATES, DECISIONS, OPERATIONS = "candidates", "decisions", "operations"
MOST_OUTPUT = 8_192  # tokens
TIMEOUT_MS = 180_000
SCHEMA, OVER_LIMIT = "schema", "over-limit"

T = TypeVar("T")
_TEXT: Mapping[str, object] = {"type": "string"}
_TEXTS: Mapping[str, object] = {"type": "array", "items": _TEXT}
_NULLABLE: Mapping[str, object] = {"type": ["string", "null"]}


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    """Every member is required, and one that may be missing may be null: so is the strict form of any product."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _one_of(*names: str) -> dict[str, object]:
    return {"type": "string", "enum": list(names)}


_TYPE = _one_of("work_fact", "work_task", "work_method", "work_artifact")
_STATEMENTS: Mapping[str, object] = {
    "type": "array",
    "items": _object({"statementId": _TEXT, "text": _TEXT, "evidenceIds": _TEXTS}),
}
_DRAFT = _object(
    {
        "content": _TEXT,
        "type": _TYPE,
        "priority": {"type": "integer"},
        "confidence": _one_of("high", "medium", "low"),
        "scene": _NULLABLE,
        "statements": _STATEMENTS,
    }
)
_MERGED = _object({"content": _TEXT, "statements": _STATEMENTS})
_DECISION = _object(
    {
        "draftRef": _TEXT,
        "action": _one_of("store", "skip", "update", "merge"),
        "targetIds": _TEXTS,
        "mergedFields": {"anyOf": [_MERGED, {"type": "null"}]},
    }
)
_OPERATION = _object(
    {
        "operationId": _TEXT,
        "op": _one_of("create", "update", "merge", "delete"),
        "target": _one_of("scene", "doctrine"),
        "name": _TEXT,
        "summary": _TEXT,
        "newContent": _NULLABLE,
        "basedOnEntryIds": _TEXTS,
        "mergeSources": _TEXTS,
        "rationale": _TEXT,
    }
)


class Drafted(Frozen, frozen=True, kw_only=True):
    """`batch`: what can be sent on; `places`: of its drafts in the answer. `rejected`: by their places there."""

    batch: DraftBatch
    places: tuple[int, ...]
    rejected: tuple[RejectedDraft, ...]

    def told(self, rejected: Sequence[RejectedDraft]) -> tuple[RejectedDraft, ...]:
        """All that fell, by places in the answer. `rejected`: of the batch, by places there."""
        later = [msgspec.structs.replace(one, index=self.places[one.index]) for one in rejected]
        return tuple(sorted((*self.rejected, *later), key=lambda one: one.index))


def drafting(task: ExtractionTask) -> ModelRequest:
    """The call that asks for the drafts of a task."""
    context = task.context
    truncated = [one for one in task.chunk.coverage if one.completeness != "full"]
    parts = [
        f"evidenceCatalog:\n{_rows(task.evidence_catalog)}",
        f"chunk.turnEvidence:\n{_rows(task.chunk.turn_evidence)}",
        f"chunk.coverage, where it is not full:\n{_rows(truncated)}",
        f"context.scenes:\n{_rows(context.scenes)}",
        f"context.memory:\n{_rows(context.memory)}",
        f"chunk.transcript:\n{fence(_clean(task.chunk.transcript))}",
    ]
    return _request("extract", parts, _tool(CANDIDATES, "Hand in the proposals; an empty list: nothing.", _DRAFT))


def drafted(response: ModelResponse, task: ExtractionTask, formats: Formats) -> Drafted:
    """The batch of an answer. Raises TeamFault (`schema-invalid`): there is no list, or none of some drafts holds."""
    known = {one.evidence_id for one in task.evidence_catalog}
    kept: dict[int, Draft] = {}
    rejected: list[RejectedDraft] = []
    given = _listed(response, CANDIDATES)
    for index, one in enumerate(given):
        draft = _converted(one, Draft)
        fault = (SCHEMA, draft) if isinstance(draft, str) else _unfit(draft, known)
        if fault is None and len(kept) == MOST_DRAFTS:
            fault = OVER_LIMIT, f"a portion gives at most {MOST_DRAFTS} drafts"
        if fault is not None:
            rejected.append(RejectedDraft(index=index, code=fault[0], detail=fault[1]))
        elif isinstance(draft, Draft):
            kept[index] = draft
    if given and not kept:
        why = "; ".join(f"{one.code}: {one.detail}" for one in rejected[:4])
        raise _unusable(f"None of the model's drafts can be taken: {why}.")
    batch = DraftBatch(
        format=formats.document("candidate-draft-batch"),
        task_id=task.task_id,
        binding=task.binding,
        candidates=tuple(kept.values()),
        lease_token=task.lease.token,
    )
    return Drafted(batch=batch, places=tuple(kept), rejected=tuple(rejected))


def deciding(task: AdjudicationTask) -> ModelRequest:
    """The call that asks for the decisions about drafts."""
    parts = [
        f"drafts:\n{_rows(task.drafts)}",
        f"recallSets:\n{_rows(task.recall_sets)}",
        f"pool:\n{_rows(task.pool)}",
    ]
    return _request("adjudicate", parts, _tool(DECISIONS, "Hand in one decision for each draft.", _DECISION))


def adjudicated(response: ModelResponse, task: AdjudicationTask, formats: Formats) -> AdjudicationResult:
    """Every draft decided about: as the model says where that holds, else stored. Raises TeamFault
    (`schema-invalid`): the answer holds no list."""
    given: dict[str, Adjudicated] = {}
    for one in _listed(response, DECISIONS):
        decision = _converted(one, Adjudicated)
        if isinstance(decision, Adjudicated):
            given.setdefault(decision.draft_ref, decision)
    refs = [draft.draft_ref for draft in task.drafts]
    stored = {ref: Adjudicated(draft_ref=ref, action="store") for ref in refs}
    # A skip may name another draft, so a decision is tried beside all the others, as they are and as stored.
    held = {ref: given[ref] for ref in refs if ref in given and _holds(task, formats, stored | {ref: given[ref]})}
    chosen = stored | held
    return _result(task, formats, chosen if _holds(task, formats, chosen) else stored)


def consolidating(task: ConsolidationTask) -> ModelRequest:
    """The call that asks for a patch of scenes and doctrine."""
    parts = [
        f"entries:\n{_rows(task.entries)}",
        f"scenes:\n{_rows(task.scenes)}",
        f"doctrine:\n{fence(_clean(task.doctrine or ''))}",
    ]
    return _request("consolidate", parts, _tool(OPERATIONS, "Hand in the patch; an empty list: nothing.", _OPERATION))


def patched(response: ModelResponse, task: ConsolidationTask, formats: Formats) -> ConsolidationPatch:
    """The patch of an answer, whole. Raises TeamFault (`schema-invalid`)."""
    operations: list[PatchOperation] = []
    for index, one in enumerate(_listed(response, OPERATIONS)):
        operation = _converted(one, PatchOperation)
        if isinstance(operation, str):
            raise _unusable(f"Operation {index} of the model does not fit: {operation}.")
        operations.append(operation)
    return ConsolidationPatch(
        format=formats.document("consolidation-patch"),
        task_id=task.task_id,
        binding=task.binding,
        operations=tuple(operations),
    )


def _unfit(draft: Draft, known: set[str]) -> tuple[str, str] | None:
    """Why a draft alone falls: (code, detail)."""
    try:
        shaped("the draft", draft.content, draft.statements, draft.scene)
        fault = unfit(draft.content, draft.statements, draft.scene, known)
        if fault is None:
            covering("the draft", draft.content, draft.statements)
    except TeamFault as wrong:
        return wrong.kind, wrong.problem
    return fault


def _holds(task: AdjudicationTask, formats: Formats, decisions: Mapping[str, Adjudicated]) -> bool:
    try:
        decided(task, _result(task, formats, decisions))
    except TeamFault:
        return False
    return True


def _result(task: AdjudicationTask, formats: Formats, decisions: Mapping[str, Adjudicated]) -> AdjudicationResult:
    return AdjudicationResult(
        format=formats.document("adjudication-result"),
        task_id=task.task_id,
        binding=task.binding,
        decisions=tuple(decisions[draft.draft_ref] for draft in task.drafts),
    )


def _listed(response: ModelResponse, member: str) -> list[object]:
    """The list that an answer gives. Raises TeamFault (`schema-invalid`)."""
    try:
        answer = parse(response, SUBMIT, Wanted(kind=Shape.OBJECT, member=member))
    except AnswerFault as fault:
        raise _unusable(fault.problem) from fault
    if answer.truncated:
        raise _unusable("The model's answer was cut before its end.")
    return answer.member(member)


def _converted(given: object, kind: type[T]) -> T | str:
    """A document's part, or what does not fit."""
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        return str(error)[:160]


def _request(name: str, parts: Sequence[str], tool: ToolSpec) -> ModelRequest:
    return ModelRequest(
        system=f"{prompt(name).text}\n\n{prompt('run').text}",
        messages=(ChatMessage(role="user", content="\n\n".join(parts)),),
        tools=(tool,),
        tool_choice=tool.name,
        max_output_tokens=MOST_OUTPUT,
        timeout_ms=TIMEOUT_MS,
    )


def _tool(member: str, description: str, item: Mapping[str, object]) -> ToolSpec:
    schema = _object({member: {"type": "array", "items": item}})
    return ToolSpec(name=SUBMIT, description=description, schema=schema)


def _rows(items: Sequence[object]) -> str:
    return shown([_cleaned(msgspec.to_builtins(one)) for one in items])


def _cleaned(value: object) -> object:
    match value:
        case str():
            return _clean(value)
        case dict():
            return {key: _cleaned(item) for key, item in value.items()}
        case list():
            return [_cleaned(item) for item in value]
        case _:
            return value


def _clean(text: str) -> str:
    """The same door as for all that leaves the process."""
    return redact(text)[0]


def _unusable(problem: str) -> TeamFault:
    return TeamFault(Kind.SCHEMA_INVALID, problem, "Nothing was staged of it. Run again, or use another model.")
