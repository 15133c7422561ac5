"""`remember`: a person keeps something. What is said already is not written twice, and what it may replace is shown."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict, Unpack

import click

from governance.review import Principal
from host.cli.link import ask
from host.cli.memory_answers import Other, Remembered
from host.cli.output import existing_workspace_option, json_option, say, show_json
from host.cli.tables import one_line, print_line
from host.cli.wording import folder, tell_risk, tell_screening
from host.config import environment
from host.namespace import SCRIPT
from host.principals import marked
from recall.contracts import MemoryKind

KINDS = [str(kind) for kind in MemoryKind]
SHOWN = 300  # characters of a memory that may be replaced


class Wish(TypedDict):
    """What `remember` may say about a new memory, beside its text."""

    for_user: bool
    kind: str
    title: str | None
    tags: tuple[str, ...]
    pin: bool
    supersede: tuple[str, ...]
    anyway: bool


@click.command()
@click.argument("text")
@existing_workspace_option
@click.option("--user", "for_user", is_flag=True, help="Keep it for all workspaces.")
@click.option("--kind", type=click.Choice(KINDS), default="semantic", show_default=True, help="What sort of memory.")
@click.option("--title", help="A short title.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be given several times.")
@click.option("--pin", is_flag=True, help="Show it at the start of every session.")
@click.option("--supersede", multiple=True, metavar="MEMORY", help="It takes the place of this one; may be repeated.")
@click.option("--anyway", is_flag=True, help="Keep it even if a memory says the same; ask nothing.")
@json_option
def remember(text: str, workspace: Path, as_json: bool, **wish: Unpack[Wish]) -> None:
    """Keep something for later sessions.

    `-` reads the text from standard input. What a memory says already is not written again. On a terminal, memories
    that say otherwise about the same matter are shown, and you are asked whether the new one takes their place.

    \b
    Examples:
      remora-pre remember "Run the tests with: make check"
      remora-pre remember --user "I prefer short answers"
    """
    piped = text == "-"
    text = sys.stdin.read() if piped else text
    if not text.strip():
        raise click.UsageError("There is no text to keep.")
    params = _params(text, workspace, wish)
    decided = wish["anyway"] or bool(wish["supersede"])
    if not (decided or piped or as_json) and _someone_there():
        params |= _agreed(params)
    kept = ask("memory.remember", params, Remembered)
    if as_json:
        show_json(kept)
        return
    if kept.duplicate_of is not None:
        say(f"{kept.duplicate_of} says this already. Nothing was written.")
        if kept.corrected:
            say(f"It was said to be wrong, and is not handed over until you decide: {SCRIPT} review")
    else:
        say(f"Kept as {kept.memory_id}.")
        if kept.trust == "extracted":
            say("An agent's shell said so: it counts as noted automatically, and comes as a hint at most.")
            say(f"To have it count as your own, at a terminal of your own: {SCRIPT} review {kept.memory_id} --keep")
    for old in kept.superseded:
        say(f"{old} is superseded by it, and no longer handed over.")
    tell_screening(kept.redacted, quarantined=kept.quarantined)
    tell_risk(kept.risk_level, kept.memory_id)
    if kept.updates:
        say("These say otherwise about the same matter, and still count:")
        for other in kept.updates:
            _show(other)
        say(f"If one no longer holds: {SCRIPT} forget MEMORY")


def _params(text: str, workspace: Path, wish: Wish) -> dict[str, object]:
    every: Mapping[str, object] = {
        "text": text,
        "workspace": folder(workspace),
        "scope": "User" if wish["for_user"] else "Workspace",
        "kind": wish["kind"],
        "title": wish["title"],
        "tags": list(wish["tags"]),
        "pinned": wish["pin"],
        "supersedes": list(wish["supersede"]) or None,
        "anyway": wish["anyway"] or None,
        "principal": None if speaks_for_user() else Principal.AGENT,
    }
    return {name: value for name, value in every.items() if value is not None}


def _agreed(params: Mapping[str, object]) -> dict[str, object]:
    """Which memories the new one replaces, by the person's word, asked before anything is written."""
    found = ask("memory.remember", {**params, "check": True}, Remembered)
    replaced: list[str] = []
    for other in found.updates:
        say("This says otherwise about the same matter:")
        _show(other)
        if click.confirm("Does the new memory take its place?"):
            replaced.append(other.memory_id)
    return {"supersedes": replaced} if replaced else {}


def _show(other: Other) -> None:
    print_line((f"{other.memory_id}  {one_line(other.text, SHOWN)}", ""), indent=2)


def speaks_for_user() -> bool:
    """Whether this was not started from an agent's shell."""
    return not marked(environment())


def _someone_there() -> bool:
    """Whether a person can be asked: both ends are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()
