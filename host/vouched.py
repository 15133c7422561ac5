"""Whether the user said what an agent would keep: a quote that stands, word for word, in a message that the user wrote
in this session (formation.md 7.3).

The agent names its session, or the sessions that are at work in the folder are looked at. What they wrote is read as
formation reads it: without injected blocks, machine-written parts, and spans that the user denied. The quote must bear
on what is kept, and leave no negation out; that a sentence is true, nobody proves.
"""

import asyncio
from collections.abc import Iterable, Sequence

from governance.formation.admit import Admitted, Claim, Shown, admit
from governance.formation.bearing import covered, rests
from governance.formation.contracts import Attribution, EvidenceRecord, Quote, Role
from governance.review import QUOTE, Citation
from host.parts import Parts

LAST = 2**53 - 1
MOST_SESSIONS = 8
BEARS = 0.6  # share of the text's terms that stand in the quote at least: two words of it vouch for no sentence


async def vouched(parts: Parts, text: str, quote: str, session_id: str, workspace: str) -> Citation | None:
    """Where the user said it; None: nowhere that can be proved. `session_id` empty: the sessions at work in the
    workspace of that key."""
    sessions = [session_id] if session_id else _at_work(parts, workspace)
    for session in sessions[:MOST_SESSIONS]:
        records = await parts.formation.material.read(session, 0, LAST)
        own = [one for one in records if one.role == Role.USER and one.workspace_key == workspace]
        found = await asyncio.to_thread(_found, text, quote, own)
        if found is not None:
            return found
    return None


def _at_work(parts: Parts, workspace: str) -> list[str]:
    """The sessions of that workspace that are live, the latest first."""
    live = [one for one in parts.sessions.all() if one.scope.workspace == workspace and not one.subagent]
    live.sort(key=lambda one: one.cursor.event_seq, reverse=True)
    return list(dict.fromkeys(one.scope.session_id for one in live))


def _found(text: str, quote: str, records: Sequence[EvidenceRecord]) -> Citation | None:
    """The latest message that holds the quote, if the text may be said to rest on it."""
    for one in reversed(records):
        claim = Claim(
            content=text,
            citations=(Quote(message_id=one.message_id, quote=quote),),
            attribution=Attribution.USER_STATEMENT,
        )
        shown = Shown(content=one.text, role=Role.USER, timestamp=one.at, new=True, truncated=one.truncated)
        done = admit(claim, {one.message_id: shown})
        if isinstance(done, Admitted) and not done.flags and _bears(text, done.citations):
            return _citation(done.citations[0], one)
    return None


def _bears(text: str, quotes: Iterable[Quote]) -> bool:
    said = [one.quote for one in quotes]
    return covered(text, said) >= BEARS and rests(text, said)


def _citation(quote: Quote, record: EvidenceRecord) -> Citation:
    return Citation(
        kind=QUOTE,
        ref=quote.message_id,
        quote=quote.quote,
        start=quote.start,
        end=quote.end,
        session=record.session_id,
        seq=record.event_seq,
        role=Role.USER,
        at=record.at,
    )
