"""Who is at the other end: a person at a terminal, or an agent's session. What is uncertain is no person.

Decisions about memory are a person's. A command that an agent runs in its own shell carries the marks of the product
in its environment, or in that of a process it descends from, or it has no terminal; then it speaks for the agent.
Where the system shows nothing of other processes, what the client said of itself is all there is.
"""

from collections.abc import Iterable
from pathlib import Path

from governance.review import Principal

MARKS = frozenset(
    {
        *("CLAUDECODE", "CODEX_CI", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID"),
        *("GEMINI_CLI", "CURSOR_AGENT", "OPENCODE", "COPILOT_CLI", "AI_AGENT"),
    }
)
PRODUCTS = frozenset(
    {"claude", "codex", "gemini", "opencode", "cursor-agent", "copilot"}
)  # as processes name themselves
ANCESTORS = 16  # processes above a client that are looked at
PROC = Path("/proc")


def marked(names: Iterable[str]) -> bool:
    """Whether an environment with these variables is that of an agent's shell."""
    return not MARKS.isdisjoint(names)


def principal(claimed: Principal, pid: int | None, proc: Path = PROC) -> Principal:
    """Who the client of that process id is: never more than it says of itself. Reads files; run it on a thread."""
    if claimed is not Principal.HUMAN:
        return Principal.AGENT
    if pid is None or not (proc / "self").exists():
        return claimed
    terminal, _ = _standing(proc, pid)
    return claimed if terminal and not _below_agent(proc, pid) else Principal.AGENT


def speaker(claimed: Principal, pid: int | None, proc: Path = PROC) -> Principal:
    """Who says what needs no terminal: a script may speak for a person, but what runs below an agent's product
    speaks for the agent. Reads files; run it on a thread."""
    if claimed is not Principal.HUMAN:
        return Principal.AGENT
    if pid is None or not (proc / "self").exists():
        return claimed
    return Principal.AGENT if _below_agent(proc, pid) else claimed


def _below_agent(proc: Path, pid: int) -> bool:
    """Whether a process, or one above it, is an agent's product or carries its marks."""
    for _ in range(ANCESTORS):
        if marked(_variables(proc, pid)) or _name(proc, pid) in PRODUCTS:
            return True
        _, pid = _standing(proc, pid)
        if pid <= 1:
            break
    return False


def _standing(proc: Path, pid: int) -> tuple[bool, int]:
    """Whether a process has a terminal, and its parent. The name in the middle may hold anything, brackets too."""
    try:
        fields = (proc / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return False, 0
    return (fields[4] != b"0", int(fields[1])) if len(fields) > 4 else (False, 0)


def _name(proc: Path, pid: int) -> str:
    try:
        return (proc / str(pid) / "comm").read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def _variables(proc: Path, pid: int) -> list[str]:
    """The names in a process's environment; of one that is not ours, none."""
    try:
        lines = (proc / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []
    return [line.partition(b"=")[0].decode("utf-8", "replace") for line in lines]
