"""N-08: which files a command line prints, and how, as far as it tells by itself (pure).

What is not understood is left out, so is what cannot be a memory file: a command costs next to nothing until it names
one. Nothing here is believed: `shown` compares what was printed with the files.
"""

import posixpath
import re
from collections.abc import Iterable, Sequence

import msgspec

from host.reads.programs import Use, use
from host.reads.shell import LONGEST, Pipeline, Simple, Word, pipelines
from recall.contracts import Filter, FilterKind, PrintForm, Printing
from recall.importing import MARKDOWN

MOST = 32  # printings of one command line
MOST_PATHS = 64
_WORTH = re.compile(r"\.(?:md|mdc|markdown)\b|[*?\[]", re.IGNORECASE)
_THROUGH = frozenset(["tee", "cat", "less", "more"])  # with no file of their own they pass on what they get
_RUNS = frozenset(["sudo", "command", "builtin", "nohup", "exec", "nice", "env", "stdbuf", "timeout", "time"])
_ROOTED = re.compile(r"/|~")
_NUMBERING = (FilterKind.NUMBER, FilterKind.NUMBER_FILLED)


def printings(command: str, output: str, cwd: str) -> tuple[Printing, ...]:
    """What a command line that printed `output` was to print of memory files.

    `cwd`: the folder that the host names, where the command began or, as Claude Code has it, where it ended.
    """
    in_output = _names_memory(output)
    if not (in_output or _WORTH.search(command, 0, LONGEST)):
        return ()
    found: list[tuple[Printing, int]] = []
    moves: list[str | None] = []
    for pipeline in pipelines(command):
        first = pipeline[0]
        if first.name in ("cd", "pushd") and len(pipeline) == 1:
            moves.append(_moved(first))
        else:
            found += [(one, len(moves)) for one in _printed(pipeline) if _may_be_memory(one, in_output)]
    kept = found[:MOST]
    return tuple(msgspec.structs.replace(one, bases=_bases(cwd, moves, at)) for one, at in kept)


def searched(paths: Sequence[str], output: str, folders: Sequence[str]) -> tuple[Printing, ...]:
    """The printing of a host's own search tool. `folders`: those that relative paths may be meant from."""
    bases = tuple(dict.fromkeys(folders))
    one = Printing(paths=tuple(paths) or (".",), form=PrintForm.FOUND, bases=bases)
    return (one,) if _may_be_memory(one, _names_memory(output)) else ()


def _names_memory(output: str) -> bool:
    return ".m" in output and any(suffix in output for suffix in MARKDOWN)


def _printed(pipeline: Pipeline) -> Sequence[Printing]:
    """What a pipeline prints of files; nothing when one of its commands is not understood."""
    printed: Sequence[Printing] = ()
    for place, simple in enumerate(pipeline):
        if simple.is_silent and place + 1 == len(pipeline):
            return ()
        stage = _used(simple)
        if stage is None:
            passes = place > 0 and simple.name in _THROUGH
            printed = printed if passes else ()
        elif stage.paths:
            printed = _of_files(stage)
        else:
            printed = _piped(printed, stage) if place else _of_folder(stage)
    return printed


def _used(simple: Simple) -> Use | None:
    words = list(simple.words)
    while words and (words[0].value or "").rpartition("/")[2] in _RUNS:
        words = _after_runner(words)
    values = [word.value for word in words if word.value is not None]
    if not words or len(values) != len(words):
        return None
    used = use(values[0].rpartition("/")[2], values[1:])
    if used is None:
        return None
    paths = tuple(path for path in used.paths if path != "-")
    if not paths and simple.stdin is not None and simple.stdin.value:
        paths = (simple.stdin.value,)
    return msgspec.structs.replace(used, paths=paths[:MOST_PATHS]) if len(paths) <= MOST_PATHS else None


def _after_runner(words: list[Word]) -> list[Word]:
    """The command that another one runs: without its options, a time and settings of the environment."""
    rest = words[1:]
    while rest and re.match(r"-|\d|\w+=", rest[0].value or ""):
        rest = rest[1:]
    return rest


