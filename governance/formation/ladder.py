"""What becomes of a range that cannot be formed (formation.md 5.3). Pure.

The first failure of its own leaves the range to be tried again, just so; the second gives it up, with a letter that a
person can have tried anew. That is the only way past a failed range. A fault of the provider, of the store or of the
network is none of the range's own: it never counts, however often it comes.
"""

from governance.formation.contracts import Failure, FailureClass
from governance.formation.errors import AnswerFault, FormationFault, ModelError, ModelErrorKind
from recall.canonical import digest

MOST_ATTEMPTS = 2
_OUTSIDE = frozenset(
    {
        ModelErrorKind.UNAVAILABLE,
        ModelErrorKind.RATE_LIMITED,
        ModelErrorKind.TIMEOUT,
        ModelErrorKind.CONFIGURATION,
    }
)


class RangeFault(FormationFault):
    """A range cannot be formed for a reason of its own."""

    def __init__(self, class_: FailureClass, problem: str) -> None:
        super().__init__(problem)
        self.class_ = class_


def counts(error: FormationFault) -> FailureClass | None:
    """The class under which an error counts toward giving a range up; None: it does not count."""
    match error:
        case RangeFault():
            return error.class_
        case ModelError():
            return None if error.kind in _OUTSIDE else FailureClass.SCHEMA
        case AnswerFault():
            return FailureClass.LENGTH if error.code == "length" else FailureClass.SCHEMA
        case _:
            return None


def operation_id(session_id: str, trigger: str, boundary_seq: int) -> str:
    """The operation that forms a session's range up to this boundary."""
    body = {"sessionId": session_id, "trigger": trigger, "boundarySeq": boundary_seq}
    return f"memory_{digest(body)[:32]}"


def retry_id(operation: str, attempt: int) -> str:
    """The operation that tries a failed one again. `attempt`: 2 for the first repetition."""
    return f"memory_retry_{digest({'operationId': operation, 'attempt': attempt})[:32]}"


def letter_id(operation: str) -> str:
    """The letter of a range that was given up."""
    return f"letter_{digest(operation)[:32]}"


def given_up(failed: Failure | None) -> bool:
    """Whether one more failure of this range is the last. `failed`: what was written down of it so far."""
    return (0 if failed is None else failed.attempts) + 1 >= MOST_ATTEMPTS
