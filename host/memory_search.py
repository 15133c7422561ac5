"""`memory.search`: what a person asks for by words. All sources are asked and fused as in a pass, and nothing that is
valid is hidden: not what was shown, not what says nearly the same, not what was muted.
"""

from collections.abc import Mapping, Sequence

from governance.review import Principal
from host import readable
from host.connection import Peer
from host.parts import Parts
from host.protocol import Request, decode_params
from host.search_aside import Aside, aside
from host.verbs import Table, incomplete, reach
from recall import survey
from recall.analyzer import distinct
from recall.associate import associate
from recall.contracts import ArmReport, Cue, CuePart, Flag, Found, Frozen, Origin, RuntimeScope, ScopeRef, SourceName
from recall.errors import IndexFault
from recall.fusion import Fused, fuse
from recall.lookup import View
from recall.rank import DropReason
from recall.survey import LeftOut

MAX_HITS = 500
ASKED = 50  # candidates of each source at least: scores are measured against the others
NEAR = 0.2  # similarity below which a record that shares no word with the query is no answer to a person
ASKED_TERMS = 256  # of a query; a longer one is a text that was pasted


class SearchParams(Frozen, frozen=True, kw_only=True):
    """`principal`: who asks; an agent finds what may be shown to it. `all`: for a person, what is handed to nobody too,
    and what waits for review."""

    query: str
    workspace: str = ""
    limit: int = 10
    explain: bool = False
    all: bool = False
    principal: Principal = Principal.HUMAN


class Hit(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    """One record found. `score` is the fused one, 0 to 1; `origin`: who said it. The last three only when `explain` was
    asked: the query's terms that it holds, and what each source said."""

    memory_id: str
    score: float
    scope: ScopeRef
    kind: str
    status: str
    state: str
    title: str | None
    text: str
    source: str
    flags: tuple[Flag, ...] = ()
    muted: bool = False
    pinned: bool = False
    origin: Origin | None = None
    terms: tuple[str, ...] = ()
    scores: Mapping[str, float] = {}
    confidences: Mapping[str, float] = {}


class Asked(Frozen, frozen=True, kw_only=True):
    """A term of the query, and how many records hold it."""

    term: str
    records: int


class Fusion(Frozen, frozen=True, kw_only=True):
    """What the lexical source's score counted; the others share the rest."""

    lexical: float


class Explanation(Frozen, frozen=True, kw_only=True):
    """How the answer came about. `total`: records that could have been found; `filtered`: some that fit and are out."""

    terms: tuple[Asked, ...]
    total: int
    filtered: tuple[LeftOut, ...]
    fusion: Fusion


class Hits(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    """`degraded`: a source did not answer as it should, so there may be more, and no hits does not mean no memories.
    `aside`: what fits and is handed to nobody."""

    hits: tuple[Hit, ...]
    degraded: bool
    arms: tuple[ArmReport, ...]
    explain: Explanation | None = None
    aside: tuple[Aside, ...] = ()


class Search:
    """A person's question to every source."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def table(self) -> Table:
        return {"memory.search": self._search}

    async def _search(self, request: Request, peer: Peer) -> Hits:
        params = decode_params(request, SearchParams)
        scope = await reach(self._parts, params.workspace)
        limit = max(1, min(params.limit, MAX_HITS))
        terms = distinct(params.query)[:ASKED_TERMS]
        if not terms:  # no word in it: every record is as near as any other
            return Hits(hits=(), degraded=incomplete(self._parts, scope), arms=())
        found = await self._found(params.query, terms, scope, limit)
        fused, conflicts = fuse(found.candidates, self._parts.host.policy.rank.fusion)
        withheld = self._parts.marks.withheld(one.candidate.memory_id for one in fused)
        fused = [one for one in fused if _is_near(one) and one.candidate.memory_id not in withheld]
        if params.principal is not Principal.HUMAN:
            against = await readable.withheld(self._parts, [one.candidate.memory_id for one in fused], scope)
            fused = [one for one in fused if one.candidate.memory_id not in against]
        fused.sort(key=lambda one: (-one.relevance, one.candidate.memory_id))
        asked = frozenset(found.statistics.counts) if params.explain else None
        every = params.all and params.principal is Principal.HUMAN
        return Hits(
            hits=tuple(self._hit(one, asked) for one in fused[:limit]),
            degraded=found.degraded or any(arm.shortfall for arm in found.arms),
            arms=found.arms,
            aside=await aside(self._parts, terms, scope, limit) if every else (),
            explain=await self._explained(terms, scope, found, (*conflicts, *sorted(withheld)))
            if params.explain
            else None,
        )

    async def _found(self, query: str, terms: tuple[str, ...], scope: RuntimeScope, limit: int) -> Found:
        typed = CuePart(role="query", text=query, weight=1.0)
        cue = Cue(
            scope=scope, parts=(typed,), terms=terms, focus=terms, retrieval_key="search", limit=max(limit, ASKED)
        )
        host = self._parts.host
        index = host.library.snapshot(self._parts.clock.now())
        return await associate(cue, index, host.arms, host.policy.association, host.clock.micros)

    def _hit(self, one: Fused, asked: frozenset[str] | None) -> Hit:
        candidate = one.candidate
        mute = self._parts.marks.mute_of(candidate.memory_id, self._parts.clock.now())
        muted = Flag.MUTED in candidate.flags or mute is not None
        return Hit(
            memory_id=candidate.memory_id,
            score=one.relevance,
            scope=candidate.scope,
            kind=candidate.kind,
            status=candidate.status,
            state=candidate.state,
            title=candidate.title,
            text=candidate.payload,
            source=candidate.source,
            flags=tuple(dict.fromkeys((*candidate.flags, *((Flag.MUTED,) if muted else ())))),
            muted=muted,
            pinned=candidate.pinned,
            origin=candidate.origin,
            terms=() if asked is None else tuple(term for term in candidate.terms if term in asked),
            scores={} if asked is None else one.scores,
            confidences={} if asked is None else one.confidences,
        )

    async def _explained(
        self, terms: tuple[str, ...], scope: RuntimeScope, found: Found, others: Sequence[str]
    ) -> Explanation:
        counts = found.statistics.counts
        view = View(scope=scope, now=self._parts.clock.now())
        try:
            left = await self._parts.library.survey(lambda connection: survey.left_out(connection, terms, view))
        except IndexFault:  # the answer is marked as degraded already
            left = ()
        named = {one.memory_id for one in left}
        more = (LeftOut(memory_id=one, reason=self._against(one)) for one in others if one not in named)
        return Explanation(
            terms=tuple(Asked(term=term, records=counts.get(term, 0)) for term in terms),
            total=found.statistics.total,
            filtered=(*left, *more),
            fusion=Fusion(lexical=self._parts.host.policy.rank.fusion.lexical),
        )

    def _against(self, memory_id: str) -> DropReason:
        """Why a record that fits is left out, where the index does not say it."""
        marks = self._parts.marks
        if memory_id in marks.corrected:
            return DropReason.CORRECTED
        return DropReason.QUARANTINED if memory_id in marks.quarantined else DropReason.INDEX_CONFLICT


def _is_near(one: Fused) -> bool:
    """Something is always nearest; whether it is near, the words say, or the similarity as such."""
    return SourceName.LEXICAL in one.confidences or max(one.confidences.values()) >= NEAR
