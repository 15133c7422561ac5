"""`remember`, `search`, `list`, `show`, `forget`: a person's verbs on memories. All go through the daemon."""

import sys
from pathlib import Path
from typing import TypedDict, Unpack

import click

from host.cli.answers import Forgotten, Health, Hits, Listed, Remembered, Shown
from host.cli.link import ask, ask_running
from host.cli.output import count_of, existing_workspace_option, json_option, say, show_json, workspace_option
from host.cli.tables import one_line, print_table, when
from host.errors import RemoraError
from host.namespace import SCRIPT
from recall.contracts import MemoryKind, MemoryRecord, RecordState

KINDS = [str(kind) for kind in MemoryKind]
PAGE = 200


class Draft(TypedDict):
    """What `remember` may say about a new memory, beside its text."""

    for_user: bool
    kind: str
    title: str | None
    tags: tuple[str, ...]
    pin: bool


@click.command()
@click.argument("text")
@existing_workspace_option
@click.option("--user", "for_user", is_flag=True, help="Keep it for all workspaces.")
@click.option("--kind", type=click.Choice(KINDS), default="semantic", show_default=True, help="What sort of memory.")
@click.option("--title", help="A short title.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be given several times.")
@click.option("--pin", is_flag=True, help="Show it at the start of every session.")
@json_option
def remember(text: str, workspace: Path, as_json: bool, **draft: Unpack[Draft]) -> None:
    """Keep something for later sessions.

    `-` reads the text from standard input.

    \b
    Examples:
      remora-pre remember "Run the tests with: make check"
      remora-pre remember --user "I prefer short answers"
    """
    text = sys.stdin.read() if text == "-" else text
    if not text.strip():
        raise click.UsageError("There is no text to keep.")
    params = {
        "text": text,
        "workspace": _folder(workspace),
        "scope": "User" if draft["for_user"] else "Workspace",
        "kind": draft["kind"],
        "title": draft["title"],
        "tags": list(draft["tags"]),
        "pinned": draft["pin"],
    }
    kept = ask("memory.remember", {name: value for name, value in params.items() if value is not None}, Remembered)
    if as_json:
        show_json(kept)
        return
    say(f"Kept as {kept.memory_id}.")
    if kept.redacted:
        say(f"Secrets were taken out: {', '.join(kept.redacted)}.")
    if kept.quarantined:
        say("It reads like an order to the agent, or hides text, so it is quarantined: never found, never handed over.")
        say("Write down the fact instead, and forget this one.")


@click.command()
@click.argument("query")
@workspace_option
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="How many at most.")
@click.option("--explain", is_flag=True, help="Say which words matched.")
@json_option
def search(query: str, workspace: Path, limit: int, explain: bool, as_json: bool) -> None:
    """Find memories by words.

    \b
    Example:
      remora-pre search "how do we run the tests"
    """
    params = {"query": query, "workspace": _folder(workspace), "limit": limit, "explain": explain}
    found = ask("memory.search", params, Hits)
    if as_json:
        show_json(found)
        return
    for hit in found.hits:
        say(f"{hit.memory_id}  {hit.score:.2f}  {hit.kind}, {hit.scope.kind}, {_standing(hit.status, hit.state)}")
        if hit.title:
            say(f"  {hit.title}")
        say(f"  {one_line(hit.text, 300)}")
        if explain:
            say(f"  matched: {', '.join(hit.terms)}")
    if found.degraded:
        late = ", ".join(f"{arm.name} ({arm.shortfall})" for arm in found.arms if arm.shortfall)
        say(f"Not every source answered: {late or f'see {SCRIPT} status'}. There may be more.")
    if not found.hits:
        say("No memory matches.")


@click.command(name="list")
@workspace_option
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many at most.")
@json_option
def listing(workspace: Path, limit: int, as_json: bool) -> None:
    """List the memories of a workspace.

    The user's own are among them. Newest first.

    \b
    Example:
      remora-pre list --limit 20
    """
    records: list[MemoryRecord] = []
    after: str | None = None
    while len(records) < limit:
        params: dict[str, object] = {"workspace": _folder(workspace), "limit": min(PAGE, limit - len(records))}
        page = ask("memory.list", params | ({"after": after} if after else {}), Listed)
        records += page.records
        after = page.next
        if not after or not page.records:
            break
    unusable = ask_running("health", {}, Health).memory.problem_count
    if unusable:
        say(f"{count_of(unusable, 'place')} in memory files could not be used. See: {SCRIPT} status", err=True)
    if as_json:
        show_json({"records": records, "next": after})
        return
    rows = (
        (r.memory_id, r.kind, r.scope.kind, _standing(r.status, r.state, *r.flags), one_line(r.title or r.text))
        for r in records
    )
    if records:
        print_table(("memory", "kind", "scope", "status", "text"), rows)
    else:
        say(f'No memories here yet. Keep one with: {SCRIPT} remember "…"')
    if after:
        say(f"There are more than {limit}: raise --limit.")


@click.command()
@click.argument("memory_id", metavar="MEMORY")
@workspace_option
@json_option
def show(memory_id: str, workspace: Path, as_json: bool) -> None:
    """Show one memory and where it stands.

    \b
    Example:
      remora-pre show mem_0123456789abcdef0123456789abcdef
    """
    found = ask("memory.get", {"memoryId": memory_id, "workspace": _folder(workspace)}, Shown)
    if as_json:
        show_json(found)
        return
    record, locator = found.record, found.locator
    standing = _standing(record.status, record.state)
    say(f"{record.memory_id}  {record.kind}, {record.scope.kind}, {standing}, from {record.origin}")
    say(f"kept {when(record.created_at)}" + (", pinned" if record.pinned else ""))
    if record.flags:
        say(f"flags: {', '.join(record.flags)}")
    if record.tags:
        say(f"tags: {', '.join(record.tags)}")
    if locator:
        say(
            f"{locator.source_file}, lines {locator.line_start} to {locator.line_end}, version {locator.source_version}"
        )
    say()
    if record.title:
        say(record.title)
    say(record.text)


@click.command()
@click.argument("memory_id", metavar="MEMORY")
@workspace_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def forget(memory_id: str, workspace: Path, yes: bool, as_json: bool) -> None:
    """Remove a memory.

    Every waiting packet that carries it goes with it.

    \b
    Example:
      remora-pre forget mem_0123456789abcdef0123456789abcdef
    """
    where = {"memoryId": memory_id, "workspace": _folder(workspace)}
    if not yes:
        record = ask("memory.get", where, Shown).record
        say(one_line(record.text, 300), err=as_json)
        click.confirm("Forget this?", abort=True, err=as_json)
    done = ask("memory.forget", where, Forgotten)
    if as_json:
        show_json(done)
    if not done.forgotten:
        raise RemoraError(f"{memory_id} was not found from here.", f"List what there is with: {SCRIPT} list")
    if not as_json:
        say(f"Forgotten. Packets purged: {done.packets_purged}.")


def _standing(status: str, state: str, *flags: str) -> str:
    """The status, how it stands in its file unless that is well, and the flags: a quarantined record must not look like
    one that is handed over, nor a text without a marker like one that has its own."""
    return ", ".join((status, *(() if state == RecordState.ANCHORED else (state,)), *flags))


def _folder(workspace: Path) -> str:
    return str(workspace.resolve())
