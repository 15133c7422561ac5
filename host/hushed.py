"""Refusals as they go out: they say what is wrong with a request, never a secret that it holds. Pure."""

from governance.screen import redact
from host.errors import ProtocolFault


def hushed(fault: ProtocolFault) -> ProtocolFault:
    """The fault as it may be told: it quotes names and values of the request, and those may be anything."""
    problem, found = redact(fault.problem)
    next_step, more = redact(fault.next_step)
    return ProtocolFault(fault.kind, problem, next_step, fault.code) if found or more else fault
