"""`edit`: a person changes a memory, in an editor or by options. The write is refused when someone else changed the
memory meanwhile, and whatever goes wrong, the person's text stays in a file that the message names.
"""

import sys
from pathlib import Path
from typing import TypedDict, Unpack

import click

from host.cli import drafts, sheet
from host.cli.known import memory_argument
from host.cli.link import ask
from host.cli.memory_answers import Edited, Shown
from host.cli.output import json_option, say, show_json, workspace_option
from host.cli.review import principal
from host.cli.sheet import Sheet
from host.cli.wording import folder, tell_risk, tell_screening
from host.client import Refused
from host.config import environment
from host.errors import RemoraError
from host.namespace import SCRIPT
from recall.contracts import MemoryKind, MemoryLocator, RecordState

NOTE = """{memory_id}. Its title, tags and kind stand above the second line of dashes, its text below.
Save and close to keep the change; close without saving to leave all as it is."""


class Asked(TypedDict):
    """Which memory is meant, and the digest of what the person saw of it."""

    memoryId: str  # as on the wire
    workspace: str
    expected: str


class Change(TypedDict):
    """What options may say in place of an editor."""

    text: str | None
    title: str | None
    tags: tuple[str, ...]
    kind: str | None
    file: Path | None


@click.command()
@memory_argument
@workspace_option
@click.option("--text", help="Its new text; - reads it from standard input.")
@click.option("--title", help="Its new title; an empty one takes the title away.")
@click.option("--tag", "tags", multiple=True, help="Its new tags, in place of all; an empty one takes them away.")
@click.option("--kind", type=click.Choice([str(kind) for kind in MemoryKind]), help="Its new kind.")
@click.option(
    "--from",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A sheet that an earlier edit left behind.",
)
@json_option
def edit(memory_id: str, workspace: Path, as_json: bool, **change: Unpack[Change]) -> None:
    """Change a memory, in your editor or by options.

    Without options opens $VISUAL or $EDITOR. When the memory was changed by someone else meanwhile, nothing is written
    and your text is kept in a file.

    \b
    Examples:
      remora-pre edit mem_0123456789abcdef0123456789abcdef
      remora-pre edit mem_0123456789abcdef0123456789abcdef --title "Tests" --tag ci
    """
    if change["file"] is not None and any(value for name, value in change.items() if name != "file"):
        raise click.UsageError("--from stands alone: the sheet says it all.")
    found = ask("memory.get", {"memoryId": memory_id, "workspace": folder(workspace)}, Shown)
    locator = _own(found)
    asked: Asked = {"memoryId": memory_id, "workspace": folder(workspace), "expected": locator.record_digest}
    before = sheet.of_record(found.record)
    if change["file"] is not None:
        done = _write(asked, before, _read(change["file"], memory_id), change["file"])
    elif any(value not in (None, ()) for value in change.values()):
        done = _write(asked, before, _by_options(before, change), None)
    else:
        done = _in_editor(asked, before)
    if as_json:
        show_json(done)
        return
    say(f"{memory_id} is changed." if done.changed else "Nothing was changed.")
    tell_screening(done.redacted, quarantined=done.quarantined)
    if done.changed:
        tell_risk(done.risk_level, memory_id)


def _own(found: Shown) -> MemoryLocator:
    """Where the memory stands. Raises RemoraError when it has no marker of its own: then its file is a person's."""
    if found.locator is None or found.record.state != RecordState.ANCHORED:
        place = "" if found.locator is None else f" in {found.locator.source_file}, line {found.locator.line_start},"
        raise RemoraError(
            f"{found.record.memory_id} stands{place} without a marker of its own, and is only read.",
            "Edit the file itself.",
        )
    return found.locator


def _by_options(before: Sheet, change: Change) -> Sheet:
    text, kind = change["text"], change["kind"]
    if text is not None:
        text = (sys.stdin.read() if text == "-" else text).strip("\n")
        if not text.strip():
            raise click.UsageError(f"There is no text. To remove the memory: {SCRIPT} forget MEMORY")
    return Sheet(
        text=before.text if text is None else text,
        title=before.title if change["title"] is None else " ".join(change["title"].split()),
        tags=tuple(tag for tag in change["tags"] if tag.strip()) if change["tags"] else before.tags,
        kind=before.kind if kind is None else MemoryKind(kind),
    )


def _in_editor(asked: Asked, before: Sheet) -> Edited:
    """Open the sheet in the person's editor. Its file goes once it is not needed: left as it was, or written."""
    if not (sys.stdin.isatty() or {"VISUAL", "EDITOR"} & environment().keys()):
        raise click.UsageError("There is no terminal for an editor. Use --text, --title, --tag or --kind.")
    document = sheet.write(before, NOTE.format(memory_id=asked["memoryId"]))
    file = drafts.keep(asked["memoryId"], document)
    try:
        click.edit(filename=str(file))
    except click.ClickException as error:
        problem = f"The editor did not end well: {error.message.rstrip('.')}. Nothing was written."
        raise RemoraError(problem, "Set $VISUAL or $EDITOR, or use --text, --title, --tag or --kind.") from error
    finally:
        untouched = file.read_bytes() == document.encode()
        if untouched:
            drafts.discard(file)
        elif sys.exc_info()[0] is not None:
            say(f"What you wrote is kept in {file}.", err=True)
    if untouched:
        return Edited(memory_id=asked["memoryId"], changed=False)
    return _write(asked, before, _read(file, asked["memoryId"]), file)


def _read(file: Path, memory_id: str) -> Sheet:
    try:
        found = sheet.read(file.read_bytes().decode("utf-8-sig"))
    except (UnicodeDecodeError, sheet.Unreadable) as error:
        why = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise RemoraError(
            f"The sheet {file} cannot be used: {why}. Nothing was written.",
            f"Correct it, then: {SCRIPT} edit {memory_id} --from {file}",
        ) from error
    if not found.text.strip():
        raise RemoraError(
            f"The sheet {file} holds no text. Nothing was written.",
            f"To remove the memory: {SCRIPT} forget {memory_id}",
        )
    return found


def _write(asked: Asked, before: Sheet, after: Sheet, file: Path | None) -> Edited:
    """Ask the daemon for the change. When it does not happen, the sheet stays in `file` or is put into a new one."""
    every = {
        "text": (before.text, after.text),
        "title": (before.title, after.title or None),
        "tags": (before.tags, after.tags),
        "kind": (before.kind, after.kind),
    }
    changed = {name: new for name, (old, new) in every.items() if (old or None) != (new or None)}
    done = Edited(memory_id=asked["memoryId"], changed=False)
    if changed:
        try:
            done = ask("memory.edit", {**asked, **changed, "principal": principal()}, Edited)
        except (RemoraError, KeyboardInterrupt) as error:
            kept = file or drafts.keep(asked["memoryId"], sheet.write(after, NOTE.format(memory_id=asked["memoryId"])))
            raise _not_written(error, asked["memoryId"], kept) from error
    if file is not None:
        drafts.discard(file)
    return done


def _not_written(error: BaseException, memory_id: str, kept: Path) -> RemoraError:
    again = f"{SCRIPT} edit {memory_id} --from {kept}"
    if isinstance(error, Refused) and error.kind == "conflict":
        return RemoraError(
            f"{memory_id} was changed by someone else meanwhile. Nothing was written; your text is kept in {kept}.",
            f"Look at it with `{SCRIPT} show {memory_id}`. If yours is to hold: {again}",
        )
    why = str(error) or "You stopped it before the answer came."
    return RemoraError(f"{why} Your text is kept in {kept}.", f"To try again: {again}")
