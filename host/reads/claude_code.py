"""What a result of Claude Code's tools showed of files (pure)."""

import re
from collections.abc import Mapping
from typing import TypeGuard

from host.reads.printings import printings, searched
from host.reads.windows import normal, window
from recall.contracts import ReadWindow

GREP_LIMIT = (
    19_950  # characters of a search from which on the host may save it and show a preview: 20 000 with its notes
)
_PREVIEW = 2_000  # characters of an output that was saved to a file, up to the last whole line
_NUMBERED = re.compile(r" {0,5}(\d{1,9})[\t→]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def claude_code_shown(tool: str, arguments: object, response: object, text: str, cwd: str) -> dict[str, object]:
    """What a result of a tool showed of files, as fields of its payload (`read`, `printed`); empty when nothing.

    `response`: the structured result, where there is one; `text`: what the model saw. `cwd`: the session's folder when
    the tool had ended.
    """
    given: Mapping[str, object] = arguments if isinstance(arguments, Mapping) else {}
    match tool:
        case "Read":
            structured = isinstance(response, Mapping) and bool(response)
            read = claude_code_read(response) if structured else numbered_window(given.get("file_path"), text)
            return {"read": read} if read is not None else {}
        case "Grep" if given.get("output_mode") == "content":
            path = given.get("path")
            printed = searched((path,) if isinstance(path, str) and path else (), text, (cwd,))
        case "Bash" if isinstance(command := given.get("command"), str):
            printed = printings(command, text, cwd)
        case _:
            return {}
    return {"printed": printed} if printed else {}


def claude_code_preview(text: str) -> str:
    """What the model sees of an output that was too large: its beginning, as the host cuts it."""
    cut = text.rfind("\n", 0, _PREVIEW + 1)
    return f"{text[: cut if cut > _PREVIEW // 2 else _PREVIEW]}\n...\n</persisted-output>"


def claude_code_read(response: object) -> ReadWindow | None:
    """The window of a Read result (PostToolUse `tool_response`, a transcript's `toolUseResult`).

    None for what shows no lines of a text file: images, notebooks, failures, other tools. A page cut at the token
    cap is a smaller window, not a special one. An offset past the end and an empty file give a window of no lines.
    """
    if not isinstance(response, Mapping) or response.get("type", "text") != "text":
        return None
    file = response.get("file")
    if not isinstance(file, Mapping):
        return None
    path, content, start = file.get("filePath"), file.get("content"), file.get("startLine")
    count, total = file.get("numLines"), file.get("totalLines")
    if not (_is_text(path) and path and _is_text(content) and _is_count(start) and start and _is_count(count)):
        return None
    lines = normal(content, start).split("\n") if count else []
    if len(lines) != count:
        return None
    return window(path, start, lines, total if _is_count(total) else None)


def numbered_window(path: object, text: str) -> ReadWindow | None:
    """The window of a read of which only the model's text is known: numbered lines, then perhaps a note.

    An empty last line may be what follows the final line end, so it is left out.
    """
    lines: list[str] = []
    start = 0
    for line in text.split("\n"):
        numbered = _NUMBERED.match(line)
        if numbered is None or (lines and int(numbered[1]) != start + len(lines)):
            break
        start = start or int(numbered[1])
        lines.append(line[numbered.end() :])
    if lines and not lines[-1]:
        lines.pop()
    if not (_is_text(path) and path and lines and start):
        return None
    return window(path, start, normal("\n".join(lines), start).split("\n"), None)


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and not _SURROGATE.search(value)


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
