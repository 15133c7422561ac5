"""Which messages one run of notes reads, and what identifies them (formation.md 2.1, 2.2). Pure.

Tool messages are swept along and counted; nothing of them is ever sent. Nothing is cut: what does not fit opens the
next window.
"""

from collections.abc import Iterable, Sequence

from governance.formation.contracts import (
    Completeness,
    Continuation,
    Coverage,
    ExtractL1Request,
    Message,
    Packet,
    Role,
    RunError,
    Source,
    Use,
)
from governance.formation.errors import ParameterFault
from recall.canonical import digest, text_digest
from recall.contracts import Frozen

OVER_BUDGET = "message-over-budget"


class Window(Frozen, frozen=True, kw_only=True):
    """Indices of the snapshot. `from_` to `through`, half-open: what the run answers for, tool messages included.
    `remaining`: sendable messages from `through` on."""

    total: int
    from_: int
    through: int
    new: tuple[int, ...]
    background: tuple[int, ...]
    tool_count: int
    remaining: int


def sendable(message: Message) -> bool:
    """Whether a message is shown to a model: somebody said something."""
    return message.role is not Role.TOOL and bool(message.content.strip())


def window(request: ExtractL1Request, start: int) -> Window | RunError:
    """The window from `start` on. A single new message that exceeds the limit of characters: `message-over-budget`."""
    messages, most = request.messages, request.limits.max_input_chars
    ahead = [place for place in range(start, len(messages)) if sendable(messages[place])]
    new, length = list[int](), 0
    for place in ahead[: request.max_new_messages]:
        length += len(messages[place].content)
        if length > most:
            break
        new.append(place)
    if ahead and not new:
        one = messages[ahead[0]]
        problem = f"The message {one.id[:80]!r} has {len(one.content)} characters; a run takes {most}."
        return RunError(code=OVER_BUDGET, problem=f"{problem} Compress it, split the evidence or leave it out.")
    through = ahead[len(new)] if len(new) < len(ahead) else len(messages)
    dropped = len(new) < min(len(ahead), request.max_new_messages)  # no new message goes while background is left
    return Window(
        total=len(messages),
        from_=start,
        through=through,
        new=tuple(new),
        background=() if dropped else _background(request, start, most - length),
        tool_count=sum(message.role is Role.TOOL for message in messages[start:through]),
        remaining=len(ahead) - len(new),
    )


def _background(request: ExtractL1Request, start: int, room: int) -> tuple[int, ...]:
    """The sendable messages just before `start`: the nearest ones that fit, for the oldest go first."""
    kept: list[int] = []
    for place in range(start - 1, -1, -1):
        if len(kept) == request.max_background_messages:
            break
        if not sendable(request.messages[place]):
            continue
        room -= len(request.messages[place].content)
        if room < 0:
            break
        kept.append(place)
    return tuple(reversed(kept))


def packet(request: ExtractL1Request, over: Window) -> Packet:
    """The window's sources in their order, with the digest that notes are bound to."""
    new = set(over.new)
    sources = tuple(
        source_of(request.messages[place], place, Use.NEW if place in new else Use.BACKGROUND)
        for place in (*over.background, *over.new)
    )
    return packet_of(request.scope_key, request.stream_id, sources)


def packet_of(scope_key: str, stream_id: str, sources: Sequence[Source]) -> Packet:
    """These sources, in the order of their places. Raises ParameterFault `duplicate-message-id`."""
    if len({source.message_id for source in sources}) < len(sources):
        raise ParameterFault("duplicate-message-id", "Two sources of the packet have the same message id.")
    ordered = tuple(sorted(sources, key=lambda source: (source.index, source.message_id)))
    return Packet(scope_key=scope_key, stream_id=stream_id, evidence_digest=evidence_digest(ordered), sources=ordered)


def source_of(message: Message, index: int, use: Use) -> Source:
    """A message as a source. `hash`: of the whole text, also where the message holds a part of it."""
    return Source(
        message_id=message.id,
        index=index,
        role=message.role,
        content=message.content,
        hash=message.hash or text_digest(message.content),
        timestamp=message.timestamp,
        evidence=message.evidence,
        completeness=completeness(message),
        use=use,
    )


def completeness(message: Message) -> Completeness:
    """Truncated, where the message or a piece of its evidence says so."""
    said = {message.completeness, *(one.completeness for one in message.evidence)}
    return Completeness.TRUNCATED if Completeness.TRUNCATED in said else Completeness.FULL


def evidence_digest(sources: Iterable[Source]) -> str:
    """What the sources are, whatever their order, places and use."""
    rows = sorted(
        (
            [
                source.message_id,
                source.role,
                source.hash,
                sorted([one.id, one.version] for one in source.evidence),
                source.completeness,
            ]
            for source in sources
        ),
        key=lambda row: str(row[0]),
    )
    return digest(rows)


def window_digest(request: ExtractL1Request) -> str:
    """The settings that say where windows begin and end."""
    return digest([request.max_new_messages, request.max_background_messages, request.limits.max_input_chars])


def snapshot_digest(messages: Sequence[Message]) -> str:
    """The whole conversation, in its order."""
    return digest(
        [
            [
                message.id,
                message.role,
                message.hash or "",
                text_digest(message.content),
                message.timestamp,
                [[one.id, one.version, one.hash or ""] for one in message.evidence],
                completeness(message),
            ]
            for message in messages
        ]
    )


def mismatch(given: Continuation, expected: Continuation) -> str | None:
    """The first field in which a continuation is not of this run, camelCase; None: it is. Where it goes on from is its
    own to say, within the snapshot."""
    names = zip(Continuation.__struct_fields__, Continuation.__struct_encode_fields__, strict=True)
    return next((shown for name, shown in names if name != "next_index" and _differ(given, expected, name)), None)


def _differ(given: Continuation, expected: Continuation, name: str) -> bool:
    return bool(getattr(given, name) != getattr(expected, name))


def coverage(request: ExtractL1Request, over: Window) -> Coverage:
    """What a run over this window answers for."""
    shown = [request.messages[place] for place in (*over.background, *over.new)]
    return Coverage(
        total=over.total,
        from_=over.from_,
        through=over.through,
        new_ids=tuple(request.messages[place].id for place in over.new),
        background_ids=tuple(request.messages[place].id for place in over.background),
        tool_count=over.tool_count,
        remaining=over.remaining,
        truncated_ids=tuple(one.id for one in shown if completeness(one) is Completeness.TRUNCATED),
    )
