"""Single keys of a person at a terminal, as they are pressed: none is lost that was pressed ahead."""

import codecs
import contextlib
import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from typing import Any, Protocol, Self

ESCAPE, END_OF_FILE = "\x1b", "\x04"


class Keys(Protocol):
    """Where keys come from."""

    def pressed(self) -> str:
        """The next key. Raises EOFError when the terminal is gone or was told so, and KeyboardInterrupt."""
        ...

    def aside(self) -> contextlib.AbstractContextManager[None]:
        """While the block lasts the terminal reads lines as usual: for an editor, or a question."""
        ...


class TerminalKeys:
    """Keys of standard input. Use as a block: meanwhile nothing is echoed, and at its end all is as it was."""

    def __init__(self) -> None:
        self._terminal = sys.stdin.fileno()
        self._before: list[Any] = []

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self._terminal)
        tty.setcbreak(self._terminal, termios.TCSANOW)  # what was pressed before is not thrown away
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def pressed(self) -> str:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        key = ""
        while not key:
            try:
                byte = os.read(self._terminal, 1)
            except OSError as error:  # the terminal was closed
                raise EOFError from error
            if not byte:
                raise EOFError
            key = decode(byte)
        if key == END_OF_FILE:
            raise EOFError
        if key == ESCAPE:  # an arrow or the like: what belongs to it is no key of its own
            while select.select([self._terminal], [], [], 0)[0] and os.read(self._terminal, 1):
                pass
        return key

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        self._restore()
        try:
            yield
        finally:
            tty.setcbreak(self._terminal, termios.TCSANOW)

    def _restore(self) -> None:
        with contextlib.suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._before)
