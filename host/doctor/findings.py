"""What `doctor` can find: every state by its name, how grave it is, and what a finding says. Pure.

`problem`: something does not work. `warning`: it works, and not as meant. `note`: worth knowing, and nothing to mend.
Each state has a heading in docs/reference/doctor.md.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType

from recall.contracts import Frozen


class Level(StrEnum):
    """How grave a finding is."""

    PROBLEM = "problem"
    WARNING = "warning"
    NOTE = "note"


P, W, N = Level.PROBLEM, Level.WARNING, Level.NOTE

STATES: Mapping[str, Level] = MappingProxyType(
    {
        # folders and the disk
        "home-unknown": P,
        "folder-unusable": P,
        "folder-open": W,
        "disk-nearly-full": W,
        "two-installations": W,
        "clock-behind": W,
        # configuration
        "config-unusable": P,
        # the socket and the daemon
        "socket-folder-unsafe": P,
        "runtime-folder-unsafe": W,
        "socket-path-long": N,
        "socket-blocked": P,
        "socket-foreign": P,
        "socket-stale": W,
        "daemon-absent": W,
        "daemon-silent": P,
        "daemon-stuck": P,
        "daemon-elsewhere": P,
        "daemon-older": W,
        "daemon-unwell": P,
        # HTTP hooks
        "port-damaged": P,
        "port-taken": P,
        "token-damaged": P,
        "secret-readable": P,
        # what is kept
        "key-missing": P,
        "key-damaged": P,
        "database-missing": W,
        "database-damaged": P,
        "database-newer": P,
        "database-foreign": P,
        "database-locked": W,
        "database-readable": W,
        "index-damaged": W,
        "index-working": N,
        "source-resting": W,
        "engine-absent": N,
        "engine-broken": W,
        "sqlite-old": N,
        # agent products
        "nothing-connected": W,
        "host-unconnected": N,
        "hooks-missing": P,
        "hooks-stale": P,
        "hooks-misdirected": P,
        "hooks-outdated": W,
        "hooks-twice": W,
        "hooks-off": P,
        "http-off": P,
        "hooks-untrusted": P,
        "settings-unusable": P,
        "settings-readable": P,
        "settings-shared": P,
        "mcp-missing": N,
        "mcp-stale": P,
        "mcp-failing": P,
        "host-unknown-version": W,
        "host-silent": N,
        # memory
        "memory-conflict": P,
        "memory-unused": W,
        "memory-over-cap": W,
        "memory-folder-missing": W,
        "memory-untrusted": N,
        # how memories are made
        "driver-unusable": P,
        "model-unreachable": W,
        "formation-failed": P,
        "formation-poison": W,
        "ranges-given-up": W,
        "outbox-stuck": P,
        "checkpoints-waiting": N,
        "text-sent-away": N,
        # what somebody chose
        "workspace-held-back": N,
        "workspace-muted": N,
        "attention-changed": N,
        "holdout-on": N,
        "review-waiting": N,
        # doctor itself
        "check-failed": W,
    }
)


class Finding(Frozen, frozen=True, kw_only=True):
    """One state that was found: what, why it matters, what to do, and where (a file, a program or a host)."""

    state: str
    level: Level
    what: str
    why: str
    todo: str
    where: str = ""


def finding(state: str, what: str, why: str, todo: str, where: object = "") -> Finding:
    """A finding of a state in the table. Names of files that are no text have escapes in their place."""
    what, why, todo, where = map(readable, (what, why, todo, str(where)))
    return Finding(state=state, level=STATES[state], what=what, why=why, todo=todo, where=where)


def readable(text: str) -> str:
    """A text that can be written as UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The gravest first, each level in the order of the table."""
    levels, states = list(Level), list(STATES)
    return sorted(findings, key=lambda one: (levels.index(one.level), states.index(one.state), one.where))


def is_well(findings: Iterable[Finding]) -> bool:
    """Whether there is nothing to mend."""
    return all(one.level is Level.NOTE for one in findings)
