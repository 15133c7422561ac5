"""What a yes is bound to: every part of an approval is in its digest."""

from typing import Any

import msgspec
import pytest

from governance.team import approving
from governance.team.approving import Approvals, Judged
from governance.team.contracts.base import Owner
from governance.team.contracts.promoting import Approval
from governance.team.contracts.rows import Assessment, Candidate, CandidateState, FileChange
from governance.team.contracts.turns import Strength, Support
from recall.canonical import bytes_digest
from tests.support.clock import START
from tests.support.team_review import FORMATS

OWNER = Owner(repository_key="r", worktree_key="w")


def a_judged(number: int = 1, revision: int = 2, **fields: Any) -> Judged:
    candidate = Candidate(
        candidate_id=f"c{number}",
        kind="entry",
        task_id="t",
        owner=OWNER,
        state=CandidateState.STAGED,
        revision=revision,
        memory_id="m",
        target_path="p",
        payload="{}",
        created_at=START,
        changed_at=START,
    )
    return Judged(candidate=candidate, assessments=(an_assessment("s2"), an_assessment("s1", **fields)))


def an_assessment(name: str, **fields: Any) -> Assessment:
    given: dict[str, Any] = {
        "statement_id": name,
        "revision": 1,
        "citations": (),
        "citations_digest": "c" * 64,
        "text_digest": "t" * 64,
        "strength": Strength.DIRECT,
        "limitations": (),
        "support": Support.UNVERIFIED,
    }
    return Assessment(**(given | fields))


def a_change(path: str = "b.md", data: bytes | None = b"new", before: bytes | None = None) -> FileChange:
    return FileChange(target_path=path, operation="delete" if data is None else "write", data=data, before=before)


def an_approval(*judged: Judged, files: tuple[FileChange, ...] = (a_change(),)) -> Approval:
    return approving.approval(FORMATS, "entry", OWNER, judged or (a_judged(),), files)


def test_an_approval_says_exactly_what_the_format_has_and_is_sorted() -> None:
    files = (a_change(), a_change("a.md", None, b"old"))
    made = msgspec.to_builtins(an_approval(a_judged(2), a_judged(1), files=files))
    assert sorted(made) == ["candidates", "files", "format", "kind", "owner", "policyVersion"]
    assert (made["format"], made["policyVersion"]) == ("remora-pre-approval@v1", "sanitize-pre@1")
    assert [one["candidateId"] for one in made["candidates"]] == ["c1", "c2"]
    assert [sorted(one) for one in made["candidates"]] == [["candidateId", "revision", "statements"]] * 2
    assert [one["statementId"] for one in made["candidates"][0]["statements"]] == ["s1", "s2"]
    assert sorted(made["candidates"][0]["statements"][0]) == ["citationsDigest", "statementId", "statementTextDigest"]
    assert list(made["files"]) == [
        {"targetPath": "a.md", "operation": "delete", "targetBlob": bytes_digest(b"old"), "sanitizedDigest": None},
        {"targetPath": "b.md", "operation": "write", "targetBlob": None, "sanitizedDigest": bytes_digest(b"new")},
    ]


def test_the_order_of_what_is_given_changes_nothing() -> None:
    files = (a_change(), a_change("a.md"))
    one = an_approval(a_judged(1), a_judged(2), files=files)
    other = an_approval(a_judged(2), a_judged(1), files=files[::-1])
    assert approving.approval_digest(one) == approving.approval_digest(other)


@pytest.mark.parametrize(
    ("other", "field"),
    [
        (an_approval(a_judged(1), a_judged(2)), "candidates: c2"),
        (an_approval(a_judged(revision=3)), "revision of c1: 3, not 2"),
        (an_approval(a_judged(text_digest="x" * 64)), "statementTextDigest of c1/s1"),
        (an_approval(a_judged(citations_digest="x" * 64)), "citationsDigest of c1/s1"),
        (an_approval(a_judged(statement_id="s3")), "statements of c1: s1, s3"),
        (an_approval(files=(a_change(data=b"other"),)), "sanitizedDigest of b.md"),
        (an_approval(files=(a_change(before=b"there"),)), "targetBlob of b.md"),
        (an_approval(files=(a_change(data=None, before=None),)), "operation of b.md"),
        (an_approval(files=(a_change(), a_change("z.md"))), "files: z.md"),
        (msgspec.structs.replace(an_approval(), policy_version="v2"), "policyVersion: v2, not sanitize-pre@1"),
        (msgspec.structs.replace(an_approval(), kind="skill"), "kind"),
        (msgspec.structs.replace(an_approval(), owner=Owner(repository_key="x", worktree_key="w")), "owner"),
    ],
)
def test_any_difference_is_another_digest_and_is_named(other: Approval, field: str) -> None:
    assert approving.approval_digest(other) != approving.approval_digest(an_approval())
    assert approving.differing_from(an_approval(), other) == field


def test_strength_and_support_are_ours_and_no_part_of_an_approval() -> None:
    other = an_approval(a_judged(strength=Strength.UNKNOWN, support=Support.HUMAN_CONFIRMED))
    assert approving.approval_digest(other) == approving.approval_digest(an_approval())


@pytest.mark.parametrize(
    "fields",
    [
        {"strength": Strength.OBSERVED},
        {"support": Support.TYPED_FACT},
        {"limitations": ("inferred",)},
        {"citations_digest": "x" * 64},
        {"text_digest": "x" * 64},
    ],
)
def test_what_a_plan_rests_on_is_all_of_the_assessment(fields: dict[str, Any]) -> None:
    said = approving.assessment_digest([a_judged()])
    assert approving.assessment_digest([a_judged(**fields)]) != said
    assert approving.assessment_digest([a_judged(revision=3)]) != said


def test_a_yes_confirms_what_was_not_verified_by_itself() -> None:
    judged = approving.confirmed(a_judged(support=Support.TYPED_FACT))
    assert {one.statement_id: one.support for one in judged.assessments} == {
        "s1": "typed-fact",
        "s2": "human-confirmed",
    }


def test_candidates_that_are_as_confirmed_do_not_differ() -> None:
    now = [approving.listed(a_judged(1)), approving.listed(a_judged(2))]
    assert approving.differing(now[::-1], now) is None
    assert approving.differing(now[:1], now) == "candidates: c2"
    twice = msgspec.structs.replace(now[0], statements=now[0].statements + now[0].statements[:1])
    assert approving.differing([twice, now[1]], now) == "statements of c1: one is there twice"


def test_the_latest_approvals_are_remembered_and_older_ones_are_let_go() -> None:
    shown = Approvals(most=2)
    digests = [shown.keep(an_approval(a_judged(number))) for number in (1, 2)]
    shown.keep(an_approval(a_judged(1)))
    shown.keep(an_approval(a_judged(3)))
    assert shown.get(digests[1]) is None
    assert shown.get(digests[0]) == an_approval(a_judged(1))
