"""What the user is asked for: procedures that passes would have shown, by the audit, until somebody decided."""

from pathlib import Path

from governance.contracts import Action, AuditKind, Removal, VerdictTrace
from host.asks import Asks
from host.contracts import Reason
from recall.contracts import MemoryKind, Risk
from tests.support.builders import a_call, a_memory_id, a_result
from tests.support.clock import START
from tests.support.entries import an_entry
from tests.support.world import FAILURE, LESSON, a_world

ONE, TWO = a_memory_id(1), a_memory_id(2)


def an_ask(*memory_ids: str, action: Action = Action.ASK, rule: str = "high-risk", at: int = START) -> object:
    removed = tuple(Removal(candidate_id=one, reason=rule) for one in memory_ids)
    return an_entry(at=at, verdict=VerdictTrace(action=action, reason="high-risk", removed=removed))


def test_only_a_verdict_that_asks_is_a_question() -> None:
    asks = Asks()
    asks.heard([an_ask(ONE), an_ask(TWO, action=Action.SUPPRESS), an_ask(TWO, rule="secret")])  # type: ignore[list-item]
    assert asks.at == {ONE: START}


def test_what_was_decided_is_asked_no_more_until_it_comes_up_again() -> None:
    asks = Asks()
    asks.heard([an_ask(ONE, TWO), an_entry(kind=AuditKind.FEEDBACK, outcome="approved", memory_id=ONE)])  # type: ignore[list-item]
    assert set(asks.at) == {TWO}
    asks.heard([an_ask(ONE, at=START + 5)])  # type: ignore[list-item]
    assert asks.at == {TWO: START, ONE: START + 5}


async def test_a_question_outlives_a_restart(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        memory_id = await world.remember(LESSON, kind=MemoryKind.PROCEDURAL, risk_level=Risk.HIGH)
        folder = world.workspace()
        await world.feed(a_call("make integration-test", workspace=folder), a_result(FAILURE, workspace=folder))
        assert (await world.audit(kind=AuditKind.PASS))[-1].reason == Reason.AWAITING_APPROVAL
        assert set(world.parts.asks.at) == {memory_id}
    async with a_world(tmp_path) as world:
        assert set(world.parts.asks.at) == {memory_id}
