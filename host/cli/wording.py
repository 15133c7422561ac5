"""What several verbs on memories say alike: how a memory stands, and what was done to a text before it was kept."""

from collections.abc import Iterable
from pathlib import Path

import click

from host.cli.output import say
from host.namespace import SCRIPT
from recall.contracts import RecordState, Risk


def standing(status: str, state: str, marks: Iterable[str]) -> str:
    """The status, how it stands in its file unless that is well, and its marks: a quarantined record must not look like
    one that is handed over, nor a text without a marker like one that has its own."""
    every = (status, *(() if state == RecordState.ANCHORED else (state,)), *marks)
    return ", ".join(dict.fromkeys(every))


def tell_screening(redacted: Iterable[str], *, quarantined: bool) -> None:
    """Say what was taken out of a text, and that it is kept back."""
    families = ", ".join(redacted)
    if families:
        say(f"Secrets were taken out: {families}.")
    if quarantined:
        say("It reads like an order to the agent, or hides text, so it is quarantined: never found, never handed over.")
        say(f"Write down the fact instead, and forget this one; or keep it as it is, with: {SCRIPT} review")


def tell_risk(risk: Risk, memory_id: str) -> None:
    """Say that a procedure which can do harm waits for the person."""
    if risk is Risk.HIGH:
        say(
            "It names something that is hard to undo, so the agent is not shown it before you approve it, as it stands:"
        )
        say(f"{SCRIPT} approve {memory_id}")


def folder(workspace: Path) -> str:
    """A workspace as the daemon wants it."""
    return str(workspace.resolve())


def present_folder(workspace: Path) -> str:
    """The same of a workspace in which something is chosen. Raises UsageError: what is chosen for a folder that is not
    there, most likely a slip of the keys, would never be met."""
    if not workspace.is_dir():
        raise click.UsageError(f"There is no folder {workspace}: nothing was changed.")
    return folder(workspace)


def known_folder(workspace: Path) -> str:
    """The same of a workspace that is only looked at: one that is gone may be known still, and that it is gone is said
    beside the answer."""
    if not workspace.is_dir():
        say(f"There is no folder {workspace}. What is known of it:", err=True)
    return folder(workspace)


def settled(what: str, *, holds: bool, changed: bool, until: str = "") -> str:
    """What a person's word on a memory changed. `until`: when that ends by itself, as it goes on."""
    if changed:
        return f"It is {what} now{until}." if holds else f"It is not {what} now."
    return f"It was {what} already{until}." if holds else f"It was not {what}."
