"""What can break in recall, as one small tree. The docstring is the message's opening.

RecallError
└── IndexFault     the index cannot be read: it is a cache, and is made again from the files

Expected outcomes are values: a refused write is a `recall.files.Refused`, a source that is late or broken is the
shortfall of its `ArmReport`.
"""


class RecallError(Exception):
    """Something that recall can explain."""


class IndexFault(RecallError):
    """The index cannot be read."""
