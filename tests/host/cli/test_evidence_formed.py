"""How a memory came to be, as `evidence` tells it."""

import pytest

from governance.formation.contracts import MemorySource
from governance.review import Principal
from host.cli.evidence_formed import DecidedBy, Earlier, Formed, FormedBy, tell
from host.cli.review_words import minute
from tests.support.clock import START


def test_it_is_told_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    formed = Formed(
        version=1,
        sources=(
            MemorySource(session_id="s-one", message_id="m1", event_seq=17, at=START, quote="we ship\non Thursdays"),
            MemorySource(
                session_id="s-two",
                message_id="s-two#4",
                event_seq=4,
                at=START,
                quote="It is Thursday",
                role="assistant",
            ),
            MemorySource(session_id="s-two", message_id="m9", event_seq=0, at=START),
        ),
        formed=(
            FormedBy(
                pipeline="checkpoint",
                model_id="scripted:demo",
                prompt_id="checkpoint-canonicalise",
                prompt_version=1,
                prompt_sha256="9c1e" * 16,
                prompt_source="workspace",
            ),
            FormedBy(pipeline="notes", model_id="agent:claude-code"),
        ),
        decided=(
            DecidedBy(actor=Principal.POLICY, kind="commit", at=START),
            DecidedBy(actor=Principal.HUMAN, kind="keep", at=START, reason="agreed"),
        ),
        earlier=(Earlier(memory_id="mem_0", version=0, state="superseded"),),
    )
    tell(formed)
    day = minute(START)[:10]
    assert capsys.readouterr().out.splitlines() == [
        f'quotes   s-one#17 (m1) "we ship\\non Thursdays"  you, {minute(START)}',
        f'         s-two#4 "It is Thursday"  the agent, {minute(START)}',
        "sources  s-two (m9)",
        "formed   checkpoint · prompt checkpoint-canonicalise@1 with an addition of the workspace sha256 9c1e9c1e9c1e…"
        " · model scripted:demo",
        "         notes · model agent:claude-code",
        f'decided  auto commit {day} · human keep {day} "agreed"',
        "earlier  mem_0 version 0, superseded",
    ]


def test_what_there_is_nothing_of_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    tell(Formed(version=0))
    assert capsys.readouterr().out == ""
