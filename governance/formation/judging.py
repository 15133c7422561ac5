"""Candidates become evidence notes, or are rejected, each for itself (formation.md 2.2). Pure.

A driver's answer, the running agent's batch and a person's own note come through here. What may be cited is the
original text of the window's messages; what was taken out before the text was shown cannot be quoted.
"""

import re
from collections.abc import Sequence
from datetime import UTC, tzinfo

import msgspec

from governance.formation.admit import Claim, Shown, Terms, admit
from governance.formation.claims import claim_of
from governance.formation.contracts import (
    Attribution,
    Completeness,
    EvidenceNote,
    NoteBody,
    NoteFlag,
    NoteKind,
    NoteScope,
    Packet,
    Quote,
    Rejected,
    RejectionCode,
    Source,
    Use,
)
from governance.formation.dates import day
from governance.formation.oversize import GAP
from governance.formation.prompts import shown
from governance.screen import redact
from recall.canonical import digest, short_id
from recall.contracts import Frozen

MOST_NOTES = 8
MODEL, AGENT, HUMAN = "model", "agent", "human"
_QUOTED = re.compile(r"'[^']*'")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_HALF = re.compile(r"[\ud800-\udfff]")


class _Cited(msgspec.Struct, frozen=True, rename="camel"):
    message_id: str
    quote: str


class Candidate(msgspec.Struct, frozen=True, rename="camel"):
    """One note of an answer, as the tool asks for it. Further members are passed over."""

    kind: NoteKind
    title: str
    content: str
    attribution: Attribution
    citations: tuple[_Cited, ...]


class Judged(Frozen, frozen=True, kw_only=True):
    """What of an answer is taken, and what is not."""

    notes: tuple[EvidenceNote, ...] = ()
    rejected: tuple[Rejected, ...] = ()


def judge(candidates: Sequence[object], packet: Packet, author: str, zone: tzinfo = UTC) -> Judged:
    """Each candidate for itself, at most MOST_NOTES of them. `author`: model or agent. `zone`: of whoever wrote."""
    notes: dict[str, EvidenceNote] = {}
    claims: set[str] = set()
    rejected: list[Rejected] = []
    terms = Terms(zone=zone)
    for index, raw in enumerate(candidates):
        if index >= MOST_NOTES:
            rejected.append(Rejected(index=index, code=RejectionCode.OVER_LIMIT, detail=f"At most {MOST_NOTES} notes."))
            continue
        body = body_of(raw, index)
        note = body if isinstance(body, Rejected) else proposed(body, packet, author, terms, index)
        if isinstance(note, Rejected):
            rejected.append(note)
            continue
        claim = claim_of(note.content)
        if note.id in notes or claim in claims:
            rejected.append(Rejected(index=index, code=RejectionCode.DUPLICATE, detail="An earlier one says the same."))
            continue
        claims.add(claim)
        notes[note.id] = note
    return Judged(notes=tuple(notes.values()), rejected=tuple(rejected))


def body_of(raw: object, index: int = 0) -> NoteBody | Rejected:
    """A candidate as it was written, if it has the form of one."""
    try:
        one = msgspec.convert(raw, Candidate)
    except msgspec.ValidationError as error:
        return Rejected(index=index, code=RejectionCode.SCHEMA, detail=_QUOTED.sub("…", str(error))[:200])
    return NoteBody(
        kind=one.kind,
        title=" ".join(one.title.split()),
        content=one.content.strip(),
        attribution=one.attribution,
        citations=tuple(Quote(message_id=cited.message_id, quote=cited.quote) for cited in one.citations),
    )


