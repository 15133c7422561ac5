"""How `init` says what it did, and what comes next: as text, or as JSON."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from host.cli.output import count_of, say, show_json
from host.namespace import SCRIPT
from host.setup import REGISTRARS, settings_file
from host.setup.edits import Edits
from host.setup.gather import Gathered, Scene, connected
from host.setup.port import Door
from host.setup.records import Record
from host.setup.registrar import Level


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run did. `door`: the port in the entries; None for a removal."""

    scene: Scene
    hosts: tuple[str, ...]
    gathered: Gathered
    edits: Edits
    door: Door | None
    remove: bool
    holdout: float | None
    driver: str | None = None

    @property
    def connects(self) -> bool:
        """Whether anything of a product's connection changed, and not only our own configuration."""
        ours = [edit for edit in self.edits.files if edit.differs and edit.holds != "configuration"]
        return bool(ours or self.edits.folder or self.edits.also)


def tell(done: Outcome) -> None:
    """What was done, and what comes next."""
    if not done.edits.differs:
        say("Nothing to change.")
    if done.connects and done.remove:
        say("Taken back.")
    elif done.connects:
        say(f"Done. Start a new session, then look with: {SCRIPT} audit follow")
        titles = ", ".join(_connected(done)) or "nothing"
        say(f"Connected: {titles}. Files as they were before are kept in {done.scene.records.folder}.")
    if done.holdout is not None and done.edits.differs:
        say(f"What is kept back changes with the daemon's next start: {SCRIPT} stop ends the one that runs.")
    if done.driver is not None and done.edits.differs:
        say(f"Who reads conversations changes with the daemon's next start: {SCRIPT} stop ends the one that runs.")
    for line in _still(done) if done.remove and done.connects else () if done.remove else _advice(done):
        say(line)


def show(done: Outcome, trusted: str | None, memory: bool | None = None) -> None:
    """The same for a program. `trusted`: how Codex takes our hooks, None where there is nothing to trust; `memory`:
    whether that of the repository is trusted, None where there is none or nobody answered."""
    answer: dict[str, object] = {
        "changed": done.edits.differs,
        "level": done.scene.level,
        "hosts": [_about(done, host) for host in done.hosts],
    }
    if done.door is not None and (done.edits.differs or not done.door.new):
        answer |= {"port": done.door.port, "portMoved": done.door.old is not None}
    if trusted is not None:
        answer["codexHooks"] = trusted
    if memory is not None:
        answer["memoryTrusted"] = memory
    if done.holdout is not None:
        answer["holdout"] = done.holdout
    if done.driver is not None:
        answer["driver"] = done.driver
    show_json(answer)


def _connected(done: Outcome) -> Iterator[str]:
    """The titles of the products of which not everything was left alone; what of them was is said."""
    left = {one.path for one in done.gathered.left}
    for host in _reached(done):
        files = REGISTRARS[host].files(done.scene.level, done.scene.places)
        kept = [file.holds for file in files if file.path in left]
        yield REGISTRARS[host].TITLE + (f" (without {', '.join(kept)})" if kept else "")


def _reached(done: Outcome) -> Iterator[str]:
    """The products of which not every file was left alone."""
    left = {one.path for one in done.gathered.left}
    for host in done.hosts:
        files = [f for f in REGISTRARS[host].files(done.scene.level, done.scene.places) if f.holds != "trust"]
        if any(file.path not in left for file in files):
            yield host


def _about(done: Outcome, host: str) -> dict[str, object]:
    changed = {edit.path for edit in done.edits.files if edit.differs}
    files = REGISTRARS[host].files(done.scene.level, done.scene.places)
    left = {one.path: one.why for one in done.gathered.left}
    return {
        "host": host,
        "found": list(REGISTRARS[host].detect(done.scene.places, shutil.which)),
        "files": [
            {"path": str(file.path), "holds": file.holds, "changed": file.path in changed}
            for file in files
            if file.path not in left and file.holds != "trust"
        ],
        "left": [{"path": str(file.path), "why": left[file.path]} for file in files if file.path in left],
        "notes": [] if done.remove else list(REGISTRARS[host].notes(done.scene.level, done.scene.places)),
    }


def _advice(done: Outcome) -> Iterator[str]:
    for one in done.gathered.unread:
        title = REGISTRARS[one.host].TITLE
        yield f"{title} does not read {one.path}: {one.why}. Nothing in it takes effect until that is mended."
    if done.door is not None and done.door.old is not None:
        moved = f"The hooks now use {done.door.port}, with a new token."
        yield f"Another program holds the port {done.door.old[0]}. {moved}"
        yield f"A daemon that runs has to start again: {SCRIPT} stop"
        others = list(_stale(done, done.door.old[1]))
        if others:
            yield f"{count_of(len(others), 'other file')} still name the old port. Bring them up to date:"
        yield from (f"  {_again(record)}" for record in others)
    if done.connects:
        yield from _twice(done)
        for host in _reached(done):
            yield from REGISTRARS[host].notes(done.scene.level, done.scene.places)


def _still(done: Outcome) -> Iterator[str]:
    """What is connected elsewhere, and how that is taken back."""
    records = (record for record in done.scene.records.all() if record.host in REGISTRARS)
    others = dict.fromkeys(f"{_again(record)} --remove" for record in records)
    if others:
        yield "Still connected, by settings elsewhere or of other products. To take those back:"
    yield from (f"  {command}" for command in others)


def _twice(done: Outcome) -> Iterator[str]:
    """The products that are connected at the other level, too."""
    other: Level = "user" if done.scene.level == "project" else "project"
    for host in connected(replace(done.scene, level=other)):
        if host in done.hosts:
            remove = f"{SCRIPT} init --host {host} --level {other} --remove"
            yield f"{REGISTRARS[host].TITLE} has the hooks twice now, at both levels. Take one back: {remove}"


def _stale(done: Outcome, token: str) -> Iterator[Record]:
    """The files of other projects that hold the old token."""
    ours = {str(edit.path) for edit in done.edits.files}
    for record in done.scene.records.all():
        if record.path not in ours and token in (settings_file.read(Path(record.path)) or ""):
            yield record


def _again(record: Record) -> str:
    place = "--level user" if record.level == "user" else f"--workspace {record.repository}"
    return f"{SCRIPT} init --host {record.host} {place}"
