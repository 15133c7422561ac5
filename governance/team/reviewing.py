"""`review` (team.md 7): every staged item whole, with what it rests on, and the exact files that a yes would write.

Read only. An item that drifted or cannot be written is reported by itself; the others can still be approved.
"""

import asyncio
import difflib
import sqlite3
from collections.abc import Collection, Iterator, Mapping

from governance.team import payloads
from governance.team.approving import Approvals, Judged, approval
from governance.team.assessing import shown
from governance.team.contracts.base import Bound, Call
from governance.team.contracts.consolidating import PatchOperation
from governance.team.contracts.promoting import (
    ApprovalPreview,
    BrokenItem,
    CandidateKind,
    Change,
    Confirmation,
    PrepareRequest,
    Reference,
    Review,
    ReviewFlag,
    ReviewItem,
    ReviewStatement,
)
from governance.team.contracts.rows import Assessment, Candidate, CandidateState, FileChange
from governance.team.errors import Kind, TeamFault
from governance.team.formats import Formats
from governance.team.previewing import Preview, Previewing, broken_item, statements
from governance.team.referring import References, Referring
from governance.team.revealing import revealed
from governance.team.store import candidates, plans
from governance.team.store.candidates import Wanted
from recall.contracts import Database, Frozen

MOST_APPROVED = 50
MOST_LISTED = 200
MOST_REPLACED = 4_096  # characters of a record of the user's that would be replaced
REPLACES = "replaces-own"  # a flag
_CONTEXT = 3  # lines of a diff around what changes


class _Asked(Frozen, frozen=True, kw_only=True):
    """`others`: asked for by name, and not to be reviewed so; `held`: those that are in an approved plan, with its
    id."""

    found: tuple[Candidate, ...]
    others: tuple[Candidate, ...]
    more: int
    held: dict[str, str]


class Reviewing:
    """`approvals`: what was shown lately, so that prepare can say what differs."""

    def __init__(
        self, database: Database, previewing: Previewing, referring: Referring, approvals: Approvals, formats: Formats
    ) -> None:
        self._database = database
        self._previewing = previewing
        self._referring = referring
        self._approvals = approvals
        self._formats = formats

    async def review(
        self, bound: Bound, call: Call, kind: CandidateKind, candidate_ids: Collection[str] | None = None
    ) -> Review:
        """What is staged, or these of it, and the approval of those that can be written: at most 50, of 200 listed.

        A candidate that is asked for by name and is of another kind, or no longer staged, is reported as broken. Raises
        TeamFault `candidate-not-found`; `capacity-exceeded` for too many names; `sync-partial`, `target-path-invalid`,
        `state-corrupt`.
        """
        asked = await self._asked(bound, kind, candidate_ids)
        tree = await self._previewing.tree(bound)
        free = [one for one in asked.found if one.candidate_id not in asked.held]
        held = [one for one in asked.found if one.candidate_id in asked.held]
        considered = free or held  # a plan that is approved already can be looked at once more
        preview = await self._previewing.of(bound, considered, tree, MOST_APPROVED)
        told = (*preview.judged, *preview.rest, *preview.blocked)
        evidence = await self._referring.of(bound, [one.candidate for one in told])
        own = {one.candidate.candidate_id: await self._referring.replaced(bound, one.candidate) for one in told}
        names = [one.candidate.candidate_id for one in told]
        items = await asyncio.to_thread(
            lambda: [_item(one, evidence[name], own[name]) for one, name in zip(told, names, strict=True)]
        )
        drifted = await self._previewing.drifted(bound, asked.others)
        return Review(
            format=self._formats.document("review"),
            kind=kind,
            items=tuple(items),
            broken=(
                *preview.broken,
                *(_held(one, asked.held) for one in held if free),
                *(_other(one, kind, drifted) for one in asked.others),
            ),
            approval=await asyncio.to_thread(self._approval, bound, call, kind, preview),
            more=asked.more,
            note=_note(preview, asked.more),
        )

    async def _asked(self, bound: Bound, kind: CandidateKind, ids: Collection[str] | None) -> _Asked:
        wanted = Wanted(states=(CandidateState.STAGED,), kinds=(kind,), limit=MOST_LISTED)
        if ids is not None and len(set(ids)) > MOST_LISTED:
            problem = f"{len(set(ids))} candidates are asked for; {MOST_LISTED} can be listed."
            raise TeamFault(Kind.CAPACITY_EXCEEDED, problem, "Ask for fewer.")

        def work(connection: sqlite3.Connection) -> _Asked:
            if ids:
                named = tuple(candidates.owned(connection, bound.owner, one) for one in dict.fromkeys(ids))
                found = tuple(one for one in named if _fits(one, kind))
                more = 0
            else:
                named = found = candidates.listed(connection, bound.owner, wanted)
                more = candidates.count(connection, bound.owner, wanted) - len(found)
            held = plans.held(connection, [one.candidate_id for one in found])
            return _Asked(found=found, others=tuple(one for one in named if one not in found), more=more, held=held)

        return await self._database.read(work)

    def _approval(self, bound: Bound, call: Call, kind: CandidateKind, preview: Preview) -> ApprovalPreview | None:
        if not preview.items:
            return None
        made = approval(self._formats, kind, bound.owner, preview.judged, preview.files)
        digest = self._approvals.keep(made)
        request = PrepareRequest(
            format=self._formats.document("prepare-request"),
            kind=kind,
            candidates=made.candidates,
            confirmation=Confirmation(by="user", via="terminal" if call.principal == "user" else "chat"),
            approval_digest=digest,
        )
        return ApprovalPreview(digest=digest, prepare_request=request, changes=tuple(map(change, preview.files)))


