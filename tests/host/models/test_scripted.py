"""The scripted driver: answers in order, by condition, with words of the request, late, or not at all."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from governance.formation.contracts import FinishReason, ModelResponse, Usage
from governance.formation.errors import ModelError, ModelErrorKind
from host.models.scripted import Script, Scripted, Step, make, read
from tests.support.models import a_request, a_script


def scripted(tmp_path: Path, *answers: dict[str, Any], **other: Any) -> Scripted:
    return make(a_script(tmp_path, *answers, **other))


async def test_answers_are_given_in_order_and_used_up(tmp_path: Path) -> None:
    driver = scripted(tmp_path, {"text": "one"}, {"text": "two"}, id="demo")

    assert [(await driver.complete(a_request())).text for _ in range(2)] == ["one", "two"]
    with pytest.raises(ModelError, match="no answer left") as caught:
        await driver.complete(a_request())
    assert caught.value.kind is ModelErrorKind.CONFIGURATION
    assert driver.id == "scripted:demo" and driver.requests == [a_request()] * 3


async def test_the_first_answer_that_fits_is_given(tmp_path: Path) -> None:
    driver = scripted(
        tmp_path,
        {"when": ["Fridays", "ship"], "text": "Fridays"},
        {"when": "ship", "unless": "You take notes", "text": "not that"},
        {"when": "Thursdays", "repeat": True, "text": "Thursdays"},
        otherwise={"text": "else"},
    )

    said = ["on Thursdays", "we ship on Fridays", "we ship on Fridays", "on Thursdays", "today"]
    told = [(await driver.complete(a_request(one))).text for one in said]
    assert told == ["Thursdays", "Fridays", "else", "Thursdays", "else"]


async def test_words_of_the_request_stand_in_the_answer(tmp_path: Path) -> None:
    item = {"sourceRef": "${ref}", "quote": "We ship", "list": ["${ref}", 1], "inner": {"a": "${ref}${other}"}}
    picks = {"ref": r'"id": "([^"]+)"', "other": "(zz)?We"}
    driver = scripted(
        tmp_path,
        {"pick": {"ref": "(nowhere)"}, "text": "does not fit"},
        {"pick": picks, "json": {"items": [item]}},
        {"pick": picks, "tool": "submit", "arguments": item},
        {"pick": picks, "text": "see ${ref}, ${unknown}"},
    )
    said = '{"id": "s-one#17", "text": "We ship on Thursdays"}'
    filled = {"sourceRef": "s-one#17", "quote": "We ship", "list": ["s-one#17", 1], "inner": {"a": "s-one#17"}}

    assert json.loads((await driver.complete(a_request(said))).text) == {"items": [filled]}
    assert (await driver.complete(a_request(said))).tool_calls[0].arguments == filled
    assert (await driver.complete(a_request(said))).text == "see s-one#17, ${unknown}"


async def test_an_answer_has_all_that_a_response_has(tmp_path: Path) -> None:
    usage = {"inputTokens": 90, "outputTokens": 12}
    driver = scripted(
        tmp_path,
        {"tool": "submit", "arguments": {"notes": []}, "text": "Here.", "usage": usage, "model": "m-2"},
        {"text": "[", "finish": "length"},
        {"text": "x", "usage": {"inputTokens": 1, "outputTokens": 1_000}},
        {"json": None},
    )

    first = await driver.complete(a_request())
    assert first == ModelResponse(
        text="Here.",
        finish_reason=FinishReason.TOOL_CALLS,
        tool_calls=first.tool_calls,
        usage=Usage(input_tokens=90, output_tokens=12),
        model_id="m-2",
    )
    assert [call.arguments for call in first.tool_calls] == [{"notes": []}]
    assert (await driver.complete(a_request())).finish_reason is FinishReason.LENGTH
    assert (await driver.complete(a_request())).finish_reason is FinishReason.LENGTH
    assert (await driver.complete(a_request())).text == "null"


@pytest.mark.parametrize("kind", list(ModelErrorKind))
async def test_an_error_is_raised(tmp_path: Path, kind: ModelErrorKind) -> None:
    driver = scripted(tmp_path, {"error": str(kind), "retryAfterMs": 5, "message": "Later."})

    with pytest.raises(ModelError, match="Later") as caught:
        await driver.complete(a_request())
    assert caught.value.kind is kind and caught.value.retry_after_ms == 5


async def test_an_answer_waits_for_its_gate(tmp_path: Path) -> None:
    driver = scripted(tmp_path, {"wait": "later", "text": "late"}, {"text": "second"})
    call = asyncio.create_task(driver.complete(a_request()))
    async with asyncio.timeout(5):
        await driver.reached("later")

    assert (await driver.complete(a_request())).text == "second" and not call.done()
    assert (tmp_path / "later.waiting").exists()
    driver.open("later")
    assert (await call).text == "late"


async def test_another_process_opens_a_gate_with_a_file(tmp_path: Path) -> None:
    driver = scripted(tmp_path, {"wait": "later", "text": "late"})
    (tmp_path / "later.open").touch()

    assert (await driver.complete(a_request())).text == "late"


async def test_a_script_in_memory_needs_no_folder() -> None:
    driver = Scripted(script=Script(answers=(Step(wait="later", text="late"),), log="log.jsonl"))
    call = asyncio.create_task(driver.complete(a_request()))
    async with asyncio.timeout(5):
        await driver.reached("later")
    driver.open("later")

    assert (await call).text == "late"


@pytest.mark.parametrize("answer", [{"hang": True}, {"wait": "never", "text": "x"}])
async def test_an_answer_that_never_comes_is_a_time_out(tmp_path: Path, answer: dict[str, Any]) -> None:
    driver = scripted(tmp_path, answer)

    with pytest.raises(ModelError) as caught:
        await driver.complete(a_request(timeout_ms=50))
    assert caught.value.kind is ModelErrorKind.TIMEOUT


async def test_a_log_holds_every_request(tmp_path: Path) -> None:
    driver = scripted(tmp_path, {"text": "one"}, log="requests.jsonl", otherwise={"text": "else"})
    for _ in range(2):
        await driver.complete(a_request())

    lines = [json.loads(line) for line in (tmp_path / "requests.jsonl").read_text("utf-8").splitlines()]
    assert [line["answer"] for line in lines] == ["answers[0]", "otherwise"]
    assert lines[0]["request"]["messages"][0]["content"] == "We ship on Thursdays."
    assert lines[0]["request"]["toolChoice"] == "submit"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "cannot be used"),
        (b"[]", "Expected `object`"),
        (b'{"answer": []}', "answer"),
        (b'{"answers": [{"txt": "x"}]}', "txt"),
        (b'{"answers": [{"when": "x"}]}', r"answers\[0\] gives nothing"),
        (b'{"answers": [{"text": "x"}, {"text": "x", "json": 1}]}', r"answers\[1\] gives text and json"),
        (b'{"answers": [{"tool": "x", "error": "timeout"}]}', "gives tool and error"),
        (b'{"answers": [{"text": "x", "arguments": {"a": 1}}]}', "arguments and no tool"),
        (b'{"answers": [{"error": "later"}]}', "later"),
        (b'{"answers": [{"text": "x", "finish": "done"}]}', "done"),
        (b'{"answers": [{"text": "x", "pick": {"a": "("}}]}', "no regular expression"),
        (b'{"answers": [{"text": "x", "pick": {"a": "b"}}]}', "exactly one"),
        (b'{"answers": [{"text": "x", "wait": "../x"}]}', "wait"),
        (b'{"otherwise": {}}', "otherwise gives nothing"),
        (b'{"log": "../requests.jsonl"}', "plain file name"),
    ],
)
def test_what_is_wrong_with_a_script_is_said(content: bytes, said: str) -> None:
    with pytest.raises(ModelError, match=said) as caught:
        read(content, "propose.json")

    assert caught.value.kind is ModelErrorKind.CONFIGURATION and "propose.json" in caught.value.problem


def test_a_script_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "none.json", "No such file"), (tmp_path, "cannot be read")):
        with pytest.raises(ModelError, match=said):
            make(str(path))
    with pytest.raises(ModelError, match="No script is named"):
        make("")
