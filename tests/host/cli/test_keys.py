"""Keys of a real terminal: as they are pressed, also those that were pressed ahead; then all is as it was."""

import contextlib
import os
import pty
import sys
import termios
from collections.abc import Iterator

import pytest

from host.cli.keys import TerminalKeys


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The person's end of a terminal that is standard input."""
    person, theirs = pty.openpty()
    with os.fdopen(theirs, "r+b", buffering=0) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        yield person
        with contextlib.suppress(OSError):
            os.close(person)


def test_keys_come_as_they_are_pressed_and_none_is_lost(ours: int) -> None:
    os.write(ours, b"k")  # before anybody asked
    with TerminalKeys() as keys:
        os.write(ours, "a好".encode())
        assert [keys.pressed() for _ in range(3)] == ["k", "a", "好"]
        os.write(ours, b"\x1b[A")
        assert keys.pressed() == "\x1b"
        os.write(ours, b"s")
        assert keys.pressed() == "s"


def test_an_end_is_an_end(ours: int) -> None:
    with TerminalKeys() as keys:
        os.write(ours, b"\x04")
        with pytest.raises(EOFError):
            keys.pressed()
        os.close(ours)
        with pytest.raises(EOFError):
            keys.pressed()


def test_the_terminal_is_as_it_was_aside_and_afterwards(ours: int) -> None:
    terminal = sys.stdin.fileno()

    def reads_lines() -> bool:
        return bool(termios.tcgetattr(terminal)[3] & termios.ICANON)

    with TerminalKeys() as keys:
        assert not reads_lines()
        with keys.aside():
            assert reads_lines()
        assert not reads_lines()
    assert reads_lines()
