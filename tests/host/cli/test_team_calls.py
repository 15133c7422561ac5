"""What the commands of the team workflow share: documents are read, the caller is named, digests are shortened."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from governance.review import Principal
from governance.team.decoding import DOCUMENT_BYTES
from host.cli import team_calls
from host.cli.main import main
from host.cli.team_calls import asked, document, principal, short
from host.client import Refused
from host.errors import RemoraError
from tests.host.cli.fakes import answering


def test_who_calls_is_said_with_every_operation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    daemon = answering(monkeypatch, team_calls, {"team.status": {}})

    asked("team.status", tmp_path, {"all": True}, dict[str, Any])

    sent = daemon.params("team.status")
    assert sent == {
        "all": True,
        "workspace": str(tmp_path.resolve()),
        "principal": "agent",
        "holder": f"cli:{os.getsid(0)}",
    }


@pytest.mark.parametrize("as_json", [True, False])
def test_a_refusal_says_its_kind(monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    refused = Refused("plan-not-found", 0, "There is no such plan.", "See team status.")
    answering(monkeypatch, team_calls, {"team.promote": refused})

    done = CliRunner().invoke(main, ["promote", "--plan", "plan-0", *(["--json"] if as_json else [])])

    assert done.exit_code == 1
    if as_json:
        told = {"kind": "plan-not-found", "problem": "There is no such plan.", "next": "See team status."}
        assert json.loads(done.stdout) == told
    else:
        assert "plan-not-found: There is no such plan. See team status." in done.output


@pytest.mark.parametrize(
    ("ends", "marks", "who"),
    [
        ((True, True, True), {}, Principal.HUMAN),
        ((False, True, True), {}, Principal.HUMAN),  # a document comes by a pipe
        ((False, False, False), {}, Principal.AGENT),
        ((True, True, True), {"CLAUDECODE": "1"}, Principal.AGENT),
    ],
)
def test_a_terminal_at_one_end_is_a_person_unless_an_agent_started_it(
    monkeypatch: pytest.MonkeyPatch, ends: tuple[bool, ...], marks: dict[str, str], who: Principal
) -> None:
    for name, there in zip(("stdin", "stdout", "stderr"), ends, strict=True):
        monkeypatch.setattr(f"sys.{name}.isatty", lambda there=there: there, raising=False)
    monkeypatch.setattr(team_calls, "environment", lambda: marks)

    assert principal() is who


def test_a_document_of_the_limit_is_read_whatever_its_white_space(tmp_path: Path) -> None:
    empty = len(json.dumps({"a": ""}, separators=(",", ":")))
    whole = {"a": "é" * ((DOCUMENT_BYTES - empty) // 2) + "x" * ((DOCUMENT_BYTES - empty) % 2)}
    (tmp_path / "whole.json").write_text(json.dumps(whole, indent=2))
    (tmp_path / "more.json").write_text(json.dumps({"a": whole["a"] + "x"}))

    assert document(str(tmp_path / "whole.json")) == whole
    with pytest.raises(Refused) as caught:
        document(str(tmp_path / "more.json"))
    assert caught.value.kind == "input-too-large"


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"{", "is no JSON"),
        (b"[]", "no JSON object"),
        (b"[" * 99_999, "is no JSON"),
        (b"\xff\xfe", "is no JSON"),
        (None, "cannot be read"),
    ],
)
def test_what_is_no_document_is_said(tmp_path: Path, raw: bytes | None, says: str) -> None:
    path = tmp_path / "answer.json"
    if raw is not None:
        path.write_bytes(raw)

    with pytest.raises(RemoraError, match=says) as caught:
        document(str(path))

    assert "answer.json" in caught.value.problem and caught.value.next_step


def test_a_digest_is_shown_by_its_beginning() -> None:
    assert short("0123456789abcdef") == "0123456789ab…"
    assert short(None) == ""
