"""What else of a session helps to understand a part of it: a search in its own texts (formation.md 5.2, 7). Pure.

Turns are ranked by how many of the terms they hold, then by how recent they are; each comes with its neighbours.
Nothing from across a span that the user denied, and nothing of another workspace, is among the texts that are searched.
"""

import unicodedata
from collections.abc import Collection, Iterable, Sequence

from governance.formation.checkpoint_answers import Incident
from governance.formation.contracts import EvidenceRecord
from governance.formation.projecting import USER, plain, telling
from recall.analyzer import terms

MOST_TURNS = 7
LONGEST_TOTAL = 12_000  # characters
LONGEST_EVENT = 2_000
MOST_READ = 64  # turns of a session that are read word for word
SHORT_TERM = 3  # characters
BESIDE = 1  # turns before and after one that was found


def search(
    records: Sequence[EvidenceRecord], incidents: Iterable[Incident], shown: Collection[str]
) -> tuple[EvidenceRecord, ...]:
    """The texts that speak of what is looked for, cleaned and cut, in their order. `records`: what may be searched, in
    order; `shown`: refs that the model has before it already."""
    wanted = {term for one in incidents for asked in one.terms for term in terms(asked)}
    turns = _turns(records)
    covered = {place: len(wanted & _terms(turns[place])) for place in _likely(turns, wanted)}
    ranked = sorted(
        (place for place in covered if covered[place]), key=lambda place: (covered[place], place), reverse=True
    )
    places: list[int] = []
    for place in ranked:
        beside = [place, *range(place - BESIDE, place), *range(place + 1, place + BESIDE + 1)]
        places += [one for one in beside if 0 <= one < len(turns) and one not in places]
    return _within(turns, places, shown)


def _likely(turns: Sequence[Sequence[EvidenceRecord]], wanted: Collection[str]) -> list[int]:
    """The turns that are worth reading word for word. A stem hardly ever differs from its word but in the last letter:
    a text without the beginning of any term is not looked at."""
    stubs = [term[:-1] if len(term) > SHORT_TERM else term for term in wanted]
    held: list[tuple[int, int]] = []
    for place, turn in enumerate(turns):
        text = "\n".join(record.text[:LONGEST_EVENT] for record in turn)
        text = (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()
        count = sum(stub in text for stub in stubs)
        if count:
            held.append((count, place))
    return [place for _, place in sorted(held, reverse=True)[:MOST_READ]]


def _within(
    turns: Sequence[Sequence[EvidenceRecord]], places: Iterable[int], shown: Collection[str]
) -> tuple[EvidenceRecord, ...]:
    """The texts of the best turns that fit, in the order of the session."""
    taken: list[EvidenceRecord] = []
    left, turns_left = LONGEST_TOTAL, MOST_TURNS
    for place in places:
        said = [one for one in turns[place] if one.role != USER or telling(one.text)]
        fresh = [plain(one, LONGEST_EVENT) for one in said if one.ref not in shown]
        size = sum(len(one.text) for one in fresh)
        if not fresh or size > left:
            continue
        taken += fresh
        left, turns_left = left - size, turns_left - 1
        if not turns_left:
            break
    return tuple(sorted(taken, key=lambda one: (one.event_seq, one.ref)))


def _turns(records: Iterable[EvidenceRecord]) -> list[list[EvidenceRecord]]:
    """One list a turn: what the user said, and all that was answered."""
    turns: list[list[EvidenceRecord]] = []
    for record in records:
        if turns and turns[-1][0].turn == record.turn:
            turns[-1].append(record)
        else:
            turns.append([record])
    return turns


def _terms(turn: Iterable[EvidenceRecord]) -> set[str]:
    return {term for record in turn for term in terms(record.text[:LONGEST_EVENT])}
