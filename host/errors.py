"""Everything that can go wrong in the host, as one small tree. The docstring is the message's opening.

RemoraError
├── ProtocolFault      a request that cannot be served: carries kind, problem, next, and the JSON-RPC code
├── ConfigFault        a configuration that cannot be used
├── StoreFault         a database that cannot be opened or is newer than this version
└── SocketFault        a socket or its folder that cannot be used safely
"""


class RemoraError(Exception):
    """Something that remora can explain: what is wrong, why, and what to do."""

    def __init__(self, problem: str, next_step: str = "") -> None:
        self.problem = problem
        self.next_step = next_step
        super().__init__(f"{problem} {next_step}".strip())


class ProtocolFault(RemoraError):
    """A request that cannot be served."""

    def __init__(self, kind: str, problem: str, next_step: str = "", code: int = -32000) -> None:
        self.kind = kind
        self.code = code
        super().__init__(problem, next_step)


class ConfigFault(RemoraError):
    """A configuration that cannot be used."""


class StoreFault(RemoraError):
    """A database that cannot be opened."""


class SocketFault(RemoraError):
    """A socket or its folder that cannot be used safely."""
