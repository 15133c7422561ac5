"""The context observer (C-01): one envelope becomes at most one bounded segment. Pure.

User messages, tool calls, tool results and assistant messages form segments; lifecycle events change state elsewhere.
Text is cleaned before it is cut to length: what we or other tools injected is taken out, control sequences are removed,
encoded data is described. A prompt that holds nothing but injected blocks was not written by a person, whatever its
envelope says.
"""

import re

import msgspec

from host.frame import cut_packets
from recall.analyzer import entities
from recall.canonical import digest, short_id, text_digest
from recall.contracts import EventEnvelope, EventPayload, EventType, Segment, SegmentKind, SourceKind

LONGEST = 1_200
GAP = "\n…\n"

KINDS: dict[str, SegmentKind] = {
    EventType.USER_MESSAGE: SegmentKind.PROMPT,
    EventType.TOOL_CALL: SegmentKind.CALL,
    EventType.TOOL_RESULT: SegmentKind.RESULT,
    EventType.ASSISTANT_MESSAGE: SegmentKind.REPLY,
}
# Characters kept from the beginning of a text that is too long; the rest of LONGEST comes from its end.
HEADS: dict[SegmentKind, int] = {
    SegmentKind.PROMPT: 800,
    SegmentKind.CALL: 900,
    SegmentKind.RESULT: 300,
    SegmentKind.REPLY: 600,
}

_payload = msgspec.json.Decoder(EventPayload)

_MACHINE_BLOCK = re.compile(
    r"<(system-reminder|task-notification|cross-session-message|teammate-message|user-prompt-submit-hook"
    r"|hook[_-]context|session[_-]context|environment_context|untrusted_context|user_instructions"
    r"|local-command-(?:caveat|stdout|stderr)|command-(?:name|message)|ide_(?:opened_file|selection)"
    r"|claude-mem-context|oai-mem-citation|[\w-]{0,40}memor(?:y|ies)[\w-]{0,40})(?:\s[^<>]*)?>"
)
_STRAY = re.compile(r"</(?:system-reminder|task-notification)>")
_ANSI = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]{0,1024}(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]?")
_CONTROL = re.compile(
    "[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?[\w.+=;-]*;base64,([A-Za-z0-9+/=_-]+)")
_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/])(?:(?:[A-Za-z0-9+/]{60,}\n)+[A-Za-z0-9+/]{60,}(?:\n[A-Za-z0-9+/]{2,}={1,2})?"
    r"|[A-Za-z0-9+/]{200,}={0,2})"
)
_BLANK_LINES = re.compile(r"(?<![ \t])[ \t]*\n(?:[ \t]*\n)+")
_COMMAND = re.compile(r"(?:^|[;&|\n])\s*([A-Za-z][\w.+-]*)")


def observe(envelope: EventEnvelope, context_version: int) -> Segment | None:
    """The segment of an envelope, or None: another kind of event, nothing in it, or a payload that cannot be read.

    `context_version` is the version that the session gets when this segment is pushed.
    """
    kind = KINDS.get(envelope.event_type)
    if kind is None:
        return None
    try:
        payload = _payload.decode(envelope.payload)
    except msgspec.DecodeError:
        return None
    whole, machine = _projected(kind, payload)
    if not whole:
        return None
    text = cut(whole, kind)
    path = payload.path or (payload.read.path if payload.read else None)
    source_kind = SourceKind.TOOL if machine and kind is SegmentKind.PROMPT else envelope.source_kind
    text_hash = text_digest(text)
    number = envelope.event_seq if envelope.native_seq is None else envelope.native_seq
    identity = {"sessionId": envelope.session_id, "seq": number, "eventType": envelope.event_type, "text": text_hash}
    return Segment(
        id=short_id("seg_", identity),
        session_id=envelope.session_id,
        agent_id=envelope.agent_id,
        kind=kind,
        event_type=envelope.event_type,
        event_seq=envelope.event_seq,
        context_version=context_version,
        text=text,
        entities=_named(text, path, payload.tool if kind is SegmentKind.CALL else None),
        digest=text_hash,
        ts=envelope.timestamp,
        source_kind=source_kind,
        ok=payload.ok,
        tool=payload.tool,
        args_digest=_of_call(payload) if kind is SegmentKind.CALL else None,
        call_id=envelope.call_id,
        path=path,
        step=envelope.step,
    )


