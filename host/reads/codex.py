"""What a result of Codex's tools showed of files: it reads by shell commands, some versions by a tool (pure)."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from host.reads.printings import printings, searched

SHELLS = frozenset(["Bash", "shell", "shell_command", "local_shell", "exec_command", "container.exec"])


def codex_shown(tool: str, arguments: object, text: str, cwd: str) -> dict[str, object]:
    """What a command showed, as a field of its result's payload (`printed`); empty when nothing.

    `tool` and `arguments`: as a hook or a rollout names them; `text`: what the model saw, without the host's own head.
    """
    if tool == "read_file" and isinstance(arguments, Mapping):
        path = arguments.get("file_path")
        lines = searched((path,), text, (cwd,)) if isinstance(path, str) and path else ()  # `L12: words`
        return {"printed": lines} if lines else {}
    if tool not in SHELLS or not isinstance(arguments, Mapping):
        return {}
    command = _command(arguments)
    folder = next((value for key in ("workdir", "cwd") if isinstance(value := arguments.get(key), str) and value), "")
    printed = printings(command, text, str(PurePosixPath(cwd) / folder.removeprefix("file://"))) if command else ()
    return {"printed": printed} if printed else {}


def _command(arguments: Mapping[str, object]) -> str:
    """The command line: a text, or a list of words of which the last is what a shell is given."""
    said = arguments.get("command") or arguments.get("cmd")
    if isinstance(said, str):
        return said
    words = [str(word) for word in said] if isinstance(said, list) else []
    return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
