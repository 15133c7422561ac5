"""The sentence of a message that a memory rests on, where its pipeline names messages and quotes nothing. Pure.

A person who reviews wants to read what was said, and what was forgotten is recognised by it when an old conversation is
read again. It is a slice of the message, word for word.
"""

import re

from recall.analyzer import distinct

SHORTEST, LONGEST = 4, 1_000  # characters
_SENTENCE = re.compile(r"[^\n.!?。！？]*(?:[.!?](?!\s|\Z)[^\n.!?。！？]*)*(?:[.!?]+(?=\s|\Z)|[。！？]+|\n|\Z)")


def excerpt(content: str, text: str) -> str:
    """The sentence of `text` that has most terms in common with `content`, the first of equals; of a text without one
    its beginning."""
    wanted = frozenset(distinct(content))
    best, most = "", -1
    for found in _SENTENCE.finditer(text):
        sentence = found[0].strip()
        if SHORTEST <= len(sentence) <= LONGEST:
            count = len(wanted.intersection(distinct(sentence)))
            if count > most:
                best, most = sentence, count
    return best or text.strip()[:LONGEST].rstrip()
