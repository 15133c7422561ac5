"""`review`: what waits for a person, and the person's decision about it. On a terminal it goes from item to item."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from governance.review import CORRECTION, EDITED, REASON, WAITING, Act, ItemKind, Principal, State, quotes_of
from host.cli import drafts
from host.cli.keys import TerminalKeys
from host.cli.link import ask, ask_running
from host.cli.output import count_of, json_option, say, show_json, unbroken, workspace_option
from host.cli.review_answers import Added, Decided, Others, Reviewed, ReviewPage
from host.cli.review_team import KINDS as CANDIDATES
from host.cli.review_team import review_candidates, staged
from host.cli.review_terminal import Walk
from host.cli.review_words import BY, TRUST, said, stale, tell, titled, why, words
from host.cli.tables import one_line, print_table, when
from host.cli.wording import folder, standing
from host.config import environment
from host.errors import RemoraError
from host.namespace import SCRIPT
from host.principals import marked

PAGE = 200
KINDS = [str(kind) for kind in ItemKind]
STATES = [str(state) for state in State]


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
@click.option("--replace", multiple=True, metavar="MEMORY", help="What is kept takes the place of this one.")
@click.option("--add", metavar="TEXT", help="Add a note that was missed; it waits like the others.")
@click.option("--quote", multiple=True, help="With --add: what was said, word for word; may be repeated.")
@click.option("--session", default="", help="With --add: where it was said.  [the latest that holds the quote]")
@click.option("--title", default="", help="With --add: a short title.")
@click.option("--noted", is_flag=True, help="What was noted automatically and is in use, but not reviewed.")
@click.option("--flagged", is_flag=True, help="Only what the screen or somebody flagged.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(list(dict.fromkeys([*KINDS, *CANDIDATES]))),
    help="Only these kinds. entry, skill or consolidation alone: what is staged for the repository, file by file.",
)
@click.option("--candidate", "candidates", multiple=True, metavar="ID", help="Of what is staged, only this one.")
@click.option("--state", "states", multiple=True, type=click.Choice(STATES), help="Those that stand so.")
@click.option("--all", "every", is_flag=True, help="List what was decided, too.")
@click.option("--list", "listed", is_flag=True, help="List, and ask nothing.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many at most are listed.")
@workspace_option
@json_option
def review(item_id: str | None, workspace: Path, as_json: bool, **given: Any) -> None:
    """Go through what waits for you, show one item, or decide about it.

    On a terminal one item is shown after the other, and a key decides. Elsewhere, and with --list, they are listed.
    Notes of conversations, what the screen kept back, what was said to be wrong, and what evidence proposes wait here.
    A memory stands for its item. Only a person decides, at a terminal of their own. What is staged for the repository
    is shown with --kind entry, and written by `prepare` and `promote`.

    \b
    Examples:
      remora-pre review
      remora-pre review --noted --list
      remora-pre review --kind entry
      remora-pre review rev_0123456789abcdef0123456789abcdef
      remora-pre review rev_0123456789abcdef0123456789abcdef --keep
      remora-pre review rev_0123456789abcdef0123456789abcdef --archive --reason "out of date"
      remora-pre review --add "Releases go out on Thursdays." --quote "we ship on Thursdays"
    """
    where = folder(workspace)
    act = _act(given)
    kinds = given["kinds"]
    if len(kinds) == 1 and kinds[0] in CANDIDATES and item_id is None and not (given["listed"] or given["every"]):
        review_candidates(kinds[0], given["candidates"], workspace, as_json=as_json)
    elif given["candidates"]:
        raise click.UsageError("A candidate is one of what is staged: give --kind entry, skill or consolidation.")
    elif given["add"] is not None:
        _add(where, given, item_id, as_json=as_json)
    elif item_id is None:
        if act is not None or given["reason"] or given["replace"]:
            raise click.UsageError("Which item? Name it, as `review` lists it.")
        _several(where, given, as_json=as_json)
    elif act is None:
        if given["reason"] or given["replace"]:
            raise click.UsageError("A reason belongs to a decision: --keep, --archive or --edit.")
        found = _get(item_id, where)
        show_json(found) if as_json else _show(found)
    else:
        done = _decide(_get(item_id, where), act, where, given)
        show_json(done) if as_json else tell(done)


def _get(item_id: str, where: str) -> Reviewed:
    return ask("review.get", {"itemId": item_id, "workspace": where}, Reviewed)


def _decide(found: Reviewed, act: Act, where: str, given: Mapping[str, Any]) -> Decided:
    params: dict[str, object] = {
        "itemId": found.item.item_id,
        "workspace": where,
        "decision": act,
        "expectedRevision": found.item.revision,
        "principal": principal(),
        "reason": given["reason"],
    }
    if given["edit"] is not None:
        params["text"] = _text(given["edit"])
    if given["replace"]:
        params["replaces"] = list(given["replace"])
    if found.item.state is State.STAGED:
        problem = f"{found.item.item_id} is staged for the repository, and nothing is decided about it here."
        step = f"Look at its file, and say yes or give it up from there: {staged(found.item)}"
        raise RemoraError(problem, step)
    done = ask("review.decide", params, Decided)
    drafts.forget(found.item.item_id)
    return done


def _add(where: str, given: Mapping[str, Any], item_id: str | None, *, as_json: bool) -> None:
    """A note that was missed, with what was said. It waits: who adds it may keep it afterwards."""
    if item_id is not None or not given["quote"]:
        raise click.UsageError("A note is added with --add TEXT and --quote: what was said, word for word.")
    params = {
        "workspace": where,
        "text": given["add"],
        "title": given["title"],
        "quotes": list(given["quote"]),
        "sessionId": given["session"],
        "principal": principal(),
    }
    done = ask("review.add", params, Added)
    if as_json:
        show_json(done)
    elif done.added:
        say(f"Added as {done.item_id}. It waits: {SCRIPT} review {done.item_id} --keep")
    else:
        say(f"Nothing was added: {done.item_id} says it already, or it was put away once.")


def _several(where: str, given: Mapping[str, Any], *, as_json: bool) -> None:
    """Go from item to item where a person can press keys, else list."""
    states = list(given["states"])
    states += [State.COMMITTED] if given["noted"] else []
    states = [str(state) for state in State] if given["every"] else states
    asked = {"states": states, "kinds": list(given["kinds"]), "flagged": given["flagged"] or None}
    asked = {name: value for name, value in asked.items() if value is not None and (value or name == "states")}
    at_keys = sys.stdin.isatty() and sys.stdout.isatty() and principal() is Principal.HUMAN
    if at_keys and not (as_json or given["listed"] or given["every"]):
        with TerminalKeys() as keys:
            Walk(where, asked, keys).run()
    else:
        _list(where, asked, given["limit"], as_json=as_json)


def principal() -> Principal:
    """Who types: a person, if somebody is there and no agent's product started this."""
    there = sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty())
    return Principal.HUMAN if there and not marked(environment()) else Principal.AGENT


