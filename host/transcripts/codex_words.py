"""What Codex's words mean: its tools, how a result says that it failed, and which prompts a machine wrote (pure)."""

import json
import re
from collections.abc import Mapping, Sequence

from host.transcripts.records import Record, as_record, blocks_of, parse, record_of, text_of
from recall.contracts import Frozen, SourceKind

TOOLS: Mapping[str, str] = {
    "shell": "shell",
    "shell_command": "shell",
    "local_shell": "shell",
    "exec_command": "shell",
    "write_stdin": "shell",
    "apply_patch": "edit",
    "view_image": "read",
    "read_file": "read",
    "grep_files": "search",
    "list_dir": "search",
    "web_search": "web",
    "update_plan": "todo",
    "spawn_agent": "agent",
    "tool_search": "search",
}
_MACHINE = re.compile(
    r"<(?:environment_context|user_instructions|subagent_notification|turn_aborted|user_shell_command|skill|INSTRUCTIONS"
    r"|permissions instructions|collaboration_mode|skills_instructions|hook_prompt|recommended_plugins)\b"
    r"|# AGENTS\.md instructions"
    r"|Another language model started to solve this problem"
)
_ASKED = "## My request for Codex:"  # editors put the open files in front of it
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) *(-?\d+)$", re.MULTILINE)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_OUTPUT = "\nOutput:\n"


class Finished(Frozen, frozen=True, kw_only=True):
    """A tool run as an event tells it: the call and its outcome together."""

    call_id: str
    name: str
    arguments: object
    ok: bool
    text: str


def whose(message: Record, text: str) -> SourceKind:
    """Who wrote one text of a message in the user's role."""
    notes = record_of(message, "internal_chat_message_metadata_passthrough")
    sources = [text_of(record_of(note, "provenance"), "type") for note in blocks_of(notes.get("content_item_metadata"))]
    machine = bool(_MACHINE.match(text.lstrip())) or (bool(sources) and "user" not in sources)
    return SourceKind.LIFECYCLE if machine else SourceKind.USER


def from_hook(message: Record) -> bool:
    """Whether a developer message is what a hook put before the model."""
    notes = record_of(message, "internal_chat_message_metadata_passthrough")
    kinds = notes.get("content_item_kinds")
    return isinstance(kinds, list) and "hooks.additional_context" in kinds


def asked(text: str) -> str:
    """The user's own words of a prompt: without what the editor put in front."""
    return text.rpartition(_ASKED)[2].strip()


def texts_of(content: object) -> list[str]:
    """The texts of a message's content, or of an output."""
    if isinstance(content, Mapping):
        content = [content]
    return [text for block in blocks_of(content) if (text := text_of(block, "text"))]


def images_of(content: object) -> int:
    return sum(text_of(block, "type") in ("input_image", "image", "local_image") for block in blocks_of(content))


def call_payload(name: str, given: object) -> dict[str, object]:
    """Payload of a tool/call. `given`: the arguments as JSON text, as an object, or a patch as plain text."""
    arguments = as_record(given) or (parse(given.encode("utf-8", "replace")) if isinstance(given, str) else None) or {}
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False) if given else ""
    tool = TOOLS.get(name) or name
    patched = _PATCHED.search(text_of(arguments, "input") or text) if tool == "edit" else None
    path = patched[1].strip() if patched else text_of(arguments, "path") or text_of(arguments, "file_path") or None
    return {"tool": tool, "args": _summary(tool, arguments) or text, "path": path, "nativeTool": name}


def commanded(given: object) -> Record:
    """Of a call's arguments, in any form, the command that it runs and where; empty for others."""
    arguments = as_record(given) or (parse(given.encode("utf-8", "replace")) if isinstance(given, str) else None) or {}
    return {key: arguments[key] for key in ("command", "cmd", "workdir", "cwd", "file_path") if key in arguments}


def outcome(output: object) -> tuple[str, bool]:
    """The text of a call's output as the model saw it, and whether the host says that it went well."""
    if isinstance(output, str) and output.startswith('{"output"'):
        wrapped = parse(output.encode("utf-8", "replace")) or {}
        code = record_of(wrapped, "metadata").get("exit_code")
        return _told(text_of(wrapped, "output"), code if isinstance(code, int) else 0)
    text = (
        output if isinstance(output, str) else "\n".join(texts_of(output) or texts_of(as_record(output).get("content")))
    )
    head, separator, rest = text.partition(_OUTPUT)
    said = _EXIT.search(head + "\n" if separator else text.partition("\n")[0])
    body = rest if separator and said else text
    return _told(body, int(said[1]) if said else 0, as_record(output).get("success") is not False)


def finished(item: Record) -> Finished | None:
    """A tool run told by an event or by a completed item; None for anything else."""
    call_id = text_of(item, "call_id") or text_of(item, "id")
    arguments: object
    match text_of(item, "type"):
        case "exec_command_end" | "CommandExecution":
            code = item.get("exit_code")
            ok = code == 0 if isinstance(code, int) else text_of(item, "status") not in ("failed", "declined")
            printed = text_of(item, "aggregated_output") or f"{text_of(item, 'stdout')}{text_of(item, 'stderr')}"
            name, arguments = "shell", {"command": item.get("command")}
            text = _told(printed, code if isinstance(code, int) else 0)[0]
        case "patch_apply_end" | "FileChange":
            ok = item.get("success") is not False and text_of(item, "status") != "failed"
            changes = item.get("changes")
            name, arguments = "apply_patch", {"path": next(iter(changes), "") if isinstance(changes, Mapping) else ""}
            text = f"{text_of(item, 'stdout')}{text_of(item, 'stderr')}"
        case "mcp_tool_call_end" | "McpToolCall":
            call = record_of(item, "invocation") or item
            result = record_of(item, "result")
            good = record_of(result, "Ok") or result
            error = text_of(result, "Err") or text_of(item, "error")
            ok = not error and good.get("isError") is not True and text_of(item, "status") != "failed"
            name, arguments = f"mcp:{text_of(call, 'server')}__{text_of(call, 'tool')}", call.get("arguments")
            text = error or "\n".join(texts_of(good.get("content")))
        case "dynamic_tool_call_response":
            ok, name, arguments = item.get("success") is not False, text_of(item, "tool"), item.get("arguments")
            text = text_of(item, "error") or "\n".join(texts_of(item.get("content_items")))
        case _:
            return None
    return Finished(call_id=call_id, name=name, arguments=arguments, ok=ok, text=text) if call_id else None


def _told(text: str, code: int, ok: bool = True) -> tuple[str, bool]:
    """A failed command's output names its exit code, as the host shows it to the model."""
    return (f"Exit code {code}\n{text}".strip() if code else text), ok and code == 0


def _summary(tool: str, arguments: Record) -> str:
    match tool:
        case "shell":
            return text_of(arguments, "cmd") or _command(arguments.get("command")) or text_of(arguments, "chars")
        case "edit":
            return text_of(arguments, "input") or text_of(arguments, "path")
        case "todo" if isinstance(plan := arguments.get("plan"), list):
            steps = [as_record(step) for step in plan]
            return "\n".join(f"[{text_of(step, 'status')}] {text_of(step, 'step')}" for step in steps)
        case "web" | "agent" | "read":
            keys = ("query", "url", "message", "prompt", "path")
            return "\n".join(text for key in keys if (text := text_of(arguments, key)))
        case _:
            return ""


def _command(command: object) -> str:
    """A command line: of an argument list, what the shell is given."""
    if isinstance(command, str):
        return command
    words: Sequence[str] = [str(word) for word in command] if isinstance(command, list) else ()
    return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
