"""What every command shares when it speaks: plain text, JSON, and the options `--json` and `--workspace`.

Whatever comes from data goes through `for_terminal` or `show_json`: no escape sequence of a memory or an event
reaches the terminal, whether or not there is one.
"""

import json
import re
from pathlib import Path

import click
import msgspec

from host.sanitise import for_terminal

# Characters that JSON allows raw and a terminal may act upon: C1 controls, DEL, bidi, invisible and tag characters.
UNSEEN = re.compile("[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
WORKSPACE_HELP = "A folder of the workspace: a git repository or, outside git, the folder itself."
# A folder that is gone may still have memories to look at or to forget; nothing new is kept or set up for one.
workspace_option = click.option(
    "--workspace",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    show_default="the current folder",
    help=WORKSPACE_HELP,
)
existing_workspace_option = click.option(
    "--workspace",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    show_default="the current folder",
    help=WORKSPACE_HELP,
)


def only_one(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> str | None:
    """The value of an option that is declared `multiple`, so that a second one is refused and does not win silently."""
    if len(given) > 1:
        raise click.BadParameter(f"{' and '.join(given)} cannot be given at once. Run it once for each.")
    return given[0] if given else None


def say(text: str = "", *, err: bool = False) -> None:
    """Print text, made harmless; with `err` beside the answer, on standard error."""
    click.echo(for_terminal(text), err=err)


def unbroken(text: str) -> str:
    """A text that stands on one line, a file's name for one: line breaks in it are written as escapes."""
    return text.replace("\r", "\\r").replace("\n", "\\n")


def count_of(number: int, thing: str) -> str:
    """`1 record`, `2 records`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def show_json(value: object, *, indent: int | None = 2) -> None:
    """Print a value as JSON: readable in any script, with unseen characters as escapes."""
    text = json.dumps(json.loads(msgspec.json.encode(value)), ensure_ascii=False, indent=indent)
    click.echo(UNSEEN.sub(_escaped, text.encode("utf-8", "backslashreplace").decode("utf-8")))


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match.group())[1:-1]
