"""Whether a claim of a model, an agent or a person may stand: shared by notes, checkpoint and batch. Pure.

A ladder: the first rung that a claim fails is its rejection, and a rejection is a value. What passes is not true by
that: its quotes were said, by whom it says, and nothing exact in it is made up. A person or a policy decides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo

from governance.formation.contracts import Attribution, NoteFlag, Quote, Rejected, RejectionCode, Role
from governance.formation.dates import relative_in, resolved
from governance.formation.negation import cuts
from governance.formation.quotes import Span, places, too_long, too_short
from governance.formation.support import unsupported, whole
from governance.screen import is_instruction_like, secrets
from recall.contracts import Millis

LONGEST_TITLE, LONGEST_CONTENT, MOST_CITATIONS = 120, 2_000, 8

_SPEAKERS = {Attribution.USER_STATEMENT: Role.USER, Attribution.ASSISTANT_REPORT: Role.ASSISTANT}


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """What is to be admitted. `citations`: who is quoted with which words; their places are looked for here. `index`:
    its place in the answer. `attribution`: None where the pipeline has none."""

    content: str
    citations: tuple[Quote, ...]
    title: str = ""
    attribution: Attribution | None = None
    index: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """A message that may be cited, in the words in which it was shown: cleaned and redacted. `new`: no background.
    `truncated`: words of it were left out. `timestamp`: epoch ms; None: unknown."""

    content: str
    role: Role
    timestamp: Millis | None
    new: bool = True
    truncated: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """On which terms. `needs_new`: whether background alone is too little. `zone`: where the author's clock hung."""

    needs_new: bool = True
    zone: tzinfo = UTC


PLAIN_TERMS = Terms()


