"""`review` on a terminal: one item at a time, one key for each decision.

Every decision is written down at once, so that whoever stops, in whatever way, loses nothing: what was decided is
decided, and the rest waits. Words that were begun in an editor stay in a file until they are kept.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from governance.review import WAITING, Act, ItemFlag, Principal, State, quotes_of
from host.cli import drafts, review_sheet
from host.cli.keys import Keys
from host.cli.link import ask
from host.cli.output import count_of, say
from host.cli.review_answers import Decided, Reviewed, ReviewPage
from host.cli.review_card import show
from host.cli.review_sheet import Wording
from host.cli.review_words import said, tell
from host.client import Refused
from host.errors import RemoraError
from host.namespace import SCRIPT

PAGE = 50
NOT_WORTH = "not worth keeping"
DOCUMENTS = frozenset({"scene", "doctrine", "skill"})
KEYS = "[k]eep  [e]dit  [a]rchive  [s]kip  [?]  [q]uit"
REPLACING = "[k]eep  [r]eplace the other  [e]dit  [a]rchive  [s]kip  [?]  [q]uit"
HELP = """k  keep it: it holds, and may be handed over
r  keep it in the place of the memory that says otherwise (where there is one)
e  keep it in other words: opens your editor
a  archive it: put it away, and do not propose it again
A  the same, and say why
s  skip it: it waits, and comes again the next time
q  quit: what was decided is kept, the rest waits"""
NEXT = "next"  # what a key does: go on to the next item
STAY = "stay"  # ask again
STOP = "stop"


class Walk:
    """Through the items that fit `asked` (parameters of `review.list`), the newest first."""

    def __init__(self, where: str, asked: dict[str, object], keys: Keys) -> None:
        self._where = where
        self._keys = keys
        waits = {"states": [str(State.PENDING)]}  # what is staged is shown file by file, and takes no key
        self._asked = {"workspace": where, "limit": PAGE} | asked | ({} if asked.get("states") else waits)
        self._done: Counter[str] = Counter()
        self._total = 0

    def run(self) -> None:
        """Ask about one item after the other until there are no more, or the person stops."""
        place = 0
        try:
            for item_id in self._items():
                place += 1
                if self._one(item_id, place) == STOP:
                    break
        except (KeyboardInterrupt, EOFError):
            say()
        except RemoraError:
            self._close()
            raise
        self._close()

    def _items(self) -> Iterator[str]:
        """The ids, page by page: what comes in meanwhile is for the next time."""
        after: str | None = None
        while True:
            page = ask("review.list", self._asked | ({"after": after} if after else {}), ReviewPage)
            self._total = self._total or page.total
            yield from (one.item.item_id for one in page.items)
            after = page.next
            if not after:
                return

    def _one(self, item_id: str, place: int) -> str:
        """One item until it is decided or skipped."""
        before = self._get(item_id)
        if before.item.state not in self._wanted():
            say(f"{item_id} was decided meanwhile: it is {before.item.state}.")
            return NEXT
        show(before, place, self._total)
        while True:
            step = self._key(before)
            if step != STAY:
                return step
            now = self._get(item_id)
            if now.item.revision != before.item.revision:
                show(now, place, self._total)
            before = now

    def _key(self, found: Reviewed) -> str:
        replaceable = bool(found.others and found.others.otherwise)
        key = self._pressed(REPLACING if replaceable else KEYS)
        match key:
            case "k":
                return self._kept(found, Act.KEEP)
            case "r" if replaceable and found.others is not None:
                return self._kept(found, Act.KEEP, replaces=[one.memory_id for one in found.others.otherwise])
            case "e":
                return self._edited(found)
            case "a":
                return self._decided(found, Act.ARCHIVE, reason=NOT_WORTH)
            case "A":
                return self._archived_for(found)
            case "s" | " ":
                self._done["skipped"] += 1
                return NEXT
            case "q":
                return STOP
            case _:
                say(HELP)
                return STAY

    def _pressed(self, question: str) -> str:
        """The key that the person presses upon a question. Raises EOFError and KeyboardInterrupt."""
        click.echo(f"{question} ", nl=False)
        key = self._keys.pressed()
        click.echo(key if key.isprintable() else "")
        return key

    def _kept(self, found: Reviewed, act: Act, **more: object) -> str:
        """Keep it; what the screen held back is asked about once more."""
        held = ItemFlag.QUARANTINED in found.item.flags
        if held and self._pressed("It reads like an order to the agent. Keep it as it stands? [y/N]") not in ("y", "Y"):
            return STAY
        return self._decided(found, act, **more)

    def _archived_for(self, found: Reviewed) -> str:
        try:
            with self._keys.aside():
                reason = click.prompt("Why", default=NOT_WORTH)
        except click.Abort:
            say()
            return STAY
        return self._decided(found, Act.ARCHIVE, reason=reason)

    def _decided(self, found: Reviewed, act: Act, **more: object) -> str:
        """Have the decision written down. When it does not hold, it is said why, and the item is asked about again."""
        params = {
            "itemId": found.item.item_id,
            "workspace": self._where,
            "decision": act,
            "expectedRevision": found.item.revision,
            "principal": Principal.HUMAN,
        }
        try:
            done = ask("review.decide", params | more, Decided)
        except Refused as refused:
            say(f"Nothing was decided: {refused}")
            return STAY
        drafts.forget(found.item.item_id)  # words that were begun and are not wanted any more
        tell(done)
        say()
        self._done["archived" if done.item.state is State.ARCHIVED else "kept"] += 1
        return NEXT

    def _edited(self, found: Reviewed) -> str:
        """Other words, in the person's editor. Its file goes once they are kept, or nothing was changed."""
        if found.item.kind in DOCUMENTS:
            before = Wording(text=found.item.text)
        elif found.record is not None and not found.item.text:
            before = Wording(text=found.record.text, title=found.record.title or "")
        else:
            before = Wording(text=found.item.text, title=found.item.title)
        document = review_sheet.write(before, _notes(found))
        file = drafts.resume(found.item.item_id) or drafts.keep(found.item.item_id, document)
        try:
            with self._keys.aside():
                click.edit(filename=str(file))
            after = review_sheet.read(file.read_bytes().decode("utf-8"))
        except (click.ClickException, UnicodeDecodeError) as error:
            problem = error.message if isinstance(error, click.ClickException) else "the file is not UTF-8"
            say(f"Nothing was decided: {problem.rstrip('.')}. Your words are kept in {file}; `e` opens them again.")
            return STAY
        if after == before or not after.text:
            drafts.discard(file)
            say("Nothing was changed, and nothing decided.")
            return STAY
        return self._reworded(found, after, file)

    def _reworded(self, found: Reviewed, words: Wording, file: Path) -> str:
        try:
            step = self._decided(found, Act.EDIT_AND_KEEP, text=words.text, title=words.title)
        except (RemoraError, KeyboardInterrupt):
            say(f"Your words are kept in {file}.")
            raise
        if step != NEXT:
            say(f"Your words are kept in {file}; `e` opens them again.")
        return step

    def _get(self, item_id: str) -> Reviewed:
        return ask("review.get", {"itemId": item_id, "workspace": self._where}, Reviewed)

    def _wanted(self) -> frozenset[State]:
        states = self._asked.get("states")
        return frozenset(State(one) for one in states) if isinstance(states, list) and states else WAITING

    def _close(self) -> None:
        """What was done, and what is left: asked anew, for others decide and propose too."""
        told = ", ".join(f"{count} {what}" for what, count in sorted(self._done.items()))
        try:
            left = ask("review.list", self._asked | {"limit": 1}, ReviewPage).total
            noted, staged = (self._of(state) for state in (State.COMMITTED, State.STAGED))
        except RemoraError:
            say(f"{told or 'Nothing was decided'}.")
            return
        rest = f"{count_of(left, 'item')} {'waits' if left == 1 else 'wait'}" if left else "nothing waits any more"
        say(f"{told + '; ' if told else ''}{rest}.".capitalize())
        if noted and not left:
            say(f"{noted} noted automatically and not reviewed: {SCRIPT} review --noted")
        if staged:
            say(f"Staged for the repository: {staged}. See which: {SCRIPT} team status")

    def _of(self, state: State) -> int:
        """How many items here stand so."""
        return ask("review.list", {"workspace": self._where, "states": [str(state)], "limit": 1}, ReviewPage).total


def _notes(found: Reviewed) -> Iterator[str]:
    """What helps to find better words: who said what."""
    quotes = quotes_of(found.item)
    if quotes:
        yield "It rests on:"
    for one in quotes:
        yield f"  {said(one)}:"
        yield from (f"    {line}" for line in one.quote.splitlines())
