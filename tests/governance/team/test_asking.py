"""What a model is asked in the unattended run, and what of its answers holds."""

from typing import Any

import msgspec
import pytest

from governance.formation.contracts import FinishReason, ModelRequest, ModelResponse, ToolCall
from governance.team import asking
from governance.team.consolidation import material, task_of
from governance.team.contracts.recalling import ExtractionTask
from governance.team.contracts.staging import (
    AdjudicationBinding,
    AdjudicationTask,
    Draft,
    PoolItem,
    Projection,
    RejectedDraft,
    Statement,
    TaskDraft,
)
from governance.team.errors import Kind, TeamFault
from governance.team.trees import Tree
from host.models.strict import strict
from tests.governance.team.test_consolidation import INCREMENTAL, SOURCE, a_row
from tests.support.consolidating import FORMATS, OWNER
from tests.support.team_recall import Recalled, a_call, a_request, a_turn, an_event

SECRET = "AKIA" + "QWERTYUIOPASDFGH"


async def a_task() -> ExtractionTask:
    recalled = Recalled(*(a_turn(place) for place in range(3)))
    await recalled.ask()
    found = await recalled.recalling.recall(recalled.bound, a_call(), a_request(), 1)
    return found.sources[0]


def a_draft(task: ExtractionTask, content: str = "Number 1 is done by hand.", **fields: Any) -> dict[str, Any]:
    cited = [task.evidence_catalog[0].evidence_id]
    given = {"content": content, "type": "work_fact", "priority": 60, "confidence": "high", "scene": None}
    return given | {"statements": [{"statementId": "s1", "text": content, "evidenceIds": cited}]} | fields


def called(**arguments: Any) -> ModelResponse:
    call = ToolCall(id="c1", name="submit", arguments=arguments)
    return ModelResponse(text="", finish_reason=FinishReason.TOOL_CALLS, tool_calls=(call,))


def the_tool(request: ModelRequest) -> dict[str, Any]:
    (tool,) = request.tools
    assert request.tool_choice == tool.name == "submit"
    return dict(tool.schema)


async def test_a_task_is_asked_with_its_material_fenced_and_its_schema_closed() -> None:
    task = await a_task()
    request = asking.drafting(task)
    (message,) = request.messages
    assert "Number 1 is done by hand." in message.content and message.content.count("<material mark=") == 6
    assert task.evidence_catalog[0].evidence_id in message.content
    assert "submit" in request.system
    assert strict(the_tool(request)) is not None


async def test_no_secret_leaves_with_the_material() -> None:
    recalled = Recalled(*(a_turn(place, an_event("user", f"The key is {SECRET}.", place * 10)) for place in range(3)))
    await recalled.ask()
    found = await recalled.recalling.recall(recalled.bound, a_call(), a_request(), 1)
    assert SECRET not in asking.drafting(found.sources[0]).messages[0].content


async def test_a_batch_has_the_envelope_of_its_task() -> None:
    task = await a_task()
    made = asking.drafted(called(candidates=[a_draft(task)]), task, FORMATS)
    batch = made.batch
    assert (batch.task_id, batch.binding, batch.lease_token) == (task.task_id, task.binding, task.lease.token)
    assert [one.content for one in batch.candidates] == ["Number 1 is done by hand."]
    assert asking.drafted(called(candidates=[]), task, FORMATS).batch.candidates == ()


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"priority": 101}, "schema"),
        ({"type": "fact"}, "schema"),
        ({"heat": 3}, "schema"),
        ({"statements": [{"statementId": "s1", "text": "Number 1", "evidenceIds": []}]}, "content-not-covered"),
        ({"statements": [{"statementId": "s1", "text": "Number 1 is done by hand.", "evidenceIds": ["ev-9"]}]}, "ev"),
        ({"statements": []}, "schema-invalid"),
    ],
)
async def test_a_bad_draft_falls_alone_and_is_told_by_its_place(wrong: dict[str, Any], code: str) -> None:
    task = await a_task()
    made = asking.drafted(called(candidates=[a_draft(task, **wrong), a_draft(task)]), task, FORMATS)
    assert len(made.batch.candidates) == 1 and made.places == (1,)
    (fallen,) = made.rejected
    assert fallen.index == 0 and code in f"{fallen.code} {fallen.detail}"
    later = RejectedDraft(index=0, code="said-no", detail="")
    assert [(one.index, one.code) for one in made.told([later])][1:] == [(1, "said-no")]


async def test_no_more_drafts_are_sent_on_than_a_portion_gives() -> None:
    task = await a_task()
    given = [a_draft(task, f"Number {number} is done.") for number in range(10)]
    made = asking.drafted(called(candidates=given), task, FORMATS)
    assert len(made.batch.candidates) == 8
    assert [(one.index, one.code) for one in made.rejected] == [(8, "over-limit"), (9, "over-limit")]


