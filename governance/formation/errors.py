"""What goes wrong in formation, drawn:

FormationFault
├── ParameterFault     a request that no pipeline takes: `code` says why
├── ModelError         the model did not answer: `kind` says how
├── AnswerFault        it answered what cannot be used: `code` is schema, length, content_filter or error
├── StaleRead          what a change was made of is not what stands there now
└── StateFault         what is stored cannot be used: `code` is state-failed or state-corrupt
"""

from enum import StrEnum


class FormationFault(Exception):
    """What, why, and what to do."""

    def __init__(self, problem: str, next_step: str = "") -> None:
        super().__init__(f"{problem} {next_step}".strip())
        self.problem = problem
        self.next_step = next_step


class ParameterFault(FormationFault):
    """`code`: as `duplicate-message-id`, `limits-out-of-range`, `unknown-field`."""

    def __init__(self, code: str, problem: str, next_step: str = "") -> None:
        super().__init__(problem, next_step)
        self.code = code


class ModelErrorKind(StrEnum):
    CONFIGURATION = "configuration"
    RATE_LIMITED = "rate-limited"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"


class ModelError(FormationFault):
    """`retry_after_ms`: as the provider asked, with `rate-limited`."""

    def __init__(self, kind: ModelErrorKind, problem: str, retry_after_ms: int | None = None) -> None:
        super().__init__(problem)
        self.kind = kind
        self.retry_after_ms = retry_after_ms


class AnswerFault(FormationFault):
    def __init__(self, code: str, problem: str) -> None:
        super().__init__(problem)
        self.code = code


class StaleRead(FormationFault):
    pass


class StateFault(FormationFault):
    def __init__(self, code: str, problem: str, next_step: str = "") -> None:
        super().__init__(problem, next_step)
        self.code = code
