"""What one run of `init` would write for some products: read here, shown and written elsewhere."""

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from host.errors import ConfigFault
from host.setup import REGISTRARS, settings_file
from host.setup.edits import Edit, about, connecting, removing, secrets_of
from host.setup.exclude import checkouts, exclude_path, with_line, without_line
from host.setup.json_entries import unread as not_read
from host.setup.records import Records, digest
from host.setup.registrar import Level, Places, SettingsFile, Wanted
from host.setup.tracked import tracked
from recall.workspace import repository_root

TRACKED = "git tracks it, and the entries name paths of this machine"
TRACKED_TOKEN = "git tracks it, and the entries hold a token"
NO_HTTP = "the configuration says `http = false`, and these hooks are http hooks"


@dataclass(frozen=True, kw_only=True, slots=True)
class Left:
    """A file that is left alone, and why."""

    host: str
    path: Path
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """Where `init` works. `http`: the daemon listens on loopback."""

    level: Level
    places: Places
    records: Records
    http: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """The edits, what is left alone, the tokens in what is there, and files that a product cannot read as they are."""

    edits: tuple[Edit, ...]
    left: tuple[Left, ...] = ()
    secrets: tuple[str, ...] = ()
    unread: tuple[Left, ...] = ()


def connect(hosts: Sequence[str], scene: Scene, wanted: Wanted) -> Gathered:
    """What would be written to connect these products. Raises ConfigFault."""
    listed = functools.cache(tracked)  # an index may have a hundred thousand entries
    left, taken, unread = list[Left](), list[tuple[str, SettingsFile]](), list[Left]()
    for host, file in _files(hosts, scene):
        why = _why_left(file, scene, listed)
        if why and file.holds != "trust":
            left.append(Left(host=host, path=file.path, why=why))
        else:
            taken.append((host, file))
            text = settings_file.read(file.path)
            if text and (why := not_read(text, file.refuses - {"blank"})):  # which we fill
                unread.append(Left(host=host, path=file.path, why=f"it {why}"))

    def edit(host: str, file: SettingsFile, text: str | None) -> Edit:
        named = about(host, scene.level, scene.places.repository)
        return connecting(file, wanted, scene.records, text, named)

    edits = _chained(taken, edit)
    return Gathered(
        edits=(*_listed(edits, scene), *edits), left=tuple(left), secrets=_secrets(taken), unread=tuple(unread)
    )


def take_back(hosts: Sequence[str], scene: Scene) -> Gathered:
    """What would be written to disconnect these products. Raises ConfigFault."""
    files = list(_files(hosts, scene))

    def edit(host: str, file: SettingsFile, text: str | None) -> Edit:
        return removing(file, scene.records, text, host)

    edits = _chained(files, edit)
    return Gathered(edits=(*reversed(edits), *_unlisted(files, scene)), secrets=_secrets(files))


def connected(scene: Scene) -> tuple[str, ...]:
    """The products in whose files at this level something of ours stands. A file that cannot be read is judged by what
    was kept about it."""
    here = (host for host, file in _files(tuple(REGISTRARS), scene) if file.holds != "trust" and _is_ours(file, scene))
    return tuple(dict.fromkeys(here))


def _is_ours(file: SettingsFile, scene: Scene) -> bool:
    if scene.records.get(file.path) is not None:
        return True
    try:
        return bool(file.installed(settings_file.read(file.path), None))
    except ConfigFault:
        return False


def _files(hosts: Sequence[str], scene: Scene) -> Iterator[tuple[str, SettingsFile]]:
    for host in hosts:
        for file in REGISTRARS[host].files(scene.level, scene.places):
            yield host, file


def _why_left(file: SettingsFile, scene: Scene, listed: Callable[[Path], frozenset[str]]) -> str:
    """Why a file is not for our entries: it, or what it leads to, is tracked by a git repository."""
    if file.private and not scene.http:
        return NO_HTTP
    if file.private or scene.level == "project":
        for path in (file.path, Path(os.path.realpath(file.path))):
            place = _place(path)
            if place is not None and place[1] in listed(place[0]):
                return TRACKED_TOKEN if file.private else TRACKED
    return ""


