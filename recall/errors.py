"""What can break in recall, as one small tree. The docstring is the message's opening.

RecallError
├── IndexFault     the index cannot be read: it is a cache, and is made again from the files
├── ArmUnavailable a source has no answer just now and says why: a shortfall, and no failure of it
└── EngineFault    the engine's process is gone, does not answer or makes no sense

Expected outcomes are values: a refused write is a `recall.files.Refused`, a source that is late or broken is the
shortfall of its `ArmReport`.
"""


class RecallError(Exception):
    """Something that recall can explain."""


class IndexFault(RecallError):
    """The index cannot be read."""


class ArmUnavailable(RecallError):
    """A source has no answer just now. `shortfall`: loading | stale-vectors."""

    def __init__(self, shortfall: str, detail: str = "") -> None:
        super().__init__(f"The source is not available: {shortfall}. {detail}".rstrip())
        self.shortfall = shortfall


class EngineFault(RecallError):
    """The engine does not answer."""
