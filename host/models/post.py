"""One POST to a model's endpoint over HTTP (formation.md 4.1): one attempt, and what went wrong as a ModelError.

No retry, no redirect followed. Nothing stays open between calls. A cancelled task closes its connection at once.

What a ModelError says holds neither the key nor words of the material: hosts, numbers, and a provider's own words where
they repeat nothing that it was sent.
"""

import asyncio
import email.utils
import re
import ssl
from collections.abc import Mapping

import httpx2
import msgspec

from governance.formation.errors import ModelError, ModelErrorKind
from host.models.endpoint import Endpoint, refused
from host.models.wire import LARGEST_ANSWER
from host.namespace import name

LARGEST_ERROR = 64 * 1024  # bytes of a refusal that are read
LONGEST_WORDS = 240  # characters of a provider's own words
REPEATED = 16  # so many characters in a row, and it is what we sent
LONGEST_WAIT_MS = 24 * 60 * 60 * 1000
CONNECTING_SECONDS = 15.0


async def post(endpoint: Endpoint, headers: Mapping[str, str], body: bytes, timeout_ms: int) -> bytes:
    """The body of a 200 answer. `timeout_ms` bounds all of it: name, connection, answer.

    Raises ModelError of each kind: see formation.md 4.1.
    """
    sent = {"content-type": "application/json", "accept": "application/json", "accept-encoding": "identity", **headers}
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            secure = endpoint.url.startswith("https:")
            trust = await asyncio.to_thread(httpx2.create_ssl_context) if secure else False
            async with (
                _client(endpoint, trust) as client,
                client.stream("POST", endpoint.url, headers=sent, content=body) as response,
            ):
                if response.status_code != 200:
                    raise await _refusal(endpoint, response, b"\n".join((body, *map(str.encode, headers.values()))))
                return await _whole(endpoint, response)
    except TimeoutError:
        waited = f"{timeout_ms / 1000:g} s"
        raise ModelError(ModelErrorKind.TIMEOUT, f"{endpoint.host} did not answer within {waited}.") from None
    except httpx2.HTTPError as error:  # its text and its request hold the address and the headers: neither goes on
        raise ModelError(ModelErrorKind.UNAVAILABLE, f"{endpoint.host}: {what_broke(error)}") from None


def _client(endpoint: Endpoint, trust: ssl.SSLContext | bool) -> httpx2.AsyncClient:
    """A client for one call. A proxy of the environment is for what leaves the machine, and for nothing else.

    Raises ModelError (`configuration`): it names a proxy that cannot be used.
    """
    try:
        return httpx2.AsyncClient(
            verify=trust,
            trust_env=not endpoint.is_local,
            follow_redirects=False,
            timeout=httpx2.Timeout(None, connect=CONNECTING_SECONDS),
            headers={"user-agent": name()},
        )
    except (ImportError, ValueError, httpx2.InvalidURL):
        raise refused(
            "The proxy that the environment names cannot be used.",
            "Name an http proxy in HTTPS_PROXY where the daemon is started, or except the host with NO_PROXY.",
        ) from None


def what_broke(error: httpx2.HTTPError) -> str:
    """What an exception of the client means, without its words."""
    if isinstance(error, httpx2.ConnectTimeout):
        return f"no connection within {CONNECTING_SECONDS:g} s."
    if isinstance(error, httpx2.ConnectError):
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ssl.SSLCertVerificationError):
                return "this machine does not trust its certificate."
            cause = cause.__cause__ or cause.__context__
        return "no connection. Is the address right, and is it running?"
    if isinstance(error, httpx2.ProxyError):
        return "the proxy of the environment refused."
    return f"the connection broke ({type(error).__name__})."


async def _whole(endpoint: Endpoint, response: httpx2.Response) -> bytes:
    """The answer's bytes. Raises ModelError (`protocol`) for one that is too large, packed, or a stream of events."""
    if response.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        raise unreadable(endpoint, "its answer is packed, which was not asked for")
    if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        raise unreadable(endpoint, "it streams its answer, which was not asked for")
    content = await _read(response, LARGEST_ANSWER + 1)
    if len(content) > LARGEST_ANSWER:
        raise unreadable(endpoint, f"its answer is longer than {LARGEST_ANSWER // 1024 // 1024} MiB")
    return content


async def _read(response: httpx2.Response, limit: int) -> bytes:
    content = bytearray()
    async for piece in response.aiter_raw():
        content += piece
        if len(content) >= limit:
            break
    return bytes(content[:limit])


def unreadable(endpoint: Endpoint, why: str) -> ModelError:
    """A ModelError of kind `protocol`."""
    return ModelError(ModelErrorKind.PROTOCOL, f"{endpoint.host} did not speak the protocol: {why}.")


async def _refusal(endpoint: Endpoint, response: httpx2.Response, sent: bytes) -> ModelError:
    """What another status than 200 means."""
    status, host = response.status_code, endpoint.host
    if status == 429:
        wait = retry_after_ms(response.headers)
        return ModelError(ModelErrorKind.RATE_LIMITED, f"{host} takes no more requests for now (429).", wait)
    if status in (401, 403):  # providers repeat part of the key here
        named = f"the key in {endpoint.key_variable}" if endpoint.key_variable else "a call without a key"
        return refused(f"{host} does not take {named} ({status}).", "Check the key, the model and the account.")
    words = own_words(await _read(response, LARGEST_ERROR), sent)
    told = f": {words}" if words else ""
    if status == 408:
        return ModelError(ModelErrorKind.TIMEOUT, f"{host} gave up waiting (408){told}.")
    if status >= 500:
        return ModelError(ModelErrorKind.UNAVAILABLE, f"{host} failed ({status}){told}.")
    if status == 404:
        return refused(f"{host} knows no such route or model (404){told}.", "Check `base_url`, `api` and `model`.")
    if 300 <= status < 400:
        return refused(f"{host} points elsewhere ({status}), which is not followed.", "Put the right `base_url`.")
    return refused(f"{host} does not take the request ({status}){told}.", "Check `model`, `api` and `base_url`.")


class _Told(msgspec.Struct):
    message: str = ""


class _Refusal(msgspec.Struct):
    error: _Told | str = ""
    message: str = ""


def own_words(content: bytes, sent: bytes) -> str:
    """A provider's own words about a refusal: one short line, or nothing where it repeats what it was sent."""
    try:
        told = msgspec.json.decode(content, type=_Refusal)
    except (msgspec.DecodeError, RecursionError):
        return ""
    said = told.error if isinstance(told.error, str) else told.error.message
    words = " ".join("".join(c if c.isprintable() else " " for c in said or told.message).split())[:LONGEST_WORDS]
    ours = sent.decode("utf-8", "replace")
    if any(words[at : at + REPEATED] in ours for at in range(len(words) - REPEATED + 1)):
        return ""
    return words.rstrip(".")


def retry_after_ms(headers: Mapping[str, str]) -> int | None:
    """How long the provider asks to wait, in ms: `retry-after-ms`, or `retry-after` as seconds or as a date beside the
    answer's own date. None: it does not say."""
    for header, factor in (("retry-after-ms", 1.0), ("retry-after", 1000.0)):
        said = headers.get(header, "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", said):
            return min(int(float(said) * factor), LONGEST_WAIT_MS)
    try:
        until = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        now = email.utils.parsedate_to_datetime(headers.get("date", ""))
        return min(max(int((until - now).total_seconds() * 1000), 0), LONGEST_WAIT_MS)
    except (TypeError, ValueError):
        return None
