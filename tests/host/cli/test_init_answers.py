"""How `init` says what it did: what comes next, what was left alone, and what still names an old port."""

import json
from pathlib import Path

import pytest

from host.cli.init_answers import Outcome, show, tell
from host.setup.edits import Edit, Edits
from host.setup.gather import Gathered, Left, Scene
from host.setup.port import Door
from host.setup.records import Record, Records
from host.setup.registrar import Places


def outcome(folder: Path, **fields: object) -> Outcome:
    where = Places(home=folder / "home", repository=folder / "shop", environ={})
    edit = Edit(path=folder / "shop" / ".gemini" / "settings.json", before=None, after="{}", holds="hooks, mcp")
    known: dict[str, object] = {
        "scene": Scene(level="project", places=where, records=Records(folder / "state")),
        "hosts": ("gemini-cli",),
        "gathered": Gathered(edits=(edit,)),
        "edits": Edits(files=(edit,)),
        "door": Door(port=4711, token="new"),
        "remove": False,
        "holdout": None,
    }
    return Outcome(**known | fields)  # type: ignore[arg-type]  # its own fields


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_what_was_connected_and_where_the_past_is_kept_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tell(outcome(tmp_path))
    text = said(capsys)
    assert "Connected: Gemini CLI." in text and str(tmp_path / "state") in text
    assert "trust" in text  # the product's own question


def test_what_was_left_alone_is_not_called_connected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop = tmp_path / "shop"
    left = tuple(
        Left(host=host, path=shop / path, why="git tracks it")
        for host, path in (("claude-code", ".claude/settings.local.json"), ("gemini-cli", ".gemini/settings.json"))
    )
    gathered = Gathered(edits=(), left=left)

    tell(outcome(tmp_path, hosts=("claude-code", "gemini-cli"), gathered=gathered))
    assert "Connected: Claude Code (without hooks)." in said(capsys)

    tell(outcome(tmp_path, gathered=gathered))
    text = said(capsys)
    assert "Connected: nothing." in text and "trust" not in text  # what nobody connected asks nothing


def test_nothing_to_change_says_so_and_gives_no_advice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tell(outcome(tmp_path, edits=Edits()))
    assert said(capsys) == "Nothing to change.\n"


def test_a_removal_says_no_more_than_that(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tell(outcome(tmp_path, remove=True, door=None))
    assert said(capsys) == "Taken back.\n"


def test_a_file_that_its_product_cannot_read_is_said_each_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unread = (Left(host="claude-code", path=tmp_path / "s.json", why="it holds comments"),)
    tell(outcome(tmp_path, edits=Edits(), gathered=Gathered(edits=(), unread=unread)))
    assert f"Claude Code does not read {tmp_path / 's.json'}: it holds comments." in said(capsys)


def test_a_moved_port_names_the_files_that_still_hold_the_old_token(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.json"
    other.write_text("… old-token …")
    records = Records(tmp_path / "state")
    known = {"host": "claude-code", "level": "project", "digest": "", "repository": "/elsewhere"}
    records.keep(Record(path=str(other), **known), None)
    records.keep(Record(path=str(tmp_path / "gone.json"), **known), None)

    tell(outcome(tmp_path, door=Door(port=5000, token="new-token", old=(4711, "old-token"))))

    text = said(capsys)
    assert "Another program holds the port 4711. The hooks now use 5000" in text and "remora-pre stop" in text
    assert text.count("remora-pre init --host claude-code --workspace /elsewhere") == 1


def test_a_program_gets_every_file_and_why_some_were_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "shop" / ".mcp.json"
    left = (Left(host="claude-code", path=path, why="git tracks it"),)
    done = outcome(tmp_path, hosts=("claude-code", "gemini-cli"), gathered=Gathered(edits=(), left=left), holdout=0.1)

    show(done, "untrusted")

    answer = json.loads(said(capsys))
    assert (answer["changed"], answer["level"], answer["port"], answer["portMoved"]) == (True, "project", 4711, False)
    assert (answer["holdout"], answer["codexHooks"]) == (0.1, "untrusted")
    claude, gemini = answer["hosts"]
    assert claude["left"] == [{"path": str(path), "why": "git tracks it"}]
    assert [file["changed"] for file in claude["files"]] == [False]
    assert gemini["files"] == [
        {"path": str(tmp_path / "shop" / ".gemini" / "settings.json"), "holds": "hooks, mcp", "changed": True}
    ]
    assert gemini["notes"]
