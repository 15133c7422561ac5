"""`edit`: what a person changes is asked of the daemon with the digest of what they saw, and is never lost."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli import edit as module
from host.cli.link import paths
from host.cli.main import main
from host.client import Refused
from recall.contracts import MemoryRecord, RecordState
from tests.host.cli.fakes import FakeDaemon, answering
from tests.support.builders import a_memory, a_memory_id
from tests.support.prompt import Prompt

ID = a_memory_id(1)
RECORD = a_memory("Use make check.", memory_id=ID, title="Tests", tags=("ci",))
LOCATOR = {
    "memoryId": ID,
    "anchorId": f"memory:{ID}",
    "sourceFile": "/notes/2026-01.md",
    "sourceVersion": 2,
    "lineStart": 4,
    "lineEnd": 6,
    "byteStart": 1,
    "byteEnd": 2,
    "recordDigest": "digest-as-seen",
}
CONFLICT = Refused("conflict", -32000, "The record is another by now.", "Read it again.")
DONE = {"memoryId": ID, "file": "f", "recordDigest": "d", "changed": True, "redacted": [], "quarantined": False}


class Desk:
    """A person at the command line, whose editor is a script over the lines of the file."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, record: MemoryRecord = RECORD) -> None:
        self.monkeypatch, self.folder = monkeypatch, folder
        self.got: dict[str, Any] = {"record": record, "locator": LOCATOR}

    def editor(self, script: str) -> None:
        Prompt(self.folder, self.monkeypatch).editor(script)

    def run(self, *arguments: str, answer: object = DONE, said: str = "") -> tuple[Result, FakeDaemon]:
        daemon = answering(self.monkeypatch, module, {"memory.get": self.got, "memory.edit": answer})
        return CliRunner().invoke(main, ["edit", *arguments], input=said), daemon

    def kept(self) -> list[Path]:
        return sorted((paths().state / "drafts").glob("*.md"))


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Desk:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    return Desk(monkeypatch, tmp_path)


def changes(daemon: FakeDaemon) -> dict[str, Any]:
    """What was asked to be changed."""
    params = daemon.params("memory.edit")
    assert params.pop("memoryId") == ID and params.pop("expected") == "digest-as-seen"
    assert params.pop("principal") == "agent"  # nobody sits at this terminal
    params.pop("workspace")
    return params


def test_what_the_editor_leaves_is_asked_for_and_nothing_else(desk: Desk) -> None:
    desk.editor("text = text.replace('make check', 'make all').replace('tags: ci', 'tags: ci, make')")

    result, daemon = desk.run(ID)

    assert (result.exit_code, result.output) == (0, f"{ID} is changed.\n")
    assert changes(daemon) == {"text": "Use make all.", "tags": ["ci", "make"]}
    assert desk.kept() == []


def test_an_editor_that_was_closed_without_a_change_changes_nothing(desk: Desk) -> None:
    desk.editor("pass")

    result, daemon = desk.run(ID)

    assert (result.exit_code, result.output) == (0, "Nothing was changed.\n")
    assert [method for method, _ in daemon.asked] == ["memory.get"]
    assert desk.kept() == []


def test_a_memory_that_changed_meanwhile_is_not_overwritten_and_the_text_is_kept(desk: Desk) -> None:
    desk.editor("text = text.replace('make check', 'make all')")

    result, _ = desk.run(ID, answer=CONFLICT)

    (kept,) = desk.kept()
    assert result.exit_code == 1
    assert "changed by someone else" in result.output and f"kept in {kept}" in result.output
    assert f"remora-pre edit {ID} --from {kept}" in result.output
    assert "Use make all." in kept.read_text()


def test_a_sheet_left_behind_can_be_used_and_goes_then(desk: Desk) -> None:
    desk.editor("text = text.replace('make check', 'make all')")
    desk.run(ID, answer=CONFLICT)
    (kept,) = desk.kept()

    result, daemon = desk.run(ID, "--from", str(kept))

    assert result.exit_code == 0 and changes(daemon) == {"text": "Use make all."}
    assert desk.kept() == []


def test_an_edit_by_options_that_is_refused_keeps_the_text_as_well(desk: Desk) -> None:
    result, _ = desk.run(ID, "--text", "-", answer=CONFLICT, said="From a pipe.\n")

    (kept,) = desk.kept()
    assert result.exit_code == 1 and str(kept) in result.output
    assert "From a pipe." in kept.read_text()


def test_a_stop_while_the_daemon_answers_keeps_the_text(desk: Desk) -> None:
    result, _ = desk.run(ID, "--text", "New.", answer=KeyboardInterrupt())

    assert result.exit_code == 1 and str(desk.kept()[0]) in result.output


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("text = 'Only text.'", "does not begin"),
        ("text = text.replace('semantic', 'joke')", "its kind is 'joke'"),
        ("file.write_bytes(b'---\\n---\\n\\xff'); sys.exit()", "not UTF-8"),
    ],
)
def test_a_sheet_that_cannot_be_read_is_kept_and_nothing_is_asked(desk: Desk, script: str, why: str) -> None:
    desk.editor(script)

    result, daemon = desk.run(ID)

    (kept,) = desk.kept()
    assert result.exit_code == 1 and why in result.output and str(kept) in result.output
    assert [method for method, _ in daemon.asked] == ["memory.get"]


