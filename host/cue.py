"""What a pass asks recall (C-03): the window of a segment as terms. Pure.

The window is the event, the two before it, and the call that it answers. Its terms are weighed alike; the parts'
weights order terms only where a query has to be shortened.
"""

import re
from collections.abc import Sequence

from host.contracts import Window
from host.gate_words import corrects, error_names
from recall.acts import act_of
from recall.analyzer import distinct
from recall.canonical import short_id
from recall.contracts import Cue, CuePart, RuntimeScope, Segment, SegmentKind, SourceKind

BEFORE = 2
WEIGHTS: dict[SegmentKind, float] = {
    SegmentKind.PROMPT: 0.8,
    SegmentKind.RESULT: 0.6,
    SegmentKind.CALL: 0.4,
    SegmentKind.REPLY: 0.2,
}

_QUESTION = re.compile(
    r"[?？]"
    r"|^(?:so |and |but |now |ok,? |please )?(?:what|which|who|whose|where|when|why|how|do we|does|did we|is there"
    r"|are there|can we|should we|have we|remind me|tell me|any(?:thing)? (?:rules?|notes?|known)|explain)\b"
    r"|\b(?:what|which|where|when|why|how) (?:did|do|does|is|are|was|were|should|to) \w+"
    r"|怎么|什么|哪|为何|如何|为什么|吗|是否|是不是|有没有|能不能|多少|几个|谁",
    re.IGNORECASE | re.MULTILINE,
)

# "Can you fix it?" orders something: neither its opening nor its question mark asks.
_POLITE = re.compile(
    r"\b(?:can|could|would|will) you\b(?![^.?!\n]*\b(?:wh\w+|how|explain|tell|remind)\b)[^.?!\n]*\?"
    r"|能不能帮|能帮我",
    re.IGNORECASE,
)


def build_cue(segment: Segment, window: Window) -> Cue:
    """The cue of a segment. `window.recent` ends just before the segment."""
    answered = _answered(segment, window.recent)
    chosen = [segment, *answered, *reversed(window.recent[-BEFORE:])]
    around = list({one.id: one for one in chosen}.values())
    focus = distinct(segment.text)
    errors = _errors(segment)
    terms = dict.fromkeys(term for one in around for term in distinct(one.text))
    return Cue(
        scope=window.scope,
        parts=tuple(_part(one, trigger=one.id == segment.id) for one in around),
        terms=tuple(terms),
        focus=focus,
        retrieval_key=short_id("key_", [sorted(segment.entities), sorted(focus)]),
        segment_kind=segment.kind,
        question=asks(segment),
        corrects=_corrects(segment),
        errors=errors,
        act=tuple(dict.fromkeys(term for one in answered for term in distinct(one.text))) if errors else (),
        call=_act([segment, *answered]),
    )


def seed_cue(scope: RuntimeScope, shown: Sequence[str] = (), view: Sequence[Segment] = ()) -> Cue:
    """The cue of a seed pass: pinned records, after a compaction also the records shown before (`shown`, in the order
    they were given) and what the session was about (`view`, oldest first)."""
    terms = dict.fromkeys(term for one in reversed(view) for term in distinct(one.text))
    return Cue(
        scope=scope,
        parts=tuple(_part(one, trigger=False) for one in reversed(view)),
        terms=tuple(terms),
        focus=(),
        retrieval_key=short_id("key_", ["seed", list(shown), sorted(terms)]),
        memory_ids=tuple(shown),
    )


def asks(segment: Segment) -> bool:
    """Whether a person's own prompt asks something."""
    if segment.kind is not SegmentKind.PROMPT or segment.source_kind is not SourceKind.USER:
        return False
    return _QUESTION.search(_POLITE.sub(" ", segment.text)) is not None


def _corrects(segment: Segment) -> bool:
    own = segment.kind is SegmentKind.PROMPT and segment.source_kind is SourceKind.USER
    return own and corrects(segment.text)


def _errors(segment: Segment) -> tuple[str, ...]:
    """What a failing result calls its error, as terms."""
    if segment.kind is not SegmentKind.RESULT or segment.ok is not False:
        return ()
    return tuple(dict.fromkeys(whole for name in error_names(segment.text) for whole in distinct(name)[:1]))


def _answered(segment: Segment, recent: Sequence[Segment]) -> list[Segment]:
    """The call that a result answers."""
    if segment.call_id is None or segment.kind is not SegmentKind.RESULT:
        return []
    return [one for one in recent if one.kind is SegmentKind.CALL and one.call_id == segment.call_id][-1:]


def _act(acts: Sequence[Segment]) -> str:
    """The call that the event is or answers, in a line."""
    calls = [act_of(one.tool or "", one.text, one.path) for one in acts if one.kind is SegmentKind.CALL]
    return calls[0] if calls else ""


def _part(segment: Segment, *, trigger: bool) -> CuePart:
    return CuePart(role=segment.kind.value, text=segment.text, weight=1.0 if trigger else WEIGHTS[segment.kind])
