"""M-04: association by what is done. A command failed or is about to be run, and these procedures name it."""

from collections.abc import Sequence

import msgspec

from recall.analyzer import distinct
from recall.contracts import Candidate, Cue, Index, MemoryKind, SegmentKind, SourceName

WORDS = 2  # of a command, that a procedure has to name as they stand: the program and what it is told to do


async def procedural(cue: Cue, index: Index) -> Sequence[Candidate]:
    """Procedures that name the command of the cue's call, those that name more of it first."""
    words = cue.call.lower().split()
    if cue.segment_kind not in (SegmentKind.CALL, SegmentKind.RESULT) or len(words) < WORDS:
        return ()
    found: list[Candidate] = []
    for one in await index.match(distinct(cue.call), cue.scope, cue.limit):
        named = _named(words, one.payload.lower()) if one.kind is MemoryKind.PROCEDURAL else 0
        if named >= WORDS:
            found.append(_candidate(one, named / len(words)))
    return sorted(found, key=lambda one: (-one.score, one.memory_id))


def _named(words: Sequence[str], text: str) -> int:
    """How many words of a command, from its first on, stand in the text one after the other."""
    number = len(words)
    while number >= WORDS and not _stands(" ".join(words[:number]), text):
        number -= 1
    return number


def _stands(command: str, text: str) -> bool:
    place = text.find(command)
    while place >= 0:
        before, after = text[max(0, place - 1) : place], text[place + len(command) : place + len(command) + 1]
        if not (_of_a_word(before) or _of_a_word(after)):
            return True
        place = text.find(command, place + 1)
    return False


def _of_a_word(character: str) -> bool:
    return (character.isalnum() and character.isascii()) or character in ("-", "_") if character else False


def _candidate(found: Candidate, share: float) -> Candidate:
    return msgspec.structs.replace(
        found,
        id=f"{SourceName.PROCEDURAL}:{found.memory_id}",
        source=SourceName.PROCEDURAL,
        score=share,
        confidence=share,
    )
