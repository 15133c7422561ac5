"""`config`: the settings that hold, and whether the file can be used."""

import json

import click
import msgspec

from host.cli.link import paths
from host.cli.output import json_option, say, show_json
from host.config import load


@click.group()
def config() -> None:
    """Show or check the configuration.

    \b
    Example:
      remora-pre config show
    """


@config.command()
@json_option
def show(as_json: bool) -> None:
    """Show every setting that holds, defaults included.

    \b
    Example:
      remora-pre config show
    """
    settings = json.loads(msgspec.json.encode(load(paths())))
    if as_json:
        show_json(settings)
        return
    say(f"# {paths().config_file}{'' if paths().config_file.exists() else ', which is not there: defaults'}")
    for section, values in settings.items():
        for name, value in values.items():
            say(f"{section}.{name} = {json.dumps(value, ensure_ascii=False)}")


@config.command()
@json_option
def check(as_json: bool) -> None:
    """Check the configuration file. Exit code 1 when it cannot be used.

    \b
    Example:
      remora-pre config check
    """
    load(paths())
    file = paths().config_file
    if as_json:
        show_json({"ok": True, "file": str(file), "exists": file.exists()})
    elif file.exists():
        say(f"The configuration {file} can be used.")
    else:
        say(f"There is no file {file}: the defaults hold.")
