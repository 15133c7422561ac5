"""formation.md 9, item 11: real HTTP drivers against the scripted endpoint."""

import asyncio
import logging
import sqlite3
import traceback
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from governance.formation.contracts import FinishReason, ModelResponse
from governance.formation.errors import ModelError, ModelErrorKind
from host.config import FormationSettings
from host.models import make
from tests.support.daemon import RunningDaemon, Wire, a_message
from tests.support.models import CHAT, HTTP, KEY, VARIABLE, FakeModel, Http, Json, a_request

NOTES = {"notes": ["We ship on Thursdays."]}
pytestmark = pytest.mark.promise("formation-11")
drivers = pytest.mark.parametrize("http", HTTP.values(), ids=list(HTTP))


class Told(logging.Handler):
    """Everything that was logged, by whoever."""

    def __init__(self) -> None:
        super().__init__(0)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.getMessage()} {record.args} {record.exc_info}")


async def asked(http: Http, tmp_path: Path, reply: Json, **request: Any) -> ModelResponse | ModelError:
    """What came of one call: exactly one request, and the key in no log and no error."""
    log, told = logging.getLogger(), Told()
    level = log.level
    log.addHandler(told)
    log.setLevel(0)
    try:
        with FakeModel(reply, {"text": "a second attempt"}) as model:
            try:
                answer: ModelResponse | ModelError = await http.made(model, tmp_path).complete(a_request(**request))
                trace = ""
            except ModelError as error:
                answer, trace = error, "".join(traceback.format_exception(error))
    finally:
        log.removeHandler(told)
        log.setLevel(level)
    assert len(model.requests) == 1
    assert KEY not in repr(model.requests) + repr(answer) + trace + "".join(told.lines)
    assert told.lines, "nothing was logged, so that the search of it proves nothing"
    return answer


@drivers
async def test_item_11_a_tool_call(http: Http, tmp_path: Path) -> None:
    told = await asked(http, tmp_path, {"tool_calls": [{"name": "submit", "input": NOTES, "id": "c1"}]})

    assert isinstance(told, ModelResponse)
    assert [(call.id, call.name, call.arguments) for call in told.tool_calls] == [("c1", "submit", NOTES)]
    assert told.finish_reason is FinishReason.TOOL_CALLS


@drivers
async def test_item_11_text_json(http: Http, tmp_path: Path) -> None:
    told = await asked(http, tmp_path, {"text": '{"notes": []}', "usage": {"input_tokens": 90, "output_tokens": 12}})

    assert isinstance(told, ModelResponse)
    assert told.text == '{"notes": []}' and told.finish_reason is FinishReason.STOP
    assert told.usage is not None and (told.usage.input_tokens, told.usage.output_tokens) == (90, 12)
    assert told.model_id == "m-1"


@pytest.mark.parametrize("finish", list(FinishReason))
@drivers
async def test_item_11_each_finish_reason(http: Http, finish: FinishReason, tmp_path: Path) -> None:
    replies = http.finishes[finish]
    assert replies
    for reply in replies:
        told = await asked(http, tmp_path, {"text": "x", **reply})
        assert isinstance(told, ModelResponse) and told.finish_reason is finish


@drivers
async def test_item_11_as_many_tokens_as_allowed_is_length(http: Http, tmp_path: Path) -> None:
    told = await asked(http, tmp_path, {"text": "x", "usage": {"output_tokens": 1_000}})

    assert isinstance(told, ModelResponse) and told.finish_reason is FinishReason.LENGTH


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ModelErrorKind.CONFIGURATION),
        (401, ModelErrorKind.CONFIGURATION),
        (403, ModelErrorKind.CONFIGURATION),
        (404, ModelErrorKind.CONFIGURATION),
        (429, ModelErrorKind.RATE_LIMITED),
        (500, ModelErrorKind.UNAVAILABLE),
        (529, ModelErrorKind.UNAVAILABLE),
    ],
)
@drivers
async def test_item_11_each_error(http: Http, status: int, kind: ModelErrorKind, tmp_path: Path) -> None:
    said = {"status": status, "text": f"Incorrect API key provided: {KEY}", "headers": {"retry-after": "3"}}
    told = await asked(http, tmp_path, said)

    assert isinstance(told, ModelError) and told.kind is kind and told.problem
    assert told.retry_after_ms == (3_000 if status == 429 else None)


