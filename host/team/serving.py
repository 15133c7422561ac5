"""`team.status`, `team.recall`, `team.synthesize`, `team.stage`, `team.review`, `team.prepare`, `team.promote`,
`team.assemble`, `team.discard`, `team.init`, `team.run`: the team workflow on the wire
(team.md 2).

A document comes as it was written and is read once, by its type; what an operation answers is a document. Whoever calls
names a folder: the repository, and with it whose memory it is, follows from that.
"""

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property, wraps

import msgspec

from governance.formation.errors import ModelError, StateFault
from governance.review import Principal
from governance.team.contracts.base import Bound, Call, Document
from governance.team.contracts.consolidating import ConsolidationPatch
from governance.team.contracts.promoting import PrepareRequest
from governance.team.contracts.recalling import ExtractionRequest
from governance.team.contracts.results import DiscardRequest, TeamStatus
from governance.team.contracts.staging import AdjudicationResult, DraftBatch, Share, SkillCandidate
from governance.team.decoding import QUERY_BYTES, bounded, decode, format_of
from governance.team.errors import Kind, TeamFault
from governance.team.setting_up import initialised, set_up, tidied
from governance.team.store import bindings, plans
from host.connection import Peer
from host.errors import ProtocolFault
from host.parts import Parts
from host.principals import principal
from host.protocol import Request, decode_params, refusal
from host.team.learning import Learning
from host.team.shapes import (
    NULL,
    AssembleParams,
    DiscardParams,
    DocumentParams,
    InitParams,
    PromoteParams,
    RecallParams,
    SynthesizeParams,
    TeamParams,
    TeamReviewParams,
    TeamRunParams,
    TeamStatusParams,
)
from host.team.trusting import trusting_of
from host.team.wiring import Operations, team_of
from host.verbs import Handler


