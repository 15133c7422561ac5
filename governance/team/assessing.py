"""What we make of a statement's citations: agents report neither strength nor limits nor support (team.md 4). Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from governance.team.contracts.rows import Assessment, Cited, EvidenceRow
from governance.team.contracts.staging import Statement
from governance.team.contracts.turns import STRENGTHS, Strength, Support
from recall.canonical import digest, text_digest
from recall.contracts import Frozen

_PLACE = {strength: place for place, strength in enumerate(STRENGTHS)}  # 0: the strongest


class Basis(Frozen, frozen=True, kw_only=True):
    """One thing that a statement may cite."""

    cited: Cited
    strength: Strength
    limitations: tuple[str, ...] = ()


class Shown(Frozen, frozen=True, kw_only=True):
    """What an entry says of all its statements."""

    strength: Strength
    support: Support
    limitations: tuple[str, ...]


def basis(task_id: str, row: EvidenceRow) -> Basis:
    """What a row of a task's catalogue is to a statement."""
    cited = Cited(evidence_id=row.evidence_id, pointer_digest=row.pointer_digest, task_id=task_id)
    return Basis(cited=cited, strength=row.strength, limitations=row.limitations)


def assessed(
    statement: Statement, bases: Mapping[str, Sequence[Basis]], revision: int = 1, typed: Collection[str] = ()
) -> Assessment:
    """Ours of a statement. `bases`: what each of its evidence ids stands for; `typed`: statements that were verified
    without a person. Raises KeyError for an evidence id that stands for nothing."""
    found = {one.cited: one for evidence_id in statement.evidence_ids for one in bases[evidence_id]}
    citations = tuple(sorted(found, key=lambda one: (one.evidence_id, one.pointer_digest, one.task_id)))
    return Assessment(
        statement_id=statement.statement_id,
        revision=revision,
        citations=citations,
        citations_digest=citations_digest(citations),
        text_digest=text_digest(statement.text),
        strength=strongest(one.strength for one in found.values()),
        limitations=tuple(sorted({limit for one in found.values() for limit in one.limitations})),
        support=Support.TYPED_FACT if statement.statement_id in typed else Support.UNVERIFIED,
    )


def citations_digest(citations: Iterable[Cited]) -> str:
    """Of what is cited, whatever the order."""
    listed = sorted((one.evidence_id, one.pointer_digest) for one in citations)
    return digest([{"evidenceId": evidence_id, "pointerDigest": pointer} for evidence_id, pointer in listed])


def strongest(strengths: Iterable[Strength]) -> Strength:
    """Of what a statement cites; `unknown`: it cites nothing."""
    return min(strengths, key=_PLACE.__getitem__, default=Strength.UNKNOWN)


def shown(assessments: Sequence[Assessment]) -> Shown:
    """An entry says the weakest strength of its statements, and all limits. Their support only when they agree."""
    supports = {one.support for one in assessments}
    return Shown(
        strength=max((one.strength for one in assessments), key=_PLACE.__getitem__, default=Strength.UNKNOWN),
        support=supports.pop() if len(supports) == 1 else Support.MIXED if supports else Support.UNVERIFIED,
        limitations=tuple(sorted({limit for one in assessments for limit in one.limitations})),
    )
