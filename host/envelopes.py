"""Event envelopes as they come in: read from the wire, and checked whoever made them (N-01, pure)."""

import hashlib
from typing import Annotated, TypeVar

import msgspec

from host.errors import ProtocolFault
from host.protocol import EVENTS_PER_CALL, ID_CHARACTERS, IDENTIFIER, Request, decode_params, invalid_params
from recall.canonical import MAX_INT
from recall.contracts import EventEnvelope, Frozen

SCHEMA_VERSION = 1
TYPE_CHARACTERS = 64
WORKSPACE_CHARACTERS = 4096
HOST_CHARACTERS = 64
DIGEST_PREFIX = "sha256:"

P = TypeVar("P", bound="EventsParams")


class WireEnvelope(EventEnvelope, frozen=True, kw_only=True):
    """An envelope that a producer sent: it must say which schema it is of."""

    schema_version: int


class EventsParams(Frozen, frozen=True, kw_only=True):
    """Parameters that carry events. Methods that take more derive from it. `host`: what the agent runs in, which says
    what it can take (C-07)."""

    events: Annotated[tuple[WireEnvelope, ...], msgspec.Meta(min_length=1, max_length=EVENTS_PER_CALL)]
    host: Annotated[str, msgspec.Meta(min_length=1, max_length=HOST_CHARACTERS)] = "socket"


class _Owned(msgspec.Struct, rename="camel"):
    """What an envelope says of its schema and owner, whatever the types: read when it could not be read whole."""

    schema_version: object = None
    session_id: object = None
    agent_id: object = None


class _Listed(msgspec.Struct):
    events: list[_Owned] = []


def read_events(request: Request, kind: type[P]) -> P:
    """`decode_params` for params with events: an unknown schema and a missing owner have kinds of their own."""
    try:
        return decode_params(request, kind)
    except ProtocolFault:
        _refuse_strangers(request)
        raise


def _refuse_strangers(request: Request) -> None:
    try:
        listed = msgspec.json.decode(request.params, type=_Listed)
    except msgspec.DecodeError:
        return
    for place, event in enumerate(listed.events):
        if event.schema_version != SCHEMA_VERSION or isinstance(event.schema_version, bool):
            raise _unsupported(f"events[{place}]", event.schema_version)
        for name, owner in (("sessionId", event.session_id), ("agentId", event.agent_id)):
            if not isinstance(owner, str):
                raise _no_owner(f"events[{place}]", name)


def check(envelope: EventEnvelope) -> None:
    """Raise ProtocolFault (`unsupported-schema`, `no-owner`, `invalid-params`) unless it may be stored."""
    if envelope.schema_version != SCHEMA_VERSION:
        raise _unsupported("The event", envelope.schema_version)
    if not envelope.session_id:
        raise _no_owner("The event", "sessionId")
    if not envelope.agent_id:
        raise _no_owner("The event", "agentId")
    matches = IDENTIFIER.fullmatch
    if not matches(envelope.session_id):
        raise _not_an_id("sessionId")
    if not matches(envelope.agent_id):
        raise _not_an_id("agentId")
    if envelope.event_id is not None and not matches(envelope.event_id):
        raise _not_an_id("eventId")
    if envelope.call_id is not None and not matches(envelope.call_id):
        raise _not_an_id("callId")
    if envelope.message_id is not None and not matches(envelope.message_id):
        raise _not_an_id("messageId")
    if envelope.root_call_id is not None and not matches(envelope.root_call_id):
        raise _not_an_id("rootCallId")
    if len(envelope.event_type) > TYPE_CHARACTERS or not matches(envelope.event_type):
        raise invalid_params(f"`eventType` must be 1 to {TYPE_CHARACTERS} letters and marks, as `user/message`.")
    if len(envelope.workspace) > WORKSPACE_CHARACTERS or "\0" in envelope.workspace:
        raise invalid_params(f"`workspace` must be a path of at most {WORKSPACE_CHARACTERS} characters without NUL.")
    _check_numbers(envelope)


def _check_numbers(envelope: EventEnvelope) -> None:
    """Integers that SQLite and every JSON reader hold exactly; counts are not negative."""
    if not -MAX_INT <= envelope.timestamp <= MAX_INT:
        raise _out_of_range("timestamp")
    if not 0 <= envelope.event_seq <= MAX_INT:
        raise _out_of_range("eventSeq")
    if envelope.native_seq is not None and not 0 <= envelope.native_seq <= MAX_INT:
        raise _out_of_range("nativeSeq")
    if envelope.turn is not None and not 0 <= envelope.turn <= MAX_INT:
        raise _out_of_range("turn")
    if envelope.step is not None and not 0 <= envelope.step <= MAX_INT:
        raise _out_of_range("step")


def check_digest(envelope: EventEnvelope, payload: bytes) -> None:
    """A producer's own SHA-256 must be that of the payload bytes as received; hex, or `sha256:` and hex."""
    said = envelope.payload_digest
    if said is None:
        return
    if said.removeprefix(DIGEST_PREFIX) != hashlib.sha256(payload).hexdigest():
        raise invalid_params("`payloadDigest` is not the SHA-256 (lowercase hex) of the payload's bytes as sent.")


def _unsupported(where: str, version: object) -> ProtocolFault:
    said = version if isinstance(version, int) else "none"
    return invalid_params(
        f"{where}: `schemaVersion` must be {SCHEMA_VERSION}; it is {said!r}."[:200], "unsupported-schema"
    )


def _no_owner(where: str, name: str) -> ProtocolFault:
    return invalid_params(
        f"{where} has no owner: `{name}` must be a text. It is never routed to a default.", "no-owner"
    )


def _not_an_id(name: str) -> ProtocolFault:
    return invalid_params(f"`{name}` must be 1 to {ID_CHARACTERS} letters, digits and `._:@/+=|~#-`, without `..`.")


def _out_of_range(name: str) -> ProtocolFault:
    return invalid_params(f"`{name}` is out of range: at most 2^53 − 1, and only `timestamp` may be negative.")
