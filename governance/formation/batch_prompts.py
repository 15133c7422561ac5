"""What batch extraction sends to a model: two prompts, and material that is fenced as data (formation.md 6). Pure."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo

from governance.formation.batch_answer import Proposed
from governance.formation.batch_types import KEPT, OFFERED, STATUSES, WORTH
from governance.formation.batch_windows import BatchMessage, Window
from governance.formation.contracts import ChatMessage, KnownRecord, Mode, ModelRequest, ToolSpec
from governance.formation.dates import day
from governance.formation.prompts import Additions, Prompt, addition, load, shown
from governance.screen import redact

EXTRACTING, DECIDING = "batch-extract", "batch-decide"
SUBMIT, SEGMENTS, DECISIONS = "submit", "segments", "decisions"
MOST_OUTPUT = 8_192  # tokens
TIMEOUT_MS = 180_000
LONGEST_KNOWN = 2_000  # characters of a stored record that are shown

_TEXT: Mapping[str, object] = {"type": "string"}
_TEXTS: Mapping[str, object] = {"type": "array", "items": _TEXT}


def _object(properties: Mapping[str, object], required: Sequence[str]) -> dict[str, object]:
    return {"type": "object", "properties": dict(properties), "required": list(required), "additionalProperties": False}


_MEMBERS = tuple(dict.fromkeys(name for names in KEPT.values() for name in names))
# Every member, and null for what was not said: a strict schema knows no members that may be left out.
_METADATA = _object({name: {"type": ["string", "null"]} for name in _MEMBERS}, _MEMBERS)
_MEMORY = _object(
    {
        "content": _TEXT,
        "type": _TEXT,
        "priority": {"type": "integer"},
        "source_message_ids": _TEXTS,
        "metadata": _METADATA,
    },
    ["content", "type", "priority", "source_message_ids", "metadata"],
)
_SEGMENT = _object(
    {"scene_name": _TEXT, "message_ids": _TEXTS, "memories": {"type": "array", "items": _MEMORY}},
    ["scene_name", "message_ids", "memories"],
)
_DECISION = _object(
    {
        "memory": {"type": "integer"},
        "decision": {"type": "string", "enum": ["store", "update", "merge", "skip"]},
        "targets": _TEXTS,
        "content": _TEXT,
    },
    ["memory", "decision", "targets", "content"],
)
EXTRACT_TOOL = ToolSpec(
    name=SUBMIT,
    description="Submit the segments and their memories.",
    schema=_object({SEGMENTS: {"type": "array", "items": _SEGMENT}}, [SEGMENTS]),
)
DECIDE_TOOL = ToolSpec(
    name=SUBMIT,
    description="Submit one decision for each memory.",
    schema=_object({DECISIONS: {"type": "array", "items": _DECISION}}, [DECISIONS]),
)


class BatchPrompts:
    """Both prompts with what the user added to them. Raises ParameterFault for an addition that is too long."""

    def __init__(self, additions: Additions, *, host: str, workspace: str, mode: Mode, zone: tzinfo) -> None:
        self.extract, self.decide = (
            load(name, addition(additions, name, agent=host, workspace=workspace)) for name in (EXTRACTING, DECIDING)
        )
        self._mode = mode
        self._zone = zone

    def extracting(self, window: Window, scene: str) -> ModelRequest:
        """The call that asks for a window's memories. `scene`: the last one of the window before; empty: none."""
        rows = [self._row(one, "background") for one in window.background]
        rows += [self._row(one, "new") for one in window.new]
        parts = [f"messages:\n{shown(rows)}"]
        if scene:
            parts.append(f"the scene of before:\n{shown([{'scene_name': scene}])}")
        parts.append("types:\n" + "\n".join(self._types()))
        return _request(self.extract, parts, EXTRACT_TOOL)

    def deciding(self, memories: Sequence[tuple[Proposed, Sequence[KnownRecord]]]) -> ModelRequest:
        """The one call that decides about all memories that have candidates, each by its place here."""
        rows: list[dict[str, object]] = [
            {
                "memory": place,
                "content": one.content,
                "type": str(one.type),
                "candidates": [{"id": known.memory_id, "content": _told(known)} for known in pool],
            }
            for place, (one, pool) in enumerate(memories)
        ]
        return _request(self.decide, [f"memories:\n{shown(rows)}"], DECIDE_TOOL)

    def _types(self) -> list[str]:
        lines: list[str] = []
        for one in OFFERED[self._mode]:
            members = [f"{name} ({', '.join(sorted(STATUSES))})" if name == "status" else name for name in KEPT[one]]
            lines.append(f"- {one}; from {WORTH[one]}" + (f"; metadata: {', '.join(members)}" if members else ""))
        return lines

    def _row(self, one: BatchMessage, use: str) -> dict[str, object]:
        record = one.record
        row: dict[str, object] = {
            "id": one.name,
            "role": record.role,
            "use": use,
            "written": day(record.at, self._zone),
            "text": record.text,
        }
        return {**row, "truncated": True} if record.truncated else row


def _told(known: KnownRecord) -> str:
    """What a stored record says: the same door as for all that leaves the process."""
    return redact(known.text[: 2 * LONGEST_KNOWN])[0][:LONGEST_KNOWN]


def _request(prompt: Prompt, parts: Sequence[str], tool: ToolSpec) -> ModelRequest:
    return ModelRequest(
        system=prompt.text,
        messages=(ChatMessage(role="user", content="\n\n".join(parts)),),
        tools=(tool,),
        tool_choice=tool.name,
        max_output_tokens=MOST_OUTPUT,
        timeout_ms=TIMEOUT_MS,
    )
