"""One suite over all drivers: what a pipeline may believe of a ModelDriver, whichever it is."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from governance.formation.contracts import FinishReason, ModelDriver, ModelResponse
from governance.formation.errors import ModelError, ModelErrorKind
from host.config import FormationSettings
from host.models import DRIVERS, make
from tests.support.library import until
from tests.support.models import HTTP, FakeModel, Http, Json, a_command, a_request, a_script

TEXT = '{"notes": ["We ship on Thursdays."]}'


@dataclass(frozen=True, kw_only=True)
class Patient:
    """A driver that was told what to answer. `asked`: how often it was."""

    driver: ModelDriver
    asked: Callable[[], int]


def _http(kind: Http) -> Callable[[Path, Json], AsyncIterator[Patient]]:
    async def opened(folder: Path, answer: Json) -> AsyncIterator[Patient]:
        replies = {
            "text": {"text": TEXT},
            "nothing": {"text": ""},
            "hang": {"hold": True},
            "down": {"status": 503},
            "huge": {"text": "x" * (4 * 1024 * 1024)},
        }
        with FakeModel(replies[answer["say"]], {"text": "a second attempt"}) as model:
            yield Patient(driver=kind.made(model, folder), asked=lambda: len(model.requests))

    return opened


async def _command(folder: Path, answer: Json) -> AsyncIterator[Patient]:
    counted = folder / "asked"
    programs = {
        "text": f"print({TEXT!r})",
        "nothing": "",
        "hang": "time.sleep(600)",
        "down": "sys.exit(1)",
        "huge": "print('x' * 5_000_000)",
    }
    program = f"open({str(counted)!r}, 'a').write('x')\n{programs[answer['say']]}"
    driver = make("command", FormationSettings(command=a_command(program)), os.environ, folder)
    yield Patient(driver=driver, asked=lambda: len(counted.read_text()) if counted.exists() else 0)


async def _scripted(folder: Path, answer: Json) -> AsyncIterator[Patient]:
    answers = {
        "text": {"text": TEXT},
        "nothing": {"text": ""},
        "hang": {"hang": True},
        "down": {"error": "unavailable"},
        "huge": {"error": "protocol"},
    }
    script = a_script(folder, answers[answer["say"]], log="log.jsonl", otherwise={"text": "a second attempt"})
    log = folder / "log.jsonl"
    driver = make(f"scripted:{script}", FormationSettings(), {}, folder)
    yield Patient(driver=driver, asked=lambda: len(log.read_bytes().splitlines()) if log.exists() else 0)


PATIENTS = {**{name: _http(kind) for name, kind in HTTP.items()}, "command": _command, "scripted": _scripted}
everyone = pytest.mark.parametrize("name", PATIENTS)


def test_every_driver_has_a_patient() -> None:
    covered = {kind.driver for kind in HTTP.values()} | {"command", "scripted"}
    assert covered == set(DRIVERS)


async def answered(name: str, folder: Path, say: str, **request: object) -> tuple[ModelResponse | Exception, int, str]:
    """What the driver did with one request, how often it asked, and its id."""
    async for patient in PATIENTS[name](folder, {"say": say}):
        try:
            told: ModelResponse | Exception = await patient.driver.complete(a_request(**request))  # type: ignore[arg-type]
        except ModelError as error:
            told = error
        return told, patient.asked(), patient.driver.id
    raise AssertionError("no patient")


@everyone
async def test_a_text_is_given_as_it_is(name: str, tmp_path: Path) -> None:
    told, asked, id_ = await answered(name, tmp_path, "text")

    assert isinstance(told, ModelResponse)
    assert json.loads(told.text) == json.loads(TEXT) and told.tool_calls == ()
    assert told.finish_reason is FinishReason.STOP and told.model_id
    assert asked == 1
    assert id_.split(":", 1)[0] in DRIVERS and id_.split(":", 1)[1]


@everyone
async def test_an_empty_answer_is_one(name: str, tmp_path: Path) -> None:
    told, _, _ = await answered(name, tmp_path, "nothing")

    assert isinstance(told, ModelResponse) and told.text == ""


@everyone
async def test_a_request_without_tools_is_answered(name: str, tmp_path: Path) -> None:
    async for patient in PATIENTS[name](tmp_path, {"say": "nothing"}):
        told = await patient.driver.complete(a_request(tools=(), tool_choice="none"))

    assert told.tool_calls == ()


@everyone
async def test_no_answer_in_time_is_a_time_out(name: str, tmp_path: Path) -> None:
    told, asked, _ = await answered(name, tmp_path, "hang", timeout_ms=1_000)

    assert isinstance(told, ModelError) and told.kind is ModelErrorKind.TIMEOUT
    assert asked == 1


@everyone
async def test_a_fault_is_no_second_attempt(name: str, tmp_path: Path) -> None:
    told, asked, _ = await answered(name, tmp_path, "down")

    assert isinstance(told, ModelError) and told.kind is ModelErrorKind.UNAVAILABLE
    assert asked == 1


@everyone
async def test_a_huge_answer_is_a_fault_of_the_protocol(name: str, tmp_path: Path) -> None:
    told, asked, _ = await answered(name, tmp_path, "huge")

    assert isinstance(told, ModelError) and told.kind is ModelErrorKind.PROTOCOL
    assert asked == 1


@everyone
async def test_a_cancelled_task_is_cancelled(name: str, tmp_path: Path) -> None:
    async for patient in PATIENTS[name](tmp_path, {"say": "hang"}):
        call = asyncio.ensure_future(patient.driver.complete(a_request()))
        await until(lambda: patient.asked() == 1)  # noqa: B023  (the loop runs once)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call


@everyone
async def test_an_error_says_what_to_do_or_how_it_failed_and_nothing_of_the_material(name: str, tmp_path: Path) -> None:
    for say in ("down", "huge"):
        told, _, _ = await answered(name, tmp_path, say)
        assert isinstance(told, ModelError) and told.problem and "Thursdays" not in str(told)