def clean(text: str) -> str:
    """The text without injected blocks, control sequences and encoded data. Idempotent on ordinary text."""
    text = cut_packets(text)
    if "<" in text:
        text = _STRAY.sub("", _cut_blocks(text))
    if not text.replace("\n", "").isprintable():  # what is taken out here is not
        text = _ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
        text = readable(_CONTROL.sub("", text))
    if "base64," in text:
        text = _DATA_URL.sub(lambda found: f"[data {found[1] or 'text'} {_size(found[2])}]", text)
    # What may be an encoded run is longer, and has a line without a blank: asked first, for the pattern is slow.
    if len(text) > 120 and max(map(len, text.split()), default=0) >= 60:
        text = _BASE64.sub(lambda found: f"[base64 {_size(found[0])}]", text)
    blank = "\n\n" in text.replace(" ", "").replace("\t", "")  # asked first: over a long result the pattern is slow
    return _BLANK_LINES.sub("\n\n", text).strip() if blank else text.strip()


def readable(text: str) -> str:
    """The text with NUL and lone surrogates replaced: it can be encoded and hashed."""
    return _UNREADABLE.sub("\ufffd", text)


def cut(text: str, kind: SegmentKind) -> str:
    """At most 1 200 characters: the head and the tail that this kind of event is understood by."""
    if len(text) <= LONGEST:
        return text
    head = HEADS[kind]
    return text[:head] + GAP + text[len(text) - (LONGEST - head - len(GAP)) :]


def _projected(kind: SegmentKind, payload: EventPayload) -> tuple[str, bool]:
    """What a segment says, before cutting to length; and whether nothing of it but injected blocks was there."""
    if kind is SegmentKind.CALL:
        return clean(payload.args or payload.text or payload.path or payload.tool or ""), False
    text = clean(payload.text)
    if payload.images:
        return f"{text}\n[image]".strip(), False
    if text:
        return text, False
    if kind is SegmentKind.RESULT and payload.ok is False:
        return "[no output]", False
    block = _MACHINE_BLOCK.search(payload.text)
    return (f"[{block[1]}]", True) if block else ("", False)


def _of_call(payload: EventPayload) -> str:
    """What tells a call from another one: the tool and all of its arguments, uncut."""
    args = payload.args or payload.text or payload.path or ""
    return digest([payload.tool and readable(payload.tool), readable(args)])


def _named(text: str, path: str | None, tool: str | None) -> tuple[str, ...]:
    """The path and, of a shell call, the commands come first; then what the text itself names."""
    commands = _COMMAND.findall(text[:LONGEST]) if tool == "shell" else []
    first = [*entities(path or ""), *(command.lower() for command in commands[:4])]
    return tuple(dict.fromkeys([*first, *entities(text)]))[:16]


def _cut_blocks(text: str) -> str:
    """Without blocks of other tools. A tag that nothing closes is somebody's words about it, and stays."""
    kept: list[str] = []
    unclosed: set[str] = set()
    kept_to = place = 0
    while opened := _MACHINE_BLOCK.search(text, place):
        place = opened.end()
        if opened[1] in unclosed:
            continue
        closing = f"</{opened[1]}>"
        closed = text.find(closing, place)
        if closed < 0:
            unclosed.add(opened[1])
            continue
        kept.append(text[kept_to : opened.start()])
        kept_to = place = closed + len(closing)
    kept.append(text[kept_to:])
    return "".join(kept)


def _size(encoded: str) -> str:
    size = len(encoded.replace("\n", "").rstrip("=")) * 3 // 4
    return f"{size // 1024} KB" if size >= 1024 else f"{size} B"
