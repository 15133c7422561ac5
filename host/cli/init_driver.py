"""`init --driver`: who reads conversations for what is worth keeping, and the question before anything is sent away.

The settings of a driver belong together: what is not said anew goes back to its default, so that no address or key of
one provider is left to another.
"""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click
import msgspec

from governance.formation.errors import ModelError
from host.config import Driver, FormationSettings
from host.errors import RemoraError
from host.models import AGENT, key_variable, make, receiver, sends_text_away
from host.setup.config_file import Value

SECTION = "formation"
OPTIONS = ("model", "base_url", "api_key_env", "api", "command", "script")  # what belongs to a driver
QUESTION = "Send it there? [y/N]"
DEFAULTS = FormationSettings()


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """A driver with its settings. `sends`: to whom words would go that did not go there before; empty: to nobody."""

    settings: FormationSettings
    sends: str = ""

    @property
    def values(self) -> Mapping[str, Value | None]:
        """What goes into the configuration. None: the default holds."""
        told: dict[str, Value | None] = {}
        for name in ("driver", *OPTIONS):
            value = getattr(self.settings, name)
            told[name] = None if value == getattr(DEFAULTS, name) else value
        return told

    @property
    def about(self) -> str:
        """What it comes to, in a few words."""
        who = receiver(self.settings)
        model = f" ({self.settings.model})" if self.settings.model else ""
        return f"who reads conversations: {self.settings.driver}{model}{f', at {who}' if who else ''}"


def driver_options(command: Any) -> Any:
    """The options of a driver, for a command."""
    for option in reversed(
        (
            click.option("--driver", type=click.Choice(get_args(Driver)), help="Who reads conversations."),
            click.option("--model", metavar="NAME", help="With --driver: the model, as its provider calls it."),
            click.option("--base-url", metavar="URL", help="With --driver: another endpoint than the vendor's."),
            click.option("--api-key-env", metavar="NAME", help="With --driver: the variable that holds the key."),
            click.option("--api", type=click.Choice(["chat", "responses"]), help="With --driver openai."),
            click.option("--command", metavar="LINE", help="With --driver command: the program to ask."),
            click.option("--script", metavar="FILE", help="With --driver scripted: the file with the answers."),
            click.option("--send-text", is_flag=True, help="Agree that text is sent away, without a question."),
        )
    ):
        command = option(command)
    return command


def taken(how: dict[str, Any]) -> dict[str, Any]:
    """The options of a driver, taken out of a command's. Raises UsageError when they make no sense together."""
    given = {name: how.pop(name) for name in ("driver", *OPTIONS, "send_text")}
    if given["driver"] is None:
        if any(given[name] for name in (*OPTIONS, "send_text")):
            raise click.UsageError("--model and what else belongs to a driver is said with --driver.")
        return {}
    if given["driver"] == AGENT and any(given[name] for name in OPTIONS):
        raise click.UsageError("The agent that is running needs no settings: say --driver agent alone.")
    return given


def chosen(given: Mapping[str, Any], before: FormationSettings, environ: Mapping[str, str], state: Path) -> Chosen:
    """The driver that was asked for. Raises RemoraError when the settings give none."""
    told = {name: given[name] for name in OPTIONS if given[name]}
    if "command" in told:
        told["command"] = _words(told["command"])
    if "script" in told:
        told["script"] = str(Path(told["script"]).expanduser().absolute())
    fresh = {name: getattr(DEFAULTS, name) for name in OPTIONS}
    settings = msgspec.structs.replace(before, driver=given["driver"], **{**fresh, **told})
    if settings.driver != AGENT:
        try:
            make(settings.driver, settings, environ, state)
        except ModelError as error:
            raise RemoraError(error.problem, "Nothing was written.") from None
    sends = receiver(settings) if sends_text_away(settings) else ""
    if (before.driver, receiver(before)) == (settings.driver, sends):
        sends = ""  # it is so already
    return Chosen(settings=settings, sends=sends)


def _words(line: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(line))
    except ValueError as error:
        raise click.UsageError(f"--command is no command line: {error}.") from None


def told(made: Chosen, environ: Mapping[str, str]) -> Iterator[str]:
    """What is sent, to whom, and when. The lines before the question."""
    named = f"the command {made.sends}" if made.settings.driver == "command" else made.sends
    yield f"With this, what you and the agent say in your sessions is given to {named}:"
    yield "  when a session ends or rests, and before its conversation is compacted;"
    yield "  of earlier sessions what waits to be read already;"
    yield "  without what tools read or printed, and with secrets replaced;"
    yield "  never from a session that is incognito, nor from a workspace where remora is off."
    variable = key_variable(made.settings)
    if variable:
        there = "is set here" if environ.get(variable) else "is not set here"
        yield f"  The key is taken from {variable}, which {there}. It is never written down."
    yield ""
