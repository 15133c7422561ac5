"""Reading the audit: conditions become parameters, answers become lines."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from governance.contracts import AuditEntry, AuditKind, EvidenceKind, EvidenceTrace, PacketTrace
from host.cli import audit
from host.cli.main import main
from host.client import Refused
from recall.contracts import ActivationLevel, Flag
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.builders import a_memory

SILENCE = AuditEntry(
    audit_id="aud_1",
    at=1767690959901,
    session_ref="abcdef0123456789",
    agent_ref="0",
    cursor=None,
    kind=AuditKind.PASS,
    outcome="silence",
    reason="no-confident-hit",
    trigger="prompt",
    step=3,
)
SPOKEN = msgspec.structs.replace(
    SILENCE,
    audit_id="aud_2",
    outcome="packet",
    reason="tool-failure",
    packet=PacketTrace(
        packet_id="pkt_1",
        exact_digest="e",
        semantic_digest="s",
        bytes=9,
        level=ActivationLevel.EXCERPT,
        items=("mem_1",),
    ),
)


def run(monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], *arguments: str) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, audit, answers)
    return CliRunner().invoke(main, ["audit", *arguments]), daemon


def test_list_asks_for_what_was_given_and_prints_a_line_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(
        monkeypatch,
        {"audit.query": {"entries": [SPOKEN, SILENCE]}},
        "list",
        "--session",
        "s1",
        "--step",
        "3",
        "--kind",
        "pass",
    )

    assert daemon.params("audit.query") == {"sessionId": "s1", "step": 3, "kind": "pass", "limit": 50}
    lines = [line.split() for line in result.output.splitlines()[1:]]
    assert [line[2] for line in lines] == ["aud_2", "aud_1"]
    assert [line[-1] for line in lines] == ["pkt_1", "no-confident-hit"]


@pytest.mark.parametrize("command", [("show",), ("explain",)])
def test_a_packet_stands_for_the_pass_that_made_it(monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]) -> None:
    later = msgspec.structs.replace(SPOKEN, audit_id="aud_3", kind=AuditKind.DELIVERY, outcome="delivered")
    answers = {"audit.query": {"entries": [later, SPOKEN]}, "audit.get": {"entry": SPOKEN, "later": [later]}}

    result, daemon = run(monkeypatch, answers, *command, "pkt_1")

    assert daemon.params("audit.query") == {"packetId": "pkt_1", "limit": 1000}
    assert daemon.params("audit.get") == {"auditId": "aud_2"}
    assert (result.exit_code, "aud_3" in result.output) == (0, True)


def test_a_packet_that_nobody_knows_is_said_with_where_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {"audit.query": {"entries": []}}, "show", "pkt_9")

    assert result.exit_code == 1
    assert result.output == (
        "Error: No packet 'pkt_9' is known. List them with: remora-pre audit list --kind delivery\n"
    )


def test_what_happened_in_one_instant_is_told_in_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = msgspec.structs.replace(SPOKEN, audit_id="aud_3", kind=AuditKind.CLAIM, outcome="claimed")
    delivery = msgspec.structs.replace(SPOKEN, audit_id="aud_4", kind=AuditKind.DELIVERY, outcome="delivered")

    result, _ = run(monkeypatch, {"audit.get": {"entry": SPOKEN, "later": [claim, delivery]}}, "explain", "aud_2")

    told = [line[-6:-1] for line in result.output.splitlines() if line.endswith("]")]
    assert told == ["aud_2", "aud_3", "aud_4"]


def test_what_a_watched_session_would_have_got_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, {"audit.query": {"entries": []}}, "list", "--would")

    assert daemon.params("audit.query")["outcome"] == "would"
    assert result.output == "No entry matches.\n"


def test_a_reason_that_does_not_exist_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, {}, "list", "--reason", "because")

    assert result.exit_code == 2


def test_two_kinds_at_once_are_refused_and_the_last_does_not_win(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, {}, "list", "--kind", "pass", "--kind", "claim")

    assert (result.exit_code, daemon.asked) == (2, []) and "pass and claim" in result.output


def test_show_prints_the_entry_the_packet_and_what_came_after(monkeypatch: pytest.MonkeyPatch) -> None:
    later = msgspec.structs.replace(SPOKEN, audit_id="aud_3", kind=AuditKind.DELIVERY, outcome="delivered")
    answer = {"entry": SPOKEN, "packet": {"rendered": "the \x1b[31mtext", "state": "delivered"}, "later": [later]}

    result, daemon = run(monkeypatch, {"audit.get": answer}, "show", "aud_2")

    assert daemon.params("audit.get") == {"auditId": "aud_2"}
    assert "pass: packet, tool-failure" in result.output
    assert "the " in result.output and "\x1b" not in result.output
    assert "aud_3" in result.output.partition("What came after:")[2]


def test_the_text_of_a_forgotten_memory_is_said_to_be_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"entry": SPOKEN, "packet": {"rendered": "", "state": "dropped"}, "later": []}

    result, _ = run(monkeypatch, {"audit.get": answer}, "show", "aud_2")

    assert "its text was erased" in result.output


@pytest.mark.parametrize(
    ("arguments", "params"),
    [
        (["--session", "s1", "--step", "3"], {"sessionId": "s1", "step": 3}),
        (["--memory", "mem_1", "--json"], {"memoryId": "mem_1"}),
    ],
)
def test_explain_prints_the_audits_sentences(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], params: dict[str, object]
) -> None:
    result, daemon = run(
        monkeypatch, {"audit.explain": {"lines": ["It was quiet."], "entries": [SILENCE]}}, "explain", *arguments
    )

    assert daemon.params("audit.explain") == params
    assert "It was quiet." in result.output


def test_a_memory_is_explained_with_how_it_stands_now(monkeypatch: pytest.MonkeyPatch) -> None:
    record = a_memory("said", memory_id="mem_1", flags=(Flag.QUARANTINED,))
    nothing = {"audit.explain": {"lines": ["Nothing is recorded about this."]}}
    there = nothing | {"memory.get": {"record": record, "muted": True}}
    gone = nothing | {"memory.get": Refused("unknown-memory", -32000, "No memory 'mem_1' is visible.", "Look.")}

    seen, daemon = run(monkeypatch, there, "explain", "--memory", "mem_1", "--workspace", "/")
    unseen, _ = run(monkeypatch, gone, "explain", "--memory", "mem_1")

    assert daemon.params("memory.get") == {"memoryId": "mem_1", "workspace": "/"}
    assert seen.output == "Nothing is recorded about this.\nNow it is active, quarantined, muted.\n"
    assert unseen.output == "Nothing is recorded about this.\nNo memory 'mem_1' is visible. Look.\n"


@pytest.mark.parametrize("arguments", [["list", "--session", "1ac763e9"], ["explain", "--session", "s", "--step", "3"]])
def test_a_session_that_is_not_found_is_told_what_names_it(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    nothing = {"audit.query": {"entries": []}, "audit.explain": {"lines": ["Nothing."], "entries": []}}

    result, _ = run(monkeypatch, nothing, *arguments)

    assert result.exit_code == 0 and "keyed hash" in result.output


def test_explain_of_an_entry_speaks_of_that_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"entry": SILENCE, "packet": None, "later": []}

    result, daemon = run(monkeypatch, {"audit.get": answer}, "explain", "aud_1", "--json")

    assert daemon.params("audit.get") == {"auditId": "aud_1"}
    explained = json.loads(result.output)
    assert explained["lines"] and [entry["auditId"] for entry in explained["entries"]] == ["aud_1"]


def test_explain_needs_one_thing_to_explain(monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in ([], ["--session", "s1"], ["aud_1", "--memory", "mem_1"]):
        result, _ = run(monkeypatch, {}, "explain", *arguments)

        assert result.exit_code == 2, arguments


@pytest.mark.parametrize(("arguments", "told"), [([], 3), (["--limit", "1"], 1), (["--limit", "2"], 2)])
def test_follow_tells_entries_until_its_limit(monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: int) -> None:
    def listen(method: str, field: str, kind: type[AuditEntry], handle: Callable[[AuditEntry], bool]) -> None:
        assert (method, field, kind) == ("audit.subscribe", "entry", AuditEntry)
        for entry in (SILENCE, SPOKEN, SILENCE):
            if not handle(entry):
                return

    monkeypatch.setattr(audit, "listen", listen)

    result = CliRunner().invoke(main, ["audit", "follow", "--json", *arguments])

    assert [json.loads(line)["kind"] for line in result.output.splitlines()] == ["pass"] * told


def test_ctrl_c_ends_following_well(monkeypatch: pytest.MonkeyPatch) -> None:
    def listen(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(audit, "listen", listen)

    assert CliRunner().invoke(main, ["audit", "follow"]).exit_code == 0


def test_a_broken_chain_ends_with_1_and_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = run(monkeypatch, {"audit.verify": {"ok": True, "entries": 7}}, "verify")
    broken, _ = run(
        monkeypatch, {"audit.verify": {"ok": False, "entries": 7, "problem": "it was changed", "row": 8}}, "verify"
    )

    assert (whole.exit_code, whole.output) == (0, "7 entries, the chain holds.\n")
    assert broken.exit_code == 1 and "at entry 8: it was changed." in broken.output


def test_verify_says_how_many_were_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = run(monkeypatch, {"audit.verify": {"ok": True, "entries": 7, "before": 90}}, "verify")

    assert whole.output == "7 entries, the chain holds. 90 older ones were let go and are summed up.\n"


def test_show_tells_what_the_session_did_with_the_packets_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    def edge(memory_id: str) -> EvidenceTrace:
        return EvidenceTrace(kind=EvidenceKind.REUSE, memory_id=memory_id, source_version=1, record_digest="0" * 64)

    later = msgspec.structs.replace(SILENCE, audit_id="aud_3", evidence=(edge("mem_1"), edge("mem_2")))
    result, _ = run(monkeypatch, {"audit.get": {"entry": SPOKEN, "later": [later]}}, "show", "aud_2")

    assert "the agent did what mem_1 says" in result.output
    assert "mem_2" not in result.output
