"""What the small operations answer (team.md 10)."""

from typing import Literal

from governance.team.contracts.base import Document


class ProviderAssembly(Document, frozen=True, kw_only=True):
    target_path: str
    changed: bool
    bytes: int
    warnings: tuple[str, ...] = ()


class ProjectedSkill(Document, frozen=True, kw_only=True):
    name: str
    path: str
    changed: bool


class Assembly(Document, frozen=True, kw_only=True):
    """`assembly`. `files`: one of a name, links followed; `diff`: of a dry run."""

    format: str
    provider: str
    dry_run: bool
    files: tuple[ProviderAssembly, ...]
    skills: tuple[ProjectedSkill, ...]
    omitted_scenes: int = 0
    diff: str = ""


class Empty(Document, frozen=True, kw_only=True):
    """An answer that there is nothing: visible, with when and of what."""

    task_id: str
    kind: Literal["drafts", "consolidation"]
    at: str
    source: str


class Waits(Document, frozen=True, kw_only=True):
    """`kind`: of a candidate or plan, as `review` takes it."""

    id: str
    state: str
    at: str
    kind: str = ""


class TeamStatus(Document, frozen=True, kw_only=True):
    """`team-status`. Counts by state; `elsewhere`: candidates of bindings that this repository had before, with
    `all`."""

    format: str
    trusted: bool | None  # None: nobody was asked
    candidates: dict[str, int]
    tasks: dict[str, int]
    plans: dict[str, int]
    entries: int
    due: int
    needed: int
    stuck: tuple[Waits, ...] = ()
    waiting: tuple[Waits, ...] = ()  # staged candidates
    drafted: tuple[Waits, ...] = ()  # tasks whose drafts were never compared: discarded, they are offered again
    planned: tuple[Waits, ...] = ()  # plans that are not written
    last_run: Waits | None = None
    empty: tuple[Empty, ...] = ()
    checkpoints: int = 0
    elsewhere: dict[str, int] = {}


class Finding(Document, frozen=True, kw_only=True):
    """`level`: block or warn. `line`: 1-based, 0: the file as a whole."""

    level: Literal["block", "warn"]
    rule: str
    path: str
    line: int
    problem: str
    next: str = ""


class Lint(Document, frozen=True, kw_only=True):
    """`lint`."""

    format: str
    findings: tuple[Finding, ...]
    files: int
    blocked: bool


class DiscardRequest(Document, frozen=True, kw_only=True):
    """Exactly one of the three. `keep_files`: of a plan that cannot be rolled back."""

    candidate_id: str | None = None
    revision: int | None = None
    task_id: str | None = None
    plan_id: str | None = None
    keep_files: bool = False
    reason: str = ""


class Discarded(Document, frozen=True, kw_only=True):
    """`discarded`."""

    format: str
    id: str
    kind: Literal["candidate", "task", "plan"]
    state: str
    idempotent: bool = False
    recovered: tuple[str, ...] = ()


class Initialised(Document, frozen=True, kw_only=True):
    """`initialised`: the repository's part of `init`. `created`: relative paths; `trusted`: None while nobody was
    asked."""

    format: str
    created: tuple[str, ...]
    trusted: bool | None
    entries: int
