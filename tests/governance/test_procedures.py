"""The life of a procedure, move by move."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.contracts import Stage
from governance.procedures import (
    DAY,
    Hold,
    LifePolicy,
    Move,
    Procedure,
    Why,
    criteria,
    judge,
    risk_of,
    short_of,
    stage_of,
    written_risk,
)
from governance.standing import Standing
from recall.contracts import MemoryKind, Origin, Risk
from tests.support.clock import START

POLICY = LifePolicy()
NOTHING = Standing()


def a_procedure(stage: Stage = Stage.OBSERVED, **fields: Any) -> Procedure:
    given = {
        "stage": stage,
        "by_person": False,
        "risk": Risk.LOW,
        "criteria": True,
        "pinned": False,
        "corrected": False,
        "approved": False,
        "used_at": START,
    } | fields
    return Procedure(**given)


def used(sessions: int, success: int, correction: int = 0) -> Standing:
    return Standing(reuse_sessions=sessions, success=success, correction=correction)


@pytest.mark.promise("procedures-rise-by-evidence")
@pytest.mark.parametrize(
    ("uses", "outcome"),
    [
        (NOTHING, Hold(why=Why.TOO_FEW_SESSIONS)),
        (used(2, 2), Hold(why=Why.TOO_FEW_SESSIONS)),
        (used(2, 9), Hold(why=Why.TOO_FEW_SESSIONS)),
        (used(3, 1), Hold(why=Why.TOO_FEW_SUCCESSES)),
        (used(3, 2), Move(to=Stage.CANDIDATE, why=Why.EVIDENCE)),
        (used(3, 2, 1), Hold(why=Why.TOO_OFTEN_CORRECTED)),
        (used(4, 3, 1), Move(to=Stage.CANDIDATE, why=Why.EVIDENCE)),
        (used(10, 8, 3), Move(to=Stage.CANDIDATE, why=Why.EVIDENCE)),
        (used(10, 8, 4), Hold(why=Why.TOO_OFTEN_CORRECTED)),
    ],
)
def test_what_evidence_makes_of_an_observed_one(uses: Standing, outcome: Move | Hold) -> None:
    assert judge(a_procedure(), uses, POLICY, START) == outcome


def test_without_success_criteria_nothing_rises() -> None:
    assert judge(a_procedure(criteria=False), used(3, 2), POLICY, START) == Hold(why=Why.NO_SUCCESS_CRITERIA)


def test_a_candidate_waits_for_a_person_and_falls_back_when_the_evidence_does_not_hold_any_more() -> None:
    candidate = a_procedure(Stage.CANDIDATE)
    assert judge(candidate, used(3, 2), POLICY, START) == Hold(why=Why.WAITS_FOR_REVIEW)
    assert judge(candidate, used(3, 2, 1), POLICY, START) == Move(to=Stage.OBSERVED, why=Why.TOO_OFTEN_CORRECTED)


@pytest.mark.promise("high-risk-waits")
def test_one_that_can_do_harm_waits_for_approval() -> None:
    kept = a_procedure(Stage.VALIDATED)
    assert judge(kept, NOTHING, POLICY, START) == Move(to=Stage.ACTIVE, why=Why.KEPT)
    risky = a_procedure(Stage.VALIDATED, risk=Risk.HIGH)
    assert judge(risky, NOTHING, POLICY, START) == Hold(why=Why.WAITS_FOR_APPROVAL)
    approved = a_procedure(Stage.VALIDATED, risk=Risk.HIGH, approved=True)
    assert judge(approved, NOTHING, POLICY, START) == Move(to=Stage.ACTIVE, why=Why.APPROVED)


@pytest.mark.promise("correction-blocks")
@pytest.mark.parametrize("stage", [Stage.CANDIDATE, Stage.VALIDATED, Stage.ACTIVE])
def test_one_correction_takes_a_procedure_back(stage: Stage) -> None:
    corrected = a_procedure(stage, corrected=True, approved=True)
    assert judge(corrected, used(50, 50, 1), POLICY, START) == Move(to=Stage.OBSERVED, why=Why.CORRECTED)


@pytest.mark.promise("correction-blocks")
def test_a_corrected_one_does_not_rise_however_much_it_is_used() -> None:
    assert judge(a_procedure(corrected=True), used(50, 50, 1), POLICY, START) == Hold(why=Why.CORRECTED)


def test_a_persons_own_is_valid_again_once_a_person_settled_its_correction() -> None:
    settled = a_procedure(by_person=True)
    assert judge(settled, NOTHING, POLICY, START) == Move(to=Stage.VALIDATED, why=Why.KEPT)


def test_what_nobody_used_for_ninety_days_is_deprecated_unless_it_is_pinned() -> None:
    active, later = a_procedure(Stage.ACTIVE), START + 90 * DAY
    assert judge(active, NOTHING, POLICY, later) == Hold(why=Why.SETTLED)
    assert judge(active, NOTHING, POLICY, later + 1) == Move(to=Stage.DEPRECATED, why=Why.UNUSED)
    assert judge(a_procedure(Stage.ACTIVE, pinned=True), NOTHING, POLICY, later + 1) == Hold(why=Why.SETTLED)
    assert judge(a_procedure(Stage.DEPRECATED), NOTHING, POLICY, later + 1) == Hold(why=Why.UNUSED)


@given(st.sampled_from(Stage), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.booleans(), st.booleans())
def test_no_evidence_makes_one_active_without_a_person(
    stage: Stage, sessions: int, success: int, correction: int, corrected: bool, criteria_there: bool
) -> None:
    if stage in (Stage.VALIDATED, Stage.ACTIVE):
        return
    procedure = a_procedure(stage, corrected=corrected, criteria=criteria_there)
    step = judge(procedure, used(sessions, success, correction), POLICY, START)
    assert isinstance(step, Hold) or step.to in (Stage.OBSERVED, Stage.CANDIDATE)
    if isinstance(step, Move) and step.to is Stage.CANDIDATE:
        assert sessions >= 3
        assert success >= 2
        assert correction <= 0.3 * sessions
        assert not corrected


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_more_use_never_takes_away_and_a_correction_never_adds(sessions: int, success: int, correction: int) -> None:
    if short_of(used(sessions, success, correction), POLICY) is None:
        assert short_of(used(sessions + 1, success + 1, correction), POLICY) is None
    else:
        assert short_of(used(sessions, success, correction + 1), POLICY) is not None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1. Run `make seal`\n2. Verify the stamp is gone", ("Verify the stamp is gone",)),
        ("Success: `make seal` exits 0", ("`make seal` exits 0",)),
        ("**Success criteria:** all green", ("all green",)),
        ("Done when the tests pass", ("Done when the tests pass",)),
        ("- [ ] Make sure that the port is free", ("Make sure that the port is free",)),
        ("Expected output: 3 rows", ("3 rows",)),
        ("预期：输出 ok", ("输出 ok",)),
        ("3. 检查日志没有错误", ("检查日志没有错误",)),
        ("成功标准：测试全部通过", ("测试全部通过",)),
        ("check out the branch and build", ()),
        ("Use pnpm, never npm.", ()),
        ("", ()),
    ],
)
def test_success_criteria_are_found_where_they_are_stated(text: str, found: tuple[str, ...]) -> None:
    assert criteria(text) == found


@pytest.mark.parametrize(
    ("text", "risk"),
    [
        ("Run `rm -rf build` first.", Risk.HIGH),
        ("git push --force origin topic", Risk.HIGH),
        ("git push origin topic", Risk.LOW),
        ("DELETE FROM users", Risk.HIGH),
        ("DELETE FROM users WHERE id = 3", Risk.LOW),
        ("kubectl apply -f service.yaml", Risk.HIGH),
        ("terraform plan", Risk.LOW),
        ("npm publish", Risk.HIGH),
        ("deploy it to production", Risk.HIGH),
        ("部署到生产环境", Risk.HIGH),
        ("先跑测试再提交", Risk.LOW),
        ("pnpm test", Risk.LOW),
    ],
)
def test_a_text_can_do_harm_by_the_commands_it_names(text: str, risk: Risk) -> None:
    assert risk_of(text, Risk.LOW) is risk
    assert risk_of(text, Risk.HIGH) is Risk.HIGH


def test_a_persons_procedure_is_active_from_the_start_and_any_other_is_observed() -> None:
    assert [stage_of({}, "m", origin) for origin in (Origin.USER, Origin.REVIEWED)] == [Stage.ACTIVE] * 2
    assert [stage_of({}, "m", origin) for origin in (Origin.EXTRACTED, Origin.IMPORTED)] == [Stage.OBSERVED] * 2
    assert stage_of({"m": Stage.DEPRECATED}, "m", Origin.USER) is Stage.DEPRECATED


def test_only_of_a_procedure_the_text_is_looked_at_when_it_is_written() -> None:
    harm = "git push --force origin main"
    assert written_risk(MemoryKind.PROCEDURAL, harm) is Risk.HIGH
    assert written_risk(MemoryKind.PROCEDURAL, "make test", Risk.HIGH) is Risk.HIGH
    assert written_risk(MemoryKind.SEMANTIC, harm) is Risk.LOW


# ------------------------------------------------------------------------------------------- what a team promoted


def test_one_that_a_team_promoted_begins_as_a_candidate_whoever_read_it() -> None:
    assert stage_of({}, "mem_1", Origin.REVIEWED, promoted=True) is Stage.CANDIDATE
    assert stage_of({}, "mem_1", Origin.IMPORTED, promoted=True) is Stage.OBSERVED  # nobody trusts its repository
    assert stage_of({"mem_1": Stage.ACTIVE}, "mem_1", Origin.REVIEWED, promoted=True) is Stage.ACTIVE


@pytest.mark.promise("procedures-rise-by-evidence")
@pytest.mark.parametrize(
    ("uses", "outcome"),
    [
        (NOTHING, Hold(why=Why.TOO_FEW_SESSIONS)),
        (used(3, 1), Hold(why=Why.TOO_FEW_SUCCESSES)),
        (used(4, 2, 2), Hold(why=Why.TOO_OFTEN_CORRECTED)),
        (used(3, 2), Move(to=Stage.VALIDATED, why=Why.EVIDENCE)),
    ],
)
def test_only_evidence_takes_it_further_and_nobody_is_asked_again(uses: Standing, outcome: Move | Hold) -> None:
    assert judge(a_procedure(Stage.CANDIDATE, promoted=True), uses, POLICY, START) == outcome


def test_without_success_criteria_it_stays_where_it_is() -> None:
    vague = a_procedure(Stage.CANDIDATE, promoted=True, criteria=False)
    assert judge(vague, used(3, 2), POLICY, START) == Hold(why=Why.NO_SUCCESS_CRITERIA)


def test_a_correction_takes_it_back_and_harm_waits_for_approval_all_the_same() -> None:
    wrong = a_procedure(Stage.CANDIDATE, promoted=True, corrected=True)
    assert judge(wrong, used(3, 2), POLICY, START) == Move(to=Stage.OBSERVED, why=Why.CORRECTED)
    risky = a_procedure(Stage.VALIDATED, promoted=True, risk=Risk.HIGH)
    assert judge(risky, used(3, 2), POLICY, START) == Hold(why=Why.WAITS_FOR_APPROVAL)
