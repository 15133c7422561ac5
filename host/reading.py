"""N-08 meets M-06: which records a tool's result covered, and whether it showed them as they are (invariant 4)."""

import asyncio
import fnmatch
import glob
import os
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from governance.evidence import WHOLE, Covered
from governance.screen import redact
from host.observer import GAP
from host.reads.plain import plain_shown
from host.reads.searches import names
from host.reads.shown import File, Span, merged, shown
from host.reads.windows import window_bytes
from recall.canonical import bytes_digest
from recall.contracts import EventPayload, MemoryLocator, PrintForm, Printing, ReadWindow, Segment, SegmentKind
from recall.files import LARGEST, Fresh, Read, Stale, coverage
from recall.importing import MARKDOWN
from recall.library import Library

MOST_FILES = 32  # memory files that one result is compared with
MOST_PATHS = 128  # names that are looked up in the index
LOOKED_AT = 4_096  # names that a pattern is compared with
REDACTED = 256 * 1024  # bytes of files that are screened to be compared with a screened output
_PLACEHOLDERS = ("[secret:", "[pii:")

Spans = tuple[Span, ...] | None  # None: the file does not read as it was shown
Meant = tuple[Printing, list[dict[str, str]]]  # a printing, and what its names may mean


def reads_files(payload: EventPayload) -> bool:
    """Whether a result may have shown memory files. No look-up, no I/O."""
    return payload.read is not None or bool(payload.reads or payload.printed)


def understood(payload: EventPayload, result: Segment, recent: Iterable[Segment], folder: str) -> EventPayload:
    """A result's payload, with what it showed of files also where only its call says what it was to show.

    `recent`: segments among which the call may be; `folder`: the session's workspace. Producers with an adapter of
    ours say it themselves.
    """
    if result.kind is not SegmentKind.RESULT or payload.tool is None:
        return payload
    calls = (one.text for one in recent if one.kind is SegmentKind.CALL and one.call_id == result.call_id)
    command = payload.args or (next(calls, "") if result.call_id is not None else "")
    return plain_shown(payload, "" if GAP in command else command, folder)


async def shown_by(library: Library, payload: EventPayload) -> list[Covered]:
    """Every record of which a result showed something, once each; those of changed files as not fresh."""
    windows = [*([payload.read] if payload.read else []), *payload.reads]
    found: dict[str, Covered] = {}
    for window in windows[:MOST_FILES]:
        _put(found, await covered(library, window))
    if payload.printed:
        _put(found, await _printed(library, payload.printed, payload.text))
    return list(found.values())


async def covered(library: Library, window: ReadWindow) -> list[Covered]:
    """Every record of the file that the window touches. A file without records costs one index look-up, no reading."""
    locators = await library.locators(window.path)
    if not locators:
        return []
    data = await asyncio.to_thread(_contents, window.path)
    if data is None:
        return []
    span = window_bytes(data, window)
    indexed = await _indexed(library, window.path, data)
    return _covered(locators, None if span is None else (span,), bytes_digest(data), indexed)


async def _printed(library: Library, printed: Sequence[Printing], text: str) -> list[Covered]:
    """What a command's output showed. A file that is not of the library is not opened."""
    named = await asyncio.to_thread(lambda: [choice for one in printed[:MOST_FILES] for choice in meant(one, text)])
    paths = dict.fromkeys(path for _, choices in named for choice in choices for path in choice.values())
    asked = list(islice(paths, MOST_PATHS))
    answers = zip(asked, await asyncio.gather(*map(library.locators, asked)), strict=True)
    located = dict(islice(((path, locators) for path, locators in answers if locators), MOST_FILES))
    if not located:
        return []
    files, spans = await asyncio.to_thread(_compared, named, tuple(located), text)
    indexed = await asyncio.gather(*(_indexed(library, path, files[path].data) for path in spans))
    return [
        one
        for digest, (path, ranges) in zip(indexed, spans.items(), strict=True)
        for one in _covered(located[path], ranges, bytes_digest(files[path].data), digest)
    ]


async def _indexed(library: Library, path: str, data: bytes) -> str | None:
    """The digest of the file as indexed. When it is another one, the index is asked to look at the file again."""
    indexed = await library.file_digest(path)
    if indexed != bytes_digest(data):
        await library.look_again(path)
    return indexed


