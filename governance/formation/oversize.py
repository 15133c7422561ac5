"""Input that is too long, made shorter, and only because a caller asks for it (formation.md 2.5). Pure.

Ids stay: a message is cut in its middle, and says so, or left out whole; it is never split in two.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from governance.formation.contracts import Completeness, Message
from governance.formation.errors import ParameterFault
from recall.canonical import text_digest
from recall.contracts import Frozen

LEAST = 256  # characters that are left of a message
GAP = re.compile(r"\[… \d+ characters omitted …\]")


class Strategy(StrEnum):
    FAIL = "fail"
    COMPRESS = "compress"
    SKIP = "skip"


class Shortened(Frozen, frozen=True, kw_only=True):
    """How many characters a message had and has."""

    id: str
    before: int
    after: int


class Fitted(Frozen, frozen=True, kw_only=True):
    """Messages that fit. `shortened`: which were cut. `left_out`: the ids of those that are not there."""

    messages: tuple[Message, ...]
    shortened: tuple[Shortened, ...] = ()
    left_out: tuple[str, ...] = ()


def compress_message(message: Message, max_chars: int) -> Message:
    """The message in at most `max_chars` (≥ 256) characters: two thirds of them its head, one third its tail, between
    them one line that says how many are missing. `hash` is that of the whole. Raises ParameterFault
    `limits-out-of-range`."""
    _enough(max_chars)
    length = len(message.content)
    if length <= max_chars:
        return message
    room = max_chars - len(_gap(length))
    head = room * 2 // 3
    tail = room - head
    content = message.content[:head] + _gap(length - room) + message.content[length - tail :]
    return msgspec.structs.replace(
        message,
        content=content,
        completeness=Completeness.TRUNCATED,
        hash=message.hash or text_digest(message.content),
    )


def compress_messages(messages: Sequence[Message], max_total: int, max_each: int) -> Fitted:
    """Each in at most `max_each`, and all in at most `max_total` characters: the largest gives first, ties by place,
    as much as is missing and down to LEAST. Raises ParameterFault `over-budget` when that is not enough."""
    _enough(max_each)
    lengths = [min(len(message.content), max_each) for message in messages]
    over = sum(lengths) - max_total
    for place in sorted(range(len(lengths)), key=lambda one: (-lengths[one], one)):
        if over <= 0 or lengths[place] <= LEAST:
            break
        kept = max(LEAST, lengths[place] - over)
        over -= lengths[place] - kept
        lengths[place] = kept
    if over > 0:
        problem = f"{len(messages)} messages do not fit into {max_total} characters: {over} are too many."
        raise ParameterFault("over-budget", problem, "Take fewer messages, or raise the limit.")
    fitted = [compress_message(message, max(LEAST, most)) for message, most in zip(messages, lengths, strict=True)]
    return Fitted(messages=tuple(fitted), shortened=_shortened(messages, fitted))


def apply_oversize_strategy(messages: Sequence[Message], max_chars: int, strategy: Strategy = Strategy.FAIL) -> Fitted:
    """What becomes of messages of more than `max_chars` characters. Raises ParameterFault `message-over-budget`, which
    lists their ids, when the strategy is to fail."""
    large = {message.id for message in messages if len(message.content) > max_chars}
    match strategy:
        case Strategy.COMPRESS:
            fitted = [compress_message(message, max_chars) for message in messages]
            return Fitted(messages=tuple(fitted), shortened=_shortened(messages, fitted))
        case Strategy.SKIP:
            kept = tuple(message for message in messages if message.id not in large)
            return Fitted(messages=kept, left_out=tuple(message.id for message in messages if message.id in large))
    if large:
        ids = ", ".join(message.id for message in messages if message.id in large)
        raise ParameterFault("message-over-budget", f"More than {max_chars} characters each: {ids}.")
    return Fitted(messages=tuple(messages))


def _shortened(before: Sequence[Message], after: Sequence[Message]) -> tuple[Shortened, ...]:
    return tuple(
        Shortened(id=one.id, before=len(one.content), after=len(other.content))
        for one, other in zip(before, after, strict=True)
        if one is not other
    )


def _gap(characters: int) -> str:
    return f"\n[… {characters} characters omitted …]\n"


def _enough(max_chars: int) -> None:
    if max_chars < LEAST:
        raise ParameterFault("limits-out-of-range", f"{max_chars} characters are too few.", f"At least {LEAST}.")
