"""A bar is for a person at a terminal, and stands on standard error."""

import pytest
from rich.console import Console

from host.cli import bars


def test_a_pipe_gets_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with bars.bar("counting") as told:
        told(1, 0)
        told(2, 3)

    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_the_bar_on_standard_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bars, "Console", lambda **options: Console(force_terminal=True, width=80, **options))

    with bars.bar("counting") as told:
        told(1, 4)

    out, err = capsys.readouterr()
    assert out == "" and "counting" in err and "25%" in err
