"""From evidence to facts: what one segment asks of a model, and what of the answers holds (formation.md 5.2, 7 to 11).

At most three calls: a proposal, a second one once the session was searched, and the wording of each fact from its
quotes alone. The gate is asked before and after every call. What a model says is judged, never believed. What cannot be
used is a fault of the range; a fault of the provider is not, and comes out as the ModelError that it is. Judging takes
place on a thread.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from governance.formation.admit import Admitted, Claim, Shown, admit
from governance.formation.admit import Terms as Judging
from governance.formation.candidates import Candidate, Formed, Operation
from governance.formation.checkpoint_answers import MOST_CITED, Proposal, Result, proposal, results
from governance.formation.checkpoint_ports import CheckpointPolicy, CheckpointPorts
from governance.formation.checkpoint_prompts import Asked, Found, Prompts
from governance.formation.claims import near
from governance.formation.contracts import (
    Admission,
    Door,
    EvidenceRecord,
    FailureClass,
    Gap,
    Generation,
    IsolationKey,
    KnownRecord,
    Layer,
    ModelRequest,
    ModelResponse,
    Quote,
    RangeStatus,
    Rejected,
    Role,
    Snapshot,
    Usage,
)
from governance.formation.correcting import apart
from governance.formation.errors import AnswerFault, FormationFault, ModelError, ModelErrorKind, StateFault
from governance.formation.identity import otherwise, said_by
from governance.formation.ladder import RangeFault, counts
from governance.formation.localising import search
from governance.formation.markers import Sentence, marked
from governance.formation.projecting import USER, Evidence
from governance.formation.segments import denied_within
from governance.formation.sourcing import added, citation_of, source_of
from governance.formation.store import gaps
from governance.formation.store.recent import recent
from governance.review import ItemFlag, ItemKind, QueueItem
from recall.canonical import digest, short_id
from recall.contracts import Frozen

MOST_CALLS = 3
MOST_KNOWN = 5  # records that a fact is compared with
NOT_ACCEPTED, OVER_LIMIT, SCHEMA = "not-accepted", "over-limit", "schema"


class GateChanged(Exception):
    """What was open when the range was begun is not open any more, or not all of it."""

    def __init__(self, admission: Admission) -> None:
        super().__init__(admission.reason)
        self.admission = admission


class Draft(Frozen, frozen=True, kw_only=True):
    """A proposal that was admitted: its quotes hold. `content`: as it was proposed, until it is worded anew."""

    id: str
    content: str
    citations: tuple[Quote, ...]
    flags: tuple[str, ...]
    named: str | None


class Forming:
    """One segment's way through the model. `calls`: how many were made so far."""

    def __init__(
        self, ports: CheckpointPorts, policy: CheckpointPolicy, snapshot: Snapshot, operation: Operation
    ) -> None:
        self._ports = ports
        self._policy = policy
        self._operation = operation
        self._snapshot = msgspec.structs.replace(
            snapshot, boundary_seq=operation.through_seq, workspace_key=operation.workspace_key
        )
        self._started = ports.now()
        self._usage: list[Usage | None] = []
        self._rejected: Counter[str] = Counter()
        self._records: dict[str, EvidenceRecord] = {}
        self._sources: dict[str, Shown] = {}
        self._marked: dict[str, Sequence[Sentence]] = {}
        self.calls = 0

    async def gate(self) -> None:
        """Whether this range may still be formed. Raises GateChanged."""
        admission = await self._ports.gate.of(self._snapshot)
        operation = self._operation
        denied = denied_within(admission.denied, operation.from_seq, operation.through_seq)
        if admission.door is not Door.OPEN or denied:
            raise GateChanged(admission)

    async def formed(self) -> Formed:
        """What the segment comes to. Raises ModelError for a fault of the provider, StateFault, GateChanged."""
        done = frozenset() if self._operation.failed is None else frozenset(self._operation.failed.done_refs)
        evidence = [one for one in self._operation.evidence if one.record.ref not in done]
        if not evidence:
            return Formed(status=RangeStatus.SKIPPED)
        try:
            return await self._formed(evidence)
        except FormationFault as error:
            fault = counts(error)
            if fault is None:
                raise
            return Formed(fault=fault, calls=self.calls, rejected=dict(self._rejected))

    async def _formed(self, evidence: Sequence[Evidence]) -> Formed:
        prompts = Prompts(
            self._ports.prompts,
            host=self._ports.host,
            workspace=self._operation.workspace_key,
            zone=self._ports.zone,
            timeout_ms=round(self._policy.timeout_seconds * 1000),
        )
        opened = await self._opened()
        proposed = await self._proposed(prompts, evidence, opened)
        candidates: list[Candidate] = []
        fresh: list[Draft] = []
        for draft in await asyncio.to_thread(self._admitted, proposed):
            settled = await self._settled(draft)
            if settled is None:
                fresh.append(draft)
            else:
                candidates.append(settled)
        worded, unsettled = await self._worded(prompts, fresh)
        lately = await self._lately()
        candidates += await asyncio.to_thread(apart, [await self._compared(draft, lately) for draft in _merged(worded)])
        left = {cited.message_id for draft in unsettled for cited in draft.citations}
        cut = proposed.truncated or bool(unsettled)
        refs = frozenset(one.record.ref for one in evidence)
        return Formed(
            candidates=tuple(candidates),
            rejected=dict(self._rejected),
            shown_gaps=frozenset(gap.gap_id for gap in opened),
            calls=self.calls,
            generation=self._generation(prompts),
            fault=FailureClass.LENGTH if cut else None,
            done=(proposed.cited & refs) - left if proposed.truncated else refs - left if cut else frozenset(),
        )

    async def _opened(self) -> tuple[Gap, ...]:
        if not self._policy.gap_max_age_days:
            return ()
        workspace = self._operation.workspace_key
        return await self._ports.database.read(lambda connection: gaps.opened(connection, workspace))

    # ---------------------------------------------------------------------------------------------------- the proposal

    async def _proposed(self, prompts: Prompts, evidence: Sequence[Evidence], opened: Sequence[Gap]) -> Proposal:
        refs = {one.record.ref for one in evidence}
        self._records = {one.record.ref: one.record for one in evidence}
        self._sources = {one.record.ref: one.shown for one in evidence}
        first = proposal(await self._ask(prompts.proposing(evidence, opened, None)), refs)
        if not first.incidents:
            return first
        found = await asyncio.to_thread(search, await self._searchable(), first.incidents, refs)
        for record in found:
            if record.role == USER:
                self._records[record.ref] = record
                self._sources[record.ref] = Shown(
                    content=record.text, role=Role.USER, timestamp=record.at, new=False, truncated=record.truncated
                )
        second = proposal(await self._ask(prompts.proposing(evidence, opened, Found(records=found))), refs)
        if second.incidents:
            raise RangeFault(FailureClass.LOCALIZATION, "A second search was asked for.")
        return second

    async def _searchable(self) -> list[EvidenceRecord]:
        """The session's texts up to the boundary, from this side of what the user denied, in this workspace."""
        operation = self._operation
        found = await self._ports.material.read(operation.session_id, operation.floor - 1, operation.through_seq)
        return [
            one
            for one in found
            if one.workspace_key == operation.workspace_key
            and operation.floor <= one.event_seq <= operation.through_seq
        ]

    def _admitted(self, proposed: Proposal) -> list[Draft]:
        self._reject(SCHEMA, proposed.schema)
        self._reject(OVER_LIMIT, proposed.over)
        drafts: list[Draft] = []
        for place, item in enumerate(proposed.items):
            cited = tuple(Quote(message_id=one.source_ref, quote=one.quote) for one in item.evidence)
            judged = self._judged(Claim(content=item.content, citations=cited, index=place))
            if judged is not None:
                drafts.append(
                    Draft(
                        id=f"i{place + 1}",
                        content=judged.content,
                        citations=judged.citations,
                        flags=tuple(str(flag) for flag in judged.flags),
                        named=item.gap_id,
                    )
                )
        return _merged(drafts)

    def _judged(self, claim: Claim) -> Admitted | None:
        judged = admit(claim, self._sources, Judging(zone=self._ports.zone))
        if isinstance(judged, Rejected):
            self._reject(str(judged.code))
            return None
        return judged

    # ------------------------------------------------------------------------------------------------------ the wording

    async def _worded(self, prompts: Prompts, drafts: Sequence[Draft]) -> tuple[list[Draft], list[Draft]]:
        """The drafts in words that were made of their quotes alone, as far as they hold; and those that no answer
        settled. Asked again while calls remain."""
        left = {draft.id: draft for draft in drafts}
        worded: list[Draft] = []
        while left and self.calls < MOST_CALLS:
            request = prompts.canonicalising([self._asked(draft) for draft in left.values()])
            try:
                answer = results(await self._ask(request), left)
            except (AnswerFault, RangeFault):
                if self.calls >= MOST_CALLS and len(left) == len(drafts):
                    raise
                continue
            settled = [(left.pop(id_), result) for id_, result in answer.by_id.items()]
            worded += await asyncio.to_thread(self._again, settled)
        return worded, list(left.values())

    def _asked(self, draft: Draft) -> Asked:
        return Asked(
            id=draft.id, quotes=tuple((one.quote, self._records[one.message_id].at) for one in draft.citations)
        )

    def _again(self, settled: Sequence[tuple[Draft, Result]]) -> list[Draft]:
        """The drafts in their new words, judged once more on the same quotes."""
        held: list[Draft] = []
        for draft, result in settled:
            if result.verdict != "accept" or not result.sentence.strip():
                self._reject(NOT_ACCEPTED)
                continue
            judged = self._judged(Claim(content=result.sentence, citations=draft.citations))
            if judged is not None:
                flags = tuple(dict.fromkeys((*draft.flags, *(str(flag) for flag in judged.flags))))
                held.append(
                    msgspec.structs.replace(draft, content=judged.content, citations=judged.citations, flags=flags)
                )
        return held

    # ------------------------------------------------------------------------------------------------------- comparing

    async def _settled(self, draft: Draft) -> Candidate | None:
        """A draft that needs no wording, for it is known, or a person said no to it. None: any other."""
        one = self._candidate(draft)
        same = said_by(draft.content, await self._known(draft.content))
        if same is not None:
            return msgspec.structs.replace(one, said_by=same.memory_id)
        item = QueueItem(
            item_id="",
            kind=ItemKind.MEMORY,
            pipeline=str(self._operation.pipeline),
            workspace_key=self._operation.workspace_key,
            created_at=self._ports.now(),
            text=one.content,
            citations=one.citations,
        )
        refused = await self._ports.database.read(lambda connection: self._ports.queue.said_no(connection, item))
        return msgspec.structs.replace(one, refused=True) if refused else None

    async def _lately(self) -> Sequence[KnownRecord]:
        """What was committed so lately that no index may have it."""
        if not self._policy.dedupe:
            return ()
        key = IsolationKey(team=self._operation.workspace_key, user=self._ports.user, agent=self._ports.agent)
        found = await self._ports.database.read(lambda connection: recent(connection, key))
        return [KnownRecord(memory_id=one.memory_id, text=one.text, guarded=False) for one in found if one.live]

    async def _compared(self, draft: Draft, lately: Sequence[KnownRecord]) -> Candidate:
        """The candidate of a draft in its final words, with what of the known it repeats or contradicts."""
        known = [*await self._known(draft.content), *lately]
        same = said_by(draft.content, known)
        contrary = None
        if same is None:
            contrary = await asyncio.to_thread(otherwise, draft.content, known)
        return msgspec.structs.replace(
            self._candidate(draft),
            explicit=any(self._asked_for(one) for one in draft.citations),
            said_by=None if same is None else same.memory_id,
            contrary=None if contrary is None else contrary.memory_id,
        )

    async def _known(self, content: str) -> Sequence[KnownRecord]:
        """Live records that may say the same. When the index cannot be asked there are none: a double is cheaper than a
        loss, and the exact words are looked for in the commit all the same."""
        if not self._policy.dedupe:
            return ()
        try:
            return await self._ports.known.like(self._operation.workspace_key, content, MOST_KNOWN)
        except StateFault:
            return ()

    def _asked_for(self, quote: Quote) -> bool:
        """Whether a quote lies in a sentence of this range in which the user asks that something be remembered."""
        ref = quote.message_id
        if ref not in self._marked:
            own = any(one.record.ref == ref for one in self._operation.evidence)
            self._marked[ref] = marked(self._records[ref].text) if own else ()
        return any(one.start < quote.end and quote.start < one.end for one in self._marked[ref])

    def _candidate(self, draft: Draft) -> Candidate:
        cited = [(self._records[one.message_id], one) for one in draft.citations]
        return Candidate(
            content=draft.content,
            sources=tuple(source_of(record, quote) for record, quote in cited),
            citations=tuple(citation_of(record, quote) for record, quote in cited),
            flags=tuple(ItemFlag(flag) for flag in draft.flags),
            named=draft.named,
        )

    # ---------------------------------------------------------------------------------------------------------- calling

    async def _ask(self, request: ModelRequest) -> ModelResponse:
        await self.gate()
        driver = self._ports.driver
        if driver is None:
            raise ModelError(ModelErrorKind.CONFIGURATION, "There is no model to ask.")
        self.calls += 1
        response = await driver.complete(request)
        await self.gate()
        self._usage.append(response.usage)
        return response

    def _generation(self, prompts: Prompts) -> Generation:
        operation, key = self._operation, (self._operation.workspace_key, self._ports.user, self._ports.agent)
        return Generation(
            generation_id=short_id("gen_", [operation.operation_id, self._started, self.calls]),
            layer=Layer.L1,
            status="extracted",
            isolation=digest(list(key)),
            prompt=prompts.canonicalise.use,
            input_refs=tuple(dict.fromkeys(one.record.message_id for one in operation.evidence)),
            output_refs=(),
            model_id="" if self._ports.driver is None else self._ports.driver.id,
            calls=self.calls,
            usage=added(self._usage),
            started_at=self._started,
            finished_at=self._ports.now(),
        )

    def _reject(self, code: str, count: int = 1) -> None:
        if count:
            self._rejected[code] += count


def _merged(drafts: Iterable[Draft]) -> list[Draft]:
    """The drafts without doubles: what says the same is one, with all its quotes."""
    kept: list[Draft] = []
    for draft in drafts:
        place = next((place for place, one in enumerate(kept) if near(one.content, draft.content)), None)
        if place is None:
            kept.append(draft)
            continue
        one = kept[place]
        kept[place] = msgspec.structs.replace(
            one,
            citations=tuple(dict.fromkeys((*one.citations, *draft.citations)))[:MOST_CITED],
            flags=tuple(dict.fromkeys((*one.flags, *draft.flags))),
            named=one.named or draft.named,
        )
    return kept
