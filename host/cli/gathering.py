"""The files that an import is given, by name or by folder. What cannot be used is listed too, with the reason."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from recall.files import LARGEST
from recall.importing import MARKDOWN

MOST_FILES = 20_000
NOT_ENTERED = frozenset({"node_modules", "__pycache__"})
ENTERED = frozenset({".cursor"})  # of the folders whose name begins with a dot


class Unusable(Exception):
    """A file that cannot be read; the message says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """A file that was given, or stands in a folder that was. `name`: as a person would call it."""

    path: Path
    name: str
    problem: str = ""

    def read(self) -> bytes:
        """Its bytes, no more of them than a file may have and one. Raises Unusable."""
        if self.problem:
            raise Unusable(self.problem)
        if not self.path.is_file():
            raise Unusable("No plain file." if self.path.exists() else "It is not there.")
        try:
            with self.path.open("rb") as opened:
                return opened.read(LARGEST + 1)
        except OSError as error:
            raise Unusable(f"It cannot be read: {error.strerror}.") from error


def gather(given: Iterable[Path]) -> list[Gathered]:
    """Every file once: those that were named, and the Markdown files of the folders, in the order of their names."""
    found: dict[Path, Gathered] = {}
    for path in given:
        for one in _inside(path) if path.is_dir() else [Gathered(path=path, name=path.name)]:
            found.setdefault(one.path.resolve(), one)
            if len(found) > MOST_FILES:
                problem = f"There are more than {MOST_FILES} files. Name a smaller folder."
                return [Gathered(path=path, name=str(path), problem=problem)]
    return list(found.values())


def _inside(root: Path) -> Iterator[Gathered]:
    real = root.resolve()
    closed: list[OSError] = []
    for folder, below, names in os.walk(root, onerror=closed.append):
        below[:] = sorted(name for name in below if _is_entered(name))
        for name in sorted(names):
            if name.lower().endswith(MARKDOWN):
                file = Path(folder, name)
                leads_out = not file.resolve().is_relative_to(real)
                problem = "A link that leads out of the folder." if leads_out else ""
                yield Gathered(path=file, name=os.path.relpath(file, root.parent), problem=problem)
    for error in closed:
        place = Path(error.filename)
        yield Gathered(
            path=place, name=os.path.relpath(place, root.parent), problem=f"It cannot be read: {error.strerror}."
        )


def _is_entered(name: str) -> bool:
    return name in ENTERED or not (name.startswith(".") or name in NOT_ENTERED)
