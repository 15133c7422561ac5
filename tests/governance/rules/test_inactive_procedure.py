"""A procedure that is not validated is never offered as a checklist."""

import pytest

from governance.contracts import Stage
from governance.rules.inactive_procedure import inactive_procedure
from recall.contracts import ActivationLevel, MemoryKind, Origin, Status
from tests.support.audience import a_proposal, an_activation, an_audience
from tests.support.builders import a_candidate, a_memory_id
from tests.support.clock import START

PROCEDURE = a_candidate(kind=MemoryKind.PROCEDURAL)


@pytest.mark.promise("nothing-executed")
def test_a_checklist_needs_an_active_procedure() -> None:
    checklist = {"level": ActivationLevel.CHECKLIST}
    retired = a_candidate(kind=MemoryKind.PROCEDURAL, status=Status.DEPRECATED)
    assert inactive_procedure(a_proposal(PROCEDURE, **checklist), an_audience(), START) is None
    assert inactive_procedure(a_proposal(a_candidate(), **checklist), an_audience(), START)
    assert inactive_procedure(a_proposal(retired, **checklist), an_audience(), START)


def test_an_activation_must_be_of_an_active_procedure_in_the_packet() -> None:
    meant = a_proposal(PROCEDURE, activation=an_activation())
    other = a_proposal(PROCEDURE, activation=an_activation(procedure_id=a_memory_id(2)))
    assert inactive_procedure(meant, an_audience(), START) is None
    assert inactive_procedure(other, an_audience(), START)
    assert inactive_procedure(a_proposal(a_candidate(), activation=an_activation()), an_audience(), START)


def test_a_level_below_a_checklist_may_be_advised_for_any_record_of_the_packet() -> None:
    hint = an_activation(level=ActivationLevel.HINT)
    assert inactive_procedure(a_proposal(a_candidate(), activation=hint), an_audience(), START) is None
    assert inactive_procedure(a_proposal(a_candidate(memory_id=a_memory_id(2)), activation=hint), an_audience(), START)


def test_without_either_there_is_nothing_to_object_to() -> None:
    assert inactive_procedure(a_proposal(a_candidate()), an_audience(), START) is None


@pytest.mark.promise("nothing-executed")
@pytest.mark.parametrize("stage", [stage for stage in Stage if stage is not Stage.ACTIVE])
def test_a_procedure_below_active_is_no_checklist_whoever_wrote_it(stage: Stage) -> None:
    checklist = {"level": ActivationLevel.CHECKLIST}
    told = an_audience(stages={PROCEDURE.memory_id: stage})
    assert inactive_procedure(a_proposal(PROCEDURE, **checklist), told, START)
    assert inactive_procedure(a_proposal(PROCEDURE, activation=an_activation()), told, START)
    active = an_audience(stages={PROCEDURE.memory_id: Stage.ACTIVE})
    assert inactive_procedure(a_proposal(PROCEDURE, **checklist), active, START) is None


@pytest.mark.promise("nothing-executed")
@pytest.mark.parametrize("origin", [Origin.EXTRACTED, Origin.IMPORTED])
def test_what_no_person_wrote_is_no_checklist_until_it_is_active(origin: Origin) -> None:
    learned = a_candidate(kind=MemoryKind.PROCEDURAL, origin=origin)
    checklist = {"level": ActivationLevel.CHECKLIST}
    assert inactive_procedure(a_proposal(learned, **checklist), an_audience(), START)
    active = an_audience(stages={learned.memory_id: Stage.ACTIVE})
    assert inactive_procedure(a_proposal(learned, **checklist), active, START) is None


def test_one_that_a_team_promoted_needs_evidence_first() -> None:
    promoted = a_candidate(kind=MemoryKind.PROCEDURAL, origin=Origin.REVIEWED, promoted=True)
    checklist = a_proposal(promoted, level=ActivationLevel.CHECKLIST)
    assert inactive_procedure(checklist, an_audience(), START)
    tried = an_audience(stages={promoted.memory_id: Stage.ACTIVE})
    assert inactive_procedure(checklist, tried, START) is None
