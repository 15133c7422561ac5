"""What was decided about drafts, as far as the document tells."""

import msgspec
import pytest

from governance.team.adjudicating import decided, inherited
from governance.team.contracts.base import Owner
from governance.team.contracts.staging import (
    Adjudicated,
    AdjudicationBinding,
    AdjudicationResult,
    AdjudicationTask,
    PoolItem,
    Projection,
    TaskDraft,
)
from governance.team.errors import Kind, TeamFault
from tests.support.team_stage import fields, merge, skip, store, update

BINDING = AdjudicationBinding(
    state_uuid="u",
    owner=Owner(repository_key="r", worktree_key="w"),
    draft_batch_digest="d",
    approved_projection=Projection(generation=1, analyzer_version="a"),
    candidate_projection=Projection(generation=1, analyzer_version="a"),
    recall_algorithm="x",
    result_set_digest="s",
    pool_item_revisions=(),
    versions={},
)
SAID = fields(("We use uv.", ()))


def a_task(*refs: str, pool: tuple[str, ...] = ("mem_1", "mem_2")) -> AdjudicationTask:
    drafts = tuple(
        TaskDraft(draft_ref=ref, content=ref, type="work_fact", priority=1, confidence="low", scene=None, statements=())
        for ref in refs
    )
    items = tuple(
        PoolItem(source_kind="approved", id=one, revision="1", content_digest="c", state="approved", summary="s")
        for one in pool
    )
    return AdjudicationTask(format="f", task_id="t", binding=BINDING, drafts=drafts, recall_sets=(), pool=items)


def answer(*decisions: Adjudicated, **changed) -> AdjudicationResult:
    given = {"format": "f", "task_id": "t", "binding": BINDING, "decisions": decisions} | changed
    return AdjudicationResult(**given)


def refusal(task: AdjudicationTask, *decisions: Adjudicated) -> TeamFault:
    with pytest.raises(TeamFault) as fault:
        decided(task, answer(*decisions))
    return fault.value


def test_decisions_come_in_the_order_of_the_drafts_and_aliases_by_their_names():
    task = a_task("a", "b", "c")
    found = decided(
        task,
        answer(
            Adjudicated(draft_ref="c", action="drop", target_ids=("a",)),
            Adjudicated(draft_ref="a", action="add"),
            update("b", "mem_1", SAID),
        ),
    )
    assert [(one.draft_ref, one.act, one.target_ids, one.replaces) for one in found] == [
        ("a", "store", (), False),
        ("b", "update", ("mem_1",), True),
        ("c", "skip", ("a",), False),
    ]


def test_another_binding_is_binding_drift():
    other = msgspec.structs.replace(BINDING, result_set_digest="t")
    with pytest.raises(TeamFault) as fault:
        decided(a_task("a"), answer(store("a"), binding=other))
    assert fault.value.kind is Kind.BINDING_DRIFT


@pytest.mark.parametrize(
    "decisions",
    [
        pytest.param((), id="none"),
        pytest.param((store("a"),), id="one missing"),
        pytest.param((store("a"), store("b"), store("b")), id="one twice"),
        pytest.param((store("a"), store("x")), id="a stranger"),
        pytest.param((store("a"), Adjudicated(draft_ref="b", action="store", target_ids=("mem_1",))), id="store of"),
        pytest.param(
            (store("a"), Adjudicated(draft_ref="b", action="store", merged_fields=SAID)), id="store with fields"
        ),
        pytest.param((store("a"), skip("b")), id="skip for nothing"),
        pytest.param((store("a"), skip("b", "b")), id="skip for itself"),
        pytest.param((store("a"), skip("b", "mem_9")), id="skip for a stranger"),
        pytest.param((store("a"), skip("b", "mem_1", "mem_1")), id="a target twice"),
        pytest.param((skip("a", "mem_1"), skip("b", "a")), id="a chain"),
        pytest.param((skip("a", "b"), skip("b", "a")), id="a cycle"),
        pytest.param(
            (store("a"), Adjudicated(draft_ref="b", action="update", target_ids=("mem_1",))), id="without fields"
        ),
        pytest.param((store("a"), merge("b", [], SAID)), id="merge of nothing"),
        pytest.param((store("a"), merge("b", ["a"], SAID)), id="merge of a draft of the batch"),
        pytest.param(
            (
                store("a"),
                Adjudicated(draft_ref="b", action="update", target_ids=("mem_1", "mem_2"), merged_fields=SAID),
            ),
            id="update of two",
        ),
        pytest.param((update("a", "mem_1", SAID), update("b", "mem_1", SAID)), id="one target replaced twice"),
        pytest.param((update("a", "mem_1", SAID), skip("b", "mem_1")), id="covered by what is replaced"),
        pytest.param((store("a"), update("b", "mem_1", fields())), id="no statement"),
        pytest.param((store("a"), update("b", "mem_1", fields(("The key is ghp_" + "a1B2" * 9, ())))), id="a secret"),
    ],
)
def test_what_does_not_fit_is_schema_invalid(decisions):
    fault = refusal(a_task("a", "b"), *decisions)
    assert fault.kind is Kind.SCHEMA_INVALID
    assert "ghp_" not in str(fault)


def test_merged_content_is_covered_by_its_own_statements():
    merged = msgspec.structs.replace(SAID, content="We use uv. Never pip.")
    assert refusal(a_task("a"), update("a", "mem_1", merged)).kind is Kind.CONTENT_NOT_COVERED


def test_what_is_inherited_names_target_and_statement():
    assert inherited("target:mem_1/s/1") == ("mem_1", "s/1")
    assert inherited("ev-1-x") is None
