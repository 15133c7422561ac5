"""The one place that makes every name outside the process (invariant 2). Standard library only.

This is a preview: it lives beside a later stable release, so every external name carries the mark `pre`.
"""

BASE = "remora"
MARK = "pre"


def name(part: str = "", sep: str = "-") -> str:
    """`remora-pre`, or `remora-pre-PART`; with sep "_" `remora_pre_PART`. Never a bare name."""
    words = [BASE, MARK, *([part] if part else [])]
    return sep.join(words)


def policy(kind: str, version: int) -> str:
    """The id of a versioned policy: `gate_pre_v1`."""
    return f"{kind}_{MARK}_v{version}"


def tool(part: str) -> str:
    """The name of a tool that agents call: `memory_search_pre`. Letters, digits and `_`: every host takes it."""
    return f"{part}_{MARK}"


def env(part: str) -> str:
    """The name of an environment variable: `REMORA_PRE_PART`."""
    return f"{BASE}_{MARK}_{part}".upper()


SCRIPT = name()
PROTOCOL = f"{name()}/1"
SOCKET_FILE = f"{name()}.sock"
HTTP_SOCKET_FILE = f"{name('http')}.sock"
LATE_FILE = name("late")
STOPPED_FILE = name("stopped")
LOCK_FILE = f"{name()}.lock"
DATABASE_FILE = f"{name()}.db"
INDEX_FILE = "index.db"
VECTORS_FILE = "vectors.db"
GOVERNANCE_FILE = "governance.db"
RECORDS_FOLDER = "records"
REPOSITORY_FOLDER = f".{name()}"
