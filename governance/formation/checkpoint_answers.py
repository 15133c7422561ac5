"""What a model may answer to the checkpoint's two prompts, and how that is read (formation.md 5.2, 7 and 9). Pure.

An answer that is none of the shapes is a fault, never "nothing to remember". A malformed element costs itself alone.
"""

from collections.abc import Collection, Iterable
from typing import TypeVar

import msgspec

from governance.formation.answer import Kind, Wanted, parse
from governance.formation.contracts import FailureClass, ModelResponse, ToolSpec
from governance.formation.errors import AnswerFault
from governance.formation.ladder import RangeFault
from recall.contracts import Frozen

SUBMIT = "submit"
MOST_ITEMS = 20
MOST_CITED = 8
MOST_INCIDENTS = 10
MOST_TERMS, LONGEST_TERM = 8, 128
COMPLETE, SEARCH, UNRESOLVED = "complete", "search_required", "cannot_resolve"
_ANSWERS = ("status", COMPLETE, SEARCH, UNRESOLVED, "items")
T = TypeVar("T")


class Cited(Frozen, frozen=True, kw_only=True):
    """A quote, and which line it is of."""

    source_ref: str
    quote: str


class Item(Frozen, frozen=True, kw_only=True):
    """What is proposed to be remembered. `gap_id`: the open fact that it says, as the model has it."""

    content: str
    evidence: tuple[Cited, ...]
    gap_id: str | None = None


class Incident(Frozen, frozen=True, kw_only=True):
    """A line that cannot be understood without what was said earlier, and what to look for there."""

    source_ref: str
    terms: tuple[str, ...]


class Proposal(Frozen, frozen=True, kw_only=True):
    """`items`: whole and well-formed ones. `schema`, `over`: how many were malformed, or too many. `incidents`: what to
    search for; then there are no items. `truncated`: the answer was cut behind these."""

    items: tuple[Item, ...] = ()
    incidents: tuple[Incident, ...] = ()
    schema: int = 0
    over: int = 0
    truncated: bool = False
    cited: frozenset[str] = frozenset()


class Result(Frozen, frozen=True, kw_only=True):
    """What the quotes of one id say. `sentence`: of an accepted one."""

    id: str
    verdict: str
    sentence: str = ""


class Results(Frozen, frozen=True, kw_only=True):
    """By id; `truncated`: the answer was cut behind these."""

    by_id: dict[str, Result]
    truncated: bool = False


def proposal(response: ModelResponse, refs: Collection[str]) -> Proposal:
    """What was proposed. `refs`: the lines of evidence that may ask for a search.

    Raises AnswerFault for what is no such answer, RangeFault (`localization`) when the model cannot resolve it or asks
    for a search of nothing.
    """
    value, truncated = _object(response)
    match _status(value):
        case "complete":
            return _complete(value, truncated)
        case "search_required":
            found = _list(value, "incidents", SEARCH)
            incidents = [one for raw in found[:MOST_INCIDENTS] if (one := _incident(raw, refs)) is not None]
            if not incidents:
                raise RangeFault(FailureClass.LOCALIZATION, "A search was asked for, but of nothing that was shown.")
            return Proposal(incidents=tuple(incidents))
        case "cannot_resolve":
            raise RangeFault(FailureClass.LOCALIZATION, "The model cannot tell what the evidence speaks of.")
        case status:
            raise AnswerFault("schema", f"The answer has the status {str(status)[:40]!r}, which there is not.")


def results(response: ModelResponse, ids: Collection[str]) -> Results:
    """The results by id, one for each of `ids`; of a cut answer, those that are whole.

    Raises AnswerFault for what is no such answer, RangeFault (`admission`) when an id has none, two, or was not asked.
    """
    answer = parse(response, SUBMIT, Wanted(kind=Kind.OBJECT, member="results"))
    read = [_as(raw, Result) for raw in answer.member("results")]
    whole = [one for one in read if one is not None and one.verdict in ("accept", "reject")]
    by_id = {one.id: one for one in whole}
    odd = len(whole) < len(read) or len(by_id) < len(whole) or not by_id.keys() <= set(ids)
    if odd or (len(by_id) < len(ids) and not answer.truncated):
        raise RangeFault(FailureClass.ADMISSION, "There is not exactly one result for each of the ids.")
    if answer.truncated and not by_id:
        raise AnswerFault("length", "The answer was cut before any result was whole.")
    return Results(by_id=by_id, truncated=answer.truncated)


