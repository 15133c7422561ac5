"""Evidence notes: one window of a conversation, at most one call of a model, each candidate judged alone (formation.md
2.2, 4.3). Nothing is stored and nothing is started here: the caller stores.

The running agent takes the same way without a call: `task` is what it is handed, `taken` judges what it gives back.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo

import msgspec

from governance.formation.admit import LONGEST_CONTENT, LONGEST_TITLE
from governance.formation.answer import LENGTH, SCHEMA, Kind, Wanted, parse
from governance.formation.calling import Stopped, asked
from governance.formation.contracts import (
    Cancel,
    ChatMessage,
    Continuation,
    Coverage,
    ExtractL1Request,
    ExtractL1Result,
    ModelDriver,
    ModelRequest,
    ModelResponse,
    NoteCreated,
    Packet,
    Provenance,
    RunError,
    RunStatus,
    ToolSpec,
    Usage,
)
from governance.formation.errors import AnswerFault, ModelError
from governance.formation.formats import Formats
from governance.formation.judging import (
    AGENT,
    MODEL,
    MOST_NOTES,
    Judged,
    judge,
    material,
)
from governance.formation.prompts import Prompt
from governance.formation.requests import check, request_of
from governance.formation.windows import Window, coverage, mismatch, packet, snapshot_digest, window, window_digest
from recall.canonical import digest, text_digest
from recall.contracts import Frozen, Millis

ALGORITHM = "notes_pre_v1"
PROMPT = "notes@1"
MISMATCH, CANCELLED, STALE = "continuation-mismatch", "cancelled", "task-stale"
WANTED = Wanted(kind=Kind.OBJECT, member="notes")
_TEXT = {"type": "string"}
_CITATION = {
    "type": "object",
    "properties": {"messageId": _TEXT, "quote": _TEXT},
    "required": ["messageId", "quote"],
    "additionalProperties": False,
}
_NOTE = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["fact", "lesson"]},
        "title": {"type": "string", "description": f"At most {LONGEST_TITLE} characters."},
        "content": {"type": "string", "description": f"At most {LONGEST_CONTENT} characters."},
        "attribution": {"type": "string", "enum": ["user_statement", "assistant_report", "plan", "inference"]},
        "citations": {"type": "array", "items": _CITATION},
    },
    "required": ["kind", "title", "content", "attribution", "citations"],
    "additionalProperties": False,
}
_NOTES = {"type": "array", "items": _NOTE}
SUBMIT = ToolSpec(
    name="submit",
    description="Hand over the notes, all at once. An empty list is a good answer.",
    schema={"type": "object", "properties": {"notes": _NOTES}, "required": ["notes"], "additionalProperties": False},
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """What a run needs besides its request. `cancel`: calls the run off. `zone`: of whoever wrote the messages."""

    prompt: Prompt
    formats: Formats
    now: Callable[[], Millis]
    cancel: Cancel | None = None
    zone: tzinfo = UTC


class TaskPacket(Frozen, frozen=True, kw_only=True):
    """What the agent is shown. `material`: fenced lines, without secrets."""

    scope_key: str
    stream_id: str
    evidence_digest: str
    material: str


class NoteTask(Frozen, frozen=True, kw_only=True):
    """A window for the running agent to note. `binding`: the answer must name it. `contract`: what the answer is."""

    format: str
    task_id: str
    binding: str
    instructions: str
    packet: TaskPacket
    contract: dict[str, object]


class NoteBatch(Frozen, frozen=True, kw_only=True):
    """What an agent noted of a task."""

    format: str
    task_id: str
    binding: str
    notes: tuple[object, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Run:
    """One attempt: its request and where in the snapshot it stands."""

    request: ExtractL1Request
    setting: Setting
    model_id: str
    began: Millis
    start: int

    def failed(self, error: RunError, status: RunStatus = RunStatus.FAILED, calls: int = 0) -> ExtractL1Result:
        """Nothing changes, and the caller's place stays."""
        here = Coverage(total=len(self.request.messages), from_=self.start, through=self.start)
        return ExtractL1Result(status=status, coverage=here, provenance=self.provenance(calls=calls), error=error)

    def provenance(self, calls: int = 0, usage: Usage | None = None, sent: str = "") -> Provenance:
        prompt = self.setting.prompt
        return Provenance(
            algorithm_version=ALGORITHM,
            model_id=self.model_id,
            prompt_id=f"{prompt.id}@{prompt.version}",
            prompt_hash=prompt.sha256,
            input_hash=text_digest(sent) if sent else "",
            calls=calls,
            usage=usage,
            started_at=self.began,
            finished_at=self.setting.now(),
            prompt=prompt.use,
        )

    def continuation(self, next_index: int) -> Continuation:
        return Continuation(
            format=self.setting.formats.continuation,
            algorithm_version=ALGORITHM,
            prompt_hash=self.setting.prompt.sha256,
            scope_key=self.request.scope_key,
            stream_id=self.request.stream_id,
            model_id=self.model_id,
            window_digest=window_digest(self.request),
            snapshot_digest=snapshot_digest(self.request.messages),
            next_index=next_index,
        )

    def ended(self, over: Window, judged: Judged, provenance: Provenance, shown: Packet | None) -> ExtractL1Result:
        cited = {quote.message_id for note in judged.notes for quote in note.citations}
        said = coverage(self.request, over)
        whole = not over.remaining and not judged.rejected
        return ExtractL1Result(
            status=RunStatus.COMPLETED if whole else RunStatus.PARTIAL,
            coverage=said,
            provenance=provenance,
            changes=tuple(NoteCreated(after=note) for note in judged.notes),
            packet=shown,
            continuation=self.continuation(over.through) if over.remaining else None,
            rejected=judged.rejected,
            unrepresented_source_ids=tuple(one for one in said.new_ids if one not in cited),
        )


