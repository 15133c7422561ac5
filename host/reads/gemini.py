"""What a result of Gemini CLI's tools showed of files: reads tell it, searches and commands are verified (pure)."""

import posixpath
import re
from collections.abc import Mapping, Sequence

from host.reads.printings import printings, searched
from host.reads.windows import normal, window
from recall.contracts import ReadWindow

_CUT = re.compile(
    r"\s*IMPORTANT: The file content has been truncated\.\n"
    r"Status: Showing lines (\d{1,9})-(\d{1,9}) of (\d{1,9}) total lines\.\n"
    r".*?\n--- FILE CONTENT \(truncated\) ---\n",
    re.DOTALL,
)
_CONTEXT = re.compile(r"\n\n<hook_context>.*</hook_context>\Z", re.DOTALL)
_OUTPUT = re.compile(r"(?:<untrusted_context>\n)?(?:Output: ?)?(.*?)(?:\n</untrusted_context>)?\s*\Z", re.DOTALL)
_AFTER = re.compile(r"\n(Error|Exit Code|Signal|Background PIDs|Process Group PGID): ([^\n]*)\Z")
_FINE = {"Error": "(none)", "Exit Code": "0", "Signal": "0"}
_FILE = re.compile(r"^--- (/[^\n]+) ---\n\n", re.MULTILINE)
_LAST = "\n--- End of content ---"
_WARNED = re.compile(r"\[WARNING: This file was truncated\.[^\n]*\]\n\n")
_LINE_CUT = "... [truncated]"  # the host cuts very long lines


def gemini_shown(tool: str, arguments: object, content: object, cwd: str) -> dict[str, object]:
    """What a result showed of files, as fields of its payload (`read`, `reads`, `printed`); empty when nothing.

    `content`: the result as the model sees it (`llmContent` of a hook): a text, or a list of texts and other parts.
    """
    given: Mapping[str, object] = arguments if isinstance(arguments, Mapping) else {}
    text = content if isinstance(content, str) else ""
    match tool:
        case "read_file" if isinstance(content, str):
            read = _read(_path(given, ("file_path", "absolute_path", "path"), cwd), text)
            return {"read": read} if read is not None else {}
        case "read_many_files":
            reads = _reads(content)
            return {"reads": reads} if reads else {}
        case "grep_search" | "search_file_content":
            printed = searched((), text, (_path(given, ("dir_path", "path"), cwd) or cwd, cwd))
        case "run_shell_command" if isinstance(command := given.get("command"), str):
            folder = _path(given, ("dir_path", "directory"), cwd) or cwd
            output, failed = _ended(text)
            printed = () if failed else printings(command, output, folder)
        case _:
            return {}
    return {"printed": printed} if printed else {}


def gemini_output(text: str) -> str:
    """What a command printed, without the fence and the notes that the host puts around it."""
    return _ended(text)[0]


def gemini_failed(text: str) -> bool:
    """Whether the notes behind a command's output say that the command failed."""
    return _ended(text)[1]


def _ended(text: str) -> tuple[str, bool]:
    """What a command printed, and whether the notes behind it say that it failed."""
    said = _OUTPUT.fullmatch(text)
    output = said[1] if said is not None else text
    notes: dict[str, str] = {}
    while (note := _AFTER.search(output)) and note[1] not in notes:
        notes[note[1]] = note[2]
        output = output[: note.start()]
    return output, any(notes.get(kind, fine) != fine for kind, fine in _FINE.items())


def cut_window(path: str, text: str) -> ReadWindow | None:
    """The window of a `read_file` that says itself which lines it shows; None for the text of a whole file."""
    cut = _CUT.match(text)
    if cut is None or _LINE_CUT in text:
        return None
    first, last, total = int(cut[1]), int(cut[2]), int(cut[3])
    lines = normal(_CONTEXT.sub("", text)[cut.end() :], first).split("\n") if last >= first else []
    return window(path, first, lines, total) if first and len(lines) == max(0, last - first + 1) else None


def _read(path: str, text: str) -> ReadWindow | None:
    if not path or _LINE_CUT in text:
        return None
    if _CUT.match(text):
        return cut_window(path, text)
    lines = normal(_CONTEXT.sub("", text), 1).split("\n")
    return window(path, 1, lines, len(lines))


def _reads(content: object) -> tuple[ReadWindow, ...]:
    """The files of a `read_many_files`, each behind a line with its path; those that were cut are left out."""
    found: list[ReadWindow] = []
    for part in content if isinstance(content, list) else [content]:
        text = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(text, str):
            body = text.removesuffix(_LAST)
            heads = list(_FILE.finditer(body))
            ends = [head.start() for head in heads[1:]] + [len(body)]
            read = [_one_of_many(head[1], body[head.end() : end]) for head, end in zip(heads, ends, strict=False)]
            found += [window for window in read if window is not None]
    return tuple(found)


def _one_of_many(path: str, text: str) -> ReadWindow | None:
    return None if _WARNED.match(text) else _read(path, text.removesuffix("\n\n"))


def _path(given: Mapping[str, object], keys: Sequence[str], cwd: str) -> str:
    value = next((value for key in keys if isinstance(value := given.get(key), str) and value), "")
    return posixpath.join(cwd, value) if value else ""
