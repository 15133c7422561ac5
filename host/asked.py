"""What an agent read by asking for it: results of our own tools, as they cover records (invariant 4).

A result counts only where it shows a record as it reads now: whole, or from its beginning where it was cut. What an
agent asked for it has, so it is not handed over once more.
"""

import re
from typing import Any

import msgspec

from governance.evidence import WHOLE, Covered
from host.namespace import tool
from host.render import ELLIPSIS, GUTTER
from host.sanitise import body, one_line
from recall.contracts import EventPayload, MemoryRecord, RuntimeScope
from recall.library import Library

MOST = 32  # memories of one result
OURS = (tool("memory_search"), tool("memory_get"))
_ITEM = re.compile(r"\d+\. (mem_\S+) ")


async def told_by(library: Library, payload: EventPayload, scope: RuntimeScope) -> list[Covered]:
    """The records that a result of our own tools showed, once each. Raises IndexFault."""
    found: list[Covered] = []
    for memory_id, text in list(answers(payload).items())[:MOST]:
        known = await library.get(memory_id, scope)
        ratio = 0 if known is None else share(known[0], text)
        if known is not None and ratio:
            version, digest = known[1].source_version, known[1].record_digest
            found.append(
                Covered(memory_id=memory_id, source_version=version, record_digest=digest, ratio=ratio, fresh=True)
            )
    return found


def answers(payload: EventPayload) -> dict[str, str]:
    """By memory id the words that the result shows; empty for results of other tools."""
    if not (payload.native_tool or payload.tool or "").endswith(OURS):
        return {}
    try:
        document = msgspec.json.decode(payload.text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return _of_text(payload.text)
    return _of_document(document)


def share(record: MemoryRecord, text: str) -> int:
    """How much of a record these words are, in millionths; 0: it says something else now. A line with its title may
    stand before them."""
    words = body(record.text)
    first, _, rest = text.partition("\n")
    titled = bool(record.title) and one_line(record.title or "").startswith(_head(first))
    return max(_share(words, text), _share(words, rest) if titled and rest else 0)


def _share(words: str, text: str) -> int:
    if text == words:
        return WHOLE
    head = _head(text)
    cut = text.endswith(ELLIPSIS) and bool(head) and words.startswith(head)
    return max(1, WHOLE * len(head) // len(words)) if cut else 0


def _head(text: str) -> str:
    """A text that was cut, without the mark of it."""
    return text.removesuffix(ELLIPSIS).rstrip()


def _of_document(document: Any) -> dict[str, str]:
    """Of a document as `host/mcp/memory_tools.py` makes it."""
    if not isinstance(document, dict):
        return {}
    listed = document.get("memories")
    entries = [document.get("memory"), *(listed if isinstance(listed, list) else [])]
    return {
        one["memoryId"]: one["text"]
        for one in entries
        if isinstance(one, dict) and isinstance(one.get("memoryId"), str) and isinstance(one.get("text"), str)
    }


def _of_text(text: str) -> dict[str, str]:
    """Of a text as `host/mcp/wording.py` makes it: what stands behind the gutter of each item."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        if item := _ITEM.match(line):
            lines = found.setdefault(item[1], [])
        elif line.startswith(GUTTER.rstrip()):
            lines.append(line.removeprefix(GUTTER.rstrip()).removeprefix(" "))
    return {memory_id: "\n".join(lines) for memory_id, lines in found.items()}
