"""How a memory stands is said in the same words by every verb."""

from pathlib import Path

import click
import pytest

from host.cli.wording import folder, known_folder, present_folder, standing, tell_risk, tell_screening
from recall.contracts import Risk


@pytest.mark.parametrize(
    ("status", "state", "marks", "said"),
    [
        ("active", "anchored", (), "active"),
        ("active", "legacy", (), "active, legacy"),
        (
            "superseded",
            "anchored",
            ("quarantined", "muted", "pinned", "muted"),
            "superseded, quarantined, muted, pinned",
        ),
    ],
)
def test_all_that_keeps_a_memory_back_is_said_once(status: str, state: str, marks: tuple[str, ...], said: str) -> None:
    assert standing(status, state, marks) == said


def test_a_text_that_was_kept_as_it_is_needs_no_word(capsys: pytest.CaptureFixture[str]) -> None:
    tell_screening((), quarantined=False)

    assert capsys.readouterr().out == ""


def test_what_was_taken_out_is_named_and_a_quarantine_explained(capsys: pytest.CaptureFixture[str]) -> None:
    tell_screening(("secret.aws", "pii.email"), quarantined=True)

    said = capsys.readouterr().out
    assert "secret.aws, pii.email" in said and "never handed over" in said


def test_a_workspace_goes_out_as_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert folder(Path()) == str(tmp_path.resolve())


def test_nothing_is_chosen_for_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert present_folder(tmp_path) == folder(tmp_path)
    with pytest.raises(click.UsageError, match="nothing was changed"):
        present_folder(tmp_path / "gone")


def test_a_folder_that_is_gone_can_be_looked_at_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = tmp_path / "gone"

    assert (known_folder(tmp_path), known_folder(gone)) == (folder(tmp_path), folder(gone))
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"There is no folder {gone}. What is known of it:\n")


def test_who_wrote_down_what_can_do_harm_is_told_how_it_is_approved(capsys: pytest.CaptureFixture[str]) -> None:
    tell_risk(Risk.LOW, "mem_1")
    assert capsys.readouterr().out == ""
    tell_risk(Risk.HIGH, "mem_1")
    assert "approve mem_1" in capsys.readouterr().out
