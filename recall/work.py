"""What is being taken in, as one can read it from outside: how many files of how many."""

from collections.abc import Iterator
from contextlib import contextmanager

from recall.contracts import Frozen


class Progress(Frozen, frozen=True, kw_only=True):
    """Work on the index. `stage`: idle | indexing | rebuilding; `done` of `total` files; `problem`: why it stopped."""

    stage: str = "idle"
    done: int = 0
    total: int = 0
    problem: str = ""


class Work:
    """Counts files of everything that is taken in at the same time; back to nothing when all of it is done."""

    def __init__(self, stage: str = "indexing") -> None:
        self._stage = stage
        self._running = self._done = self._total = 0

    @contextmanager
    def of(self, files: int) -> Iterator[None]:
        """Some files will be taken in within the block."""
        self._running += 1
        self._total += files
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                self._done = self._total = 0

    def did(self, files: int) -> None:
        self._done += files

    def progress(self) -> Progress | None:
        """None: nothing is being done."""
        if not self._running:
            return None
        return Progress(stage=self._stage, done=min(self._done, self._total), total=self._total)
