"""What an arm is compared with: SQLite's own full-text search over the same documents, in memory, without any budget.

`exhaustive` indexes the terms of our analyzer and asks for all terms of the query. `plain` indexes the raw text with
FTS5's default tokenizer and asks for the query's words. Both take the order of FTS5's bm25.
"""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager

from recall.analyzer import distinct, terms

_WORD = re.compile(r"\w+")
# The analyzer's terms are letters, digits and these characters: a term is one token.
OWN = "content = '', tokenize = \"ascii tokenchars '_-./:+#~'\""
PLAIN = "content = '', tokenize = 'unicode61'"

Ask = Callable[[str], list[tuple[int, float]]]
"""Text -> (document number, score, higher is better), best first."""


@contextmanager
def exhaustive(documents: Iterable[tuple[int, str]], limit: int) -> Iterator[Ask]:
    """Own terms, all of them."""
    tokens = ((number, " ".join(terms(text))) for number, text in documents)
    with _table(OWN, tokens) as table:
        yield lambda text: _asked(table, distinct(text), limit)


@contextmanager
def plain(documents: Iterable[tuple[int, str]], limit: int) -> Iterator[Ask]:
    """FTS5 as it comes."""
    with _table(PLAIN, documents) as table:
        yield lambda text: _asked(table, list(dict.fromkeys(_WORD.findall(text.lower()))), limit)


@contextmanager
def _table(options: str, rows: Iterable[tuple[int, str]]) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute(f"CREATE VIRTUAL TABLE document USING fts5(body, {options})")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO document (rowid, body) VALUES (?, ?)", rows)
        connection.execute("COMMIT")
        yield connection


def _asked(table: sqlite3.Connection, words: Sequence[str], limit: int) -> list[tuple[int, float]]:
    """Rows that hold any of the words, the best `limit` by bm25; equal ones in the order of their numbers."""
    if not words:
        return []
    question = " OR ".join(f'"{word}"' for word in words)
    rows = table.execute(
        "SELECT rowid, rank FROM document WHERE document MATCH ? ORDER BY rank LIMIT ?", (question, limit)
    ).fetchall()
    return sorted(((number, -rank) for number, rank in rows), key=lambda row: (-row[1], row[0]))
