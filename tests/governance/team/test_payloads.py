"""What candidates propose, as it is stored."""

import msgspec
import pytest

from governance.team import payloads
from governance.team.contracts.base import Owner
from governance.team.contracts.rows import (
    Candidate,
    CandidateState,
    ConsolidationPayload,
    EntryPayload,
    SkillPayload,
)
from governance.team.contracts.staging import SkillProposal, Statement
from governance.team.errors import Kind, TeamFault

ENTRY = EntryPayload(
    content="cafe\u0301",
    type="work_fact",
    priority=1,
    confidence="low",
    scene=None,
    statements=(Statement(statement_id="s1", text="cafe\u0301"),),
)
SKILL = SkillPayload(skill=SkillProposal(name="seal", description="d", body="b", action="create"), statements=())
PATCH = ConsolidationPayload(run_id="run-1", operations=(), heat=(), scenes=(), doctrine_digest=None, statements=())
READ = {"entry": payloads.entry, "skill": payloads.skill, "consolidation": payloads.consolidation}


def a_candidate(kind, payload: str) -> Candidate:
    return Candidate(
        candidate_id="t-c1",
        kind=kind,
        task_id="t",
        owner=Owner(repository_key="r", worktree_key="w"),
        state=CandidateState.STAGED,
        revision=1,
        memory_id="",
        target_path="",
        payload=payload,
        created_at=0,
        changed_at=0,
    )


@pytest.mark.parametrize(("kind", "payload"), [("entry", ENTRY), ("skill", SKILL), ("consolidation", PATCH)])
def test_a_payload_reads_back_byte_for_byte(kind, payload):
    text = payloads.encoded(payload)
    assert READ[kind](a_candidate(kind, text)) == payload
    assert payloads.encoded(msgspec.json.decode(text, type=type(payload))) == text


@pytest.mark.parametrize("kind", READ)
def test_another_kind_is_refused_and_a_broken_row_is_told(kind):
    others = [read for name, read in READ.items() if name != kind]
    for read in others:
        with pytest.raises(TeamFault) as refused:
            read(a_candidate(kind, "{}"))
        assert refused.value.kind is Kind.CANDIDATE_KIND_MISMATCH
    with pytest.raises(TeamFault) as broken:
        READ[kind](a_candidate(kind, "{"))
    assert broken.value.kind is Kind.STATE_CORRUPT
