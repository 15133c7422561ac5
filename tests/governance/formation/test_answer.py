"""Answers as models give them: what is found in each, what is set right, and what is no answer."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.answer import Answer, Kind, Wanted, parse, parse_text
from governance.formation.contracts import FinishReason, ModelResponse, ToolCall
from governance.formation.errors import AnswerFault

CASES = Path(__file__).parents[2] / "data" / "cases"
NOTES = Wanted(kind=Kind.OBJECT, member="notes")
LIST = Wanted(kind=Kind.ARRAY)
ONE = {"title": "a", "content": "b"}


def response(text: str = "", finish: FinishReason = FinishReason.STOP, *calls: ToolCall) -> ModelResponse:
    return ModelResponse(text=text, finish_reason=finish, tool_calls=calls)


def call(name: str = "submit", **arguments: object) -> ToolCall:
    return ToolCall(id="c1", name=name, arguments=arguments)


@pytest.mark.parametrize(
    ("text", "wanted", "value"),
    [
        ('{"notes": []}', NOTES, {"notes": []}),
        ('\ufeff {"notes": [{"a": 1}]}\n', NOTES, {"notes": [{"a": 1}]}),
        ('Here:\n```json\n{"notes": [{"a": 1}]}\n```\nDone.', NOTES, {"notes": [{"a": 1}]}),
        ('One line: ```json {"notes": [{"a": 1}]} ```', NOTES, {"notes": [{"a": 1}]}),
        ('~~~\n[{"a": 1}]\n~~~', LIST, [{"a": 1}]),
        ('I used {braces} and {"x"} and {"a": 1}: {"notes": [{"a": 1}]}, ok?', NOTES, {"notes": [{"a": 1}]}),
        ('fn f() { if (x) { y(); } }\n\n{"notes": [{"a": "}{\\"["}]}', NOTES, {"notes": [{"a": '}{"['}]}),
        ('A 5" disk, see [1]: [{"a": 1}] and more', LIST, [{"a": 1}]),
        ('{"memories": [{"a": 1}], "why": "said so"}', LIST, [{"a": 1}]),
        ('[{"a": 1}]', NOTES, {"notes": [{"a": 1}]}),
        ('Sure: [{"a": 1}]', NOTES, {"notes": [{"a": 1}]}),
        ('{"notes": "[{\\"a\\": 1}]"}', NOTES, {"notes": [{"a": 1}]}),
        ("Nothing worth a note: []", LIST, []),
        ("[]", LIST, []),
        ('Not ```json\n[]\n```:\n```json\n[{"a": 1}]\n```', LIST, [{"a": 1}]),
        (
            'The form:\n```json\n{"notes": []}\n```\nMine:\n```json\n{"notes": [{"a": 1}]}\n```',
            NOTES,
            {"notes": [{"a": 1}]},
        ),
        ('So:\n```json\n{"notes": []}\n```\nThat is all.', NOTES, {"notes": []}),
        ('<think>{"notes"</think> {"notes": [{"a": 1}]}', NOTES, {"notes": [{"a": 1}]}),
        ('<think>A draft: {"notes": [{"a": 0}]}</think>\n{"notes": [{"a": 1}]}', NOTES, {"notes": [{"a": 1}]}),
        ('<thinking>\n[{"a": 0}]\n</thinking>\n[]', LIST, []),
        ('{"notes": []}\n\nNothing was said that is worth a note.', NOTES, {"notes": []}),
        ('{"notes": []}\n\nOr rather:\n{"notes": [{"a": 1}]}', NOTES, {"notes": [{"a": 1}]}),
    ],
)
def test_the_value_is_found_wherever_it_stands(text: str, wanted: Wanted, value: object) -> None:
    answer = parse_text(text, wanted)
    assert (answer.value, answer.truncated) == (value, False)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("BANANA", NOTES),
        ("", LIST),
        ("I found nothing worth a note.", LIST),
        ("The list args[] is empty, so I changed nothing.", LIST),
        ("{}", NOTES),
        ("{}\nI can say nothing of it.", NOTES),
        ("[] is what the parser gives, so I changed it.", LIST),
        ('{"items": 3}', NOTES),
        ("[1, 2", LIST),
        ('{"notes": ', NOTES),
        ("[" * 3000, LIST),
        ('"notes"', NOTES),
        ("3", LIST),
    ],
)
def test_no_value_is_a_fault_and_never_nothing_found(text: str, wanted: Wanted) -> None:
    with pytest.raises(AnswerFault) as fault:
        parse_text(text, wanted)
    assert fault.value.code == "schema"


@pytest.mark.parametrize(
    ("text", "value", "repairs"),
    [
        ('[{"a": "one\ntwo\x01"}]', [{"a": "one\ntwo\x01"}], ("control-characters",)),
        ('[{"a": 1,}, {"a": [2,],},]', [{"a": 1}, {"a": [2]}], ("trailing-comma",)),
        ('[{"priority": high, "a": 1}]', [{"priority": 50, "a": 1}], ("bare-priority",)),
        ('[{"a": 1, "priority":very high\n}]', [{"a": 1, "priority": 50}], ("bare-priority",)),
        ('[{"priority": null, "a": true}]', [{"priority": None, "a": True}], ()),
        ('[{"a": "C:\\dev \\u12"}]', [{"a": "C:\\dev \\u12"}], ("escape",)),
        ('[{"a": "x\\ud83dy"}]', [{"a": "x\ufffdy"}], ("lone-surrogate",)),
        ('[{"a": "\\ud83d\\ude00\tz"}]', [{"a": "\U0001f600\tz"}], ("control-characters",)),
        ('[{"a": "\\\\ud83d, ]"},]', [{"a": "\\ud83d, ]"}], ("trailing-comma",)),
    ],
)
def test_what_models_get_wrong_is_set_right_and_said(text: str, value: object, repairs: tuple[str, ...]) -> None:
    assert parse_text(text, LIST) == Answer(value=value, repairs=repairs)
    fenced = parse_text(f"So:\n```\n{text}\n```", LIST)
    assert (fenced.value, fenced.repairs) == (value, repairs)


@pytest.mark.parametrize(
    ("text", "wanted", "value"),
    [
        ('[{"a": 1}, {"b": [2]}, {"c": "d', LIST, [{"a": 1}, {"b": [2]}]),
        ('[{"s": [{"a": 1}]}, {"s": [{"b": 2}', LIST, [{"s": [{"a": 1}]}]),
        ('{"notes": [{"a": 1}, {"b": 2}', NOTES, {"notes": [{"a": 1}, {"b": 2}]}),
        ('{"state": "done", "notes": [{"a": "[,"}, {"b', NOTES, {"state": "done", "notes": [{"a": "[,"}]}),
        ('```json\n[{"a": 1},\n {"b": ', LIST, [{"a": 1}]),
        ('[{"a": 1,}, {"b": ', LIST, [{"a": 1}]),
        ('Cut: [{"a": 1}, {"b": 2},', NOTES, {"notes": [{"a": 1}, {"b": 2}]}),
    ],
)
def test_a_cut_answer_gives_its_whole_elements(text: str, wanted: Wanted, value: object) -> None:
    for cut in (False, True):
        answer = parse_text(text, wanted, cut)
        assert (answer.value, answer.truncated) == (value, True)


def test_an_answer_cut_before_anything_was_whole_says_so() -> None:
    for text in ("", '[{"a": "b', '{"notes": [', "Let me think", '[{"a": [], "b": [{"c": 1}], "d'):
        with pytest.raises(AnswerFault) as fault:
            parse(response(text, FinishReason.LENGTH), "submit", NOTES)
        assert fault.value.code == "length"


def test_a_whole_value_of_a_cut_answer_counts_as_cut() -> None:
    assert parse(response('{"notes": []}', FinishReason.LENGTH), "submit", NOTES).truncated
    called = response("", FinishReason.LENGTH, call(notes=[ONE]))
    assert parse(called, "submit", NOTES) == Answer(value={"notes": [ONE]}, truncated=True)


def test_the_arguments_of_the_tool_come_before_the_text() -> None:
    both = response('{"notes": []}', FinishReason.TOOL_CALLS, call(notes=[ONE]))
    assert parse(both, "submit", NOTES).member("notes") == [ONE]
    assert parse(response("", FinishReason.TOOL_CALLS, call(segments=[ONE])), "submit", LIST).elements == [ONE]


@pytest.mark.parametrize(
    "calls",
    [(call("search", notes=[]),), (call(notes=[]), call(notes=[])), (call(other=1),), (call(),)],
    ids=["another tool", "twice", "other arguments", "no arguments"],
)
def test_anything_but_one_fitting_call_is_a_fault(calls: tuple[ToolCall, ...]) -> None:
    with pytest.raises(AnswerFault) as fault:
        parse(response('{"notes": []}', FinishReason.TOOL_CALLS, *calls), "submit", NOTES)
    assert fault.value.code == "schema"


@pytest.mark.parametrize(
    ("finish", "code"), [(FinishReason.CONTENT_FILTER, "content_filter"), (FinishReason.ERROR, "error")]
)
def test_an_answer_that_was_refused_is_not_read(finish: FinishReason, code: str) -> None:
    with pytest.raises(AnswerFault) as fault:
        parse(response('{"notes": []}', finish), "submit", NOTES)
    assert fault.value.code == code


def test_a_bare_list_is_no_object_where_that_was_ruled_out() -> None:
    with pytest.raises(AnswerFault):
        parse_text('[{"a": 1}]', Wanted(kind=Kind.OBJECT, member="state", listed=False))


def test_a_list_may_stand_under_its_name_and_an_object_under_none() -> None:
    named = Wanted(kind=Kind.ARRAY, member="segments")
    both = {"segments": [ONE], "others": [ONE, ONE]}
    assert parse(response("", FinishReason.TOOL_CALLS, call(**both)), "submit", named).elements == [ONE]
    assert parse_text(json.dumps({"segments": json.dumps([ONE])}), named).elements == [ONE]
    assert parse_text('{"items": [{"a": 1}]}', named).repairs == ("unwrapped",)
    assert parse_text("It is {} or {'a': 1} or {\"a\": 1}.", Wanted(kind=Kind.OBJECT)).value == {"a": 1}
    assert parse_text('{"notes": "[1, 2"}', NOTES).value == {"notes": "[1, 2"}


def test_what_is_not_there_has_no_elements() -> None:
    assert Answer(value={"a": 1}).member("a") == []
    assert Answer(value={"a": 1}).elements == []


def test_hostile_texts_end_in_a_fault_and_soon() -> None:
    """Were any of this quadratic, it would take hours."""
    texts = ['{"a":' * 20_000, "[{" * 30_000, '"\\"' * 30_000, '[{"a": "' + "\\" * 50_000, "```\n" * 20_000]
    for text in [*texts, '{"a":[' * 20_000 + "]}" * 20_000, "{" * 100_000, '[{"a":1},' * 20_000]:
        for wanted in (NOTES, LIST):
            try:
                parse_text(text, wanted)
            except AnswerFault as fault:
                assert fault.code == "schema"


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.text(min_size=1), values, max_size=4), min_size=1, max_size=4), st.booleans())
def test_any_list_of_objects_is_found_in_a_fence_and_after_prose(elements: list[dict[str, object]], raw: bool) -> None:
    text = json.dumps(elements, ensure_ascii=not raw)
    assert parse_text(text, LIST).value == elements
    assert parse_text(f"So, it's {{here}}:\n```json\n{text}\n```\nok", LIST).value == elements
    if any(elements):
        assert parse_text(f"So, it's [here]: {text}", LIST).value in (elements, [one for one in elements if one])


@given(st.lists(st.fixed_dictionaries({"a": values}), min_size=1, max_size=5), st.integers(0, 10_000))
def test_wherever_it_was_cut_only_whole_elements_come_back(elements: list[dict[str, object]], place: int) -> None:
    text = json.dumps(elements)
    cut = text[: place % len(text)]
    try:
        found = parse_text(cut, LIST)
    except AnswerFault as fault:
        assert fault.code == "schema"
    else:
        assert found.elements == elements[: len(found.elements)] or not found.truncated


@given(st.text())
def test_any_text_is_an_answer_or_a_fault(text: str) -> None:
    for wanted in (NOTES, LIST):
        try:
            parse_text(text, wanted)
        except AnswerFault:
            pass


@pytest.mark.promise("field-cases")
def test_an_answer_in_a_code_fence_is_found() -> None:
    """model-answer-in-code-fence"""
    given_case = json.loads((CASES / "model-answer-in-code-fence.json").read_text("utf-8"))
    answer = parse_text(given_case["given"]["model_answer"], LIST)
    assert len(answer.elements) == given_case["then"]["candidates"]