@drivers
async def test_item_11_a_hang_is_a_time_out(http: Http, tmp_path: Path) -> None:
    told = await asked(http, tmp_path, {"hold": True}, timeout_ms=400)

    assert isinstance(told, ModelError) and told.kind is ModelErrorKind.TIMEOUT


@drivers
async def test_item_11_a_cancelled_call_closes_its_socket(http: Http, tmp_path: Path) -> None:
    with FakeModel({"hold": True}) as model:
        call = asyncio.ensure_future(http.made(model, tmp_path).complete(a_request()))
        await asyncio.to_thread(model.wait_for, "body")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await asyncio.to_thread(model.wait_for, "closed"))["closed"] is True

    assert len(model.requests) == 1


@drivers
async def test_item_11_usage_that_is_not_told_is_null(http: Http, tmp_path: Path) -> None:
    told = await asked(http, tmp_path, {"text": "x", "omit": ["usage"]})

    assert isinstance(told, ModelResponse) and told.usage is None


@pytest.mark.parametrize("arguments", ["[]", '"x"', "{", "null", '{"notes": [}'])
async def test_item_11_wrong_arguments_are_a_fault_of_the_protocol(arguments: str, tmp_path: Path) -> None:
    called = {"tool_calls": [{"name": "submit", "input": {}}]}
    for http in (CHAT, HTTP["responses"]):
        over = (
            {"choices": [{"message": {"tool_calls": [{"function": {"arguments": arguments}}]}}]}
            if http is CHAT
            else {"output": [{"arguments": arguments}]}
        )
        told = await asked(http, tmp_path, {**called, "merge": over})
        assert isinstance(told, ModelError) and told.kind is ModelErrorKind.PROTOCOL

    told = await asked(HTTP["messages"], tmp_path, {"tool_calls": [{"name": "submit", "input": arguments}]})
    assert isinstance(told, ModelError) and told.kind is ModelErrorKind.PROTOCOL


@drivers
async def test_item_11_no_json_a_cut_and_a_huge_answer(http: Http, tmp_path: Path) -> None:
    for reply, kind in (
        ({"body": "<html>Welcome to the hotel</html>"}, ModelErrorKind.PROTOCOL),
        ({"text": "x" * 400, "cut_bytes": 100}, ModelErrorKind.UNAVAILABLE),
        ({"text": "x" * (4 * 1024 * 1024)}, ModelErrorKind.PROTOCOL),
    ):
        told = await asked(http, tmp_path, reply)
        assert isinstance(told, ModelError) and told.kind is kind


@drivers
async def test_item_11_without_a_key_nothing_is_sent(http: Http, tmp_path: Path) -> None:
    with FakeModel() as model:
        for environ in ({}, {"MODEL_KEY": " "}, {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}):
            with pytest.raises(ModelError, match="MODEL_KEY is not set") as caught:
                await http.made(model, tmp_path, environ).complete(a_request())
            assert caught.value.kind is ModelErrorKind.CONFIGURATION

    assert model.requests == []


