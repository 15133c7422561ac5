"""An agent reading a file: what its host then tells."""

from pathlib import Path
from typing import Any

import msgspec

from host.reads import claude_code_read
from host.reads.printings import printings
from recall.contracts import EventEnvelope, EventType, ReadWindow
from tests.support.builders import an_event


def response(file: Path, first: int = 1, count: int | None = None) -> dict[str, Any]:
    """The result of Claude Code's Read: it counts what follows the final newline as one more line."""
    lines = file.read_bytes().decode("utf-8", "replace").split("\n")
    shown = lines[first - 1 :] if count is None else lines[first - 1 : first - 1 + count]
    told = {"filePath": str(file), "content": "\n".join(shown), "startLine": first}
    return {"type": "text", "file": told | {"numLines": len(shown), "totalLines": len(lines)}}


def window(file: Path, first: int = 1, count: int | None = None) -> ReadWindow:
    """The same as a window."""
    found = claude_code_read(response(file, first, count))
    assert found is not None
    return found


def a_printing(command: str, output: str, call_id: str = "shell-1", **fields: Any) -> EventEnvelope:
    """The event of a command that printed this."""
    printed = printings(command, output, str(fields.get("workspace", "/")))
    told = {"tool": "shell", "ok": True, "text": output, "printed": msgspec.to_builtins(printed)}
    return an_event(EventType.TOOL_RESULT, told, call_id=call_id, event_id=f"result:{call_id}", **fields)


def a_read(shown: ReadWindow, call_id: str = "read-1", **fields: Any) -> EventEnvelope:
    """The event of a read that showed this window."""
    payload = {"tool": "read", "ok": True, "text": "(the file)", "path": shown.path} | fields.pop("payload", {})
    told = payload | {"read": msgspec.to_builtins(shown)}
    given = {"call_id": call_id, "event_id": f"result:{call_id}"} | fields
    return an_event(EventType.TOOL_RESULT, told, **given)
