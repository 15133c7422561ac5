"""G-03 SafetyGate: a ladder of rules over candidates, then over the packet. Pure.

Invariants: an objection removes one candidate and the rest go on; a broken rule denies; adding a rule never clears
more. A verdict names rules, never what a memory says.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from governance.contracts import Action, Audience, Proposal, Removal, Rules, Verdict
from recall.contracts import Candidate, Millis, Ranked, Scored

CLEAR = "clear"
DEGRADED = "degraded"
HIGH_RISK = "high-risk"
NOTHING_LEFT = "nothing-left"
NOTHING_RANKED = "nothing-ranked"
BROKEN = "broken:"

Subject = TypeVar("Subject")
Rule = Callable[[Subject, Audience, Millis], str | None]


def judge(ranked: Ranked, proposal: Proposal, audience: Audience, rules: Rules, now: Millis) -> Verdict:
    """Walk the ladder. `proposal.items` is narrowed to what is left before the packet rules see it.

    Reasons: `clear`; `degraded` (fallback: only the fallback arm answered); `high-risk` (ask: nothing but procedures
    that wait for approval are left); a packet rule's name; `nothing-left`, `nothing-ranked`. A rule that raised is
    named `broken:<rule>`.
    """
    kept: list[Scored] = []
    removed: list[Removal] = []
    for scored in ranked.ranked:
        objection = _objector(rules.candidate, scored.candidate, audience, now)
        if objection is None:
            kept.append(scored)
        else:
            removed.append(Removal(candidate_id=scored.candidate.memory_id, reason=objection))
    if not kept:
        return _nothing(removed)
    narrowed = msgspec.structs.replace(proposal, items=_left(proposal.items, kept))
    veto = _objector(rules.packet, narrowed, audience, now)
    if veto is not None:
        return Verdict(action=Action.SUPPRESS, reason=veto, removed=tuple(removed))
    action, reason = (Action.FALLBACK, DEGRADED) if audience.degraded else (Action.ALLOW, CLEAR)
    return Verdict(action=action, reason=reason, removed=tuple(removed), kept=tuple(kept))


def _objector(
    rules: Iterable[tuple[str, Rule[Subject]]], subject: Subject, audience: Audience, now: Millis
) -> str | None:
    """The name of the first rule that objects, marked when it objects by breaking."""
    for name, rule in rules:
        try:
            objection = rule(subject, audience, now)
        except Exception:  # noqa: BLE001  (boundary: a broken rule denies)
            return BROKEN + name
        if objection is not None:
            return name
    return None


def _left(items: tuple[Candidate, ...], kept: list[Scored]) -> tuple[Candidate, ...]:
    ids = {scored.candidate.memory_id for scored in kept}
    return tuple(item for item in items if item.memory_id in ids)


def _nothing(removed: list[Removal]) -> Verdict:
    """Nothing is left: ask when approval is all that is missing somewhere, else be silent."""
    if any(removal.reason == HIGH_RISK for removal in removed):
        return Verdict(action=Action.ASK, reason=HIGH_RISK, removed=tuple(removed))
    return Verdict(action=Action.SUPPRESS, reason=NOTHING_LEFT if removed else NOTHING_RANKED, removed=tuple(removed))
