"""Where agent products read what a repository tells them (team.md 10). A provider is one row of this table. Pure."""

from typing import Literal

from governance.team.errors import Kind, TeamFault
from recall.contracts import Frozen

BYTES, CHARACTERS = "bytes", "characters"


class Provider(Frozen, frozen=True, kw_only=True):
    """`file`: read at the start of every session. `skills`: the folder of skills. Both relative to a worktree's top.

    `cap`, `unit`: how much of the file the product takes. `beyond`: what it does with the rest.
    """

    name: str
    product: str
    file: str
    skills: str
    cap: int
    unit: Literal["bytes", "characters"]
    beyond: str


PROVIDERS: tuple[Provider, ...] = (
    # It reads all of the file, but warns its user above this size and advises to keep files short.
    Provider(
        name="claude",
        product="Claude Code",
        file="CLAUDE.md",
        skills=".claude/skills",
        cap=40_000,
        unit="characters",
        beyond="warns of more than",
    ),
    # `project_doc_max_bytes`: what lies behind it is cut off, and nobody is told.
    Provider(
        name="codex",
        product="Codex",
        file="AGENTS.md",
        skills=".codex/skills",
        cap=32_768,
        unit="bytes",
        beyond="reads no more than",
    ),
)


def provider(name: str) -> Provider:
    """The row of that name. Raises TeamFault (`request-invalid`)."""
    found = next((one for one in PROVIDERS if one.name == name), None)
    if found is None:
        known = ", ".join(one.name for one in PROVIDERS)
        raise TeamFault(Kind.REQUEST_INVALID, f"There is no provider {name[:40]!r}.", f"Name one of {known}.")
    return found


def size(data: bytes, unit: str) -> int:
    """How much that is in the unit of a cap. `data` is UTF-8."""
    return len(data) if unit == BYTES else len(data.decode("utf-8", "replace"))
