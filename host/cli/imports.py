"""`import`: Markdown files of others become memories. Running it again takes in only what is new; stopping it half way
leaves whole batches behind, and the next run takes the rest."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
import msgspec

from governance.screen import is_instruction_like, redact
from host.cli.bars import bar
from host.cli.gathering import Gathered, Unusable, gather
from host.cli.history import import_history
from host.cli.link import ask
from host.cli.memory_answers import Imported
from host.cli.output import count_of, existing_workspace_option, json_option, say, show_json, unbroken
from host.cli.tables import one_line, print_line
from host.cli.wording import folder
from host.errors import RemoraError
from host.namespace import SCRIPT
from recall.contracts import Frozen, MemoryKind, Millis
from recall.importing import Draft, Taken, read_drafts

BATCH_RECORDS = 256
BATCH_BYTES = 480_000  # as JSON: the daemon takes frames of 1 MiB
LONGEST_SOURCE = 128
REFUSED_SHOWN = 20


class Item(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    """A memory as it goes to the daemon, its secrets taken out."""

    text: str
    source: str
    title: str | None = None
    tags: tuple[str, ...] = ()
    kind: MemoryKind = MemoryKind.SEMANTIC
    created_at: Millis | None = None


class NotTaken(Frozen, frozen=True, kw_only=True):
    """A place in a file that was not taken, and why; `line` 0: the whole file."""

    file: str
    line: int
    problem: str


class Preview(Frozen, frozen=True, kw_only=True):
    """A memory that would be taken."""

    file: str
    line: int
    kind: str
    text: str
    title: str | None = None
    tags: tuple[str, ...] = ()
    quarantined: bool = False


class Report(Frozen, frozen=True, kw_only=True):
    """What became of an import. `redacted`: how many secrets of each family were taken out. `memories`: what would be
    taken, in a dry run only."""

    dry_run: bool
    files: int
    imported: int
    duplicates: int
    quarantined: int
    left_out: int
    redacted: dict[str, int]
    refused: tuple[NotTaken, ...]
    memories: tuple[Preview, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """What has come of an import so far."""

    counts: Counter[str] = field(default_factory=Counter)
    redacted: Counter[str] = field(default_factory=Counter)
    refused: list[NotTaken] = field(default_factory=list)
    memories: list[Preview] = field(default_factory=list)

    def report(self, *, dry_run: bool) -> Report:
        """It all, as told in the end."""
        return Report(
            dry_run=dry_run,
            files=self.counts["files"],
            imported=self.counts["imported"],
            duplicates=self.counts["duplicates"],
            quarantined=self.counts["quarantined"],
            left_out=self.counts["left_out"],
            redacted=dict(sorted(self.redacted.items())),
            refused=tuple(self.refused),
            memories=tuple(self.memories),
        )


@click.command(name="import")
@click.argument("given", metavar="[PATH...]", nargs=-1, type=click.Path(exists=True, path_type=Path))
@existing_workspace_option
@click.option("--user", "for_user", is_flag=True, help="Take them in for all workspaces.")
@click.option("--history", is_flag=True, help="Take in past sessions of Claude Code and Codex.")
@click.option("--everywhere", is_flag=True, help="With --history: the sessions of all workspaces.")
@click.option("--dry-run", is_flag=True, help="Show what would be taken in, and write nothing.")
@json_option
def importing(given: tuple[Path, ...], workspace: Path, as_json: bool, **how: bool) -> None:
    """Take in memories from Markdown files, or past sessions.

    Knows CLAUDE.md, AGENTS.md and other files with headings, Cursor's rules, and folders of notes with front matter and
    observations as basic-memory keeps them. With --history: session files of Claude Code and Codex, those of the
    workspace unless some are named; nothing is handed over for them, but what they did is noted for later sessions.
    Running it again takes in only what is new. Exit code 1 when something could not be taken.

    \b
    Examples:
      remora-pre import RULES.md --dry-run
      remora-pre import ~/notes .cursor/rules
      remora-pre import --history --dry-run
      remora-pre import --history ~/.codex/sessions
    """
    dry_run = how["dry_run"]
    if how["everywhere"] and not how["history"]:
        raise click.UsageError("--everywhere is about past sessions: say --history too.")
    if how["history"]:
        if how["for_user"]:
            raise click.UsageError("A session belongs to the folder that it was in, not to all workspaces.")
        report = import_history(given, workspace, everywhere=how["everywhere"], dry_run=dry_run, as_json=as_json)
        if report.unreadable or report.refused_events:
            raise click.exceptions.Exit(1)
        return
    if not given:
        raise click.UsageError("Name files or folders with notes, or say --history for past sessions.")
    where: dict[str, object] = {"workspace": folder(workspace), "scope": "User" if how["for_user"] else "Workspace"}
    tally = Tally()
    try:
        for batch in _batches(gather(given), tally):
            if dry_run:
                tally.memories.extend(_previewed(item, file, line) for item, file, line in batch)
            else:
                _send(batch, where, tally)
    except (KeyboardInterrupt, RemoraError):
        taken = _memories(tally.counts["imported"])
        say(f"Stopped. Taken in for certain: {taken}. Run it again for the rest: nothing is taken twice.", err=True)
        raise
    done = tally.report(dry_run=dry_run)
    if as_json:
        show_json(done)
    else:
        _show(done)
    if done.refused:
        raise click.exceptions.Exit(1)


Placed = tuple[Item, str, int]  # a memory, its file and its line


def _batches(files: Sequence[Gathered], tally: Tally) -> Iterator[list[Placed]]:
    """The memories of the files, as many at a time as a request takes."""
    batch: list[Placed] = []
    size = 0
    with bar("taking in files") as told:
        for number, file in enumerate(files):
            drafts = _drafts(file, tally)
            for place, draft in enumerate(drafts):
                told(number + place / len(drafts), len(files))
                item = _item(draft, file.name, tally)
                weight = len(msgspec.json.encode(item))
                if batch and (len(batch) >= BATCH_RECORDS or size + weight > BATCH_BYTES):
                    yield batch
                    batch, size = [], 0
                batch.append((item, str(file.path), draft.line))
                size += weight
        if batch:
            yield batch


def _drafts(file: Gathered, tally: Tally) -> Sequence[Draft]:
    try:
        taken = read_drafts(file.read(), file.name)
    except Unusable as error:
        taken = Taken()
        tally.refused.append(NotTaken(file=str(file.path), line=0, problem=str(error)))
    tally.refused.extend(
        NotTaken(file=str(file.path), line=problem.line, problem=problem.problem) for problem in taken.problems
    )
    tally.counts["left_out"] += taken.left_out
    tally.counts["files"] += bool(taken.drafts)
    return taken.drafts


def _item(draft: Draft, source: str, tally: Tally) -> Item:
    """A draft without its secrets. The daemon looks again; they need not even come that far."""

    def clean(text: str) -> str:
        kept, findings = redact(text)
        tally.redacted.update(finding.family for finding in findings)
        return kept

    return Item(
        text=clean(draft.text),
        source=source[-LONGEST_SOURCE:],
        title=clean(draft.title) if draft.title else None,
        tags=tuple(clean(tag) for tag in draft.tags),
        kind=draft.kind,
        created_at=draft.created_at,
    )


def _send(batch: Sequence[Placed], where: dict[str, object], tally: Tally) -> None:
    done = ask("memory.import", {**where, "records": [item for item, _, _ in batch]}, Imported)
    tally.counts.update(imported=done.imported, duplicates=done.duplicates, quarantined=done.quarantined)
    for declined in done.refused:
        _, file, line = batch[declined.index]
        tally.refused.append(NotTaken(file=file, line=line, problem=declined.problem))


def _previewed(item: Item, file: str, line: int) -> Preview:
    poisoned = is_instruction_like(f"{item.title or ''}\n{item.text}")
    return Preview(
        file=file, line=line, kind=item.kind, text=item.text, title=item.title, tags=item.tags, quarantined=poisoned
    )


def _show(report: Report) -> None:
    last = ""
    for memory in report.memories:
        if memory.file != last:
            say(unbroken(memory.file))
            last = memory.file
        title = f"{memory.title}: " if memory.title else ""
        marked = " (quarantined)" if memory.quarantined else ""
        print_line((f"line {memory.line}, {memory.kind}{marked}: {title}{one_line(memory.text)}", ""), indent=2)
    if report.dry_run:
        say(f"{_memories(len(report.memories))} in {count_of(report.files, 'file')} would be taken in.")
    else:
        known = f"; {report.duplicates} known already" if report.duplicates else ""
        say(f"{_memories(report.imported)} taken in from {count_of(report.files, 'file')}{known}.")
    if report.redacted:
        found = ", ".join(f"{times} {family}" for family, times in report.redacted.items())
        say(f"Secrets {'would be' if report.dry_run else 'were'} taken out: {found}.")
    if report.quarantined:
        say(f"{report.quarantined} read like orders to the agent, or hide text: quarantined, never handed over.")
    if report.left_out:
        say(f"Left out: {report.left_out} (links between notes, or records that are not active).")
    if report.refused:
        say(f"{count_of(len(report.refused), 'place')} could not be taken in:")
    for place in report.refused[:REFUSED_SHOWN]:
        line = f", line {place.line}" if place.line else ""
        print_line((unbroken(f"{place.file}{line}: {place.problem}"), ""), indent=2)
    if len(report.refused) > REFUSED_SHOWN:
        say(f"  and {len(report.refused) - REFUSED_SHOWN} more; --json names them all.")
    if report.imported:
        say(f"See them with: {SCRIPT} list")


def _memories(number: int) -> str:
    return "1 memory" if number == 1 else f"{number} memories"