def _chained(
    files: Sequence[tuple[str, SettingsFile]], make: Callable[[str, SettingsFile, str | None], Edit]
) -> list[Edit]:
    """The edits; where two products share a file, by a link for one, a single edit does both."""
    made = dict[str, Edit]()
    for host, file in files:
        place = os.path.realpath(file.path)
        before = made.get(place)
        if before is None:
            made[place] = make(host, file, settings_file.read(file.path))
            continue
        edit = make(host, file, before.after)
        record = before.record or edit.record
        if record is not None and edit.after is not None:
            record = msgspec.structs.replace(record, digest=digest(edit.after))
        mode = min(before.mode, edit.mode)
        holds, entries = f"{before.holds}, {edit.holds}", (*before.entries, *edit.entries)
        made[place] = replace(before, after=edit.after, record=record, mode=mode, holds=holds, entries=entries)
    return list(made.values())


def _secrets(files: Sequence[tuple[str, SettingsFile]]) -> tuple[str, ...]:
    return secrets_of([(file, settings_file.read(file.path)) for _, file in files])


def _listed(edits: Sequence[Edit], scene: Scene) -> tuple[Edit, ...]:
    """Git's private lists with the files that hold the token, wherever a link leads, and those of the project that we
    make."""
    lists = dict[Path, tuple[str | None, str | None]]()
    for edit in edits:
        kept = edit.record or scene.records.get(edit.path)
        ours = edit.private or (scene.level == "project" and kept is not None and kept.mode is None)
        place = _place(Path(os.path.realpath(edit.path))) if ours else None
        path = exclude_path(place[0]) if place is not None else None
        if place is not None and path is not None:
            before, after = lists.get(path) or (settings_file.read(path),) * 2
            lists[path] = before, with_line(after, f"/{place[1]}")
    return tuple(_list_edit(path, before, after, scene) for path, (before, after) in lists.items())


def _list_edit(path: Path, before: str | None, after: str | None, scene: Scene) -> Edit:
    record = None
    if before is None and after is not None:
        named = about("git", scene.level, scene.places.repository)
        record = msgspec.structs.replace(named, path=str(path), digest=digest(after))
    return Edit(path=path, before=before, after=after, mode=_mode(path), record=record)


def _unlisted(files: Sequence[tuple[str, SettingsFile]], scene: Scene) -> tuple[Edit, ...]:
    """Git's private lists without these files, but for those that another checkout of the repository needs."""
    lists = dict[Path, tuple[str | None, str | None]]()
    for _, file in files:
        place = _place(Path(os.path.realpath(file.path))) if file.holds != "trust" else None
        path = exclude_path(place[0]) if place is not None else None
        if place is None or path is None:
            continue
        root, name = place
        before, after = lists.get(path) or (settings_file.read(path),) * 2
        needed = any(scene.records.get(other / name) for other in checkouts(root))
        lists[path] = before, after if needed else without_line(after, f"/{name}")
    return tuple(_unlist_edit(path, before, after, scene) for path, (before, after) in lists.items())


def _unlist_edit(path: Path, before: str | None, after: str | None, scene: Scene) -> Edit:
    kept = scene.records.get(path)
    if after or kept is None:
        return Edit(path=path, before=before, after=after, mode=_mode(path))
    return Edit(path=path, before=before, after=None, forget=kept)


def _place(path: Path) -> tuple[Path, str] | None:
    """The checkout that a path lies in, and the path below its top, with slashes; None outside git."""
    folder = next(folder for folder in path.parents if folder.is_dir())
    root = repository_root(str(folder))
    return (root, path.relative_to(root).as_posix()) if root is not None and path.is_relative_to(root) else None


def _mode(path: Path) -> int:
    mode = settings_file.mode_of(path)
    return mode if mode is not None else settings_file.NEW_MODE
