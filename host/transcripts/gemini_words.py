"""What Gemini CLI's words mean: its tools, whose words a prompt holds, what a result says, and names of events (pure).

The transcript reader and the hook adapter share this: both see the same tools, arguments, prompts and results. Hooks
name no call and no message, so an event's name is made of what both see: the model's message that the event belongs
to, and a digest of its content.
"""

import json
import re
from collections.abc import Mapping

from host.reads import gemini_failed, gemini_output
from host.transcripts.records import Record, as_record, blocks_of, record_of, sound, text_of
from recall.canonical import text_digest
from recall.contracts import Frozen, SourceKind

AGENT_TOOL = "invoke_agent"
TOOLS: Mapping[str, str] = {
    "run_shell_command": "shell",
    "read_file": "read",
    "read_many_files": "read",
    "read_mcp_resource": "read",
    "write_file": "write",
    "replace": "edit",
    "grep_search": "search",
    "search_file_content": "search",
    "glob": "search",
    "list_directory": "search",
    "web_fetch": "web",
    "google_web_search": "web",
    AGENT_TOOL: "agent",
    "write_todos": "todo",
    "tracker_create_task": "todo",
    "tracker_update_task": "todo",
    "tracker_get_task": "todo",
    "tracker_list_tasks": "todo",
}
START = "start"  # the name of what came before the first message
_PATH_KEYS = ("file_path", "absolute_path", "dir_path", "path")
_CONTEXT = re.compile(r"<hook_context>(.*?)</hook_context>", re.DOTALL)
_APPENDED = re.compile(r"(?:\s*<hook_context>[^<]*</hook_context>)+\s*\Z")
_SESSION = re.compile(r"<(session_context|loaded_context)>.*?</\1>\s*", re.DOTALL)
_FOLDERS = re.compile(r"\*\*Workspace Directories:\*\*\n\s*- (/[^\n]*)")
_REFERENCED = re.compile(r"\n?--- Content from referenced files ---.*\Z", re.DOTALL)
_SNAPSHOT = re.compile(r"<state_snapshot>.*</state_snapshot>", re.DOTALL)
_CONTINUED = frozenset(["Please continue.", "System: Please continue."])


class Spoken(Frozen, frozen=True, kw_only=True):
    """A text in the user's role: what is left of it without what hooks and the host put beside it, and whose it is."""

    text: str
    source: SourceKind


def spoken(text: str) -> Spoken:
    """Whose words a text in the user's role is."""
    told = sound(text)
    own = _SESSION.sub("", _CONTEXT.sub("", told))
    if "--- Content from referenced files ---" in own:
        own = _REFERENCED.sub("", own)
    own = own.strip()
    if not own or own in _CONTINUED or is_summary(own):
        return Spoken(text=own or told.strip(), source=SourceKind.LIFECYCLE)
    return Spoken(text=own, source=SourceKind.USER)


def is_summary(text: str) -> bool:
    """Whether a text is the summary that stands for a compressed history."""
    return _SNAPSHOT.search(text) is not None


def shown_in(text: str) -> list[str]:
    """The texts that hooks put before the model, as they were before the host escaped `<` and `>` in them."""
    return [each.replace("&lt;", "<").replace("&gt;", ">") for each in _CONTEXT.findall(text)]


def folder_of(text: str) -> str:
    """The folder that the host's own opening says it works in; empty when it says none."""
    found = _FOLDERS.search(text)
    return found[1].strip() if found else ""


def neutral(name: str) -> str:
    """The neutral name of a tool; MCP tools as `mcp:server_tool`; else the host's own."""
    return TOOLS.get(name) or (f"mcp:{name.removeprefix('mcp_')}" if name.startswith("mcp_") else name)


def call_payload(name: str, given: object) -> dict[str, object]:
    """Payload of a tool/call: `args` says in plain text what is about to be done."""
    arguments = as_record(given)
    return {"tool": neutral(name), "args": _summary(name, arguments), "path": path_of(arguments), "nativeTool": name}


