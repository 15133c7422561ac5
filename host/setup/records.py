"""What `init` keeps about each settings file while our entries are in it: the bytes from before, and what it made.

In the state folder, for its owner alone: `settings/ID.before` holds the file as it was, `settings/ID.json` the rest.
Both go when our entries are taken back. Without them a removal still finds every entry by its mark.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from host.errors import ConfigFault
from host.setup import settings_file
from recall.contracts import Frozen


class Record(Frozen, frozen=True, kw_only=True):
    """One settings file. `digest`: of the text that we left there last; `origin`: of the text from before, empty: there
    was no file, and `mode` is None; `mode`: its permissions then; `made`: the folders that we made for it, the
    outermost first."""

    path: str
    host: str
    level: str
    repository: str
    digest: str
    origin: str = ""
    mode: int | None = None
    made: tuple[str, ...] = ()


class Records:
    """The records of one installation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, path: Path) -> Record | None:
        """The record of a file. One that is damaged is none."""
        return _decoded(self._file(path))

    def before(self, path: Path) -> str | None:
        """The file as it was before our first change; None when it was not there, or is not known for sure."""
        record, text = self.get(path), settings_file.read(self._before(path))
        known = record is not None and text is not None and digest(text) == record.origin
        return text if known else None

    def keep(self, record: Record, before: str | None) -> None:
        """Write a record with the text from before. Raises ConfigFault."""
        path = Path(record.path)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigFault(f"{self.folder} cannot be made: {error.strerror}.", "Check its owner.") from error
        settings_file.put(self._before(path), before, settings_file.PRIVATE_MODE)
        origin = "" if before is None else digest(before)
        written = msgspec.json.encode(msgspec.structs.replace(record, origin=origin)).decode()
        settings_file.put(self._file(path), written, settings_file.PRIVATE_MODE)

    def drop(self, path: Path) -> None:
        """Forget a file."""
        settings_file.put(self._file(path), None)
        settings_file.put(self._before(path), None)

    def all(self) -> Iterator[Record]:
        """Every record, by path."""
        found = (_decoded(file) for file in sorted(self.folder.glob("*.json")))
        yield from sorted((record for record in found if record is not None), key=lambda record: record.path)

    def _file(self, path: Path) -> Path:
        return self.folder / f"{_id(path)}.json"

    def _before(self, path: Path) -> Path:
        return self.folder / f"{_id(path)}.before"


def digest(text: str) -> str:
    """What a text is recognised by."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _id(path: Path) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:24]


def _decoded(file: Path) -> Record | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=Record)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