@pytest.mark.parametrize(
    "response",
    [
        ModelResponse(text="I would rather not.", finish_reason=FinishReason.STOP),
        ModelResponse(text="", finish_reason=FinishReason.CONTENT_FILTER),
        called(candidates=[{"content": "half"}]),
        ModelResponse(text='{"candidates": [{"content": "cu', finish_reason=FinishReason.LENGTH),
    ],
)
async def test_an_answer_without_a_usable_draft_is_refused(response: ModelResponse) -> None:
    with pytest.raises(TeamFault) as fault:
        asking.drafted(response, await a_task(), FORMATS)
    assert fault.value.kind is Kind.SCHEMA_INVALID


def an_adjudication(*contents: str) -> AdjudicationTask:
    empty = Projection(generation=1, analyzer_version="a")
    return AdjudicationTask(
        format=FORMATS.document("adjudication-task"),
        task_id="adjudicate-1",
        binding=AdjudicationBinding(
            state_uuid="db-1",
            owner=OWNER,
            draft_batch_digest="0" * 64,
            approved_projection=empty,
            candidate_projection=empty,
            recall_algorithm="rrf",
            result_set_digest="0" * 64,
            pool_item_revisions=(),
            versions={},
        ),
        drafts=tuple(
            TaskDraft(
                draft_ref=f"d{number}",
                content=content,
                type="work_fact",
                priority=50,
                confidence="high",
                scene=None,
                statements=(Statement(statement_id="s1", text=content),),
            )
            for number, content in enumerate(contents, 1)
        ),
        recall_sets=(),
        pool=(
            PoolItem(
                source_kind="approved", id="mem_1", revision="1", content_digest="0", state="approved", summary="It."
            ),
        ),
    )


def decision(draft: str, action: str, *targets: str, merged: Any = None) -> dict[str, Any]:
    return {"draftRef": draft, "action": action, "targetIds": list(targets), "mergedFields": merged}


def acts(task: AdjudicationTask, *given: object) -> list[tuple[str, tuple[str, ...]]]:
    result = asking.adjudicated(called(decisions=list(given)), task, FORMATS)
    assert result.task_id == task.task_id and result.binding == task.binding
    assert [one.draft_ref for one in result.decisions] == [one.draft_ref for one in task.drafts]
    return [(one.action, one.target_ids) for one in result.decisions]


def test_decisions_are_taken_where_they_hold_and_a_draft_without_one_is_stored() -> None:
    task = an_adjudication("One.", "Two.", "Three.")
    merged = {"content": "All.", "statements": [{"statementId": "m", "text": "All.", "evidenceIds": []}]}
    given = (decision("d1", "skip", "mem_1"), decision("d2", "skip", "d3"))
    assert acts(task, *given) == [("skip", ("mem_1",)), ("skip", ("d3",)), ("store", ())]
    assert acts(task, decision("d1", "update", "mem_1", merged=merged))[0] == ("update", ("mem_1",))


@pytest.mark.parametrize(
    "wrong",
    [
        decision("d1", "skip", "mem_9"),
        decision("d1", "skip"),
        decision("d1", "skip", "d1"),
        decision("d1", "update", "mem_1"),
        decision("d1", "store", "mem_1"),
        decision("d1", "forget", "mem_1"),
        decision("d9", "skip", "mem_1"),
        "d1: skip",
        decision("d1", "update", "mem_1", merged={"content": "More than that.", "statements": []}),
    ],
)
def test_a_decision_that_does_not_hold_is_store(wrong: object) -> None:
    assert acts(an_adjudication("One.", "Two."), wrong, decision("d2", "skip", "mem_1")) == [
        ("store", ()),
        ("skip", ("mem_1",)),
    ]


def test_decisions_that_do_not_hold_together_are_all_store() -> None:
    task = an_adjudication("One.", "Two.")
    assert acts(task, decision("d1", "skip", "d2"), decision("d2", "skip", "d1")) == [("store", ()), ("store", ())]


def test_the_decisions_are_asked_with_drafts_and_pool() -> None:
    request = asking.deciding(an_adjudication("One."))
    assert "mem_1" in request.messages[0].content and "d1" in request.messages[0].content
    assert strict(the_tool(request)) is not None


def test_a_patch_is_taken_whole_or_not_at_all() -> None:
    task = task_of(material([a_row(1)], Tree(folder="m"), ()), SOURCE, INCREMENTAL, FORMATS)
    request = asking.consolidating(task)
    assert "Something holds." in request.messages[0].content and strict(the_tool(request)) is not None
    fine = {"operationId": "o1", "op": "create", "target": "scene", "name": "Builds", "newContent": "Cached."}
    made = asking.patched(called(operations=[fine]), task, FORMATS)
    assert (made.task_id, made.binding, len(made.operations)) == (task.task_id, task.binding, 1)
    assert asking.patched(called(operations=[]), task, FORMATS).operations == ()
    with pytest.raises(TeamFault) as fault:
        asking.patched(called(operations=[fine, fine | {"heat": 9}]), task, FORMATS)
    assert fault.value.kind is Kind.SCHEMA_INVALID


async def test_what_a_schema_asks_for_is_what_the_documents_take() -> None:
    task = await a_task()
    item: Any = the_tool(asking.drafting(task))["properties"]["candidates"]["items"]
    assert set(item["properties"]) == set(a_draft(task)) == {one.encode_name for one in msgspec.structs.fields(Draft)}
