"""An answer that is no proposal is a fault; a malformed element costs itself; what was cut is said to be cut."""

import json
from typing import Any

import pytest

from governance.formation.checkpoint_answers import proposal, results
from governance.formation.contracts import FailureClass, FinishReason, ModelResponse, ToolCall
from governance.formation.errors import AnswerFault
from governance.formation.ladder import RangeFault
from tests.support.checkpoints import complete, cut, item, searching

ITEM = item("A fact.", ("s#1", "a fact"))


def called(arguments: dict[str, Any], name: str = "submit") -> ModelResponse:
    call = ToolCall(id="c", name=name, arguments=arguments)
    return ModelResponse(text="", finish_reason=FinishReason.TOOL_CALLS, tool_calls=(call,))


def wrote(text: str) -> ModelResponse:
    return ModelResponse(text=text, finish_reason=FinishReason.STOP)


@pytest.mark.parametrize(
    "response",
    [
        called(complete(ITEM)),
        wrote(json.dumps(complete(ITEM))),
        wrote(f"Here you are:\n```json\n{json.dumps(complete(ITEM))}\n```\nDone."),
        wrote(json.dumps({"items": [ITEM]})),
        wrote(json.dumps({"complete": [ITEM]})),
        wrote(json.dumps([ITEM])),
    ],
)
def test_a_proposal_is_read_however_it_is_wrapped(response: ModelResponse) -> None:
    found = proposal(response, {"s#1"})
    assert [one.content for one in found.items] == ["A fact."]
    assert found.cited == {"s#1"} and not found.truncated


@pytest.mark.parametrize(
    "text", ["BANANA", "", "I remember that now!", '{"status": "done"}', '{"answer": []}', "[1, 2]"]
)
def test_what_is_no_proposal_is_a_fault_and_never_an_empty_one(text: str) -> None:
    with pytest.raises(AnswerFault) as caught:
        proposal(wrote(text), {"s#1"})
    assert caught.value.code == "schema"


def test_an_empty_list_is_a_good_answer() -> None:
    assert proposal(called(complete()), {"s#1"}).items == ()


def test_a_malformed_item_costs_itself_and_the_21st_is_over() -> None:
    found = proposal(called({"status": "complete", "items": [ITEM, {"content": 3}, *[ITEM] * 20]}), {"s#1"})
    assert (len(found.items), found.schema, found.over) == (19, 1, 2)


def test_not_one_item_in_its_form_is_a_fault() -> None:
    with pytest.raises(AnswerFault):
        proposal(called({"status": "complete", "items": [{"fact": "x"}]}), {"s#1"})


def test_a_search_is_of_lines_that_were_shown_with_bounded_terms() -> None:
    terms = ["a"] * 9 + ["t" * 200]
    found = proposal(called(searching("s#1", *terms)), {"s#1"})
    assert [(one.source_ref, len(one.terms)) for one in found.incidents] == [("s#1", 8)]
    with pytest.raises(RangeFault) as caught:
        proposal(called(searching("s#9", "a")), {"s#1"})
    assert caught.value.class_ is FailureClass.LOCALIZATION


def test_what_the_model_cannot_resolve_is_a_fault_of_localisation() -> None:
    with pytest.raises(RangeFault) as caught:
        proposal(called({"status": "cannot_resolve"}), {"s#1"})
    assert caught.value.class_ is FailureClass.LOCALIZATION


def test_a_cut_proposal_gives_its_whole_items_and_says_so() -> None:
    text = json.dumps(complete(ITEM, item("Another.", ("s#2", "another"))))
    found = proposal(cut(text[: text.index("Another") + 3]), {"s#1", "s#2"})
    assert [one.content for one in found.items] == ["A fact."]
    assert found.truncated and found.cited == {"s#1"}


def test_a_proposal_that_was_cut_before_its_first_item_is_a_fault_of_length() -> None:
    for text in ('{"status": "comp', '{"status": "complete", "items": [{"content": "A f', ""):
        with pytest.raises(AnswerFault) as caught:
            proposal(cut(text), {"s#1"})
        assert caught.value.code == "length", text


def result(id_: str, verdict: str = "accept", sentence: str = "So.") -> dict[str, str]:
    return {"id": id_, "verdict": verdict, "sentence": sentence}


def test_there_is_one_result_for_each_id() -> None:
    found = results(called({"results": [result("i2", "reject", ""), result("i1")]}), ["i1", "i2"])
    assert found.by_id["i1"].sentence == "So." and found.by_id["i2"].verdict == "reject"


@pytest.mark.parametrize(
    "given",
    [
        [result("i1")],
        [result("i1"), result("i1")],
        [result("i1"), result("i2"), result("i3")],
        [result("i1"), result("i2", "maybe")],
        [result("i1"), {"id": "i2"}],
    ],
)
def test_a_missing_double_unknown_or_malformed_result_is_a_fault_of_admission(given: list[dict[str, str]]) -> None:
    with pytest.raises(RangeFault) as caught:
        results(called({"results": given}), ["i1", "i2"])
    assert caught.value.class_ is FailureClass.ADMISSION


def test_cut_results_are_those_that_are_whole() -> None:
    text = json.dumps({"results": [result("i1"), result("i2")]})
    found = results(cut(text[: text.index("i2")]), ["i1", "i2"])
    assert list(found.by_id) == ["i1"] and found.truncated
    with pytest.raises(AnswerFault):
        results(cut(text[:20]), ["i1", "i2"])
