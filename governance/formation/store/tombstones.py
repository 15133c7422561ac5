"""What was said no to once, so that it is not proposed again (formation.md 7.4).

Of each: a keyed digest of its words as `same` compares them, and of its quotes. What was archived keeps its words too,
so that likeness can be told; what was forgotten keeps none but a digest of its terms, and comes back only by what the
user said since. Digests that an earlier version made of the words are looked for as well.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import islice

import msgspec

from governance.formation.claims import claim_of, near
from governance.formation.differences import terms, values
from governance.formation.negation import count
from governance.review import QueueItem, quotes_of
from recall.canonical import keyed
from recall.contracts import Frozen, Millis

MOST_COMPARED = 2_000  # of a workspace, the newest
MOST_LINKED = 8
LONGEST = 4_000  # characters of a text whose terms are told by a digest
LIKENESS = frozenset({"checkpoint", "batch"})  # pipelines that leave no likeness to review
_DIGITS = re.compile(r"\d+")
_FIND = "SELECT digest, item_id, why, at FROM tombstone WHERE digest IN (SELECT value FROM json_each(?))"
_QUOTED = (
    "SELECT digest, item_id, why, at FROM tombstone WHERE why = 'forgotten' AND workspace_key IN (?, '') AND EXISTS"
    " (SELECT 1 FROM json_each(citations) WHERE value IN (SELECT value FROM json_each(?)))"
)
_WORDS = (
    "SELECT digest, item_id, words FROM tombstone WHERE workspace_key IN (?, '') AND words != ''"
    " ORDER BY at DESC LIMIT ?"
)
_SEEN = "UPDATE tombstone SET seen_count = seen_count + 1, seen_at = ? WHERE digest = ?"
_RESTORE = "INSERT OR IGNORE INTO tombstone (digest, at, why) VALUES (?, ?, ?)"
_LIFT = "DELETE FROM tombstone WHERE digest IN (SELECT value FROM json_each(?))"
_BURY = (
    "INSERT INTO tombstone (digest, item_id, at, workspace_key, why, words, citations) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (digest) DO UPDATE SET item_id = excluded.item_id, at = excluded.at, why = excluded.why,"
    " workspace_key = excluded.workspace_key, words = excluded.words, citations = excluded.citations"
)


class Why(StrEnum):
    ARCHIVED = "archived"
    DISCARDED = "discarded"
    FORGOTTEN = "forgotten"


class Grave(Frozen, frozen=True, kw_only=True):
    """What is not to come again. `quotes`: what it rested on, word for word."""

    workspace_key: str
    text: str
    at: Millis
    why: Why = Why.ARCHIVED
    item_id: str | None = None
    quotes: tuple[str, ...] = ()


class Met(Frozen, frozen=True, kw_only=True):
    """What a proposal met. `buried`: the digest of what it repeats; `returned`: it was forgotten, and the user said it
    again since; `near`: items that were put away and say much the same."""

    buried: str | None = None
    returned: bool = False
    near: tuple[str, ...] = ()


class Tombstones:
    """Plain functions over a connection. `key`: the install key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def bury(self, connection: sqlite3.Connection, grave: Grave) -> None:
        """Write it down; the last word about the same counts. Nothing without words."""
        if not grave.text.strip():
            return
        forgotten = grave.why is Why.FORGOTTEN
        quotes = {self._quote(grave.workspace_key, quote) for quote in grave.quotes}
        if forgotten:
            quotes.add(self._terms(grave.workspace_key, grave.text))
        words = "" if forgotten else grave.text
        digest, *older = self._digests(grave.workspace_key, grave.text)
        row = (digest, grave.item_id, grave.at, grave.workspace_key, grave.why, words, _json(sorted(quotes)))
        connection.execute(_BURY, row)
        connection.execute(_LIFT, (_json(older),))

    def restore(self, connection: sqlite3.Connection, digest: str, why: Why, at: Millis) -> None:
        """Put back what a line of the journal tells of: without the words. What is there stays."""
        connection.execute(_RESTORE, (digest, at, why))

    def lift(self, connection: sqlite3.Connection, workspace_key: str, text: str) -> None:
        """A person thought better of it."""
        connection.execute(_LIFT, (_json(self._digests(workspace_key, text)),))

    def digest(self, workspace_key: str, text: str) -> str:
        """What stands for these words when they are gone: nothing can be read out of it without the key."""
        return self._digests(workspace_key, text)[0]

    def seen(self, connection: sqlite3.Connection, digest: str, at: Millis) -> None:
        """It was said once more."""
        connection.execute(_SEEN, (at, digest))

    def holds(self, connection: sqlite3.Connection, workspace_key: str, text: str, said_at: Millis = 0) -> bool:
        """Whether these words were said no to. `said_at`: when the user said them, as far as that is proved."""
        found = connection.execute(_FIND, (_json(self._digests(workspace_key, text)),)).fetchone()
        return found is not None and not (found[2] == Why.FORGOTTEN and said_at > found[3])

    def met(self, connection: sqlite3.Connection, item: QueueItem) -> Met:
        """What was said no to that this proposal says again."""
        quotes = quotes_of(item)
        found = self._found(connection, item, [one.quote for one in quotes])
        if found is not None:
            digest, why, at = found
            newer = any(one.role == "user" and one.at > at for one in quotes)
            if why != Why.FORGOTTEN or not newer:
                return Met(buried=digest)
            return Met(returned=True)
        like = self._like(connection, item) if item.text.strip() else []
        if like and item.pipeline in LIKENESS:
            return Met(buried=like[0][0])
        return Met(near=tuple(dict.fromkeys(item_id for _, item_id in like if item_id)))

    def _found(
        self, connection: sqlite3.Connection, item: QueueItem, quotes: Sequence[str]
    ) -> tuple[str, str, Millis] | None:
        """The same words, or, of what was forgotten, the same quote or words that are quoted."""
        where = dict.fromkeys((item.workspace_key, ""))
        words = [digest for key in where for digest in self._digests(key, item.text)] if item.text.strip() else []
        for digest, _, why, at in connection.execute(_FIND, (_json(words),)):
            return digest, why, at
        said = [digest for key in where for quote in quotes for digest in self._digests(key, quote)]
        for digest, _, why, at in connection.execute(_FIND, (_json(said),)):
            if why == Why.FORGOTTEN:
                return digest, why, at
        cited = [self._quote(key, quote) for key in where for quote in quotes]
        cited += [self._terms(key, text) for key in where for text in (item.text, *quotes) if text.strip()]
        for digest, _, why, at in connection.execute(_QUOTED, (item.workspace_key, _json(cited))):
            return digest, why, at
        return None

    def _like(self, connection: sqlite3.Connection, item: QueueItem) -> list[tuple[str, str | None]]:
        """What was put away and is `near`: its numbers are looked at first, for that is cheap."""
        text, numbers = item.text, _numbers(item.text)
        rows = connection.execute(_WORDS, (item.workspace_key, MOST_COMPARED)).fetchall()
        alike = (row for row in rows if _numbers(row[2]) == numbers and near(text, row[2]))
        return [(digest, item_id) for digest, item_id, _ in islice(alike, MOST_LINKED)]

    def _digests(self, workspace_key: str, text: str) -> tuple[str, str]:
        """What stands for a text that is gone: the same for the same words, however they are set. The second is as it
        was made before final punctuation was let go."""
        words = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
        before = f"{workspace_key}\n{words}".encode("utf-8", "surrogatepass")
        return keyed(self._key, f"claim\n{workspace_key}\n{claim_of(text)}".encode()), keyed(self._key, before)

    def _terms(self, workspace_key: str, text: str) -> str:
        """The same for a text in the same words but for their order and those that say nothing; one of too few words is
        told by all of them."""
        short = text[:LONGEST]
        words = sorted(terms(short))
        told = words if len(words) > 1 and len(text) <= LONGEST else [claim_of(text)]
        said = (told, sorted(map(repr, values(short).elements())), count(short))
        return keyed(self._key, f"terms\n{workspace_key}\n{said!r}".encode("utf-8", "surrogatepass"))

    def _quote(self, workspace_key: str, quote: str) -> str:
        return keyed(self._key, f"quote\n{workspace_key}\n{claim_of(quote)}".encode())


def _numbers(text: str) -> list[str]:
    return sorted(_DIGITS.findall(unicodedata.normalize("NFKC", text)))


def _json(values: Iterable[str]) -> str:
    return msgspec.json.encode(list(values)).decode()
