"""`review`: what waits for a person, and the person's decision about it."""

import sys
from pathlib import Path
from typing import TypedDict, Unpack

import click
from click.shell_completion import CompletionItem

from governance.contracts import Stage
from governance.review import EDITED, REASON, WAITING, Act, ItemFlag, ItemKind, Principal, QueueItem, State
from host.cli.link import ask, ask_running
from host.cli.output import count_of, json_option, say, show_json, unbroken, workspace_option
from host.cli.tables import one_line, print_table, when
from host.cli.wording import folder, standing, tell_screening
from host.config import environment
from host.errors import RemoraError
from host.namespace import SCRIPT
from host.principals import marked
from recall.contracts import Frozen, MemoryLocator, MemoryRecord

PAGE = 200
MEMORY = "mem_"
BECOMES = {"semantic": "a fact", "procedural": "a procedure", "validated": "a validated procedure"}
WHY = {
    ItemFlag.QUARANTINED: "kept back by the screen",
    ItemFlag.CORRECTED: "said to be wrong",
    ItemFlag.UNUSED: "unused for long",
    ItemFlag.HIGH_RISK: "can do harm",
    ItemFlag.DERIVED: "from what a tool or a page said",
    ItemFlag.CONFLICT: "says otherwise than another",
    ItemFlag.UNWANTED: "to be forgotten, as an agent proposes",
}
BY = {Principal.HUMAN: "a person", Principal.AGENT: "an agent"}
DONE = {State.KEPT: "Kept.", State.ARCHIVED: "Archived."}


class Reviewed(Frozen, frozen=True, kw_only=True):
    """An item, and the memory that it is about."""

    item: QueueItem
    record: MemoryRecord | None = None
    locator: MemoryLocator | None = None
    stage: Stage | None = None
    stale: bool = False


class ReviewPage(Frozen, frozen=True, kw_only=True):
    items: tuple[Reviewed, ...]
    next: str | None = None


class Decided(Frozen, frozen=True, kw_only=True):
    item: QueueItem
    memory_id: str | None = None
    stage: Stage | None = None
    redacted: tuple[str, ...] = ()


class Wish(TypedDict):
    """What the person decides, if anything."""

    keep: bool
    archive: bool
    reason: str
    edit: Path | None


def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Items that wait here. None without a daemon."""
    where = folder(ctx.params.get("workspace") or Path())
    try:
        found = ask_running("review.list", {"workspace": where, "limit": PAGE}, ReviewPage).items
    except (RemoraError, OSError):
        return []
    return [
        CompletionItem(one.item.item_id, help=one_line(f"{why(one.item)}: {words(one)}", 60))
        for one in found
        if one.item.item_id.startswith(incomplete)
    ]


@click.command()
@click.argument("item_id", metavar="[ITEM|MEMORY]", required=False, shell_complete=complete)
@click.option("--keep", is_flag=True, help="Keep it: it holds, and may be handed over.")
@click.option("--archive", is_flag=True, help="Put it away; it can be kept again later.")
@click.option("--reason", default="", help="Why; an item is archived with a reason.")
@click.option(
    "--edit",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Keep it in the words of this file.",
)
@click.option("--all", "every", is_flag=True, help="List what was decided, too.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many at most.")
@workspace_option
@json_option
def review(item_id: str | None, every: bool, limit: int, workspace: Path, as_json: bool, **wish: Unpack[Wish]) -> None:
    """List what waits for you, show one item, or decide about it.

    What the screen kept back, what was said to be wrong, what evidence proposes, and what nobody used for long waits
    here. A memory stands for its item. Only a person decides, at a terminal of their own.

    \b
    Examples:
      remora-pre review
      remora-pre review rev_0123456789abcdef0123456789abcdef
      remora-pre review rev_0123456789abcdef0123456789abcdef --keep
      remora-pre review rev_0123456789abcdef0123456789abcdef --archive --reason "out of date"
    """
    where = folder(workspace)
    act = _act(wish)
    if item_id is None:
        if act is not None or wish["reason"]:
            raise click.UsageError("Which item? Name it, as `review` lists it.")
        _list(where, limit, every=every, as_json=as_json)
        return
    item_id = _item_of(item_id, where) if item_id.startswith(MEMORY) else item_id
    found = ask("review.get", {"itemId": item_id, "workspace": where}, Reviewed)
    if act is None:
        if wish["reason"]:
            raise click.UsageError("A reason belongs to a decision: --keep, --archive or --edit.")
        show_json(found) if as_json else _show(found)
        return
    params: dict[str, object] = {
        "itemId": item_id,
        "workspace": where,
        "decision": act,
        "expectedRevision": found.item.revision,
        "principal": principal(),
        "reason": wish["reason"],
    }
    if wish["edit"] is not None:
        params["text"] = _text(wish["edit"])
    done = ask("review.decide", params, Decided)
    show_json(done) if as_json else _tell(done)


def principal() -> Principal:
    """Who types: a person, if somebody is there and no agent's product started this."""
    there = sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty())
    return Principal.HUMAN if there and not marked(environment()) else Principal.AGENT


