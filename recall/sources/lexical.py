"""M-05: association by words. The rarest of the cue's terms find the records that hold them."""

from collections.abc import Sequence

from recall.contracts import Candidate, Cue, Index

SHORTEST_PREFIX = 3


async def lexical(cue: Cue, index: Index) -> Sequence[Candidate]:
    """Records that share terms with the cue, best first. Of equally rare terms those of the trigger are asked first."""
    if not cue.terms:
        return ()
    terms = tuple(dict.fromkeys((*cue.focus, *cue.terms)))
    prefix = _unfinished(cue)
    if prefix:
        return await index.match(terms, cue.scope, cue.limit, prefix=prefix)
    return await index.match(terms, cue.scope, cue.limit)


def _unfinished(cue: Cue) -> str:
    """The last word of a person's search, which may still be in the typing; empty for every other cue."""
    if cue.segment_kind is not None or not cue.parts:
        return ""
    text = cue.parts[-1].text
    words = text.lower().split()
    word = words[-1] if words and not text[-1:].isspace() else ""
    return word if word.isprintable() and (len(word) >= SHORTEST_PREFIX or not word.isascii()) else ""