async def extract_l1(
    driver: ModelDriver, request: ExtractL1Request | Mapping[str, object], setting: Setting
) -> ExtractL1Result:
    """One window of notes. Raises ParameterFault before any call; what goes wrong later is in the result. A cancelled
    task raises CancelledError as usual."""
    # What takes its time with a long conversation (digests, screening, judging) keeps nobody else waiting.
    run = await asyncio.to_thread(_begun, request, driver.id, setting)
    opened = await asyncio.to_thread(_opened, run)
    if isinstance(opened, ExtractL1Result):
        return opened
    over, shown = opened
    sent = await asyncio.to_thread(material, shown, setting.zone)
    try:
        response = await asked(driver, _model_request(run, sent), setting.cancel)
    except ModelError as error:
        return run.failed(RunError(code=error.kind, problem=error.problem), calls=1)
    if isinstance(response, Stopped):
        off = RunError(code=CANCELLED, problem="The run was called off.")
        return run.failed(off, RunStatus.CANCELLED, calls=response.calls)
    provenance = run.provenance(calls=1, usage=response.usage, sent=sent)
    try:
        candidates = await asyncio.to_thread(candidates_of, response)
    except AnswerFault as fault:
        refused = run.failed(RunError(code=fault.code, problem=fault.problem), calls=1)
        return msgspec.structs.replace(refused, provenance=provenance)
    judged = await asyncio.to_thread(judge, candidates, shown, MODEL, setting.zone)
    made = run.provenance(calls=1, usage=response.usage, sent=sent)
    return await asyncio.to_thread(run.ended, over, judged, made, shown)


def task(
    request: ExtractL1Request | Mapping[str, object], setting: Setting, agent: str, task_id: str
) -> NoteTask | ExtractL1Result:
    """The next window as a document for the running agent; or the result, when there is nothing to hand over. `agent`:
    the product that runs it. Raises ParameterFault."""
    run = _begun(request, _agent_id(agent), setting)
    opened = _opened(run)
    if isinstance(opened, ExtractL1Result):
        return opened
    over, shown = opened
    return NoteTask(
        format=setting.formats.task,
        task_id=task_id,
        binding=_binding(run, over, shown),
        instructions=setting.prompt.text,
        packet=TaskPacket(
            scope_key=shown.scope_key,
            stream_id=shown.stream_id,
            evidence_digest=shown.evidence_digest,
            material=material(shown, setting.zone),
        ),
        contract=_contract(setting.formats),
    )


