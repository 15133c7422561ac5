"""How a memory stands is said in the same words by every verb."""

from pathlib import Path

import pytest

from host.cli.wording import folder, standing, tell_screening


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