def path_of(arguments: Record) -> str | None:
    """The file or folder that a call is about."""
    return next((value for key in _PATH_KEYS if (value := text_of(arguments, key))), None)


class Outcome(Frozen, frozen=True, kw_only=True):
    """What a result says: its text as the tool gave it, whether it went well, and how many images stood beside it."""

    text: str
    ok: bool
    images: int = 0
    denied: bool = False


def outcome(name: str, content: object, failed: bool = False) -> Outcome:
    """The outcome of a call. `content`: a text, a part, or a list of them; `failed`: the host itself says so."""
    parts = blocks_of([content]) if isinstance(content, Mapping) else blocks_of(content)
    texts = [item for item in content if isinstance(item, str)] if isinstance(content, list) else []
    texts += [text for part in parts if (text := text_of(part, "text"))]
    images = sum(bool(record_of(part, "inlineData")) for part in parts)
    whole = _APPENDED.sub("", sound("\n".join(texts)))
    broken = failed or (neutral(name) == "shell" and gemini_failed(whole))
    return Outcome(text=gemini_output(whole), ok=not broken, images=images)


def recorded(call: Record) -> Outcome:
    """The outcome of a call as the transcript keeps it."""
    status = text_of(call, "status")
    responses = [record_of(record_of(part, "functionResponse"), "response") for part in blocks_of(call.get("result"))]
    failed = status in ("error", "cancelled") or any("error" in response for response in responses)
    told = outcome(text_of(call, "name"), content_of(call), failed)
    return Outcome(text=told.text, ok=told.ok, images=told.images, denied=status == "cancelled")


def content_of(call: Record) -> object:
    """What a recorded call showed the model, in the form in which a hook tells it: a text, or parts."""
    parts: list[Record] = []
    for part in blocks_of(call.get("result")):
        response = record_of(record_of(part, "functionResponse"), "response")
        said = response.get("output", response.get("error"))
        parts.append({"text": said if isinstance(said, str) else _json(said)} if response else part)
    texts = [text_of(part, "text") for part in parts]
    return _APPENDED.sub("", texts[0]) if len(texts) == 1 and texts[0] else parts


# ------------------------------------------------------------------------------------------------------ names of events


def call_key(name: str, arguments: object) -> str:
    """What tells a call from another one of the same message: its tool and arguments, in 16 hex digits."""
    return text_key(json.dumps([name, as_record(arguments)], sort_keys=True, default=str))


def text_key(text: str) -> str:
    """What tells a text from another one, in 16 hex digits."""
    return text_digest(text)[:16]


def placed(kind: str, anchor: str, key: str, repeated: int = 0) -> str:
    """The name of an event of `kind` that belongs to the message `anchor`; the same from hook and transcript."""
    return f"{kind}:{anchor}:{key}" + (f":{repeated}" if repeated else "")


def timed(kind: str, key: str, stamp: str) -> str:
    """The name of an event that a hook tells while no transcript says where it belongs: its own time keeps it apart."""
    return f"{kind}:{key}@{stamp}"


def _summary(name: str, arguments: Record) -> str:
    path = path_of(arguments) or ""
    match neutral(name):
        case "shell" if text_of(arguments, "command"):
            return text_of(arguments, "command")
        case "read" if path:
            return path
        case "edit" if path:
            return f"{path}\n--- old\n{text_of(arguments, 'old_string')}\n+++ new\n{text_of(arguments, 'new_string')}"
        case "write" if path:
            return f"{path}\n{text_of(arguments, 'content')}"
        case "search":
            return " ".join(f"{key}={value}" for key, value in arguments.items())
        case "web":
            return "\n".join(text for key in ("url", "query", "prompt") if (text := text_of(arguments, key)))
        case "agent":
            return "\n".join(text for key in ("agent_name", "prompt") if (text := text_of(arguments, key)))
        case _:
            return _json(arguments) if arguments else ""


def _json(value: object) -> str:
    """Compact JSON, for arguments and results of tools that we know nothing about."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
