"""From a window to memories: what it asks of a model, and what of the answers holds (formation.md 6.4 to 6.7).

One call extracts, at most one more decides. The gate is asked before and after each. When the second cannot be had or
read, everything is stored: the next run converges. A fault of the first is one of the range, unless it is a provider's.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from governance.formation.answer import Kind, Wanted, parse
from governance.formation.batch_answer import Proposed, Read, read
from governance.formation.batch_commit import Batched, Found
from governance.formation.batch_ports import BatchPolicy, BatchPorts
from governance.formation.batch_prompts import DECISIONS, SEGMENTS, SUBMIT, BatchPrompts
from governance.formation.batch_windows import Window
from governance.formation.candidates import Operation
from governance.formation.contracts import (
    Door,
    FailureClass,
    Generation,
    IsolationKey,
    KnownRecord,
    Layer,
    ModelRequest,
    ModelResponse,
    RangeStatus,
    Snapshot,
    Usage,
)
from governance.formation.decide import Decided, Pool, Verdict, decided
from governance.formation.dedupe import Dedupe, Probe, Probes
from governance.formation.errors import AnswerFault, FormationFault, ModelError
from governance.formation.forming import GateChanged
from governance.formation.ladder import counts
from governance.formation.segments import denied_within
from governance.formation.store.memories import Memories
from recall.canonical import digest, short_id

_SEGMENTS = Wanted(kind=Kind.OBJECT, member=SEGMENTS)
_DECISIONS = Wanted(kind=Kind.OBJECT, member=DECISIONS)


class BatchForming:
    """One window's way through the model. `calls`: how many were made so far; `scene`: the last one that was named."""

    def __init__(
        self, ports: BatchPorts, policy: BatchPolicy, snapshot: Snapshot, operation: Operation, window: Window
    ) -> None:
        self._ports = ports
        self._policy = policy
        self._operation = operation
        self._window = window
        self._snapshot = msgspec.structs.replace(
            snapshot, boundary_seq=window.through_seq, workspace_key=window.workspace_key
        )
        self._started = ports.now()
        self._usage: list[Usage | None] = []
        self.calls = 0
        self.scene = ""

    @property
    def key(self) -> IsolationKey:
        """Whose memories these become."""
        return IsolationKey(team=self._window.workspace_key, user=self._ports.user, agent=self._ports.agent)

    async def gate(self) -> None:
        """Whether this window may still be formed. Raises GateChanged."""
        admission = await self._ports.gate.of(self._snapshot)
        denied = denied_within(admission.denied, self._window.from_seq, self._window.through_seq)
        if admission.door is not Door.OPEN or denied:
            raise GateChanged(admission)

    async def formed(self, scene: str) -> Batched:
        """What the window comes to. Raises ModelError for a fault of the provider, StateFault, ParameterFault for a
        user's words that no prompt takes, GateChanged."""
        self.scene = scene
        if self._window.denied:
            return Batched(status=RangeStatus.DENIED)
        if not self._window.new:
            return Batched()
        prompts = BatchPrompts(
            self._ports.prompts,
            host=self._ports.host,
            workspace=self._window.workspace_key,
            mode=self._policy.mode,
            zone=self._ports.zone,
        )
        try:
            answer = parse(await self._ask(prompts.extracting(self._window, scene)), SUBMIT, _SEGMENTS)
        except FormationFault as error:
            fault = counts(error)
            if fault is None:
                raise
            return Batched(calls=self.calls, fault=fault, generation=self._generation(prompts, "failed"))
        # Each memory is held against its messages: much of it takes a while, and hooks are answered meanwhile.
        found = await asyncio.to_thread(read, answer.member(SEGMENTS), self._window, self._ports.zone)
        self.scene = found.scene or scene
        left = [one for one in self._window.new if one.name not in found.covered]
        cut = answer.truncated and bool(left)
        compared, shortfalls = await self._compared(prompts, found.proposed)
        return Batched(
            found=compared,
            rejected=found.rejected,
            logged=(*self._noted(found), *shortfalls),
            calls=self.calls,
            generation=self._generation(prompts, "partial" if cut else "extracted"),
            fault=FailureClass.LENGTH if cut else None,
            done=frozenset(one.record.ref for one in self._window.new if one not in left) if cut else frozenset(),
        )

    # ------------------------------------------------------------------------------------------------------- comparing

    async def _compared(
        self, prompts: BatchPrompts, proposed: Sequence[Proposed]
    ) -> tuple[tuple[Found, ...], tuple[str, ...]]:
        """The memories with what is known of each and what was decided; and what could not be asked."""
        if not (proposed and self._policy.dedupe):
            return tuple(Found(proposed=one) for one in proposed), ()
        dedupe = Dedupe(likeness=self._ports.likeness, memories=Memories(self._ports.database))
        probes = await dedupe.probe([one.content for one in proposed], self.key)
        open_ones = [place for place, one in enumerate(probes.probes) if one.known is None and one.pool]
        verdicts, problem = await self._decided(
            prompts, [proposed[place] for place in open_ones], _pools(probes, open_ones)
        )
        by_place = dict(zip(open_ones, verdicts, strict=True))
        found = tuple(
            Found(proposed=one, probe=probe, decided=by_place.get(place, Decided(verdict=Verdict.STORE)))
            for place, (one, probe) in enumerate(zip(proposed, probes.probes, strict=True))
        )
        return found, (*probes.shortfalls, *problem)

    async def _decided(
        self, prompts: BatchPrompts, proposed: Sequence[Proposed], known: Sequence[tuple[KnownRecord, ...]]
    ) -> tuple[Sequence[Decided], tuple[str, ...]]:
        """One decision for each, and why there was none. No call without candidates."""
        pools = [Pool(content=one.content, known=pool) for one, pool in zip(proposed, known, strict=True)]
        if not pools:
            return (), ()
        try:
            response = await self._ask(prompts.deciding(list(zip(proposed, known, strict=True))))
            answer = parse(response, SUBMIT, _DECISIONS)
        except ModelError as error:
            return decided((), pools), (f"no-decisions {error.kind}",)
        except AnswerFault as error:
            return decided((), pools), (f"no-decisions {error.code}",)
        return decided(answer.member(DECISIONS), pools), ()

    # ---------------------------------------------------------------------------------------------------------- calling

    async def _ask(self, request: ModelRequest) -> ModelResponse:
        await self.gate()
        self.calls += 1
        response = await self._ports.driver.complete(request)
        await self.gate()
        self._usage.append(response.usage)
        return response

    def _generation(self, prompts: BatchPrompts, status: str) -> Generation:
        key = self.key
        return Generation(
            generation_id=short_id("gen_", [self._operation.operation_id, self._started]),
            layer=Layer.L1,
            status=status,
            isolation=digest([key.team, key.user, key.agent]),
            prompt=prompts.extract.use,
            input_refs=tuple(dict.fromkeys(one.record.message_id for one in self._window.new)),
            output_refs=(),
            model_id=self._ports.driver.id,
            mode=self._policy.mode,
            calls=self.calls,
            usage=_sum(self._usage, self.calls),
            started_at=self._started,
            finished_at=self._ports.now(),
        )

    def _noted(self, found: Read) -> list[str]:
        left_out = [f"left-out {noise} {count}" for noise, count in sorted(self._window.left_out.items())]
        rejected = [f"rejected {code} {count}" for code, count in found.rejected.items()]
        return [*left_out, *rejected, *found.logged]


def _pools(probes: Probes, places: Sequence[int]) -> list[tuple[KnownRecord, ...]]:
    every: Sequence[Probe] = probes.probes
    return [every[place].pool for place in places]


def _sum(reported: Sequence[Usage | None], calls: int) -> Usage | None:
    """All calls together; None when one of them reported nothing: what nobody counted is not zero."""
    known = [one for one in reported if one is not None]
    if len(known) < calls or not known:
        return None
    return Usage(
        input_tokens=sum(one.input_tokens for one in known), output_tokens=sum(one.output_tokens for one in known)
    )