def test_an_editor_that_fails_after_saving_has_lost_nothing(desk: Desk) -> None:
    desk.editor("file.write_text(text.replace('make', 'just')); sys.exit(3)")

    result, daemon = desk.run(ID)

    (kept,) = desk.kept()
    assert result.exit_code == 1 and "Editing failed" in result.output and f"kept in {kept}" in result.output
    assert "Use just check." in kept.read_text() and len(daemon.asked) == 1


def test_an_editor_that_fails_without_saving_leaves_nothing_behind(desk: Desk) -> None:
    desk.editor("sys.exit(3)")

    result, _ = desk.run(ID)

    assert result.exit_code == 1 and desk.kept() == []
    assert "Nothing was written. Set $VISUAL or $EDITOR" in result.output


def test_a_sheet_without_a_text_is_no_memory(desk: Desk) -> None:
    desk.editor("text = text.replace('Use make check.', '')")

    result, daemon = desk.run(ID)

    assert result.exit_code == 1 and f"remora-pre forget {ID}" in result.output
    assert len(daemon.asked) == 1


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        (["--title", "How to test"], {"title": "How to test"}),
        (["--title", ""], {"title": None}),
        (["--tag", "a", "--tag", "b"], {"tags": ["a", "b"]}),
        (["--tag", ""], {"tags": []}),
        (["--kind", "procedural", "--text", "New."], {"kind": "procedural", "text": "New."}),
    ],
)
def test_options_stand_in_for_the_editor(desk: Desk, options: list[str], asked: dict[str, Any]) -> None:
    result, daemon = desk.run(ID, *options)

    assert result.exit_code == 0
    assert changes(daemon) == asked


def test_an_option_that_says_what_is_so_already_asks_for_nothing(desk: Desk) -> None:
    result, daemon = desk.run(ID, "--title", "Tests", "--json")

    assert json.loads(result.output)["changed"] is False
    assert len(daemon.asked) == 1


def test_secrets_and_orders_are_told(desk: Desk) -> None:
    result, _ = desk.run(ID, "--text", "x", answer=DONE | {"redacted": ["secret.token"], "quarantined": True})

    assert "secret.token" in result.output and "quarantined" in result.output


@pytest.mark.parametrize(
    "options", [[], ["--text", " "], ["--text", "-"], ["--from", "/no/such"], ["--from", __file__, "--title", "x"]]
)
def test_what_cannot_be_meant_is_wrong_usage(desk: Desk, options: list[str]) -> None:
    result, daemon = desk.run(ID, *options)

    assert result.exit_code == 2
    assert "memory.edit" not in [method for method, _ in daemon.asked]


@pytest.mark.parametrize("locator", [None, LOCATOR])
def test_a_text_without_a_marker_is_edited_in_its_own_file(desk: Desk, locator: dict[str, Any] | None) -> None:
    desk.got = {"record": a_memory("x", memory_id=ID, state=RecordState.LEGACY), "locator": locator}

    result, _ = desk.run(ID, "--text", "y")

    assert result.exit_code == 1 and "Edit the file itself" in result.output
    assert ("/notes/2026-01.md, line 4" in result.output) is (locator is not None)


def test_with_a_real_daemon_the_editor_changes_the_memory(prompt: Prompt) -> None:
    kept = prompt.keep("Run make check.", "--title", "Tests", "--tag", "ci")
    prompt.editor("text = text.replace('make check', 'make all').replace('title: Tests', 'title: How to test')")

    said = prompt.ok("edit", kept)

    record = prompt.json("show", kept)["record"]
    assert said == f"{kept} is changed.\n"
    assert (record["text"], record["title"], record["tags"]) == ("Run make all.", "How to test", ["ci"])


def test_with_a_real_daemon_an_edit_by_someone_else_meanwhile_wins_and_nothing_is_lost(prompt: Prompt) -> None:
    kept = prompt.keep("Run make check.")
    file = prompt.json("show", kept)["locator"]["sourceFile"]
    prompt.editor(
        f"other = pathlib.Path({file!r})\n"
        "other.write_text(other.read_text().replace('make check', 'just check'))\n"
        "text = text.replace('make check', 'make all')"
    )

    refused = prompt.run("edit", kept)
    sheet = re.search(r"kept in (\S+\.md)\.", refused.output)

    assert refused.exit_code == 1 and sheet is not None
    assert "Run just check." in Path(file).read_text()
    assert prompt.ok("edit", kept, "--from", sheet[1]) == f"{kept} is changed.\n"
    assert "Run make all." in Path(file).read_text() and not Path(sheet[1]).exists()