def meant(printing: Printing, text: str, matching: Callable[[str, str], Iterable[str]] | None = None) -> list[Meant]:
    """A printing with the paths that its names may mean; one for each file where a pattern stands for several.

    `matching`: the names that a pattern stands for in a folder; the disk's, unless given.
    """
    match = matching or _matching
    bases = printing.bases or ("",)
    patterns = [path for path in printing.paths if glob.has_magic(path)]
    matched = list(dict.fromkeys(name for pattern in patterns for base in bases for name in match(base, pattern)))
    if printing.form is PrintForm.FOUND:
        paths = (*(path for path in printing.paths if path not in patterns), *matched)
        printing = msgspec.structs.replace(printing, paths=paths)
        several = [tuple(dict.fromkeys((*paths, *names(text))))]
    elif patterns and len(printing.paths) == 1:
        several = [(name,) for name in matched]
    else:
        several = [printing.paths]
    return [
        (
            printing if printing.form is PrintForm.FOUND else msgspec.structs.replace(printing, paths=each),
            _paths(printing, each),
        )
        for each in several
    ]


def _paths(printing: Printing, named: Iterable[str]) -> list[dict[str, str]]:
    """By name the absolute path, from each folder that the names may be meant from."""
    mentioned = [name for name in named if name.lower().endswith(MARKDOWN)]
    choices = [
        {name: path for name in mentioned if os.path.isabs(path := os.path.join(base, os.path.expanduser(name)))}
        for base in printing.bases or ("",)
    ]
    return [choice for place, choice in enumerate(choices) if choice and choice not in choices[:place]]


def _matching(base: str, pattern: str) -> list[str]:
    """The memory files of one folder that a pattern names, as the shell would; a folder is no pattern here."""
    folder, last = os.path.split(os.path.expanduser(pattern))
    try:
        with os.scandir(os.path.join(base, folder) or ".") as entries:
            found = [entry.name for entry in islice(entries, LOOKED_AT)]
    except (OSError, ValueError):
        return []
    hidden = last.startswith(".")
    matched = [name for name in fnmatch.filter(found, last) if hidden or not name.startswith(".")]
    named = (os.path.join(folder, name) for name in sorted(matched) if name.lower().endswith(MARKDOWN))
    return list(islice(named, MOST_FILES))


def _compared(named: Sequence[Meant], paths: Iterable[str], text: str) -> tuple[dict[str, File], dict[str, Spans]]:
    """The files, and by path what the output shows of them; None of one that does not read as it was printed."""
    contents = {path: data for path in paths if (data := _contents(path)) is not None}
    files = {path: File(path, data) for path, data in contents.items()}
    screened = any(sign in text for sign in _PLACEHOLDERS) and sum(map(len, contents.values())) <= REDACTED
    printed = [
        (one, [{name: files[path] for name, path in choice.items() if path in files} for choice in choices])
        for one, choices in named
    ]
    spans: dict[str, Spans] = {}
    for result in shown(printed, text, (lambda line: redact(line)[0]) if screened else None):
        for path, ranges in result.spans.items():
            spans[path] = merged((*(spans.get(path) or ()), *ranges))
        for path in result.stale:
            spans.setdefault(path, None)
    return files, spans


def _covered(locators: Iterable[MemoryLocator], spans: Spans, file_digest: str, indexed: str | None) -> list[Covered]:
    """The records that the spans touch; every record, and none of it fresh, when the file is not as it was shown."""
    found: list[Covered] = []
    for locator in locators:
        ratio, fresh = _share(locator, spans, file_digest, indexed)
        if ratio or not fresh:
            given = (locator.memory_id, locator.source_version, locator.record_digest)
            found.append(
                Covered(memory_id=given[0], source_version=given[1], record_digest=given[2], ratio=ratio, fresh=fresh)
            )
    return found


def _share(locator: MemoryLocator, spans: Spans, file_digest: str, indexed: str | None) -> tuple[int, bool]:
    """How much of a record was shown, in millionths, and whether as it is."""
    ratio = 0.0
    for span in spans or ():
        match coverage(Read(file_digest, *span), locator, indexed):
            case Fresh(ratio=part):
                ratio += part
            case Stale():
                return 0, False
    return (0, False) if spans is None else (round(ratio * WHOLE), True)


def _put(found: dict[str, Covered], more: Iterable[Covered]) -> None:
    """Of what was shown twice, that which shows more counts."""
    for one in more:
        known = found.get(one.memory_id)
        if known is None or (one.fresh, one.ratio) > (known.fresh, known.ratio):
            found[one.memory_id] = one


def _contents(path: str) -> bytes | None:
    """The file's bytes, if it is a plain file of a size that we index."""
    try:
        place = Path(path)
        if not place.is_file() or place.stat().st_size > LARGEST:
            return None
        return place.read_bytes()
    except OSError:
        return None
