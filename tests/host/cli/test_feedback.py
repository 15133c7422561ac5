"""`feedback`: what is asked of the daemon and what is said of its answer."""

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from governance.contracts import AuditKind
from host.cli import feedback, known
from host.cli.main import main
from host.errors import RemoraError
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.builders import a_memory, a_memory_id
from tests.support.entries import a_trace, an_entry
from tests.support.prompt import Prompt

MEMORY, PACKET = a_memory_id(1), "pkt_" + "1" * 32


def run(monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], *arguments: str) -> tuple[Result, FakeDaemon]:
    daemon = answering(monkeypatch, feedback, answers)
    return CliRunner().invoke(main, ["feedback", *arguments]), daemon


@pytest.mark.parametrize(
    ("target", "sent", "packet", "about"),
    [
        (PACKET, {"packetId": PACKET}, PACKET, PACKET),
        (MEMORY, {"memoryId": MEMORY}, PACKET, PACKET),
        (MEMORY, {"memoryId": MEMORY}, None, MEMORY),
    ],
)
def test_a_packet_or_a_memory_is_judged(
    monkeypatch: pytest.MonkeyPatch, target: str, sent: dict[str, str], packet: str | None, about: str
) -> None:
    answer = {"memory.feedback": {"auditId": "aud_1", "opinion": "noise", "packetId": packet}}
    result, daemon = run(monkeypatch, answer, target, "noise")
    as_json, _ = run(monkeypatch, answer, target, "noise", "--json")

    assert daemon.params("memory.feedback") == {"workspace": str(Path().resolve()), "opinion": "noise"} | sent
    assert result.output == f"Noted: {about}, noise. What it comes to: remora-pre attention\n"
    assert json.loads(as_json.output)["auditId"] == "aud_1"


@pytest.mark.parametrize(("purged", "told"), [(0, ""), (2, " Packets purged: 2.")])
def test_what_is_wrong_waits_for_its_person(monkeypatch: pytest.MonkeyPatch, purged: int, told: str) -> None:
    answer = {"auditId": "aud_1", "opinion": "wrong", "packetId": PACKET, "corrected": True, "packetsPurged": purged}
    result, _ = run(monkeypatch, {"memory.feedback": answer}, PACKET, "wrong")
    said = f"Noted: {PACKET}, wrong. It is handed over no more until you decide: remora-pre review.{told}\n"
    assert result.output == said


def test_an_entry_of_the_audit_stands_for_its_packet(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = an_entry(audit_id="aud_7", kind=AuditKind.DELIVERY, packet=a_trace(1))
    noted = {"auditId": "aud_1", "opinion": "noise", "packetId": entry.packet.packet_id if entry.packet else None}
    result, daemon = run(monkeypatch, {"audit.get": {"entry": entry}, "memory.feedback": noted}, "aud_7", "noise")

    assert daemon.params("audit.get") == {"auditId": "aud_7"}
    assert daemon.params("memory.feedback")["packetId"] == noted["packetId"]
    assert f"Noted: {noted['packetId']}, noise." in result.output


def test_an_entry_without_a_packet_has_nothing_to_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, {"audit.get": {"entry": an_entry(audit_id="aud_7")}}, "aud_7", "noise")

    assert (result.exit_code, [method for method, _ in daemon.asked]) == (1, ["audit.get"])
    assert "The entry aud_7 is about no packet: its outcome is silence." in result.output


def test_a_word_that_is_none_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    result, daemon = run(monkeypatch, {}, PACKET, "loud")

    assert (result.exit_code, daemon.asked) == (2, [])


def completed(incomplete: str) -> list[str]:
    context = click.Context(feedback.feedback, info_name="feedback")
    return [item.value for item in feedback.complete(context, feedback.feedback.params[0], incomplete)]


def test_a_shell_offers_what_was_handed_over_last_and_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [an_entry(kind=AuditKind.DELIVERY, packet=a_trace(number)) for number in (2, 1)]
    answering(monkeypatch, feedback, {"audit.query": {"entries": entries}})
    listed = {"records": [a_memory("one", memory_id=MEMORY)], "next": None}
    answering(monkeypatch, known, {"health": {"ready": True}, "memory.list": listed})

    assert completed("") == [f"pkt_{2:032x}", f"pkt_{1:032x}", MEMORY]
    assert completed("mem") == [MEMORY]


def test_a_shell_offers_nothing_without_a_daemon(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, feedback, {"audit.query": RemoraError("None runs.", "Start it.")})

    assert completed("") == []


def test_feedback_goes_through_a_real_daemon_and_is_told_again(prompt: Prompt) -> None:
    memory_id = prompt.keep("The release branch is cut on Fridays.")

    assert f"Noted: {memory_id}, wrong." in prompt.ok("feedback", memory_id, "wrong")
    assert f"{memory_id} was called wrong or harmful." in prompt.ok("attention")
    assert f"{memory_id} was called wrong or harmful." in prompt.ok("audit", "stats", "--workspace", ".")
    assert "was called" not in prompt.ok("audit", "stats")
    assert f"the user called {memory_id} wrong" in prompt.ok("audit", "explain", "--memory", memory_id)
    refused = prompt.run("feedback", PACKET, "noise")
    assert (refused.exit_code, "remora-pre audit list --kind delivery" in refused.output) == (1, True)