def taken(
    request: ExtractL1Request | Mapping[str, object],
    batch: NoteBatch | Mapping[str, object],
    setting: Setting,
    agent: str,
) -> ExtractL1Result:
    """What the running agent noted of the window that `request` gives, judged as a model's answer is. The request is
    made anew from the same evidence; a batch of another window is `task-stale`. Raises ParameterFault."""
    run = _begun(request, _agent_id(agent), setting)
    opened = _opened(run)
    if isinstance(opened, ExtractL1Result):
        return opened
    over, shown = opened
    try:
        answer = batch if isinstance(batch, NoteBatch) else msgspec.convert(dict(batch), NoteBatch)
    except msgspec.ValidationError as error:
        return run.failed(RunError(code="schema", problem=f"The batch cannot be read: {error}."))
    if answer.format != setting.formats.batch:
        return run.failed(RunError(code="schema", problem=f"A batch has the format {setting.formats.batch}."))
    if answer.binding != _binding(run, over, shown):
        problem = "The batch belongs to another window: the conversation, its settings or the prompt are others now."
        return run.failed(RunError(code=STALE, problem=problem))
    judged = judge(answer.notes, shown, AGENT, setting.zone)
    return run.ended(over, judged, run.provenance(sent=material(shown, setting.zone)), shown)


def candidates_of(response: ModelResponse) -> Sequence[object]:
    """The notes of an answer, not judged yet. Raises AnswerFault: as `parse` does, `length` for an answer that was cut,
    `schema` when its notes are no list."""
    answer = parse(response, SUBMIT.name, WANTED)
    if answer.truncated:
        raise AnswerFault(LENGTH, "The answer was cut; notes are taken whole or not at all.")
    notes = answer.value.get(WANTED.member) if isinstance(answer.value, dict) else None
    if not isinstance(notes, list):
        raise AnswerFault(SCHEMA, f"The answer's {WANTED.member} are no list.")
    return notes


def _begun(request: ExtractL1Request | Mapping[str, object], model_id: str, setting: Setting) -> _Run:
    if not isinstance(request, ExtractL1Request):
        request = request_of(request)
    check(request)
    start = request.start_index or 0
    if request.continuation is not None:
        start = min(max(request.continuation.next_index, 0), len(request.messages))
    return _Run(request=request, setting=setting, model_id=model_id, began=setting.now(), start=start)


def _opened(run: _Run) -> tuple[Window, Packet] | ExtractL1Result:
    """The window and what it shows; or the result, when there is nothing to ask."""
    given = run.request.continuation
    if given is not None:
        field = mismatch(given, run.continuation(given.next_index))
        if field is None and given.next_index != run.start:
            field = "nextIndex"
        if field is not None:
            problem = f"The continuation is of another run: {field} differs. Start anew at the saved cursor."
            return run.failed(RunError(code=MISMATCH, problem=problem, field=field))
    over = window(run.request, run.start)
    if isinstance(over, RunError):
        return run.failed(over)
    if not over.new:
        return run.ended(over, Judged(), run.provenance(), None)
    return over, packet(run.request, over)


def _model_request(run: _Run, sent: str) -> ModelRequest:
    limits = run.request.limits
    return ModelRequest(
        system=run.setting.prompt.text,
        messages=(ChatMessage(role="user", content=sent),),
        max_output_tokens=limits.max_output_tokens,
        timeout_ms=limits.timeout_ms,
        tools=(SUBMIT,),
        tool_choice=SUBMIT.name,
    )


def _binding(run: _Run, over: Window, shown: Packet) -> str:
    """What a task and its answer must agree on."""
    return digest(
        {
            "algorithm": ALGORITHM,
            "scopeKey": shown.scope_key,
            "streamId": shown.stream_id,
            "evidenceDigest": shown.evidence_digest,
            "from": over.from_,
            "through": over.through,
            "prompt": run.setting.prompt.sha256,
            "window": window_digest(run.request),
        }
    )


def _contract(formats: Formats) -> dict[str, object]:
    return {
        "format": formats.batch,
        "answer": "A JSON object with format, taskId, binding (both as in the task) and notes.",
        "notes": _NOTES,
        "most": MOST_NOTES,
    }


def _agent_id(agent: str) -> str:
    return f"agent:{agent or 'unknown'}"