def _act(given: Mapping[str, Any]) -> Act | None:
    wishes = ((Act.KEEP, given["keep"]), (Act.ARCHIVE, given["archive"]), (Act.EDIT_AND_KEEP, given["edit"]))
    chosen = [act for act, wished in wishes if wished]
    if len(chosen) > 1:
        raise click.UsageError("One decision at a time: --keep, --archive or --edit.")
    if chosen == [Act.ARCHIVE] and not given["reason"].strip():
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


def _list(where: str, asked: Mapping[str, object], limit: int, *, as_json: bool) -> None:
    found: list[Reviewed] = []
    after: str | None = None
    while len(found) < limit:
        params = {"workspace": where, **asked, "limit": min(PAGE, limit - len(found))}
        page = ask("review.list", params | ({"after": after} if after else {}), ReviewPage)
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
        say(stale(item))
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
    for quote in found.said or quotes_of(item):
        against = "Against it: " if quote.kind == CORRECTION else ""
        say(f"{against}{said(quote)}: “{quote.quote}”")
    _show_others(found.others or Others())
    if item.state is State.STAGED:
        say(f"Its file, and how to say yes: {staged(item)}")


def _show_others(others: Others) -> None:
    """What stands beside it, a line each."""
    for heading, memories in (
        ("Keeping it puts away", others.replaces),
        ("Says the same already", others.repeats),
        ("Says otherwise", others.otherwise),
    ):
        for one in memories:
            trust = TRUST.get(one.trust, one.trust)
            say(f"{heading}: {one.memory_id}, {trust}: {one_line(titled(one.title, one.text))}")
    for gone in others.put_away:
        say(f"Put away before: {gone.item_id}: {one_line(gone.text)}")
