"""`init` and the memory that a repository brings: whether the user trusts it, asked once and answered by them alone."""

from dataclasses import dataclass
from pathlib import Path

import click

from governance.team.contracts.results import Initialised, TeamStatus
from host.cli.output import count_of, say
from host.cli.team_calls import asked
from host.errors import RemoraError
from host.namespace import REPOSITORY_FOLDER, SCRIPT
from recall.documents import scan
from recall.workspace import repository_root

WHY = (
    "Whoever can write to it may have written them, so they are shown as hints at most until you trust them. What "
    "reads like an order to the agent is shown to nobody."
)
HINTS = f"The memories of this repository are shown as hints at most. To change that: {SCRIPT} init --trust-memory"
TRUSTED = f"The memory of this repository is trusted. To change that: {SCRIPT} init --distrust-memory"
PLACE = f"{REPOSITORY_FOLDER}/memory"
MOST_FILES = 1000  # that are counted


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What the user says: beforehand (`said`), or when asked (`asks`). `quiet`: nothing is said to them."""

    said: bool | None
    asks: bool
    quiet: bool


def offer_memory(repository: Path, answer: Answer) -> bool | None:
    """Have the daemon know whether the memory of this repository is trusted. None: it brings none, or nobody answered.

    A daemon is started only when there is something to ask. Raises RemoraError when what was said beforehand cannot be
    kept; a question that cannot be asked waits.
    """
    files = _brought(repository)
    if answer.said is not None:
        return _answered(repository, answer.said, answer)
    if not files:
        return None
    try:
        known = asked("team.status", repository, {}, TeamStatus).trusted
        if known is not None or not answer.asks:
            return known
        say(f"This repository brings memories, in {count_of(files, 'file')} below {PLACE}. {WHY}")
        said = _said()
        return None if said is None else _answered(repository, said, answer)
    except RemoraError as fault:  # what init is about is done
        if not answer.quiet:
            say(f"Whether you trust the memory of this repository was not settled: {fault}")
        return None


def _answered(repository: Path, said: bool, answer: Answer) -> bool | None:
    done = asked("team.init", repository, {"trusted": said}, Initialised)
    if not answer.quiet:
        say(TRUSTED if done.trusted else HINTS)
        for path in done.created:
            say(f"  made {path}")
    return done.trusted


def _said() -> bool | None:
    """What the user says; None without an answer, and then they are asked again another time."""
    try:
        return bool(click.confirm("Do you trust them?"))
    except click.Abort:
        click.echo(err=True)  # the question's line has no end
        return None


def _brought(repository: Path) -> int:
    """How many memory files the repository has; outside git nothing is shared."""
    if repository_root(str(repository)) is None:
        return 0
    found = scan(str(repository.resolve() / REPOSITORY_FOLDER / "memory"), MOST_FILES)
    return 0 if found is None else len(found.files)
