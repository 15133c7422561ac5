"""Edits of files: shown, then written all or not at all. A file that changed since it was read is not written over."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from host.errors import ConfigFault, RemoraError
from host.setup import settings_file
from host.setup.records import Record, Records, digest
from host.setup.registrar import Entry, Level, SettingsFile, Wanted
from host.setup.settings_file import NEW_MODE, PRIVATE_MODE


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """One file: its text and permissions before and after; `after` None: it goes, `before` None: it is new.

    `record`: what to keep about it from then on, with `origin`, the text from before our first change; `forget`: what
    was kept and goes, with the folders that we made for it. `entries`: ours in it, those that come or those that go.
    `about`: for people, what the change comes to.
    """

    path: Path
    before: str | None
    after: str | None
    mode: int = NEW_MODE
    private: bool = False
    host: str = ""
    holds: str = ""
    record: Record | None = None
    origin: str | None = None
    forget: Record | None = None
    entries: tuple[Entry, ...] = ()
    about: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True, kw_only=True, slots=True)
class Folder:
    """A folder that comes (`makes`) or goes, with the one around it if nothing else is in there."""

    path: Path
    makes: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Edits:
    """Everything that one run of `init` writes, in the order of writing."""

    files: tuple[Edit, ...] = ()
    folder: Folder | None = None
    secrets: tuple[str, ...] = ()
    also: tuple[tuple[Callable[[], None], Callable[[], None]], ...] = field(default=())  # (do, undo)

    @property
    def differs(self) -> bool:
        return bool(self.folder or self.also or any(edit.differs for edit in self.files))

    def shown(self) -> str:
        """The difference of all files, with secrets left out."""
        return "".join(settings_file.diff(e.path, e.before, e.after, self.secrets) for e in self.files if e.differs)

    def check(self) -> None:
        """Raise ConfigFault when something could not be written."""
        for edit in self.files:
            if edit.differs:
                settings_file.check_writable(edit.path)

    def write(self, records: Records) -> None:
        """All of it, or nothing. Raises ConfigFault."""
        self.check()
        with ExitStack() as undo:
            for do, back in self.also:
                do()
                undo.callback(back)
            if self.folder is not None and self.folder.makes:
                made = settings_file.make_folders(self.folder.path / "x")
                undo.callback(settings_file.remove_folders, made)
            for edit in self.files:
                if edit.differs or edit.record or edit.forget:
                    _write(edit, records, undo)
            undo.pop_all()
        for edit in self.files:
            if edit.forget is not None:
                records.drop(edit.path)
                settings_file.remove_folders([Path(folder) for folder in edit.forget.made])
        if self.folder is not None and not self.folder.makes:
            settings_file.remove_folders([self.folder.path.parent, self.folder.path])


def connecting(file: SettingsFile, wanted: Wanted, records: Records, text: str | None, about: Record) -> Edit:
    """The edit that puts our entries into a file with this text. `about`: whose it is. Raises ConfigFault."""
    after = _named(file.path, lambda: file.plan(text, wanted))
    if after is None or after == text:
        return Edit(path=file.path, before=text, after=text, host=about.host, holds=file.holds)
    now = settings_file.mode_of(file.path)
    mode = now if now is not None else (PRIVATE_MODE if file.private else NEW_MODE)
    kept = records.get(file.path)
    known = kept is not None and (records.before(file.path) is not None or kept.mode is None)
    if kept is None or not known or text is None or digest(text) != kept.digest:  # new, or somebody wrote there since
        origin = None if text is None else _without(file, text)
        made = kept.made if kept is not None else ()
        was = None if origin is None else (kept.mode if kept is not None and kept.mode is not None else now)
    else:
        origin, made, was = records.before(file.path), kept.made, kept.mode
    record = msgspec.structs.replace(about, path=str(file.path), digest=digest(after), mode=was, made=made)
    return Edit(
        path=file.path,
        before=text,
        after=after,
        mode=mode & PRIVATE_MODE if file.private else mode,
        private=file.private,
        host=about.host,
        holds=file.holds,
        record=record,
        origin=origin,
        entries=file.installed(after, None),
    )


def removing(file: SettingsFile, records: Records, text: str | None, host: str) -> Edit:
    """The edit that takes our entries out of a file with this text: its old bytes where nobody else changed it.

    Raises ConfigFault.
    """
    kept, now = records.get(file.path), settings_file.mode_of(file.path)
    origin = records.before(file.path)
    unchanged = text is not None and kept is not None and digest(text) == kept.digest
    if unchanged and kept is not None and (origin is not None or kept.mode is None):
        after = origin
    else:
        after = None if text is None else _named(file.path, lambda: file.remove(text))
    was = kept.mode if kept is not None and kept.mode is not None else now
    return Edit(
        path=file.path,
        before=text,
        after=after,
        mode=was if was is not None else NEW_MODE,
        host=host,
        holds=file.holds,
        forget=kept,
        entries=() if text is None else file.installed(text, None),
    )


def about(host: str, level: Level, repository: Path) -> Record:
    """A record that names whose a file is, and nothing yet of the file."""
    return Record(path="", host=host, level=level, repository=str(repository), digest="")


def secrets_of(files: Sequence[tuple[SettingsFile, str | None]]) -> tuple[str, ...]:
    """The tokens in entries of ours."""
    return tuple({entry.token: None for file, text in files for entry in file.installed(text, None) if entry.token})


def _without(file: SettingsFile, text: str) -> str | None:
    return _named(file.path, lambda: file.remove(text))


def _named(path: Path, act: Callable[[], str | None]) -> str | None:
    """What `act` answers; a fault of it names the file."""
    try:
        return act()
    except ConfigFault as fault:
        raise ConfigFault(f"{path}: {fault.problem}", fault.next_step) from fault


def _write(edit: Edit, records: Records, undo: ExitStack) -> None:
    path, before = edit.path, settings_file.read(edit.path)
    if before != edit.before:
        raise RemoraError(f"{path} was changed while you were asked. Nothing was written.", "Run it again.")
    made: tuple[Path, ...] = ()
    if edit.differs and edit.after is not None:
        made = settings_file.make_folders(path)
        undo.callback(settings_file.remove_folders, made)
    if edit.record is not None:
        _keep(edit, records, made, undo)
    if edit.differs or (edit.forget is not None and before is not None):
        mode = settings_file.mode_of(path)
        settings_file.put(path, edit.after, edit.mode)
        undo.callback(settings_file.put, path, before, mode if mode is not None else NEW_MODE)


def _keep(edit: Edit, records: Records, made: tuple[Path, ...], undo: ExitStack) -> None:
    assert edit.record is not None
    old, old_before = records.get(edit.path), records.before(edit.path)
    record = msgspec.structs.replace(edit.record, made=(*edit.record.made, *map(str, made)))
    records.keep(record, edit.origin)
    undo.callback(_restore, records, edit.path, old, old_before)


def _restore(records: Records, path: Path, record: Record | None, before: str | None) -> None:
    if record is None:
        records.drop(path)
    else:
        records.keep(record, before)