@dataclass(frozen=True, kw_only=True, slots=True)
class Admitted:
    """A claim that may stand. `citations`: the slices as they were written, with their places, each once."""

    title: str
    content: str
    attribution: Attribution | None
    citations: tuple[Quote, ...]
    flags: tuple[NoteFlag, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cited:
    """A citation and the message that it was found in. `cut`: wherever it stands, its clause denies it."""

    quote: Quote
    source: Shown
    cut: bool

    @property
    def span(self) -> Span:
        return Span(self.quote.start, self.quote.end)


def admit(claim: Claim, sources: Mapping[str, Shown], terms: Terms = PLAIN_TERMS) -> Admitted | Rejected:
    """The claim with its quotes in place, or the first reason against it.

    `sources`: by message id, all that may be cited. A detail names what is wrong, never in the claim's own words.
    """
    problem = _shape(claim)
    if problem:
        return _rejected(claim, RejectionCode.SCHEMA, problem)
    cited: list[_Cited] = []
    for citation in claim.citations:
        found = _place(claim, citation, sources)
        if isinstance(found, Rejected):
            return found
        if found.quote not in [one.quote for one in cited]:
            cited.append(found)
    for code, problem in _objections(claim, cited, terms):
        return _rejected(claim, code, problem)
    return Admitted(
        title=claim.title.strip(),
        content=claim.content.strip(),
        attribution=claim.attribution,
        citations=tuple(one.quote for one in cited),
        flags=_flags(claim, cited),
    )


def _shape(claim: Claim) -> str:
    if not claim.content.strip():
        return "The content is blank."
    if len(claim.content) > LONGEST_CONTENT:
        return f"The content has {len(claim.content)} characters; {LONGEST_CONTENT} are the most."
    if len(claim.title) > LONGEST_TITLE:
        return f"The title has {len(claim.title)} characters; {LONGEST_TITLE} are the most."
    if not 1 <= len(claim.citations) <= MOST_CITATIONS:
        return f"There are {len(claim.citations)} citations; it needs 1 to {MOST_CITATIONS}."
    return ""


def _place(claim: Claim, citation: Quote, sources: Mapping[str, Shown]) -> _Cited | Rejected:
    """Where a quote stands, or why it stands nowhere."""
    source = sources.get(citation.message_id)
    if source is None:
        return _rejected(claim, RejectionCode.UNKNOWN_MESSAGE, "A citation names a message that was not shown.")
    spans = list(places(citation.quote, source.content))
    if not spans:
        return _rejected(claim, RejectionCode.QUOTE_NOT_FOUND, "A quote does not stand in its message word for word.")
    if all(too_short(span, source.content) for span in spans):
        return _rejected(claim, RejectionCode.QUOTE_TOO_SHORT, "A quote has fewer than 4 characters.")
    if all(too_long(span) for span in spans):
        return _rejected(claim, RejectionCode.QUOTE_TOO_LONG, "A quote has more than 1 000 characters.")
    fitting = [span for span in spans if not too_short(span, source.content) and not too_long(span)]
    span, cut = _best(fitting or spans, source.content)
    quote = Quote(message_id=citation.message_id, quote=source.content[slice(*span)], start=span.start, end=span.end)
    return _Cited(quote=quote, source=source, cut=cut)


def _best(spans: Sequence[Span], content: str) -> tuple[Span, bool]:
    """The place that a quote may stand for, and whether it is cut there: words may be repeated in a message."""
    kept = [span for span in spans if not cuts(content, *span)]
    clean = (span for span in kept if whole(content, span) == content[slice(*span)])
    return next(clean, (kept or spans)[0]), not kept


def _objections(claim: Claim, cited: Sequence[_Cited], terms: Terms) -> Iterator[tuple[RejectionCode, str]]:
    if terms.needs_new and not any(one.source.new for one in cited):
        yield RejectionCode.BACKGROUND_ONLY, "No citation is of a new message."
    speaker = _SPEAKERS.get(claim.attribution) if claim.attribution is not None else None
    if speaker is not None and not any(one.source.role is speaker for one in cited):
        yield RejectionCode.ATTRIBUTION_MISMATCH, f"No message of the {speaker} is cited."
    if any(one.cut for one in cited):
        yield RejectionCode.NEGATION_CUT, "A quote leaves out the word that denies it."
    said = [whole(one.source.content, one.span) for one in cited]
    dates = frozenset().union(*(resolved(one.quote.quote, one.source.timestamp, terms.zone) for one in cited))
    missing = unsupported(f"{claim.title}\n{claim.content}", said, dates)
    if missing:
        yield RejectionCode.UNSUPPORTED_TOKEN, _unsaid(len(missing))
    if relative_in(claim.title) or relative_in(claim.content):
        yield RejectionCode.RELATIVE_DATE, "A date is said as on the day of the message: it must be a date."
    if secrets(claim.title) or secrets(claim.content) or any(_holds_secret(one) for one in cited):
        yield RejectionCode.SECRET, "It holds a secret or personal data."


def _unsaid(count: int) -> str:
    return "A number or name stands in no quote." if count == 1 else f"{count} numbers or names stand in no quote."


def _holds_secret(one: _Cited) -> bool:
    """Whether a quote has a part of what is to be redacted in its message: half a secret is secret too."""
    return any(
        finding.start < one.span.end and one.span.start < finding.end for finding in secrets(one.source.content)
    ) or bool(secrets(one.quote.quote))


def _flags(claim: Claim, cited: Sequence[_Cited]) -> tuple[NoteFlag, ...]:
    """What a reviewer must know. An order anywhere in a cited message makes what was made of it suspect."""
    texts = (f"{claim.title}\n{claim.content}", *dict.fromkeys(one.source.content for one in cited))
    flags = [NoteFlag.QUARANTINED] if any(map(is_instruction_like, texts)) else []
    if any(one.source.truncated for one in cited):
        flags.append(NoteFlag.TRUNCATED_EVIDENCE)
    return tuple(flags)


def _rejected(claim: Claim, code: RejectionCode, detail: str) -> Rejected:
    return Rejected(index=claim.index, code=code, detail=detail)
