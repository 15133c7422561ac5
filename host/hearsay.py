"""Which commands of a session were somebody else's words: a tool's output had named them before the agent ran them.

What helped is told to later sessions as what helped. A command that stood in a file, a web page or an error before it
was run is not the agent's own idea, and who wrote it there is unknown; it is told to nobody without a person. What the
user said, and what the agent had run before the output named it, is not hearsay.
"""

import re
from collections import deque
from collections.abc import Iterator

MOST = 64  # outputs, and words of the user, that are looked through
LONGEST = 65_536  # characters of each
SHORTEST = 6  # of a command that says something
_DIVIDES = re.compile(r"&&|\|\||[;|\n]")
_MARKS = re.compile(r"[\s`'\"“”‘’\u200b-\u200f\u2060\ufeff]+")


class Hearsay:
    """A fold over a session: what was printed, said and run, in its order."""

    def __init__(self) -> None:
        self._printed: deque[str] = deque(maxlen=MOST)
        self._said: deque[str] = deque(maxlen=MOST)
        self._own: set[str] = set()

    def printed(self, text: str) -> None:
        """A tool gave this out."""
        self._printed.append(_flat(text[:LONGEST]))

    def said(self, text: str) -> None:
        """The user said this."""
        self._said.append(_flat(text[:LONGEST]))

    def told(self, command: str) -> bool:
        """Whether a part of this command was named by an output first. The agent runs it now."""
        parts = list(_parts(command))
        heard = [one for one in parts if self._heard(one)]
        self._own.update(one for one in parts if one not in heard)
        return bool(heard)

    def _heard(self, part: str) -> bool:
        if part in self._own or any(part in text for text in self._said):
            return False
        named = (part, _named(part))
        return any(name and name in text for name in named for text in self._printed)


def _parts(command: str) -> Iterator[str]:
    """The commands in one, as they are compared; a single word says nothing unless it is a file."""
    for piece in _DIVIDES.split(command[:LONGEST]):
        part = _flat(piece)
        if len(part) >= SHORTEST and (" " in part or "/" in part):
            yield part


def _named(part: str) -> str:
    """What a command is done to, as a text may name it without its program ("install left-padd"); empty: too little."""
    rest = part.partition(" ")[2]
    return rest if len(rest) > 2 * SHORTEST and " " in rest else ""


def _flat(text: str) -> str:
    return _MARKS.sub(" ", text).strip().lower()
