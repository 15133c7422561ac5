"""The seed pass: what a new context window begins with. No words are asked: records by id, then the pinned ones."""

from collections.abc import Sequence

from recall.contracts import Candidate, Cue, Index, RecordState


async def seed(cue: Cue, index: Index) -> Sequence[Candidate]:
    """The cue's records by id in the order asked, then pinned ones, each once, at most `cue.limit`; else nothing.

    What stands in no record of its own, a file's section, is found by its words alone and never begins a window.
    """
    if cue.terms:
        return ()
    asked = await index.by_id(cue.memory_ids, cue.scope) if cue.memory_ids else ()
    named = [candidate for candidate in asked if candidate.state is RecordState.ANCHORED]
    pinned = await index.pinned(cue.scope, cue.limit)
    each = {candidate.memory_id: candidate for candidate in (*pinned, *named)}
    order = dict.fromkeys(candidate.memory_id for candidate in (*named, *pinned))
    return [each[memory_id] for memory_id in order][: cue.limit]