def why(item: QueueItem) -> str:
    """Why an item is in the queue, in words."""
    said = [WHY[flag] for flag in item.flags]
    if item.kind is ItemKind.PROMOTION:
        said.insert(0, f"could become {BECOMES.get(item.target, item.target)}")
    if item.target == EDITED:
        said.insert(0, "to be put into other words, as an agent proposes")
    return ", ".join(said) or "proposed"


def words(found: Reviewed) -> str:
    """What the item says: its own words, or the memory's."""
    if found.item.target == EDITED and found.item.text:
        return f"{found.item.title}: {found.item.text}" if found.item.title else found.item.text
    if found.record is not None:
        return f"{found.record.title}: {found.record.text}" if found.record.title else found.record.text
    return found.item.text or ("the memory is gone" if found.item.record_id else "")


def _act(wish: Wish) -> Act | None:
    chosen = [
        act
        for act, said in ((Act.KEEP, wish["keep"]), (Act.ARCHIVE, wish["archive"]), (Act.EDIT_AND_KEEP, wish["edit"]))
        if said
    ]
    if len(chosen) > 1:
        raise click.UsageError("One decision at a time: --keep, --archive or --edit.")
    if chosen == [Act.ARCHIVE] and not wish["reason"].strip():
        raise click.UsageError("Say why it is archived, with --reason: it will be read when it comes up again.")
    return chosen[0] if chosen else None


def _text(file: Path) -> str:
    try:
        text = file.read_bytes().decode("utf-8-sig").strip("\r\n")
    except UnicodeDecodeError as error:
        raise RemoraError(f"The file {file} is not UTF-8. Nothing was decided.", "Save it as UTF-8.") from error
    if not text.strip():
        raise RemoraError(f"The file {file} holds no text. Nothing was decided.", "To put the item away, --archive it.")
    return text


def _item_of(memory_id: str, where: str) -> str:
    """The item about a memory that waits. Raises RemoraError when there is none."""
    waiting = ask("review.list", {"workspace": where, "limit": PAGE}, ReviewPage).items
    for one in waiting:
        if one.item.record_id == memory_id:
            return one.item.item_id
    raise RemoraError(f"Nothing about {memory_id} waits here.", f"List what waits with: {SCRIPT} review")


def _list(where: str, limit: int, *, every: bool, as_json: bool) -> None:
    states = [str(state) for state in State] if every else []
    found: list[Reviewed] = []
    after: str | None = None
    while len(found) < limit:
        asked = {"workspace": where, "states": states, "limit": min(PAGE, limit - len(found))}
        page = ask("review.list", asked | ({"after": after} if after else {}), ReviewPage)
        found += page.items
        after = page.next
        if not after:
            break
    if as_json:
        show_json({"items": found, "next": after})
        return
    if not found:
        say("Nothing waits for you here.")
        return
    print_table(("item", "kind", "state", "why", "text"), (_row(one) for one in found))
    if after:
        say(f"There are more than {limit}: raise --limit.")


def _row(found: Reviewed) -> tuple[str, ...]:
    item = found.item
    return item.item_id, item.kind, item.state, why(item), one_line(words(found))


def _show(found: Reviewed) -> None:
    item, record = found.item, found.record
    say(f"{item.item_id}  {item.kind}, {item.state}, proposed {when(item.created_at)}")
    verb = "waits" if item.state in WAITING else "came up"
    say(f"It {why(item)}." if item.kind is ItemKind.PROMOTION else f"It {verb} because it is {why(item)}.")
    for cited in item.citations:
        if cited.kind == REASON:
            say(f"The reason it gave: {unbroken(cited.ref)}")
    if item.evidence:
        counts = item.evidence
        successes, corrections = counts.get("success", 0), counts.get("correction", 0)
        say(
            f"Used in {count_of(counts.get('sessions', 0), 'session')}; ended well {count_of(successes, 'time')};"
            f" corrected {count_of(corrections, 'time')}."
        )
    for one in item.decisions:
        reason = f": {one.reason}" if one.reason else ""
        say(f"{when(one.at)}  {one.kind} by {BY.get(one.actor, one.actor)}{reason}")
    if found.stale:
        say("The memory was changed since this was proposed, so this cannot be kept any more.")
    if record is not None:
        stage = f", stage {found.stage}" if found.stage is not None else ""
        say(f"{record.memory_id}  {record.kind}, {standing(record.status, record.state, record.flags)}{stage}")
    if found.locator is not None:
        say(f"{unbroken(found.locator.source_file)}, line {found.locator.line_start}")
    say()
    if item.target == EDITED and record is not None:
        say("It says:")
        say(f"{record.title}: {record.text}" if record.title else record.text)
        say()
        say("It would say:")
    say(words(found))


def _tell(done: Decided) -> None:
    item = done.item
    say(DONE.get(item.state, f"It is {item.state} now."))
    tell_screening(done.redacted, quarantined=False)
    if done.memory_id is not None and done.memory_id != item.record_id:
        say(f"It is a memory of its own now: {done.memory_id}.")
    if done.stage is Stage.VALIDATED:
        say(f"It can do harm, so it waits for your approval too: {SCRIPT} approve {done.memory_id}")
    elif done.stage is not None:
        say(f"The procedure is {done.stage} now.")
