"""One POST: one attempt, what went wrong by kind, and nothing of the key or the material in an error."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx2
import pytest

from governance.formation.errors import ModelError, ModelErrorKind
from host.models.endpoint import Endpoint
from host.models.post import LARGEST_ANSWER, own_words, post, retry_after_ms, what_broke
from tests.support.models import FakeModel, Json

BODY = json.dumps({"messages": [{"role": "user", "content": "We ship on Thursdays, never on Fridays."}]}).encode()
SOON = 20_000


def _at(model: FakeModel) -> Endpoint:
    return Endpoint(url=f"{model.url}/chat/completions", key_variable="MODEL_KEY")


async def _refused(*replies: Json, timeout_ms: int = SOON) -> tuple[ModelError, FakeModel]:
    with FakeModel(*replies) as model:
        with pytest.raises(ModelError) as caught:
            await post(_at(model), {"authorization": "Bearer sk-one-two-three"}, BODY, timeout_ms)
        return caught.value, model


async def test_the_body_of_the_answer_is_given() -> None:
    with FakeModel({"body": '{"a": 1}', "tools": False}) as model:
        assert await post(_at(model), {"x-other": "1"}, BODY, SOON) == b'{"a": 1}'

    (request,) = model.requests
    assert request["body"] == json.loads(BODY)
    assert request["headers"]["x-other"] == "1"
    assert request["headers"]["accept-encoding"] == "identity"
    assert request["headers"]["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (201, ModelErrorKind.CONFIGURATION),
        (301, ModelErrorKind.CONFIGURATION),
        (307, ModelErrorKind.CONFIGURATION),
        (400, ModelErrorKind.CONFIGURATION),
        (401, ModelErrorKind.CONFIGURATION),
        (402, ModelErrorKind.CONFIGURATION),
        (403, ModelErrorKind.CONFIGURATION),
        (404, ModelErrorKind.CONFIGURATION),
        (408, ModelErrorKind.TIMEOUT),
        (413, ModelErrorKind.CONFIGURATION),
        (422, ModelErrorKind.CONFIGURATION),
        (429, ModelErrorKind.RATE_LIMITED),
        (500, ModelErrorKind.UNAVAILABLE),
        (503, ModelErrorKind.UNAVAILABLE),
        (529, ModelErrorKind.UNAVAILABLE),
    ],
)
async def test_a_status_is_an_error_of_its_kind_after_one_attempt(status: int, kind: ModelErrorKind) -> None:
    answer = {"status": status, "tools": False, "headers": {"location": "http://127.0.0.1:1/elsewhere"}}
    error, model = await _refused(answer, answer)

    assert error.kind is kind
    assert str(status) in error.problem and "127.0.0.1" in error.problem
    assert len(model.requests) == 1


async def test_the_words_of_a_refusal_are_told_and_those_that_could_hold_a_key_are_not() -> None:
    told, _ = await _refused({"status": 400, "text": "Unknown parameter\n\x1b[31mmax_tokens.", "tools": False})
    kept, _ = await _refused({"status": 401, "text": "Incorrect API key: sk-one***ree", "tools": False})

    assert "Unknown parameter [31mmax_tokens" in told.problem
    assert "sk-" not in str(kept) and "MODEL_KEY" in kept.problem


def _words(message: object) -> str:
    return own_words(json.dumps({"error": {"message": message}}).encode(), BODY)


def test_words_that_repeat_what_was_sent_are_not_told() -> None:
    assert _words("The message 'We ship on Thursdays, never' is too long") == ""
    assert _words("The context is 10 tokens too long.") == "The context is 10 tokens too long"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ""),
        (b"<html>", ""),
        (b"[" * 100_000, ""),
        (b"[1]", ""),
        (b'{"error": "model not found"}', "model not found"),
        (b'{"message": "no such model"}', "no such model"),
        (b'{"error": {"message": 5}}', ""),
        (json.dumps({"error": {"message": "x" * 5_000}}).encode(), "x" * 240),
    ],
)
def test_words_are_found_where_providers_put_them(content: bytes, words: str) -> None:
    assert own_words(content, b"") == words


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2_000),
        ({"retry-after": "0.25"}, 250),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1_500),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "999999999"}, 86_400_000),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30_000),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:00 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
    ],
)
def test_how_long_to_wait_is_read(headers: dict[str, str], wait: int | None) -> None:
    assert retry_after_ms(httpx2.Headers(headers)) == wait


async def test_a_rate_limit_says_how_long_to_wait() -> None:
    error, _ = await _refused({"status": 429, "headers": {"retry-after": "7"}, "tools": False})

    assert error.retry_after_ms == 7_000


async def test_no_answer_in_time_closes_the_connection() -> None:
    with FakeModel({"hold": True, "tools": False}) as model:
        with pytest.raises(ModelError) as caught:
            await post(_at(model), {}, BODY, 300)
        assert (await asyncio.to_thread(model.wait_for, "closed"))["closed"]

    assert caught.value.kind is ModelErrorKind.TIMEOUT and "0.3 s" in caught.value.problem


async def test_a_cancelled_call_closes_the_connection_and_stays_cancelled() -> None:
    with FakeModel({"hold": True, "tools": False}) as model:
        call = asyncio.create_task(post(_at(model), {}, BODY, SOON))
        await asyncio.to_thread(model.wait_for, "body")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await asyncio.to_thread(model.wait_for, "closed"))["closed"]


async def test_an_answer_that_breaks_off_is_a_fault_of_the_connection() -> None:
    error, model = await _refused({"text": "x" * 500, "cut_bytes": 60, "tools": False})

    assert error.kind is ModelErrorKind.UNAVAILABLE and len(model.requests) == 1


@pytest.mark.parametrize(
    "headers",
    [{"content-encoding": "gzip"}, {"content-type": "text/event-stream; charset=utf-8"}],
    ids=["packed", "streamed"],
)
async def test_an_answer_in_a_form_that_was_not_asked_for_is_not_read(headers: Json) -> None:
    error, _ = await _refused({"body": "{}", "headers": headers, "tools": False})

    assert error.kind is ModelErrorKind.PROTOCOL and "not asked for" in error.problem


async def test_an_answer_of_the_largest_size_is_read_and_a_longer_one_is_not() -> None:
    largest = " " * LARGEST_ANSWER
    with FakeModel({"body": largest, "tools": False}) as model:
        assert len(await post(_at(model), {}, BODY, SOON)) == LARGEST_ANSWER

    error, _ = await _refused({"body": largest + " ", "tools": False})
    assert error.kind is ModelErrorKind.PROTOCOL and "4 MiB" in error.problem


# ------------------------------------------------------------------------------------------- connections that fail


@asynccontextmanager
async def _server(answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], object]) -> AsyncIterator[str]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        answer(reader, writer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def test_nobody_there_is_unavailable() -> None:
    async with _server(lambda reader, writer: None) as url:
        pass  # the port is free again

    with pytest.raises(ModelError, match="no connection") as caught:
        await post(Endpoint(url=url), {}, BODY, SOON)
    assert caught.value.kind is ModelErrorKind.UNAVAILABLE


async def test_another_language_than_http_is_unavailable() -> None:
    async with _server(lambda reader, writer: writer.write(b"SSH-2.0-x\r\n")) as url:
        with pytest.raises(ModelError, match="RemoteProtocolError") as caught:
            await post(Endpoint(url=url), {}, BODY, SOON)

    assert caught.value.kind is ModelErrorKind.UNAVAILABLE


@pytest.mark.parametrize(
    ("cause", "said"),
    [(ssl.SSLCertVerificationError(1, "self-signed"), "certificate"), (OSError(111), "no connection")],
)
def test_an_unknown_certificate_is_told_apart_from_no_connection(cause: Exception, said: str) -> None:
    try:
        raise httpx2.ConnectError("a secret") from cause
    except httpx2.ConnectError as error:
        assert said in what_broke(error) and "a secret" not in what_broke(error)


@pytest.mark.parametrize(
    ("error", "said"), [(httpx2.ConnectTimeout("x"), "within 15 s"), (httpx2.ProxyError("x"), "the proxy")]
)
def test_what_broke_is_told_by_its_kind(error: httpx2.HTTPError, said: str) -> None:
    assert said in what_broke(error)


async def test_what_is_meant_for_this_machine_goes_through_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeModel({"body": "{}", "tools": False}) as model, FakeModel() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        assert await post(_at(model), {}, BODY, SOON) == b"{}"

    assert proxy.requests == [] and len(model.requests) == 1


async def test_a_proxy_of_an_unknown_kind_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for proxy in ("socks5://127.0.0.1:1", "gopher://127.0.0.1:1"):
        monkeypatch.setenv("ALL_PROXY", proxy)
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        with pytest.raises(ModelError, match="proxy") as caught:
            await post(Endpoint(url="https://model.invalid/v1"), {}, BODY, SOON)
        assert caught.value.kind is ModelErrorKind.CONFIGURATION


async def test_an_error_leads_to_no_request_and_so_to_no_key() -> None:
    async with _server(lambda reader, writer: writer.write(b"SSH-2.0-x\r\n")) as url:
        with pytest.raises(ModelError) as caught:
            await post(Endpoint(url=url), {"authorization": "Bearer sk-one-two-three"}, BODY, SOON)

    assert caught.value.__cause__ is None and caught.value.__suppress_context__
