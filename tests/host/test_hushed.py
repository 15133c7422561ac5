"""Refusals as they go out."""

from host.errors import ProtocolFault
from host.hushed import hushed

TOKEN = "gh" + "p_" + "aB3d" * 9


def test_a_refusal_that_quotes_a_secret_is_told_without_it() -> None:
    told = hushed(ProtocolFault("unknown-memory", f"No memory {TOKEN!r} is here.", f"Ask for {TOKEN}.", -32602))
    assert TOKEN not in f"{told} {told.problem} {told.next_step}"
    assert (told.kind, told.code) == ("unknown-memory", -32602)
    assert "[secret:github-token]" in told.problem


def test_any_other_refusal_is_told_as_it_is() -> None:
    fault = ProtocolFault("unknown-memory", "No memory 'mem_1' is here.")
    assert hushed(fault) is fault
