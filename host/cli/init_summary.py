"""What `init` is about to do, in short: which products, which files, how many lines, and what runs."""

import os
from collections.abc import Iterable, Iterator, Sequence

from host.namespace import REPOSITORY_FOLDER, SCRIPT, name
from host.setup import REGISTRARS, settings_file
from host.setup.edits import Edit, Edits
from host.setup.gather import TRACKED, TRACKED_TOKEN, Gathered, Scene
from host.setup.port import Door
from host.setup.registrar import Entry
from host.setup.repository_files import MEMORY

NOTHING_ELSE = "Nothing else is touched: nothing is staged or committed, and what others wrote stays as it is."


def summary(scene: Scene, hosts: Sequence[str], gathered: Gathered, edits: Edits, door: Door | None) -> Iterator[str]:
    """The lines of it. `edits`: all that is written, our own configuration with it; `door`: None for a removal."""
    titles = ", ".join(REGISTRARS[host].TITLE for host in hosts)
    where = "all your projects" if scene.level == "user" else f"the project {scene.places.repository}"
    yield f"{'Connects' if door is not None else 'Takes back'} {titles} for {where}."
    changed = [edit for edit in edits.files if edit.differs]
    for host in hosts:
        yield from _section(REGISTRARS[host].TITLE, (edit for edit in changed if edit.host == host), edits.secrets)
    yield from _section("Git", (edit for edit in changed if not edit.host and not edit.holds), edits.secrets)
    yield from _section("The repository's memory", (edit for edit in changed if edit.holds == MEMORY), edits.secrets)
    own = list(_own(edits, door))
    yield from ("", name(), *own) if own else ()
    yield from _section("", (edit for edit in changed if edit.holds == "configuration"), edits.secrets)
    yield ""
    for left in gathered.left:
        instead = f" For all your projects: {SCRIPT} init --host {left.host} --level user"
        is_tracked = left.why in (TRACKED, TRACKED_TOKEN) and scene.level == "project"
        yield f"Left alone: {left.path}: {left.why}.{instead if is_tracked else ''}"
    if door is not None and any(edit.record for edit in changed):
        yield f"Files as they are now are kept in {scene.records.folder}."
    memory = scene.places.repository / REPOSITORY_FOLDER / "memory"
    if door is None and scene.level == "project" and edits.folder is None and memory.is_dir():
        yield f"The memory in {memory} stays: it belongs to the repository."
    yield NOTHING_ELSE


def _section(title: str, edits: Iterable[Edit], secrets: Sequence[str]) -> Iterator[str]:
    for number, edit in enumerate(edits):
        if number == 0 and title:
            yield ""
            yield title
        yield from _about(edit, secrets)


def _about(edit: Edit, secrets: Sequence[str]) -> Iterator[str]:
    act = "create" if edit.before is None else "remove" if edit.after is None else "change"
    plus, minus = lines_of(edit, secrets)
    yield f"  {act}  {settings_file.shown(edit.path)}  (lines: +{plus} -{minus})"
    yield from (f"            {line}" for line in entries(edit.entries))
    if edit.private and edit.after is not None:
        yield "            readable by you alone from then on, as it holds a token"
    if not edit.host and not edit.holds and edit.after is not None:
        yield "            the list of files that git leaves out, which is yours alone"
    yield from (f"            {line}" for line in edit.about)
    if edit.holds == "trust":
        yield "            what Codex was told to trust of our hooks, which change"


def lines_of(edit: Edit, secrets: Sequence[str] = ()) -> tuple[int, int]:
    """How many lines come and go."""
    told = settings_file.diff(edit.path, edit.before, edit.after, secrets).splitlines()[2:]
    return sum(line.startswith("+") for line in told), sum(line.startswith("-") for line in told)


def entries(found: Sequence[Entry]) -> Iterator[str]:
    """Each kind of entry once: the events, and what is run or called at them."""
    at = dict[str, list[str]]()
    for entry in found:
        what = {"mcp": "MCP server", "plugin": "plugin"}.get(entry.kind, entry.what)
        at.setdefault(_runs(entry), []).append(what)
    for runs, events in at.items():
        yield f"{', '.join(dict.fromkeys(events))}: {runs}"


def _runs(entry: Entry) -> str:
    if entry.kind != "command":
        return entry.line
    return " ".join(path for path in entry.paths if os.path.isfile(path)) or "a command"


def _own(edits: Edits, door: Door | None) -> Iterator[str]:
    """Our own files."""
    if edits.folder is not None:
        yield f"  {'create' if edits.folder.makes else 'remove'}  the folder {edits.folder.path}"
    if door is not None and door.old is not None:
        yield f"  change  the port of the hooks, from {door.old[0]} to {door.port}, and their token"
    elif door is not None and edits.also:
        yield f"  create  the port of the hooks, {door.port} on 127.0.0.1, and their token"