PROPOSE = ToolSpec(
    name=SUBMIT,
    description="Hand in what you propose, or what you need to look up first.",
    schema={
        "type": "object",
        "additionalProperties": False,
        "required": ["status", "items", "incidents"],
        "properties": {
            "status": {"type": "string", "enum": [COMPLETE, SEARCH, UNRESOLVED]},
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["content", "evidence", "gapId"],
                    "properties": {
                        "content": {"type": "string"},
                        "evidence": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "additionalProperties": False,
                                "required": ["sourceRef", "quote"],
                                "properties": {"sourceRef": {"type": "string"}, "quote": {"type": "string"}},
                            },
                        },
                        "gapId": {"type": ["string", "null"]},
                    },
                },
            },
            "incidents": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["sourceRef", "terms"],
                    "properties": {
                        "sourceRef": {"type": "string"},
                        "terms": {"type": "array", "items": {"type": "string"}},
                    },
                },
            },
        },
    },
)

CANONICALISE = ToolSpec(
    name=SUBMIT,
    description="Hand in one result for each id.",
    schema={
        "type": "object",
        "additionalProperties": False,
        "required": ["results"],
        "properties": {
            "results": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["id", "verdict", "sentence"],
                    "properties": {
                        "id": {"type": "string"},
                        "verdict": {"type": "string", "enum": ["accept", "reject"]},
                        "sentence": {"type": "string"},
                    },
                },
            }
        },
    },
)


def _object(response: ModelResponse) -> tuple[dict[str, object], bool]:
    """The first object in the answer that is one of the shapes, and whether it was cut."""
    first: AnswerFault | None = None
    for member in _ANSWERS:
        try:
            answer = parse(response, SUBMIT, Wanted(kind=Kind.OBJECT, member=member, listed=member == "items"))
        except AnswerFault as fault:
            first = first or fault
            continue
        if isinstance(answer.value, dict):
            return answer.value, answer.truncated
    raise first or AnswerFault("schema", "The answer holds no proposal.")


def _status(value: dict[str, object]) -> object:
    """Which shape it is: its status, or the name of the one list that it holds."""
    if "status" in value:
        return value["status"]
    return next((name for name in (COMPLETE, SEARCH, UNRESOLVED) if name in value), COMPLETE)


def _complete(value: dict[str, object], truncated: bool) -> Proposal:
    found = _list(value, "items", COMPLETE)
    read = [_as(raw, Item) for raw in found[:MOST_ITEMS]]
    items = tuple(one for one in read if one is not None)
    if truncated and not found:
        raise AnswerFault("length", "The answer was cut before any item was whole.")
    if found and not items:
        raise AnswerFault("schema", "Not one of the items has the form that was asked for.")
    return Proposal(
        items=items,
        schema=len(read) - len(items),
        over=max(0, len(found) - MOST_ITEMS),
        truncated=truncated,
        cited=frozenset(_refs(found)),
    )


def _list(value: dict[str, object], name: str, other: str) -> list[object]:
    """The list of that name; it may stand under the name of the status, too. Raises AnswerFault (`schema`)."""
    found = value.get(name, value.get(other, []))
    found = [] if found is None else found
    if not isinstance(found, list):
        raise AnswerFault("schema", f"The {name} of the answer are no list.")
    return found


def _refs(found: Iterable[object]) -> Iterable[str]:
    """The lines that whole elements name, however badly formed they are otherwise."""
    for raw in found:
        cited = raw.get("evidence") if isinstance(raw, dict) else None
        for one in cited if isinstance(cited, list) else []:
            if isinstance(one, dict) and isinstance(one.get("sourceRef"), str):
                yield one["sourceRef"]


def _incident(raw: object, refs: Collection[str]) -> Incident | None:
    one = _as(raw, Incident)
    if one is None or one.source_ref not in refs:
        return None
    terms = tuple(term for term in one.terms[:MOST_TERMS] if term.strip() and len(term) <= LONGEST_TERM)
    return Incident(source_ref=one.source_ref, terms=terms) if terms else None


def _as(raw: object, kind: type[T]) -> T | None:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.MsgspecError:
        return None
