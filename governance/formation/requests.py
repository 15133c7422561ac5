"""Whether a request for notes can be taken at all: asked before any call (formation.md 2.1). Pure."""

import re
from collections import Counter
from collections.abc import Mapping

import msgspec

from governance.formation.contracts import ExtractL1Request, Limits, Message, Role
from governance.formation.errors import ParameterFault
from recall.canonical import MAX_INT

MOST_NEW, MOST_BACKGROUND = 100, 20
MOST_INPUT, MOST_OUTPUT, MOST_MS = 10_000_000, 1_000_000, 3_600_000
BAD_REQUEST = "bad-request"
_CODES = (  # by what the decoder says of it, in this order
    (re.compile(r"unknown field"), "unknown-field"),
    (re.compile(r"`\$\.messages\[[^]]*\]\.role`"), "unknown-role"),
    (re.compile(r"`\$\.messages\[[^]]*\]\.timestamp`|missing required field `timestamp`"), "bad-timestamp"),
    (re.compile(r"missing required field `evidence`"), "empty-evidence"),
)


def request_of(raw: Mapping[str, object]) -> ExtractL1Request:
    """A request out of JSON, camelCase. Raises ParameterFault: `unknown-field`, `unknown-role`, `bad-timestamp`,
    `empty-evidence`, else `bad-request`; and what `check` raises."""
    try:
        request = msgspec.convert(dict(raw), ExtractL1Request)
    except msgspec.ValidationError as error:
        code = next((code for pattern, code in _CODES if pattern.search(str(error))), BAD_REQUEST)
        raise ParameterFault(code, f"The request cannot be read: {error}.") from error
    check(request)
    return request


def check(request: ExtractL1Request) -> None:
    """Raises ParameterFault: `duplicate-message-id`, `empty-evidence`, `bad-timestamp`, `unknown-role`, `bad-content`,
    `limits-out-of-range`, `start-and-continuation`, or `bad-request` for an empty name."""
    for name in ("run_id", "scope_key", "stream_id"):
        if not getattr(request, name).strip():
            raise ParameterFault(BAD_REQUEST, f"{name} is empty.", "Name it: nothing is guessed.")
    if request.start_index is not None and request.continuation is not None:
        raise ParameterFault(
            "start-and-continuation", "Both a start and a continuation are given.", "Give one of them."
        )
    _within("max_new_messages", request.max_new_messages, 1, MOST_NEW)
    _within("max_background_messages", request.max_background_messages, 0, MOST_BACKGROUND)
    _within("start_index", request.start_index or 0, 0, len(request.messages))
    _limits(request.limits)
    for message in request.messages:
        _message(message)
    check_ids(request.messages)


def check_ids(messages: tuple[Message, ...]) -> None:
    """Raises ParameterFault `duplicate-message-id`."""
    twice = [name for name, times in Counter(message.id for message in messages).items() if times > 1]
    if twice:
        raise ParameterFault("duplicate-message-id", f"Several messages have the id {twice[0][:80]!r}.")


def _limits(limits: Limits) -> None:
    _within("max_input_chars", limits.max_input_chars, 1, MOST_INPUT)
    _within("max_output_tokens", limits.max_output_tokens, 1, MOST_OUTPUT)
    _within("timeout_ms", limits.timeout_ms, 1, MOST_MS)


def _within(name: str, value: int, least: int, most: int) -> None:
    if type(value) is not int or not least <= value <= most:
        raise ParameterFault("limits-out-of-range", f"{name} is {value!r}.", f"It is from {least} to {most}.")


def _message(message: Message) -> None:
    where = f"The message {message.id[:80]!r}"
    if not message.id.strip():
        raise ParameterFault(BAD_REQUEST, "A message has no id.")
    if type(message.timestamp) is not int or not 0 <= message.timestamp <= MAX_INT:
        raise ParameterFault(
            "bad-timestamp", f"{where} has the time {message.timestamp!r}.", "Give epoch milliseconds."
        )
    if message.role not in set(Role):
        raise ParameterFault("unknown-role", f"{where} has the role {message.role!r}.")
    if not message.evidence or any(not one.id.strip() for one in message.evidence):
        raise ParameterFault("empty-evidence", f"{where} does not say where it is kept.")
    try:
        message.content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ParameterFault("bad-content", f"{where} holds half a character (a lone surrogate).") from error
