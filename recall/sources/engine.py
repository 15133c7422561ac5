"""M-07: association by meaning. The nearest vectors to what the cue says, whatever words and language it says it in."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Protocol

import msgspec

from recall.contracts import Candidate, Cue, CuePart, Index, ScopeRef, SegmentKind, Source, SourceName, visible_scopes
from recall.frames import ASKED, ROWS, EngineHits

WIDER = 4  # times as many are asked for when the index leaves some out
LEAST = 0.1  # a cosine below it says nothing
SHARE = 0.4  # of the best cosine: farther ones would only fill a small store's answer. Costs no set a thousandth


class Nearest(Protocol):
    """What a source needs of the engine."""

    async def search(self, text: str, scopes: Sequence[ScopeRef], limit: int) -> EngineHits:
        """Rows of the index, nearest first. Raises ArmUnavailable or EngineFault."""
        ...


def engine_source(engine: Nearest) -> Source:
    """The source over this engine. Its confidence is the cosine."""

    async def nearest(cue: Cue, index: Index) -> Sequence[Candidate]:
        """Records that mean what the cue's trigger says, best first; nothing for a cue that says nothing."""
        text = asked(cue)
        scopes = visible_scopes(cue.scope)
        if not (text and scopes):
            return ()
        limit = cue.limit
        while True:
            hits = await engine.search(text, scopes, limit)
            found = await index.eligible(hits.rows, cue.scope, hits.epoch) if hits.rows else ()
            if len(found) >= cue.limit or len(hits.rows) < limit or limit == ROWS:
                break
            limit = min(ROWS, limit * WIDER)  # some were out of date: those behind them may do
        cosines = dict(zip(hits.digests, hits.cosines, strict=True))
        known = {one.memory_id: one for one in reversed(found) if cosines.get(one.record_digest, 0.0) >= LEAST}
        best = max((cosines[one.record_digest] for one in known.values()), default=0.0)
        close = [one for one in reversed(known.values()) if cosines[one.record_digest] >= SHARE * best]
        chosen = close[: cue.limit]
        alike = _alike(hits, chosen)
        return [_candidate(one, cosines[one.record_digest], alike[one.memory_id]) for one in chosen]

    return nearest


def asked(cue: Cue) -> str:
    """What the engine is asked: the head of the part that weighs most; of a tool's result the tail, where it fails."""
    if not cue.parts:
        return ""
    part: CuePart = max(cue.parts, key=lambda one: one.weight)
    text = part.text.strip()
    return text[-ASKED:] if _result(cue, part) else text[:ASKED]


def _result(cue: Cue, part: CuePart) -> bool:
    return SegmentKind.RESULT in (part.role, cue.segment_kind)


def _alike(hits: EngineHits, chosen: Sequence[Candidate]) -> Mapping[str, list[str]]:
    """memory id -> the ids of those that say the same."""
    ids: dict[str, list[str]] = defaultdict(list)
    for one in chosen:
        ids[one.record_digest].append(one.memory_id)
    alike: dict[str, list[str]] = defaultdict(list)
    for pair in hits.alike:
        mine, theirs = (ids[hits.digests[place]] for place in pair)
        for my, their in product(mine, theirs):
            if my != their:
                alike[my].append(their)
                alike[their].append(my)
    return alike


def _candidate(found: Candidate, cosine: float, alike: Sequence[str]) -> Candidate:
    return msgspec.structs.replace(
        found,
        id=f"{SourceName.ENGINE}:{found.memory_id}",
        source=SourceName.ENGINE,
        score=cosine,
        confidence=min(1.0, max(0.0, cosine)),
        alike=tuple(dict.fromkeys(alike)),
    )
