"""What Codex's words mean: its tools, how a result says that it failed, and which prompts a machine wrote (pure)."""

import json
import re
from collections.abc import Mapping, Sequence

from host.transcripts.records import MAIN, Ids, Place, Record, as_record, blocks_of, event, parse, record_of, text_of
from recall.canonical import text_digest
from recall.contracts import EventEnvelope, EventType, Frozen, SourceKind

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
_HEAD = re.compile(r"Wall time: [\d.]+ seconds")  # of an output that has no exit code
_RUNNING = re.compile(r"^Process running with session ID \d+$", re.MULTILINE)
# What the model is told in a result's place when a tool could not be run at all: no hook tells it.
_NOT_RUN = re.compile(
    r"(?:[\w.-]+ )?(?:verification )?failed(?: for [^\n:]{1,200})?: "
    r"|unsupported call: |failed to parse function arguments"
    r"|[^\n]{0,80}\brejected\b|(?:Wall time: [\d.]+ seconds\n)?aborted by user|unable to "
)
SHELLS = frozenset(["shell", "shell_command", "local_shell", "exec_command", "container.exec"])
HOOKED_SHELL = "Bash"  # what hooks call each of them
HOOKED_PATCH = "apply_patch"


class Finished(Frozen, frozen=True, kw_only=True):
    """A tool run as an event tells it: the call and its outcome together."""

    call_id: str
    name: str
    arguments: object
    ok: bool
    text: str
    code: int = 0  # of a command that failed


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
    tool = TOOLS.get(name) or (f"mcp:{name.removeprefix('mcp__')}" if name.startswith("mcp__") else name)
    patched = _PATCHED.search(text_of(arguments, "input") or text) if tool == "edit" else None
    path = patched[1].strip() if patched else text_of(arguments, "path") or text_of(arguments, "file_path") or None
    return {"tool": tool, "args": _summary(tool, arguments) or text, "path": path, "nativeTool": name}


def called(item: Record) -> str:
    """The tool of a call that stands in a rollout, as hooks name it: one of a server by its server, too."""
    name, namespace = text_of(item, "name"), text_of(item, "namespace")
    if namespace.startswith("mcp__") and name:
        return f"{namespace}__{name}"
    return name or text_of(item, "type").removesuffix("_call")


def hooked_call(name: str, given: object) -> dict[str, object]:
    """Payload of a tool/call, the same whether a hook or the rollout told it: commands and patches as plain text.

    `name`, `given`: the tool and its arguments as a hook names them, or as the model called it.
    """
    arguments = as_record(given) or (parse(given.encode("utf-8", "replace")) if isinstance(given, str) else None) or {}
    if name == HOOKED_SHELL or name in SHELLS:
        command = _command(arguments.get("command") or arguments.get("cmd"))
        return call_payload("shell", {"cmd": command}) | {"nativeTool": HOOKED_SHELL}
    if name == HOOKED_PATCH:
        patch = text_of(arguments, "command") or text_of(arguments, "input")
        return call_payload(name, patch or given)
    return call_payload(name, arguments or given)


def hooked_result(name: str, response: object) -> tuple[str, bool | None]:
    """The text of a hook's tool_response and whether it went well. None: a command's raw output does not say."""
    if name == HOOKED_SHELL and isinstance(response, str):
        return response, None
    told = parse(response.encode("utf-8", "replace")) if isinstance(response, str) else as_record(response)
    text, ok = outcome(response)
    failed = told is not None and (told.get("isError") is True or told.get("is_error") is True)
    return text or (json.dumps(response, ensure_ascii=False) if response else ""), ok and not failed


def rolled_back(told: Record) -> int:
    """How many turns the user went back on, of an event that says so."""
    turns = told.get("num_turns")
    return turns if isinstance(turns, int) and 0 < turns < 1_000_000 else 0


def is_look(name: str, given: object) -> bool:
    """Whether a call types nothing into a command that runs in the background, and only waits for what it prints."""
    arguments = as_record(given) or (parse(given.encode("utf-8", "replace")) if isinstance(given, str) else None) or {}
    return name == "write_stdin" and not text_of(arguments, "chars")


def is_running(output: object) -> bool:
    """Whether a command's output says that it goes on in the background: its result is yet to come."""
    text = output if isinstance(output, str) else "\n".join(texts_of(output))
    return bool(_RUNNING.search(text.partition(_OUTPUT)[0]))


def could_not_run(output: object) -> bool:
    """Whether what stands in an output's place says that the tool was not run."""
    text = output if isinstance(output, str) else "\n".join(texts_of(output))
    return bool(_NOT_RUN.match(text))


def prompt(place: Place, turn_id: str, text: str, source: SourceKind) -> EventEnvelope:
    """A message in the user's role as hook time tells it: from the hook and from the rollout alike, so one event."""
    said = asked(text) or text if source is not SourceKind.LIFECYCLE else text
    speaker = "" if place.agent_id == MAIN else f"{place.agent_id}:"
    mark = text_digest(" ".join(said.split()))[:16]
    ids = Ids(event=f"prompt:{turn_id}:{speaker}{mark}" if turn_id else None)
    return event(place, EventType.USER_MESSAGE, {"text": said}, ids, source)


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
    body = rest if separator and (said or _HEAD.fullmatch(head)) else text
    return _told(body, int(said[1]) if said else 0, as_record(output).get("success") is not False)


def finished(item: Record) -> Finished | None:
    """A tool run told by an event or by a completed item; None for anything else."""
    call_id = text_of(item, "call_id") or text_of(item, "id")
    arguments: object
    failed = 0
    match text_of(item, "type"):
        case "exec_command_end" | "CommandExecution":
            code = item.get("exit_code")
            failed = code if isinstance(code, int) else 0
            ok = code == 0 if isinstance(code, int) else text_of(item, "status") not in ("failed", "declined")
            printed = text_of(item, "aggregated_output") or f"{text_of(item, 'stdout')}{text_of(item, 'stderr')}"
            name, arguments = "shell", {"command": item.get("command")}
            text = _told(printed, failed)[0]
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
    run = Finished(call_id=call_id, name=name, arguments=arguments, ok=ok, text=text, code=failed)
    return run if call_id else None


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
