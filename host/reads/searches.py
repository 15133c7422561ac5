"""What `grep`, `rg` and a host's own search print: lines of files, each perhaps after a path and a number (pure)."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from host.reads.streams import Unit
from recall.contracts import Printing
from recall.importing import MARKDOWN

MOST_NAMES = 64
LONGEST = 4_096  # characters of a path
_SUFFIX = re.compile(r"\.(?:md|mdc|markdown)(?=[:\-\t]|$)", re.IGNORECASE)
_NUMBERED = re.compile(r"\s*L?(\d{1,9})([:\-\t])(.*)", re.DOTALL)
_LEFT_OUT = re.compile(r" ?\[Omitted long ")
_FILE = "File: "

Streams = Mapping[str, Sequence[Unit]]
Split = tuple[str, str]


class _Searched:
    """The lines of one file, and how often each text stands there."""

    def __init__(self, stream: Sequence[Unit]) -> None:
        self.stream = stream
        self.times = Counter(_line(unit) for unit in stream)

    def at(self, said: re.Match[str] | None) -> Unit | None:
        """The line that a number names, when it reads as printed."""
        place = int(said[1]) - 1 if said else -1
        if said is None or not 0 <= place < len(self.stream):
            return None
        line = _line(self.stream[place]).rstrip()
        return self.stream[place] if said[3].rstrip() in (line, f" {line}") else None


def names(output: str) -> tuple[str, ...]:
    """The paths of memory files that stand at the beginning of an output's lines."""
    found: dict[str, None] = {}
    for line in output.split("\n"):
        for path, _ in _splits(line):
            found[path] = None
            if len(found) >= MOST_NAMES:
                return tuple(found)
    return tuple(found)


def found_lines(lines: Iterable[str], streams: Streams, printing: Printing) -> tuple[list[Unit], tuple[str, ...]]:
    """The lines of the files that were printed, and the files in which a line does not read as printed."""
    files = {name: _Searched(stream) for name, stream in streams.items()}
    unnamed = [path for path in printing.paths if path in files]  # lines may come without a name
    alone = unnamed[0] if len(printing.paths) == 1 and unnamed else ""
    hits: list[Unit] = []
    stale: set[str] = set()
    doubtful: set[str] = set()  # another command may have printed a line without a name
    loose: Counter[Split] = Counter()
    for line in lines:
        if line.removeprefix(_FILE) in files:
            alone = line.removeprefix(_FILE)  # a heading
            unnamed = [alone]
            continue
        ways = [(path, rest[1:]) for path, rest in _splits(line) if path in files]
        bare = [(path, line) for path in unnamed]
        unit = next(
            (unit for path, text in (*ways, *bare) if (unit := files[path].at(_NUMBERED.fullmatch(text)))), None
        )
        texts = [way for way in (*ways, *bare) if files[way[0]].times[way[1]]]
        if unit is not None:
            hits.append(unit)
        elif texts:
            loose.update(texts[:1])
        else:
            stale.update(path for path, text in ways if _says_other(text))
            doubtful.update(path for path, text in bare if alone and _says_other(text))
    hits += [unit for name, one in files.items() for unit in _every(name, one, loose)]
    stale |= doubtful if not hits else set()
    wrong = {unit.name for name in stale for unit in files[name].stream[:1]}
    return [unit for unit in hits if unit.name not in wrong], tuple(sorted(stale))


def _says_other(text: str) -> bool:
    """Whether a text is a numbered line, shown as it is. An empty one may be what follows the last line end."""
    said = _NUMBERED.fullmatch(text)
    return said is not None and bool(said[3].strip()) and not _LEFT_OUT.match(said[3])


def _every(name: str, one: _Searched, loose: Counter[Split]) -> Iterator[Unit]:
    """Lines without numbers, printed as often as they stand there; of fewer nobody knows which."""
    for unit in one.stream:
        line = _line(unit)
        if line.strip() and loose[name, line] >= one.times[line]:
            yield unit


def _splits(line: str) -> Iterator[Split]:
    """Every way to take the beginning of a line for a memory file's path: the path, and the rest with its separator."""
    head = line[:LONGEST]
    if "." not in head or not any(suffix in head.lower() for suffix in MARKDOWN):
        return
    start = len(_FILE) if head.startswith(_FILE) else 0
    for match in _SUFFIX.finditer(head, start):
        yield head[start : match.end()], line[match.end() :]


def _line(unit: Unit) -> str:
    return unit.text.removesuffix("\n")
