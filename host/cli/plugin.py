"""`plugin`: builds the folder that Claude Code loads as a plugin."""

from importlib.metadata import version
from pathlib import Path

import click

from host.cli.link import paths
from host.cli.output import json_option, say, show_json
from host.errors import RemoraError
from host.namespace import name
from host.setup import plugin as built
from host.setup import settings_file
from host.setup.wanted import wanted


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@json_option
def plugin(folder: Path, as_json: bool) -> None:
    """Build a plugin folder for Claude Code.

    The other way to connect it is init: use one of the two. Building again brings the folder up to date.

    \b
    Examples:
      remora-pre plugin remora-plugin
      claude --plugin-dir remora-plugin
    """
    files = built.files(wanted(paths(), 0, ""), version(name()))
    manifest = settings_file.read(folder / built.MANIFEST)
    if not built.is_ours(manifest) and folder.exists() and any(folder.iterdir()):
        raise RemoraError(f"{folder} holds other files, and is no plugin folder of ours.", "Name a new folder.")
    changed = [path for path, text in files.items() if settings_file.read(folder / path) != text]
    for path in changed:
        settings_file.make_folders(folder / path)
        settings_file.put(folder / path, files[path])
    if as_json:
        show_json({"folder": str(folder.resolve()), "changed": changed})
    elif changed:
        say(f"Built {folder}. Start a session with it: claude --plugin-dir {folder}")
    else:
        say("Nothing to change.")
