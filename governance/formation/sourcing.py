"""What a fact rests on, as the store and the queue keep it, and what its forming used. Pure."""

from collections.abc import Sequence

from governance.formation.contracts import EvidenceRecord, MemorySource, Quote, Usage
from governance.formation.projecting import USER
from governance.review import QUOTE, Citation


def source_of(record: EvidenceRecord, quote: Quote) -> MemorySource:
    """The source of a record that was formed: the quote and the event in which it stands."""
    return MemorySource(
        session_id=record.session_id,
        message_id=record.message_id,
        event_seq=record.event_seq,
        at=record.at,
        quote=quote.quote,
        role=USER,
    )


def citation_of(record: EvidenceRecord, quote: Quote) -> Citation:
    """The citation of an item of the queue: the same, with its place in the text as it was shown."""
    return Citation(
        kind=QUOTE,
        ref=record.message_id,
        quote=quote.quote,
        start=quote.start,
        end=quote.end,
        session=record.session_id,
        seq=record.event_seq,
        role=USER,
        at=record.at,
    )


def added(reported: Sequence[Usage | None]) -> Usage | None:
    """All calls together; None when one of them reported nothing: what nobody counted is not zero."""
    known = [one for one in reported if one is not None]
    if len(known) < len(reported) or not known:
        return None
    cached = [one.cached_input_tokens for one in known if one.cached_input_tokens is not None]
    reasoning = [one.reasoning_tokens for one in known if one.reasoning_tokens is not None]
    return Usage(
        input_tokens=sum(one.input_tokens for one in known),
        output_tokens=sum(one.output_tokens for one in known),
        cached_input_tokens=sum(cached) if cached else None,
        reasoning_tokens=sum(reasoning) if reasoning else None,
    )
