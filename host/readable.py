"""Which memories an agent that asks for them may read: the ladder of a pass, but for the ceiling on what comes unasked.

A person sees everything that is theirs, whatever its status. An agent that asks sees what could also be handed to it:
nothing that was put away, muted, corrected or quarantined, no procedure that waits for approval, no secret, and no
text that reads like an order.
"""

import asyncio
from collections.abc import Sequence

from governance.contracts import Audience, Proposal, Rules
from governance.safety import judge
from governance.screen import read_ahead
from host.parts import Parts
from recall.contracts import ActivationLevel, Candidate, Ranked, RuntimeScope, Scored

UNASKED = frozenset({"trust-level"})  # rules on what may come without having been asked for
GONE = "not-found"
LONG_SCREENED = 32_768  # characters that are screened without leaving the loop


async def withheld(parts: Parts, memory_ids: Sequence[str], scope: RuntimeScope) -> dict[str, str]:
    """Of these memories, those that an agent may not read, each with the rule that objects. Raises IndexFault."""
    now, marks = parts.clock.now(), parts.marks
    found = await parts.library.snapshot(now).by_id(memory_ids, scope)
    digests = {one.memory_id: one.record_digest for one in found}
    version = marks.effective(parts.library.version)
    audience = Audience(
        scope=scope,
        index_version=version,
        digests=digests,
        muted=marks.muted(now),
        muted_kinds=marks.workspaces.kinds(scope.workspace, now),
        corrected=marks.corrected,
        quarantined=marks.quarantined,
        approved=frozenset(one for one, digest in digests.items() if marks.approved.get(one) == digest),
        stages=parts.lives.stages,
    )
    asked = tuple((name, rule) for name, rule in parts.host.rules.candidate if name not in UNASKED)
    ranked = Ranked(ranked=tuple(Scored(candidate=one, score=0.0) for one in found))
    await _screened(found)
    verdict = judge(ranked, _proposal(found, version), audience, Rules(candidate=asked, packet=()), now)
    objections = {one.candidate_id: one.reason for one in verdict.removed}
    return objections | {one: GONE for one in memory_ids if one not in digests}


def _proposal(items: Sequence[Candidate], version: str) -> Proposal:
    return Proposal(
        session_id="",
        agent_id="",
        context_version=0,
        index_version=version,
        level=ActivationLevel.EXCERPT,
        items=tuple(items),
    )


async def _screened(found: Sequence[Candidate]) -> None:
    """Long texts are read on a thread before the rules ask: meanwhile others have their turn."""
    texts = [f"{one.title}\n{one.payload}" if one.title else one.payload for one in found]
    if sum(map(len, texts)) > LONG_SCREENED:
        await asyncio.to_thread(read_ahead, texts)
