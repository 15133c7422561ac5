"""formation.md 9, items 3 and 10: answers as models give them, and what of them is taken."""

from typing import Any

import pytest

from governance.formation.answer import Kind, Wanted, parse
from governance.formation.contracts import ExtractL1Result, FinishReason, ModelResponse, RunStatus
from governance.formation.errors import AnswerFault
from governance.formation.notes import extract_l1
from tests.support.noting import a_message, a_model, a_request, a_setting, candidate_of, submits

MESSAGES = tuple(a_message(number) for number in range(9))
LIST = Wanted(kind=Kind.ARRAY)


async def run(answer: dict[str, Any]) -> ExtractL1Result:
    return await extract_l1(a_model(answer), a_request(*MESSAGES), a_setting())


@pytest.mark.promise("formation-03")
async def test_item_03_one_malformed_of_eight_and_a_ninth_give_seven_notes() -> None:
    candidates: list[object] = [candidate_of(message) for message in MESSAGES]
    candidates[2] = {"kind": "fact", "title": "no quotes, no content"}
    result = await run(submits(*candidates))
    assert len(result.changes) == 7
    assert [(one.index, one.code) for one in result.rejected] == [(2, "schema"), (8, "over-limit")]
    assert (result.status, result.continuation) == (RunStatus.PARTIAL, None)
    assert [change.after.citations[0].message_id for change in result.changes] == [
        f"m{number}" for number in (0, 1, 3, 4, 5, 6, 7)
    ]
    assert result.unrepresented_source_ids == ("m2", "m8")


def read(text: str, finish: FinishReason = FinishReason.STOP) -> Any:
    return parse(ModelResponse(text=text, finish_reason=finish), "submit", LIST)


@pytest.mark.promise("formation-10")
def test_item_10_prose_is_a_failure() -> None:
    with pytest.raises(AnswerFault) as fault:
        read("I had a look at the conversation. There was nothing of note in it {really}.")
    assert fault.value.code == "schema"


@pytest.mark.promise("formation-10")
def test_item_10_a_fenced_block_with_prose_around_is_found() -> None:
    assert len(read('Sure, see below:\n```json\n[{"content": "CI uses Postgres."}]\n```\nLet me know!').elements) == 1


@pytest.mark.promise("formation-10")
def test_item_10_braces_in_prose_are_skipped() -> None:
    answer = read('I looked at {this} and at [that] and set {"x"}: [{"content": "a } and a ] inside"}] Done {}.')
    assert answer.elements == [{"content": "a } and a ] inside"}]


@pytest.mark.promise("formation-10")
@pytest.mark.parametrize("finish", [FinishReason.STOP, FinishReason.LENGTH])
def test_item_10_a_cut_array_gives_its_whole_elements_and_says_so(finish: FinishReason) -> None:
    answer = read('[{"content": "one"}, {"content": "two"}, {"content": "thr', finish)
    assert (answer.elements, answer.truncated) == ([{"content": "one"}, {"content": "two"}], True)


@pytest.mark.promise("formation-10")
def test_item_10_control_characters_and_trailing_commas_are_repaired() -> None:
    answer = read('[{"content": "one\ntwo\tthree",},]')
    assert (answer.elements, answer.repairs) == (
        [{"content": "one\ntwo\tthree"}],
        ("control-characters", "trailing-comma"),
    )


@pytest.mark.promise("formation-10")
def test_item_10_a_bare_word_as_priority_is_50() -> None:
    answer = read('[{"content": "one", "priority": high}, {"priority": low\n}]')
    assert [one["priority"] for one in answer.elements] == [50, 50]
    assert answer.repairs == ("bare-priority",)


@pytest.mark.promise("formation-10")
async def test_item_10_notes_refuse_a_cut_answer_whole() -> None:
    whole = '{"notes": [' + "{}, " * 2
    for answer in ({"text": whole}, {"text": whole, "finish": "length"}, submits(finish="length")):
        result = await run(answer)
        assert (result.status, result.error and result.error.code, result.changes) == (RunStatus.FAILED, "length", ())


@pytest.mark.promise("formation-10")
async def test_item_10_prose_instead_of_notes_is_no_empty_answer() -> None:
    result = await run({"text": "BANANA"})
    assert (result.status, result.error and result.error.code) == (RunStatus.FAILED, "schema")
