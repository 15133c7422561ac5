"""Which workspace a folder is, also after it was moved. Kept in the `setting` table.

A workspace's key comes from the path of its repository (`recall/workspace.py`). A repository that is found in another
place keeps the key it had, and with it its memories and its settings: when its old place is empty or holds another
repository, and the files that git wrote when it was made bear the same times to the nanosecond. A copy has an original
that is still there; a new repository in an old place has other times. One folder under two spellings, on a disk that
tells no case apart or by a bind mount, is one workspace. A folder outside git cannot be recognised once it was moved.
"""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec

from recall.canonical import short_id
from recall.contracts import Database, Frozen
from recall.workspace import common_directory, workspace_key

PREFIX = "place:"
LASTING = ("description", "hooks")  # git writes them once, when it makes a repository
FORMER = 8  # places where a workspace was before that are remembered
CACHED = 4096


class Place(Frozen, frozen=True, kw_only=True):
    """Where a workspace is. `common`: git's common directory, or the folder itself; empty where there is none any more.
    `stamp`: what its making left; empty where it left nothing. `former`: where it was before, last first."""

    key: str
    common: str
    stamp: str = ""
    former: tuple[str, ...] = ()


class Places:
    """Workspaces by folder. `same`: whether two paths that exist are one folder."""

    def __init__(
        self, database: Database, held: dict[str, Place], same: Callable[[str, str], bool] = os.path.samefile
    ) -> None:
        self._database = database
        self._held = held
        self._same = same
        self._keys: dict[str, str] = {}

    def key(self, path: str, *, again: bool = False) -> str:
        """The workspace key of a folder, which need not exist any more. Blocks on the disk. `again`: look anew, for a
        folder may have become a repository, or another one."""
        known = None if again else self._keys.get(path)
        if known is None:
            known = self._find(path).key if _is_path(path) else workspace_key(path)
            if len(self._keys) >= CACHED:
                self._keys.clear()
            self._keys[path] = known
        return known

    async def note(self, path: str) -> None:
        """Remember where the workspace of this folder is, so that it is known again elsewhere."""
        place = self._find(path) if _is_path(path) else None
        if place is None or not place.common or self._held.get(place.key) == place:
            return
        self._held[place.key] = place
        self._keys.clear()  # another folder may stand where this one was
        row = (PREFIX + place.key, msgspec.json.encode(place))
        statement = "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)"
        await self._database.write(lambda connection: connection.execute(statement, row))

    def _find(self, path: str) -> Place:
        """The workspace of a folder, as it is to be remembered."""
        common, raw = str(common_directory(path) or os.path.realpath(path)), workspace_key(path)
        if not os.path.exists(common):
            return self._gone(common, raw)
        stamp = stamp_of(common)
        here = self._here(common, raw, stamp)
        if here is not None and stamp in ("", here.stamp):
            return msgspec.structs.replace(here, stamp=stamp)
        for place in self._held.values():  # another one may stand where this one was: two can change places
            if stamp and place.stamp == stamp and (not os.path.exists(place.common) or stamp_of(place.common) != stamp):
                former = (place.common, *(each for each in place.former if each != common))[:FORMER]
                return Place(key=place.key, common=common, stamp=stamp, former=former)
        if here is not None:  # made anew where it was: the same project
            return msgspec.structs.replace(here, stamp=stamp)
        if raw in self._held:  # that workspace is elsewhere by now: what stands in its old place is another one
            return Place(key=short_id("ws_", {"folder": raw, "made": stamp}), common=common, stamp=stamp)
        return Place(key=raw, common=common, stamp=stamp)

    def _here(self, common: str, raw: str, stamp: str) -> Place | None:
        """The workspace that was last seen in this place, the one with this stamp before any other."""
        held = self._held.get(raw)
        if held is not None and held.common == common and held.stamp == stamp:
            return held
        seen = [place for place in self._held.values() if self._is_at(place, common)]
        first = held if held in seen else next(iter(seen), None)
        return next((place for place in seen if place.stamp == stamp), first)

    def _is_at(self, place: Place, common: str) -> bool:
        return place.common == common or (os.path.exists(place.common) and self._same(place.common, common))

    def _gone(self, path: str, raw: str) -> Place:
        """The workspace that was at a path where nothing is any more, as events of the past name it."""
        for place in self._held.values():
            for was in (place.common, *place.former):
                top = was.removesuffix(f"{os.sep}.git")
                if path == top or path.startswith(f"{top}{os.sep}"):
                    return place
        return Place(key=raw, common="")


def _is_path(path: str) -> bool:
    """Whether a text can name a folder of this machine."""
    return os.path.isabs(path) and "\0" not in path


def stamp_of(common: str) -> str:
    """What the making of a repository left in its common directory: names, sizes and times of change. Empty outside
    git, and where a template left none of them."""
    if not os.path.isfile(Path(common, "HEAD")):
        return ""
    left: list[str] = []
    for name in LASTING:
        entry = Path(common, name)
        try:
            files = sorted(entry.iterdir()) if entry.is_dir() else [entry]
            left += [f"{each.name}:{each.lstat().st_size}:{each.lstat().st_mtime_ns}" for each in files if _made(each)]
        except OSError:
            continue
    return short_id("st_", {"left": left}) if left else ""


def _made(file: Path) -> bool:
    """Hooks that somebody added later tell nothing of how the repository was made."""
    return file.name == "description" or file.suffix == ".sample"


async def load_places(database: Database) -> Places:
    """The stored places. One that this version cannot read is passed over: its path decides, as on the first day."""

    def work(connection: sqlite3.Connection) -> list[tuple[str, bytes]]:
        return connection.execute("SELECT name, value FROM setting WHERE name GLOB 'place:*'").fetchall()

    held: dict[str, Place] = {}
    for name, value in await database.read(work):
        try:
            held[name.removeprefix(PREFIX)] = msgspec.json.decode(value, type=Place)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    return Places(database, held)
