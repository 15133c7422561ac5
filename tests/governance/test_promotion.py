"""What evidence makes of a memory: only ever a proposal, and of the same but one."""

from typing import Any

import pytest

from governance.contracts import AccessEvidence, EvidenceKind
from governance.procedures import Hold, LifePolicy, Why
from governance.promotion import (
    FACT,
    MOST_CITED,
    PROCEDURE,
    VALIDATED,
    Rise,
    becomes,
    cited,
    proposal,
    steps,
)
from governance.review import Citation, ItemFlag, ItemKind, State, words_of
from governance.standing import Standing
from recall.contracts import MemoryKind, Risk, Status
from tests.support.builders import WORKSPACE, a_memory, a_memory_id, a_user_scope
from tests.support.clock import START

ENOUGH = Standing(reuse_sessions=3, success=2)
RECIPE = "To seal the build:\n1. run `make clean`\n2. run `make seal`\n3. verify that build/seal.stamp is there"
POLICY = LifePolicy()


def an_edge(kind: EvidenceKind, session: str = "s1", number: int = 0) -> AccessEvidence:
    return AccessEvidence(
        evidence_id=f"ev_{kind}_{session}_{number}",
        kind=kind,
        memory_id=a_memory_id(),
        session_ref=session,
        event_seq=number,
        context_version=1,
        source_version=1,
        record_digest="d",
        at=START + number,
    )


@pytest.mark.parametrize(
    ("fields", "uses", "outcome"),
    [
        ({"kind": MemoryKind.EPISODIC}, ENOUGH, Rise(target=FACT)),
        ({"kind": MemoryKind.EPISODIC}, Standing(reuse_sessions=2, success=2), Hold(why=Why.TOO_FEW_SESSIONS)),
        ({"kind": MemoryKind.EPISODIC, "status": Status.SUPERSEDED}, ENOUGH, Hold(why=Why.SETTLED)),
        ({"text": RECIPE}, ENOUGH, Rise(target=PROCEDURE)),
        ({"text": RECIPE}, Standing(reuse_sessions=3, success=1), Hold(why=Why.TOO_FEW_SUCCESSES)),
        ({"text": RECIPE}, Standing(reuse_sessions=3, success=2, correction=1), Hold(why=Why.TOO_OFTEN_CORRECTED)),
        ({"text": "1. run a\n2. run b"}, ENOUGH, Hold(why=Why.NO_SUCCESS_CRITERIA)),
        ({"text": "Use pnpm, never npm."}, ENOUGH, Hold(why=Why.SETTLED)),
        ({"text": RECIPE, "kind": MemoryKind.PROCEDURAL}, ENOUGH, Hold(why=Why.SETTLED)),
    ],
)
def test_what_a_memory_could_become(fields: dict[str, Any], uses: Standing, outcome: Rise | Hold) -> None:
    assert becomes(a_memory(**fields), uses, POLICY, corrected=False) == outcome


@pytest.mark.promise("correction-blocks")
def test_a_corrected_one_becomes_nothing() -> None:
    assert becomes(a_memory(RECIPE), ENOUGH, POLICY, corrected=True) == Hold(why=Why.CORRECTED)


def test_a_proposal_waits_and_carries_what_was_counted() -> None:
    item = proposal(a_memory(RECIPE), PROCEDURE, ENOUGH, START)
    assert (item.kind, item.state, item.target, item.record_id) == (
        ItemKind.PROMOTION,
        State.PENDING,
        PROCEDURE,
        a_memory_id(),
    )
    assert item.evidence == {"sessions": 3, "success": 2, "correction": 0}
    assert (item.text, item.title, item.citations) == ("", "", (words_of(None, RECIPE),))
    assert item.workspace_key == WORKSPACE
    assert proposal(a_memory(RECIPE, scope=a_user_scope()), FACT, Standing(), START).workspace_key == ""


def test_the_same_proposal_has_one_id_whatever_more_was_counted() -> None:
    def made(text: str = "a", target: str = FACT, **counted: int) -> str:
        return proposal(a_memory(text), target, Standing(**counted), START).item_id

    assert made(reuse_sessions=3) == made(reuse_sessions=9, success=8)
    assert len({made(), made("b"), made(target=VALIDATED), made(correction=1)}) == 4


def test_what_can_do_harm_is_flagged() -> None:
    risky = proposal(a_memory("Run `git push --force`."), VALIDATED, Standing(), START)
    said = proposal(a_memory("Be careful.", risk_level=Risk.HIGH), VALIDATED, Standing(), START)
    assert risky.flags == said.flags == (ItemFlag.HIGH_RISK,)
    assert proposal(a_memory(), VALIDATED, Standing(), START).flags == ()


def test_what_was_made_of_a_strangers_words_says_so() -> None:
    derived = a_memory("Use port 7070.", tags=("ci", "derived:tool"), kind=MemoryKind.EPISODIC)
    assert proposal(derived, FACT, Standing(), START).flags == (ItemFlag.DERIVED,)


def test_what_speaks_for_it_is_cited_and_bounded() -> None:
    rows = [an_edge(EvidenceKind.SEEN), *(an_edge(EvidenceKind.REUSE, number=n) for n in range(100))]
    found = cited(rows)
    assert len(found) == MOST_CITED
    assert found[-1] == Citation(kind="reuse", ref="ev_reuse_s1_99")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("- a\n- b", 2),
        ("第一步 装好\n第二步 运行", 2),
        ("step 1 do\nstep 2 do", 2),
        ("（1）装好\n（2）运行", 2),
        ("one", 0),
    ],
)
def test_steps_are_list_items(text: str, count: int) -> None:
    assert steps(text) == count
