"""What the checkpoint sends to a model: two prompts, and material that is fenced as data (formation.md 5.2, 7 and 9).

Pure. Nothing of the proposal's own wording goes into the second: a fact is worded from what the user said.
"""

from collections.abc import Iterable, Sequence
from datetime import tzinfo

from governance.formation.checkpoint_answers import CANONICALISE, PROPOSE
from governance.formation.contracts import ChatMessage, EvidenceRecord, Gap, ModelRequest, ToolSpec
from governance.formation.dates import day
from governance.formation.projecting import USER, Evidence
from governance.formation.prompts import Additions, Prompt, addition, load, shown
from recall.contracts import Frozen, Millis

PROPOSING, CANONICALISING = "checkpoint-propose", "checkpoint-canonicalise"
MOST_OUTPUT = 8_192  # tokens
LONGEST_HELP = 8_000  # characters of what the agent said before, all together


class Asked(Frozen, frozen=True, kw_only=True):
    """A fact that is to be worded: its quotes, and when each was written."""

    id: str
    quotes: tuple[tuple[str, Millis], ...]


class Found(Frozen, frozen=True, kw_only=True):
    """What a search of the session brought, for the second round."""

    records: tuple[EvidenceRecord, ...]


class Prompts:
    """The two prompts with what the user added to them. Raises ParameterFault for an addition that is too long."""

    def __init__(self, additions: Additions, *, host: str, workspace: str, zone: tzinfo, timeout_ms: int) -> None:
        self.propose, self.canonicalise = (
            load(name, addition(additions, name, agent=host, workspace=workspace))
            for name in (PROPOSING, CANONICALISING)
        )
        self._zone = zone
        self._timeout_ms = timeout_ms

    def proposing(self, evidence: Sequence[Evidence], opened: Sequence[Gap], found: Found | None) -> ModelRequest:
        """The call that asks for facts. `found`: in the second round."""
        parts = [_part("evidence", [one.row(self._zone) for one in evidence])]
        if help_ := self._help(evidence, found):
            parts.append(_part("help", help_))
        if opened:
            parts.append(_part("open", [{"gapId": gap.gap_id, "content": gap.content} for gap in opened]))
        if found is not None:
            brought = "It is part of `help`." if found.records else "It brought nothing."
            parts.append(f"This is the second round: the session was searched. {brought}")
        return self._request(self.propose, parts, PROPOSE)

    def canonicalising(self, asked: Iterable[Asked]) -> ModelRequest:
        """The call that words each fact from its quotes alone."""
        rows: list[dict[str, object]] = [
            {"id": one.id, "quotes": [{"written": day(at, self._zone), "quote": quote} for quote, at in one.quotes]}
            for one in asked
        ]
        return self._request(self.canonicalise, [_part("quotes", rows)], CANONICALISE)

    def _help(self, evidence: Sequence[Evidence], found: Found | None) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = []
        left = LONGEST_HELP
        for one in reversed(evidence):
            if one.before and len(one.before) <= left:
                left -= len(one.before)
                rows.insert(0, {"assistantBefore": one.record.ref, "text": one.before})
        for record in () if found is None else found.records:
            if record.role == USER:
                row: dict[str, object] = {"sourceRef": record.ref, "written": day(record.at, self._zone)}
            else:
                row = {"assistant": day(record.at, self._zone)}
            rows.append({**row, "text": record.text})
        return rows

    def _request(self, prompt: Prompt, parts: Sequence[str], tool: ToolSpec) -> ModelRequest:
        return ModelRequest(
            system=prompt.text,
            messages=(ChatMessage(role="user", content="\n\n".join(parts)),),
            tools=(tool,),
            tool_choice=tool.name,
            max_output_tokens=MOST_OUTPUT,
            timeout_ms=self._timeout_ms,
        )


def _part(title: str, rows: Iterable[dict[str, object]]) -> str:
    return f"{title}:\n{shown(rows)}"
