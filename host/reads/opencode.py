"""What a result of OpenCode's tools showed of files: reads tell it, searches and commands are verified (pure)."""

import posixpath
import re
from collections.abc import Mapping

from host.reads.printings import printings, searched
from host.reads.windows import normal, window
from recall.contracts import ReadWindow

_FILE = re.compile(r"<path>(/[^\n]*)</path>\n<type>file</type>\n<content>\n(.*)\n</content>", re.DOTALL)
_NUMBERED = re.compile(r"(\d{1,9}): (.*)\Z", re.DOTALL)
_ENDED = re.compile(r"\n?\n\(End of file - total (\d{1,9}) lines?\)\Z")
_MORE = re.compile(r"\n\n\(Showing lines \d{1,9}-\d{1,9} of (\d{1,9})\. [^\n]*\)\Z")
_CAPPED = re.compile(r"\n\n\(Output capped at [^\n]*\)\Z")
_LINE_CUT = "... (line truncated to "  # the host cuts very long lines


def opencode_shown(tool: str, arguments: object, output: str, cwd: str) -> dict[str, object]:
    """What a result showed of files, as fields of its payload (`read`, `printed`); empty when nothing.

    `output`: the result's text as the model sees it. `cwd`: the folder that the session works in.
    """
    given: Mapping[str, object] = arguments if isinstance(arguments, Mapping) else {}
    match tool:
        case "read":
            read = _read(output)
            return {"read": read} if read is not None else {}
        case "grep":
            printed = searched((), output, (_path(given, "path", cwd) or cwd, cwd))
        case "bash" if isinstance(command := given.get("command"), str):
            printed = printings(command, output, _path(given, "workdir", cwd) or cwd)
        case _:
            return {}
    return {"printed": printed} if printed else {}


def _read(output: str) -> ReadWindow | None:
    """The window of a read. Lines are numbered as the file has them; the note behind them says how many it has."""
    shown = _FILE.match(output)
    if shown is None or _LINE_CUT in shown[2]:
        return None
    body, total = shown[2], None
    for note in (_ENDED, _MORE, _CAPPED):
        if found := note.search(body):
            body, total = body[: found.start()], int(found[1]) if note.groups else None
            break
    lines: list[str] = []
    first = 0
    for line in body.split("\n") if body else []:
        numbered = _NUMBERED.match(line)
        if numbered is None or (first and int(numbered[1]) != first + len(lines)):
            return None
        first = first or int(numbered[1])
        lines.append(numbered[2])
    text = normal("\n".join(lines), first or 1)
    return window(shown[1], first or 1, text.split("\n") if lines else [], total) if first or total == 0 else None


def _path(given: Mapping[str, object], key: str, cwd: str) -> str:
    value = given.get(key)
    return posixpath.join(cwd, value) if isinstance(value, str) and value else ""