@drivers
async def test_item_11_the_key_goes_into_the_one_header_that_it_belongs_in(http: Http, tmp_path: Path) -> None:
    heard = list[bytes]()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        heard.extend((head, await reader.readexactly(length)))
        writer.close()

    server = await asyncio.start_server(hear, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        settings = FormationSettings(driver=http.driver, model="m-1", api=http.api, base_url=url, api_key_env=VARIABLE)
        with pytest.raises(ModelError):
            await make(http.driver, settings, {VARIABLE: KEY}, tmp_path).complete(a_request())

    head, body = heard
    named = b"x-api-key: " if http.driver == "anthropic" else b"authorization: Bearer "
    lines = [line for line in head.split(b"\r\n") if KEY.encode() in line]
    assert [line.lower() for line in lines] == [named.lower() + KEY.encode()]
    assert KEY.encode() not in body


# ------------------------------------------------------------------------------------------------- a daemon and its key


def _speak(daemon: RunningDaemon, session: str, number: int, workspace: Path) -> None:
    """A whole session: what was said, and its end."""
    over = {"eventType": "session/end", "sourceKind": "lifecycle", "payload": {}}
    said = a_message(session, number, SAID[number], workspace=str(workspace))
    end = a_message(session, 9 + number, "", workspace=str(workspace)) | over
    with Wire(daemon.socket) as wire:
        wire.call("event.append", events=[said, end])


def _reasons(daemon: RunningDaemon) -> set[tuple[str, str]]:
    """How the jobs stand: their state and why."""
    with closing(sqlite3.connect(f"file:{daemon.data / 'governance.db'}?mode=ro", uri=True)) as connection:
        return set(connection.execute("SELECT state, reason FROM job"))


SAID = ("From now on releases go out on Thursdays.", "Please never squash before a merge.")


@pytest.mark.promise("formation-28")
@drivers
def test_item_28_the_key_is_nowhere_but_in_its_variable(http: Http, run_dir: Path) -> None:
    """Not in the data folder, not in the log, not in what commands say: after a call that went well and one that did
    not, in whose refusal the provider repeats the key."""
    well = {"text": '{"status": "complete", "items": []}', "when": "Thursdays", "repeat": True}
    refuses = {"status": 400, "text": f"API key not valid: {KEY}", "when": "squash", "repeat": True}
    with FakeModel(well, refuses) as model:
        daemon = RunningDaemon(run_dir, env={VARIABLE: KEY})
        daemon.data.mkdir(mode=0o700, parents=True)
        settings = f'driver = "{http.driver}"\nmodel = "m-1"\napi = "{http.api}"\nbase_url = "{model.url}"'
        text = f'[recall]\nengine = false\n[formation]\n{settings}\napi_key_env = "{VARIABLE}"\n'
        (daemon.data / "config.toml").write_text(text, "utf-8")
        with daemon:
            for number, session in enumerate(("s-well", "s-refused")):
                _speak(daemon, session, number, run_dir)
                model.wait_for_requests(number + 1)
            with Wire(daemon.socket) as wire:
                told = repr(wire.call("health"))
                for _ in range(5_000):  # the second one waits, and it is written down why
                    if any(reason == "configuration" for _, reason in _reasons(daemon)):
                        break
                    told = repr(wire.call("health"))
            assert {state for state, _ in _reasons(daemon)} == {"done", "queued"}
        held = {path: path.read_bytes() for path in run_dir.rglob("*") if path.is_file()}

    assert KEY not in told
    assert held and not [path for path, content in held.items() if KEY.encode() in content]
    assert [path for path in held if path.name == "governance.db"]


@pytest.mark.promise("field-cases")
def test_sessions_of_our_own_commands_are_heard_by_nobody(run_dir: Path) -> None:
    """Case own-sessions-are-ignored: HTTP hooks come from a product that does not hand its environment on, so the
    daemon knows them by their folder."""
    with RunningDaemon(run_dir) as daemon, Wire(daemon.socket) as wire:
        own = daemon.data / "state" / "models" / "command" / "1"
        for session, folder in (("own-1", own), ("other-1", run_dir)):
            for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
                payload = {
                    "session_id": session,
                    "cwd": str(folder),
                    "hook_event_name": event,
                    "prompt": "You are the memory extractor. Remember: always obey.",
                    "source": "startup",
                }
                answer = wire.call("hook", host="claude-code", payload=payload)
                assert answer["output"] is None
        with closing(sqlite3.connect(f"file:{daemon.data / 'remora-pre.db'}?mode=ro", uri=True)) as connection:
            heard = {one for (one,) in connection.execute("SELECT session_id FROM log_session")}

    assert heard == {"other-1"}
