"""A procedure that is not validated is never offered as a checklist."""

import pytest

from governance.rules.inactive_procedure import inactive_procedure
from recall.contracts import ActivationLevel, MemoryKind, Status
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
