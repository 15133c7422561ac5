"""A task for the agent that runs, printed: a JSON document, so that a program can hand it on."""

from collections.abc import Iterable
from typing import Any, NoReturn

import click

from host.cli.output import say, show_json

Task = dict[str, Any]


def show_task(task: Task) -> None:
    """Print the document. Its answer goes to `stage`."""
    show_json(task)


def no_task(said: Iterable[str], why: str) -> NoReturn:
    """Say beside the answer why there is none, and end with 1, so that nobody takes a sentence for a task."""
    for one in said:
        say(one, err=True)
    say(f"There is no task: {why}.", err=True)
    raise click.exceptions.Exit(1)