def _item(one: Judged, evidence: References, own: Mapping[str, str]) -> ReviewItem:
    candidate = one.candidate
    seen = revealed(_content(candidate))
    screened = [ReviewFlag(code=flag, detail="Found by the screen.") for flag in candidate.flags]
    overall = shown(one.assessments)
    return ReviewItem(
        candidate_id=candidate.candidate_id,
        kind=candidate.kind,
        revision=candidate.revision,
        payload=candidate.payload,
        content=seen.content,
        statements=_statements(one, evidence),
        strength=overall.strength,
        support=overall.support,
        limitations=overall.limitations,
        flags=(*seen.flags, *_beside(candidate), *screened, *_replaced(own)),
        supersedes=tuple(target.id for target in candidate.supersedes),
        type=payloads.entry(candidate).type if candidate.kind == "entry" else None,
    )


def change(file: FileChange) -> Change:
    """A file as a person is shown it: whole, and what is different."""
    return Change(
        target_path=file.target_path,
        operation=file.operation,
        content=None if file.data is None else file.data.decode(),
        diff=_diff(file),
    )


def _diff(file: FileChange) -> str:
    old = "/dev/null" if file.before is None else f"a/{file.target_path}"
    new = "/dev/null" if file.data is None else f"b/{file.target_path}"
    lines = difflib.unified_diff(_lines(file.before), _lines(file.data), old, new, n=_CONTEXT, lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _lines(data: bytes | None) -> list[str]:
    if not data:
        return []
    text = data.decode("utf-8", "replace")
    return text.removesuffix("\n").split("\n")


def _content(candidate: Candidate) -> str:
    """What a person reads of it."""
    match candidate.kind:
        case "entry":
            return payloads.entry(candidate).content
        case "skill":
            skill = payloads.skill(candidate).skill
            return f"{skill.action} {skill.name}: {skill.description}\n\n{skill.body}"
        case "consolidation":
            return "\n\n".join(_operation(one) for one in payloads.consolidation(candidate).operations)


def _beside(candidate: Candidate) -> tuple[ReviewFlag, ...]:
    """What is hidden in the name of its scene."""
    scene = payloads.entry(candidate).scene if candidate.kind == "entry" else None
    flags = revealed(scene or "").flags
    return tuple(ReviewFlag(code=flag.code, detail=f"In the name of the scene: {flag.detail}") for flag in flags)


def _replaced(own: Mapping[str, str]) -> Iterator[ReviewFlag]:
    """The user's own records that would hold no more: no file shows what they say."""
    for name, text in own.items():
        said = revealed(text[:MOST_REPLACED]).content
        more = "" if len(text) <= MOST_REPLACED else f" and {len(text) - MOST_REPLACED} more characters"
        yield ReviewFlag(code=REPLACES, detail=f"{name}, which only you have, would hold no more: “{said}”{more}")


def _operation(one: PatchOperation) -> str:
    merged = f" of {', '.join(one.merge_sources)}" if one.merge_sources else ""
    head = f"{one.op} {one.target} {one.name}{merged}: {one.summary or one.rationale}"
    return head if one.new_content is None else f"{head}\n\n{one.new_content}"


def _statements(one: Judged, evidence: References) -> tuple[ReviewStatement, ...]:
    said = {statement.statement_id: statement.text for statement in statements(one.candidate)}
    return tuple(
        ReviewStatement(
            statement_id=each.statement_id,
            text=revealed(said[each.statement_id]).content,
            statement_text_digest=each.text_digest,
            citations_digest=each.citations_digest,
            strength=each.strength,
            support=each.support,
            limitations=each.limitations,
            evidence=_evidence(each, evidence.get(each.statement_id, ())),
        )
        for each in one.assessments
    )


def _evidence(one: Assessment, found: tuple[Reference, ...]) -> tuple[Reference, ...]:
    """What is found of it, and by their names the records and entries that speak for themselves."""
    known = {reference.evidence_id for reference in found}
    named = (cited.evidence_id for cited in one.citations if cited.evidence_id not in known)
    return (*found, *(Reference(evidence_id=name, kind="record", display=name) for name in named))


def _fits(candidate: Candidate, kind: CandidateKind) -> bool:
    return candidate.kind == kind and candidate.state is CandidateState.STAGED


def _other(candidate: Candidate, kind: CandidateKind, drifted: Mapping[str, str]) -> BrokenItem:
    """A candidate that was asked for by name, and cannot be in this review."""
    name = candidate.candidate_id
    if candidate.state is not CandidateState.STAGED:
        fault = TeamFault(
            Kind.CANDIDATE_STALE, f"{name} is {candidate.state}, not staged.", "A review without ids lists what is."
        )
    elif reason := drifted.get(name):
        problem = f"What {name} cites is no longer as it was: {reason}"
        fault = TeamFault(Kind.BINDING_DRIFT, problem, "Discard it, recall again and stage anew.")
    else:
        fault = TeamFault(
            Kind.CANDIDATE_KIND_MISMATCH,
            f"{name} is of kind {candidate.kind}, not {kind}.",
            f"Review it with kind {candidate.kind}.",
        )
    return broken_item(name, fault)


def _held(candidate: Candidate, held: Mapping[str, str]) -> BrokenItem:
    plan_id = held[candidate.candidate_id]
    fault = TeamFault(
        Kind.PLAN_STATE_INVALID,
        f"{candidate.candidate_id} is in the plan {plan_id}, which is approved.",
        "Promote that plan, or discard it.",
    )
    return broken_item(candidate.candidate_id, fault)


def _note(preview: Preview, more: int) -> str:
    if not (preview.items or preview.broken):
        return "Nothing is staged."
    parts = []
    if preview.rest:
        parts.append(f"{len(preview.items)} of {len(preview.items) + len(preview.rest)} items are in the approval")
    if more:
        parts.append(f"{more} more are staged and not listed")
    return "; ".join(parts) + ("." if parts else "")
