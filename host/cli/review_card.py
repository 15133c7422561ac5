"""One item of the review queue as a person meets it on a terminal: what it says, who said what, what it would replace
or repeat, and what to look out for.
"""

from collections.abc import Iterable, Iterator

from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from governance.review import CORRECTION, EDITED, REASON, Citation, ItemKind, quotes_of
from host.cli.output import count_of, unbroken
from host.cli.review_answers import Beside, Others, PutAway, Reviewed
from host.cli.review_words import ACTS, BECOMES, BY, FROM, KINDS, LOOK_OUT, TRUST, minute, said, stale, titled
from host.cli.tables import console, plain

SHOWN = 4_000  # characters of a text; the rest is said to be there
INDENT = 3
DIM, BOLD, WARN, GOOD = "dim", "bold", "yellow", "green"

Line = tuple[int, Text]


def show(found: Reviewed, place: int, total: int) -> None:
    """Print an item: the `place`-th of `total`."""
    out = console()
    out.print(Rule(plain(f"{place} of {total}", BOLD), align="left", style=DIM))
    for indent, line in lines(found):
        out.print(Padding(line, (0, 0, 0, indent)))


def lines(found: Reviewed) -> Iterator[Line]:
    """The item in lines, each with how far it is indented."""
    item, record = found.item, found.record
    yield 0, plain(_head(found), DIM)
    yield 0, Text()
    if item.target == EDITED and record is not None:
        yield from _block("It says:", [titled(record.title, record.text)])
        yield from _block("It would say:", [titled(item.title, item.text)])
    else:
        yield from _says(found)
    for flag in item.flags:
        yield 0, plain(f"! {LOOK_OUT[flag]}", WARN)
    if found.stale:
        yield 0, plain(f"! {stale(item)}", WARN)
    if item.flags or found.stale:
        yield 0, Text()
    yield from _said(found)
    if found.others is not None:
        yield from _beside(found.others)
    for one in item.decisions:
        reason = f": {unbroken(one.reason)}" if one.reason else ""
        what = ACTS.get(one.kind, str(one.kind))
        yield 0, plain(f"{minute(one.at)}  {what} by {BY.get(one.actor, one.actor)}{reason}", DIM)


def _head(found: Reviewed) -> str:
    item = found.item
    kind = KINDS.get(item.kind, str(item.kind))
    if item.kind is ItemKind.PROMOTION:
        kind = f"could become {BECOMES.get(item.target, item.target)}"
    elif item.target and item.target != EDITED:
        kind = f"{kind}, {item.target}"
    parts = [kind, FROM.get(item.pipeline, item.pipeline), minute(item.created_at), item.item_id]
    return " · ".join(part for part in parts if part)


def _says(found: Reviewed) -> Iterator[Line]:
    item, record = found.item, found.record
    title, text = (item.title, item.text) if record is None else (record.title, record.text)
    if not text:
        yield INDENT, plain("The memory is gone.", DIM)
        yield 0, Text()
        return
    if title and not text.startswith(title):
        yield INDENT, plain(title, BOLD)
    yield INDENT, plain(_short(text))
    yield 0, Text()


def _said(found: Reviewed) -> Iterator[Line]:
    """What it rests on: quotes with who said them and when, a reason, or what was counted."""
    item = found.item
    cited = found.said or quotes_of(item)
    against = [one for one in cited if one.kind == CORRECTION]
    yield from _quotes("Said", [one for one in cited if one.kind != CORRECTION])
    yield from _quotes("Said against it since", against)
    for one in item.citations:
        if one.kind == REASON:
            yield from _block("The reason it gave:", [unbroken(one.ref)])
    if item.evidence:
        used, well, wrong = (item.evidence.get(name, 0) for name in ("sessions", "success", "correction"))
        told = f"Used in {count_of(used, 'session')}; ended well {count_of(well, 'time')}"
        yield 0, plain(f"{told}; corrected {count_of(wrong, 'time')}.")
        yield 0, Text()


def _quotes(heading: str, quotes: list[Citation]) -> Iterator[Line]:
    if not quotes:
        return
    yield 0, plain(heading, BOLD)
    for one in quotes:
        yield INDENT, plain(f"{said(one)}:", DIM)
        yield INDENT, plain(f"“{one.quote}”" if one.quote else "(forgotten)")
    yield 0, Text()


def _beside(others: Others) -> Iterator[Line]:
    yield from _memories("Keeping it puts this away:", others.replaces, WARN)
    yield from _memories("This says the same already:", others.repeats, WARN)
    yield from _memories("This says otherwise about the same matter:", others.otherwise, WARN)
    if others.put_away:
        yield 0, plain("Much like this was put away before:", WARN)
        for one in others.put_away:
            yield from _put_away(one)
        yield 0, Text()


def _memories(heading: str, memories: Iterable[Beside], style: str) -> Iterator[Line]:
    told = list(memories)
    if not told:
        return
    yield 0, plain(heading, style)
    for one in told:
        yield INDENT, plain(_short(titled(one.title, one.text), 600))
        yield INDENT, plain(f"{one.memory_id}, {TRUST.get(one.trust, one.trust)}, {minute(one.created_at)}", DIM)
    yield 0, Text()


def _put_away(one: PutAway) -> Iterator[Line]:
    yield INDENT, plain(_short(one.text, 600))
    reason = f": {unbroken(one.reason)}" if one.reason else ""
    yield INDENT, plain(f"{minute(one.at)}{reason}", DIM)


def _block(heading: str, texts: Iterable[str]) -> Iterator[Line]:
    yield 0, plain(heading, BOLD)
    for text in texts:
        yield INDENT, plain(_short(text))
    yield 0, Text()


def _short(text: str, limit: int = SHOWN) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()}…\n({len(text) - limit} more characters: they are seen whole with `e`)"
