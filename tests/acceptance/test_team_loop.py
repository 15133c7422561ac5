"""team.md 15, item 1: the whole loop over both transports, on the same fixture with fixed ids and clock."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.team_history import a_repository, git
from tests.support.team_loop import OverCommands, OverMcp, a_remora, consolidation_loop, entry_loop, talk

SAID = ("Publish the release, please", "it failed because we published from main", "Now tag it", "Thanks, that is all")
MEMORY = ".remora-pre/memory"


def files(root: Path) -> dict[str, bytes]:
    found = (path for path in (root / ".remora-pre").rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def seen_by_git(root: Path) -> tuple[str, str, bytes]:
    """HEAD, what is staged, and the index's bytes."""
    return git(root, "rev-parse", "HEAD"), git(root, "diff", "--cached"), (root / ".git" / "index").read_bytes()


@pytest.mark.promise("team-01")
async def test_item_01_both_transports_give_equal_documents_states_and_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = a_repository(tmp_path / "repository")
    (root / "staged.txt").write_text("the user's own\n")
    git(root, "add", "staged.txt")
    before, found = seen_by_git(root), dict[str, Any]()
    for transport in ("commands", "mcp"):
        async with a_remora(tmp_path / "data", monkeypatch) as remora:
            await talk(remora, str(root), *SAID)
            call = OverCommands(str(root)) if transport == "commands" else OverMcp(remora, str(root))
            found[transport] = await entry_loop(call), await consolidation_loop(call), files(root)
            lint = await remora.ask("memory.lint", workspace=str(root))
        assert seen_by_git(root) == before
        changed = git(root, "status", "--short", "--untracked-files=all").splitlines()
        assert [line for line in changed if MEMORY not in line] == ["A  staged.txt"]
        assert not [one for one in lint["findings"] if one["severity"] == "error"]
        subprocess.run(["rm", "-rf", str(root / ".remora-pre"), str(tmp_path / "data")], check=True)

    entry, consolidation, written = found["commands"]
    assert found["mcp"] == found["commands"]
    assert entry["promote"]["state"] == consolidation["promote"]["state"] == "applied"
    assert entry["status"]["candidates"]["promoted"] == entry["status"]["entries"] == 1
    assert sorted(path.split("/")[2] for path in written) == ["entries", "scenes"]