def proposed(body: NoteBody, packet: Packet, author: str, terms: Terms, index: int = 0) -> EvidenceNote | Rejected:
    """The note that a body makes over a packet, still to be reviewed; or why it makes none."""
    misfit = _misfit(body)
    if misfit:
        return Rejected(index=index, code=RejectionCode.SCHEMA, detail=misfit)
    claim = Claim(
        content=body.content, citations=body.citations, title=body.title, attribution=body.attribution, index=index
    )
    admitted = admit(claim, {source.message_id: _shown(source) for source in packet.sources}, terms)
    if isinstance(admitted, Rejected):
        return admitted
    if any(_over_a_gap(quote, packet) for quote in admitted.citations):
        detail = "A quote goes over a gap in its message."
        return Rejected(index=index, code=RejectionCode.QUOTE_NOT_FOUND, detail=detail)
    return _note(msgspec.structs.replace(body, citations=admitted.citations), packet, author, admitted.flags)


def _misfit(body: NoteBody) -> str:
    """What of a note's form no other pipeline asks for: it has a title, and its texts can be shown and stored."""
    if not body.title:
        return "The title is blank."
    quoted = [text for one in body.citations for text in (one.quote, one.message_id)]
    if _CONTROL.search(f"{body.title}\n{body.content}") or any(_HALF.search(text) for text in quoted):
        return "A text holds control characters."
    return ""


def _shown(source: Source) -> Shown:
    return Shown(
        content=source.content,
        role=source.role,
        timestamp=source.timestamp or None,
        new=source.use is Use.NEW,
        truncated=source.completeness is Completeness.TRUNCATED,
    )


def _over_a_gap(quote: Quote, packet: Packet) -> bool:
    """Whether a quote holds a part of the line that stands for what is missing of its message: nobody wrote that."""
    source = next(source for source in packet.sources if source.message_id == quote.message_id)
    gaps = GAP.finditer(source.content) if source.completeness is Completeness.TRUNCATED else ()
    return any(gap.start() < quote.end and quote.start < gap.end() for gap in gaps)


def _note(body: NoteBody, packet: Packet, author: str, flags: tuple[NoteFlag, ...]) -> EvidenceNote:
    return sealed(
        EvidenceNote(
            id=note_id(body, packet),
            kind=body.kind,
            title=body.title,
            content=body.content,
            attribution=body.attribution,
            citations=body.citations,
            scope=NoteScope(scope_key=packet.scope_key, stream_id=packet.stream_id),
            evidence_digest=packet.evidence_digest,
            version=1,
            digest="",
            author=author,
            flags=flags,
        )
    )


def note_id(body: NoteBody, packet: Packet) -> str:
    """The same window and the same content, the same id."""
    return short_id("note_", [packet.scope_key, packet.stream_id, packet.evidence_digest, _plain(body)])


def body_in(note: EvidenceNote) -> NoteBody:
    """What a note says, without its life."""
    return NoteBody(
        kind=note.kind,
        title=note.title,
        content=note.content,
        attribution=note.attribution,
        citations=note.citations,
    )


def note_digest(note: EvidenceNote) -> str:
    """What a decision is bound to: id, body, scope, evidence, version and status."""
    return digest(
        {
            "id": note.id,
            "body": _plain(body_in(note)),
            "scope": note.scope,
            "evidenceDigest": note.evidence_digest,
            "version": note.version,
            "status": note.review.status,
        }
    )


def sealed(note: EvidenceNote) -> EvidenceNote:
    """The note with the digest that it has now."""
    return msgspec.structs.replace(note, digest=note_digest(note))


def _plain(body: NoteBody) -> dict[str, object]:
    return {
        "kind": body.kind,
        "title": body.title,
        "content": body.content,
        "attribution": body.attribution,
        "citations": [[one.message_id, one.quote] for one in body.citations],
    }


def material(packet: Packet, zone: tzinfo = UTC) -> str:
    """What is shown of a packet: one line a message, fenced, secrets replaced by their kind."""
    return shown(
        {
            "messageId": source.message_id,
            "role": source.role,
            "use": source.use,
            **({"day": day(source.timestamp, zone)} if source.timestamp else {}),
            **({"truncated": True} if source.completeness is Completeness.TRUNCATED else {}),
            "content": redact(source.content)[0],
        }
        for source in packet.sources
    )
