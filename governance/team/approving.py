"""What a yes is bound to: the digest of an approval, and that of the assessments of a plan (team.md 8). Pure.

An approval names the candidates, each statement and its citations, the sanitising policy and every file: what stands
there now, and what will. Any difference is another digest.
"""

from collections.abc import Iterable, Sequence

import msgspec

from governance.team.contracts.base import Owner
from governance.team.contracts.promoting import (
    Approval,
    ApprovedFile,
    CandidateKind,
    ConfirmedCandidate,
    ConfirmedStatement,
)
from governance.team.contracts.rows import Assessment, Candidate, FileChange
from governance.team.contracts.turns import Support
from governance.team.formats import Formats
from recall.canonical import bytes_digest, digest
from recall.contracts import Frozen


class Judged(Frozen, frozen=True, kw_only=True):
    """A candidate with our assessment of each of its statements."""

    candidate: Candidate
    assessments: tuple[Assessment, ...]


class Approvals:
    """What was shown lately, by its digest, so that it can be said what differs. Only a help: a digest that is not
    known here is compared all the same."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._shown: dict[str, Approval] = {}

    def keep(self, approval: Approval) -> str:
        """Its digest."""
        said = approval_digest(approval)
        self._shown.pop(said, None)
        self._shown[said] = approval
        while len(self._shown) > self._most:
            del self._shown[next(iter(self._shown))]
        return said

    def get(self, said: str) -> Approval | None:
        return self._shown.get(said)


def confirmed(judged: Judged) -> Judged:
    """As it is once a person said yes: facts that were verified by themselves stay that."""
    after = tuple(
        one if one.support is Support.TYPED_FACT else msgspec.structs.replace(one, support=Support.HUMAN_CONFIRMED)
        for one in judged.assessments
    )
    return msgspec.structs.replace(judged, assessments=after)


def listed(judged: Judged) -> ConfirmedCandidate:
    """What of a candidate is said yes to."""
    statements = (
        ConfirmedStatement(
            statement_id=one.statement_id,
            statement_text_digest=one.text_digest,
            citations_digest=one.citations_digest,
        )
        for one in judged.assessments
    )
    return ConfirmedCandidate(
        candidate_id=judged.candidate.candidate_id,
        revision=judged.candidate.revision,
        statements=tuple(sorted(statements, key=lambda one: one.statement_id)),
    )


def approved_file(change: FileChange) -> ApprovedFile:
    """A file by its digests: of the bytes that stand there now, and of the new ones."""
    return ApprovedFile(
        target_path=change.target_path,
        operation=change.operation,
        target_blob=None if change.before is None else bytes_digest(change.before),
        sanitized_digest=None if change.data is None else bytes_digest(change.data),
    )


def approval(
    formats: Formats, kind: CandidateKind, owner: Owner, judged: Iterable[Judged], files: Iterable[FileChange]
) -> Approval:
    """What `approvalDigest` is the digest of, all sorted."""
    return Approval(
        format=formats.document("approval"),
        kind=kind,
        owner=owner,
        policy_version=formats.policy,
        candidates=tuple(sorted(map(listed, judged), key=lambda one: one.candidate_id)),
        files=tuple(sorted(map(approved_file, files), key=lambda file: file.target_path)),
    )


def approval_digest(approval: Approval) -> str:
    """64 lowercase hex digits."""
    return digest(approval)


def assessment_digest(judged: Iterable[Judged]) -> str:
    """Over every candidate's revision and assessments: what a plan rests on, and what its promotion looks at again."""
    rows = [
        {
            "candidateId": one.candidate.candidate_id,
            "revision": one.candidate.revision,
            "statements": [
                {
                    "statementId": each.statement_id,
                    "textDigest": each.text_digest,
                    "citationsDigest": each.citations_digest,
                    "strength": each.strength,
                    "limitations": sorted(each.limitations),
                    "support": each.support,
                }
                for each in sorted(one.assessments, key=lambda each: each.statement_id)
            ],
        }
        for one in sorted(judged, key=lambda one: one.candidate.candidate_id)
    ]
    return digest(rows)


def differing(asked: Sequence[ConfirmedCandidate], now: Sequence[ConfirmedCandidate]) -> str | None:
    """Which field of the candidates is not as it was confirmed, the first one; None: none."""
    known = {one.candidate_id: one for one in now}
    for one in sorted(asked, key=lambda one: one.candidate_id):
        candidate = known.get(one.candidate_id)
        if candidate is None:
            return f"candidates: {one.candidate_id}"
        if candidate.revision != one.revision:
            return f"revision of {one.candidate_id}: {candidate.revision}, not {one.revision}"
        if field := _statements(one, candidate):
            return field
    extra = sorted(set(known) - {one.candidate_id for one in asked})
    return f"candidates: {extra[0]}" if extra else None


def _statements(asked: ConfirmedCandidate, now: ConfirmedCandidate) -> str | None:
    was = {one.statement_id: one for one in asked.statements}
    has = {one.statement_id: one for one in now.statements}
    if len(was) != len(asked.statements) or was.keys() != has.keys():
        odd = sorted(was.keys() ^ has.keys())
        return f"statements of {asked.candidate_id}: {', '.join(odd) or 'one is there twice'}"
    for name, one in sorted(was.items()):
        if one.statement_text_digest != has[name].statement_text_digest:
            return f"statementTextDigest of {asked.candidate_id}/{name}"
        if one.citations_digest != has[name].citations_digest:
            return f"citationsDigest of {asked.candidate_id}/{name}"
    return None


def differing_from(shown: Approval, now: Approval) -> str:
    """Which field of an approval is not as it was shown: policy, candidates or files."""
    if shown.policy_version != now.policy_version:
        return f"policyVersion: {now.policy_version}, not {shown.policy_version}"
    if field := differing(shown.candidates, now.candidates):
        return field
    was = {file.target_path: file for file in shown.files}
    has = {file.target_path: file for file in now.files}
    if odd := sorted(was.keys() ^ has.keys()):
        return f"files: {odd[0]}"
    for path, file in was.items():
        for field, before, after in (
            ("operation", file.operation, has[path].operation),
            ("targetBlob", file.target_blob, has[path].target_blob),
            ("sanitizedDigest", file.sanitized_digest, has[path].sanitized_digest),
        ):
            if before != after:
                return f"{field} of {path}"
    return "kind" if shown.kind != now.kind else "owner"
