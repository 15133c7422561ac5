"""Reading a root: which of its files changed, and what that means for the index. Runs on a worker thread (M-06)."""

import os
from collections.abc import Collection, Iterable, Mapping

import msgspec

from recall.canonical import bytes_digest
from recall.contracts import Frozen
from recall.documents import SUFFIXES, Document, Unreadable, read, scan, stamp
from recall.entries import OPEN, FileChange, Guard, Known, Place, Root, changed, is_document
from recall.indexing import KnownFile

BATCH_FILES, BATCH_BYTES = 256, 2 * 1024 * 1024  # taken in by one transaction


class Look(Frozen, frozen=True, kw_only=True):
    """What a look at a root saw: files whose stamp is news (in batches), files that are gone, and those passed over,
    with the reason."""

    news: tuple[tuple[str, ...], ...] = ()
    gone: tuple[str, ...] = ()
    passed_over: Mapping[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self.news or self.gone or self.passed_over)

    def count(self) -> int:
        """How many files have news."""
        return sum(map(len, self.news))


def place_of(path: str, inside: str = "") -> Place:
    """A root's place on disk. One that is, or is named like, a Markdown file is a single file."""
    real, top = os.path.realpath(path), os.path.realpath(inside) if inside else ""
    if os.path.isfile(real) or (real.endswith(SUFFIXES) and not os.path.isdir(real)):
        return Place(path=real, folder=os.path.dirname(real), file=os.path.basename(real), top=top)
    return Place(path=real, folder=real, top=top)


def placed(root: Root) -> Place | None:
    """Where a root lies; None when that is not inside of what it must not leave."""
    if root.inside and not lies_within(root.path, root.inside):
        return None
    return msgspec.structs.replace(place_of(root.path, root.inside), ours=not root.provider)


def lies_within(path: str, folder: str) -> bool:
    """Whether a path, its symlinks resolved, is the folder or below it."""
    real, top = os.path.realpath(path), os.path.realpath(folder)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)


def below(path: str, place: Place) -> str | None:
    """The path relative to the root, symlinks resolved; None when it is not of this root."""
    if "\0" in path or not path:
        return None
    real = os.path.realpath(path)
    if place.file is not None:
        return place.file if real == place.path else None
    start = place.folder.rstrip(os.sep) + os.sep
    return real.removeprefix(start) if real.startswith(start) else None


def emptied(place: Place) -> bool:
    """Whether a repository of ours is there and its memory folder is not: git removes a folder with its last file. A
    folder elsewhere that is missing may be a disk that is not mounted."""
    if not place.ours or not place.top or place.file is not None:
        return False
    there = os.path.isdir(place.folder) and os.path.realpath(place.folder) == place.folder
    return not there and os.path.exists(os.path.join(place.top, ".git"))


def look(
    place: Place, known: Mapping[str, KnownFile], only: Collection[str] | None, most: int | None = None
) -> Look | None:
    """Compare stamps with the index; of the files named in `only`, or of all (at most `most`). None: the root itself is
    missing; that of a repository whose checkout has none is empty."""
    if place.file is not None:
        now = stamp(place.folder, place.file)
        gone: dict[str, str] | None = {} if known and os.path.isdir(place.folder) else None
        seen, passed_over = ({place.file: now} if now else gone), {}
    elif only is None:
        found = scan(place.folder, most)
        seen, passed_over = (dict(found.files), dict(found.passed_over)) if found else (None, {})
    else:
        stamps = {name: now for name in only if (now := stamp(place.folder, name)) is not None}
        seen, passed_over = stamps if os.path.isdir(place.folder) else None, {}
    if seen is None:
        if not emptied(place):
            return None
        seen = {}
    if place.ours:
        seen = {name: now for name, now in seen.items() if not is_document(name)}
    asked = known.keys() if only is None else known.keys() & set(only)
    return Look(
        # A file that is named has news to tell, whatever its stamp: two edits within one tick look alike.
        news=_batches({name: now for name, now in seen.items() if only or _differs(known.get(name), now)}),
        gone=tuple(sorted(asked - seen.keys() - passed_over.keys())),
        passed_over={name: why for name, why in passed_over.items() if name not in known or known[name].refused != why},
    )


def take(
    place: Place,
    root: Root,
    names: Iterable[str],
    known: Mapping[str, tuple[KnownFile | None, Mapping[str, Known]]],
    guard: Guard = OPEN,
) -> list[FileChange]:
    """Read files and compare them with what the index holds of each: (its file row, its records)."""
    changes: list[FileChange] = []
    for name in names:
        file, records = known[name]
        found = read(place.folder, name, alone=root.shared)
        if isinstance(found, Unreadable) and found.reason == "gone":
            continue  # between the look and the reading: the next look says so
        if isinstance(found, Document) and file and file.stamp and bytes_digest(found.data) == file.digest:
            if file.stamp != found.stamp:
                changes.append(FileChange(name, file.digest, found.stamp, same=True))
            continue
        changes.append(changed(found, stamp(place.folder, name) or "", place.home(root, name), records, guard))
    return changes


def changed_since(place: Place, stamps: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Of files with the stamps that the index has of them: those that read otherwise now, and those that are gone."""
    now = {name: stamp(place.folder, name) for name in sorted(stamps)}
    other = [name for name, seen in now.items() if seen is not None and seen != stamps[name]]
    return other, [name for name, seen in now.items() if seen is None]


def passed(reasons: Mapping[str, str]) -> list[FileChange]:
    """Files that are passed over, as the index notes them."""
    return [FileChange(name, "", "", refused=reason) for name, reason in sorted(reasons.items())]


def still_gone(place: Place, names: Iterable[str]) -> list[str]:
    """Of files that were not there when the root was looked at, those that are not there now either."""
    return [name for name in names if stamp(place.folder, name) is None]


def _batches(stamps: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """The names in order, in groups of bounded number and size."""
    groups: list[list[str]] = []
    size = 0
    for name in sorted(stamps):
        own = int(stamps[name].partition(":")[0])
        if not groups or len(groups[-1]) == BATCH_FILES or size + own > BATCH_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(name)
        size += own
    return tuple(map(tuple, groups))


def _differs(known: KnownFile | None, now: str) -> bool:
    return known is None or known.stamp != now