def _of_files(stage: Use) -> Sequence[Printing]:
    """One printing a file where each stands for itself, or all in one stream."""
    if stage.form is PrintForm.FOUND:
        return (Printing(paths=stage.paths, form=stage.form),)
    whole = stage.ways == ((),) and stage.form is PrintForm.PLAIN
    groups = [(path,) for path in stage.paths] if stage.apart or whole else [stage.paths]
    return [Printing(paths=paths, form=stage.form, filters=way) for paths in groups for way in stage.ways]


def _of_folder(stage: Use) -> Sequence[Printing]:
    """A search that names no file looks through the folder."""
    return (Printing(paths=(".",), form=stage.form),) if stage.form is PrintForm.FOUND else ()


def _piped(printed: Sequence[Printing], stage: Use) -> Sequence[Printing]:
    """What is left when one more command takes what the ones before print."""
    if not printed:
        return ()
    if len(printed) > 1:
        plain = all(one.form is PrintForm.PLAIN and not one.filters for one in printed)
        if not plain:
            return printed if stage.ways == ((),) and stage.form is PrintForm.PLAIN else ()
        printed = (Printing(paths=tuple(path for one in printed for path in one.paths)),)
    (before,) = printed
    if stage.form is PrintForm.FOUND and before.form is PrintForm.PLAIN:
        return (msgspec.structs.replace(before, form=PrintForm.FOUND),)
    if stage.form is not PrintForm.PLAIN:  # fewer of the same lines
        return (before if before.form is PrintForm.FOUND else msgspec.structs.replace(before, form=stage.form),)
    if before.form is not PrintForm.PLAIN:
        return (before,) if not any(_numbers(way) for way in stage.ways) else ()
    if _numbers(before.filters) and any(one.kind is FilterKind.BYTES for way in stage.ways for one in way):
        return ()  # bytes of the numbers count too
    return [msgspec.structs.replace(before, filters=(*before.filters, *way)) for way in stage.ways]


def _numbers(way: Iterable[Filter]) -> bool:
    return any(one.kind in _NUMBERING for one in way)


def _may_be_memory(printing: Printing, in_output: bool) -> bool:
    """Whether one of the paths may be a memory file, or hold one whose name was printed."""
    if any(path.lower().endswith(MARKDOWN) or re.search(r"[*?\[]", path) for path in printing.paths):
        return True
    return printing.form is PrintForm.FOUND and not printing.filters and in_output


# ------------------------------------------------------------------------------------------------------------ folders


def _moved(simple: Simple) -> str | None:
    """Where a `cd` goes; None when only the shell knows."""
    targets = [word for word in simple.words[1:] if word.value != "--"]
    if len(targets) != 1 or targets[0].is_pattern:
        return None
    value = targets[0].value
    return value if value and value != "-" else None


def _bases(cwd: str, moves: Sequence[str | None], at: int) -> tuple[str, ...]:
    """Folders that relative paths after `at` of the moves may be meant from, the likelier first."""
    from_end = _back(cwd, moves[at:])
    from_start = _forth(cwd, moves[:at])
    return tuple(dict.fromkeys(base for base in (from_end, from_start) if base is not None))


def _forth(folder: str, moves: Sequence[str | None]) -> str | None:
    """The folder after these moves."""
    for move in moves:
        if move is None:
            return None
        folder = move if _ROOTED.match(move) else posixpath.normpath(posixpath.join(folder, move))
    return folder


def _back(folder: str, moves: Sequence[str | None]) -> str | None:
    """The folder from which these moves led here."""
    for move in reversed(moves):
        steps = posixpath.normpath(move or "..")
        if _ROOTED.match(steps) or steps.startswith("..") or not f"{folder}/".endswith(f"/{steps}/"):
            return None
        folder = folder.removesuffix(f"/{steps}") or "/"
    return folder
