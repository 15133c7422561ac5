"""What a fact rests on names message, event and words; what nobody counted is not zero."""

from governance.formation.contracts import Quote, Usage
from governance.formation.sourcing import added, citation_of, source_of
from tests.support.checkpoints import said

RECORD = said("We ship on Thursdays.", 7)
CITED = Quote(message_id=RECORD.ref, quote="on Thursdays", start=8, end=20)


def test_a_source_and_a_citation_name_the_message_the_event_and_the_words() -> None:
    source, citation = source_of(RECORD, CITED), citation_of(RECORD, CITED)
    assert (source.session_id, source.message_id, source.event_seq, source.quote) == (
        "s-one",
        "s-one-m7",
        7,
        "on Thursdays",
    )
    assert (citation.kind, citation.ref, citation.session, citation.seq) == ("quote", "s-one-m7", "s-one", 7)
    assert RECORD.text[citation.start : citation.end] == citation.quote == source.quote
    assert citation.at == source.at == RECORD.at and citation.role == source.role == "user"


def test_usage_is_the_sum_of_what_was_reported() -> None:
    one = Usage(input_tokens=3, output_tokens=4, cached_input_tokens=1)
    two = Usage(input_tokens=5, output_tokens=6, reasoning_tokens=2)
    assert added([one, two]) == Usage(input_tokens=8, output_tokens=10, cached_input_tokens=1, reasoning_tokens=2)


def test_where_one_call_reported_nothing_there_is_no_sum() -> None:
    assert added([Usage(input_tokens=3, output_tokens=4), None]) is None
    assert added([]) is None