class TeamServing:
    """The table of these methods."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @cached_property
    def _team(self) -> Operations:
        return team_of(self._parts)

    async def finish(self) -> None:
        """At the start: promotions that a crash left half done are finished or taken back, and hidden files of other
        operations go. What cannot be is told by `team status`, and tried again by the next promotion."""
        now = self._parts.clock.now()
        with suppress(StateFault, TeamFault):
            await self._parts.kept.write(lambda connection: plans.seen(connection, now))
            await self._team.promoting.resume(now)
            await self._team.assembling.tidy()
            for bound in await self._parts.kept.read(bindings.all_bound):
                await asyncio.to_thread(tidied, bound.root, self._team.formats)
        self._parts.formation.nudge()

    def table(self) -> Mapping[str, Handler]:
        own: dict[str, Handler] = {
            "team.status": self._status,
            "team.recall": self._recall,
            "team.synthesize": self._synthesize,
            "team.stage": self._stage,
            "team.review": self._review,
            "team.prepare": self._prepare,
            "team.promote": self._promote,
            "team.assemble": self._assemble,
            "team.discard": self._discard,
            "team.init": self._init,
            "team.run": self._run,
        }
        return {method: answered(handler) for method, handler in own.items()}

    async def learn(self) -> None:
        """Read ahead what past turns say, so that the first recall does not wait for it. Runs as long as the daemon."""
        await Learning(self._team.history, self._parts.kept, self._parts.clock.now).run()

    async def close(self) -> None:
        """Let go of what stays open; of what was never asked for there is nothing."""
        if "_team" in self.__dict__:
            await self._team.close()

    async def _status(self, request: Request, peer: Peer) -> Document:
        params = decode_params(request, TeamStatusParams)
        bound, _ = await self._asked(params, peer)
        return await self._status_of(bound, everywhere=params.all)

    async def _status_of(self, bound: Bound, *, everywhere: bool = False) -> TeamStatus:
        waiting = self._parts.formation.waits(bound.workspace_key)
        now = self._parts.clock.now()
        return await self._team.status.status(bound, now, everywhere=everywhere, checkpoints=waiting)

    async def _recall(self, request: Request, peer: Peer) -> Document:
        params = decode_params(request, RecallParams)
        bound, call = await self._asked(params, peer)
        raw = bounded(bytes(params.request), QUERY_BYTES)
        wanted = decode(raw, ExtractionRequest, self._team.formats, "extraction-request", Kind.REQUEST_INVALID)
        return await self._team.recalling.recall(bound, call, wanted, params.limit)

    async def _synthesize(self, request: Request, peer: Peer) -> Document:
        params = decode_params(request, SynthesizeParams)
        bound, call = await self._asked(params, peer)
        return await self._team.consolidating.synthesize(bound, call, params.mode)

    async def _stage(self, request: Request, peer: Peer) -> Document:
        params = decode_params(request, DocumentParams)
        bound, call = await self._asked(params, peer)
        raw, formats, staging = bytes(params.document), self._team.formats, self._team.staging
        said = format_of(bounded(raw))
        if said == formats.document("candidate-draft-batch"):
            return await staging.draft(bound, call, decode(raw, DraftBatch, formats, "candidate-draft-batch"))
        if said == formats.document("adjudication-result"):
            return await staging.adjudicate(
                bound, call, decode(raw, AdjudicationResult, formats, "adjudication-result")
            )
        if said == formats.document("skill-candidate"):
            return await staging.skill(bound, call, decode(raw, SkillCandidate, formats, "skill-candidate"))
        if said == formats.document("share"):
            return await staging.share(bound, call, decode(raw, Share, formats, "share"))
        if said == formats.document("consolidation-patch"):
            patch = decode(raw, ConsolidationPatch, formats, "consolidation-patch")
            return await self._team.consolidating.patch(bound, call, patch)
        raise TeamFault(
            Kind.SCHEMA_INVALID,
            f"There is no document of the format {said[:80]!r} that can be staged.",
            "A task says in `contract` and `guidance` which format its answer has.",
        )

    async def _review(self, request: Request, peer: Peer) -> Document:
        params = decode_params(request, TeamReviewParams)
        bound, call = await self._asked(params, peer)
        return await self._team.reviewing.review(bound, call, params.kind, params.candidate_ids)

    async def _prepare(self, request: Request, peer: Peer) -> Document:
        params = decode_params(request, DocumentParams)
        bound, call = await self._asked(params, peer)
        raw = bytes(params.document)
        wanted = decode(raw, PrepareRequest, self._team.formats, "prepare-request", Kind.REQUEST_INVALID)
        return await self._team.preparing.prepare(bound, call, wanted)

    async def _promote(self, request: Request, peer: Peer) -> Document:
        params = decode_params(request, PromoteParams)
        bound, call = await self._asked(params, peer)
        done = await self._team.promoting.promote(bound, call, params.plan_id, params.plan_digest)
        await self._written()
        return done

    async def _written(self) -> None:
        """Have it in the user's own files, too, that an entry took the place of a record there: whoever asked looks
        there next. What cannot be written now is tried again."""
        try:
            await self._parts.formation.projected()
        except (sqlite3.Error, StateFault):
            self._parts.formation.nudge()

    async def _assemble(self, request: Request, peer: Peer) -> Document:
        params = decode_params(request, AssembleParams)
        bound, _ = await self._asked(params, peer)
        return await self._team.assembling.assemble(bound, params.provider, params.dry_run)

    async def _discard(self, request: Request, peer: Peer) -> Document:
        params = decode_params(request, DiscardParams)
        bound, call = await self._asked(params, peer)
        wanted = DiscardRequest(
            candidate_id=params.candidate_id,
            revision=params.revision,
            task_id=params.task_id,
            plan_id=params.plan_id,
            keep_files=params.keep_files,
            reason=params.reason,
        )
        return await self._team.discarding.discard(bound, call, wanted)

    async def _init(self, request: Request, peer: Peer) -> Document:
        params = decode_params(request, InitParams)
        bound, call = await self._asked(params, peer)
        if params.trusted is not None:
            await trusting_of(self._parts).set(bound, call, params.trusted)
        created = await set_up(bound, self._team.formats)
        told = await self._status_of(bound)
        return initialised(self._team.formats, created, told.trusted, told.entries)

    async def _run(self, request: Request, peer: Peer) -> Document:
        params = decode_params(request, TeamRunParams)
        bound, call = await self._asked(params, peer)
        wanted, raw = None, bounded(bytes(params.request), QUERY_BYTES)
        if raw != bytes(NULL):
            wanted = decode(raw, ExtractionRequest, self._team.formats, "extraction-request", Kind.REQUEST_INVALID)
        self._team.running.admit()
        formation = self._parts.formation
        driver = await formation.make_driver(params.driver) if params.driver else formation.driver
        if driver is None:
            problem = "No model is configured: the running agent is the model."
            raise TeamFault(Kind.REQUEST_INVALID, problem, "Name a driver, or set one under [formation].")
        return await self._team.running.run(bound, call, wanted, driver)

    async def _asked(self, params: TeamParams, peer: Peer) -> tuple[Bound, Call]:
        """The repository that a call is about, and who calls."""
        actor = await asyncio.to_thread(principal, params.principal, peer.pid)
        said = "user" if actor is Principal.HUMAN else "agent"
        now = self._parts.clock.now()
        await self._parts.kept.write(lambda connection: plans.seen(connection, now))  # a clock set back gains nothing
        call = Call(principal=said, holder=f"{said}:{params.holder}", now=now, agent=params.agent)
        return await self._team.binding.bind(params.workspace), call


def answered(handler: Handler) -> Handler:
    """The handler, with faults of the team workflow as answers that say what to do."""

    @wraps(handler)
    async def said(request: Request, peer: Peer) -> object:
        try:
            return await handler(request, peer)
        except TeamFault as fault:
            raise ProtocolFault(fault.kind, fault.problem, fault.next_step) from fault
        except ModelError as error:
            raise ProtocolFault(f"model-{error.kind}", error.problem, "Nothing was staged: ask again later.") from error
        except StateFault as fault:
            raise refusal(fault.code, fault.problem, fault.next_step or "Everything else runs on.") from fault
        except msgspec.MsgspecError as error:  # a row of ours that is not what we wrote: never as if it were absent
            problem = f"What is stored cannot be read: {error}."
            raise refusal(
                "state-corrupt", problem, "Restore governance.db from a backup; else discard what it is."
            ) from error
        except sqlite3.Error as error:
            problem = f"governance.db cannot be used just now: {error}."
            raise refusal("state-failed", problem, "Check the disk, and try again.") from error

    return said
