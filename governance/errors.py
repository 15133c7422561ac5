"""Everything that can go wrong in governance, as one small tree. The docstring is the message's opening.

GovernanceError
└── AuditUnavailable   the audit could not be written: nothing may be delivered
"""


class GovernanceError(Exception):
    """Something that governance can explain: what is wrong, and what to do."""

    def __init__(self, problem: str, next_step: str = "") -> None:
        self.problem = problem
        self.next_step = next_step
        super().__init__(f"{problem} {next_step}".strip())


class AuditUnavailable(GovernanceError):
    """The audit could not be written."""
