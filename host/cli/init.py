"""`init`: connects an agent product to the daemon through its own settings, and takes the connection back.

Nothing is written before the difference was shown and agreed to. What other tools wrote stays byte for byte.
"""

import math
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from host.cli.link import paths
from host.cli.output import existing_workspace_option, json_option, say, show_json
from host.config import Paths, ensure_port, http_token, load
from host.errors import RemoraError
from host.namespace import REPOSITORY_FOLDER, SCRIPT
from host.setup import claude_code, settings_file
from host.setup.config_file import with_setting
from host.setup.exclude import exclude_path, with_line, without_line
from recall.workspace import repository_root

HOOK = Path(__file__).parents[1] / "hook.py"
HOLDOUT = (
    "To measure what it does, remora can keep back a share of what it would hand over, chosen by chance, and compare "
    "what happens with and without. Pinned and risky memories, and what you ask for, are never kept back; 0 means none."
)


class Share(click.FloatRange):
    """A number from 0 to 0.5. What is no number at all lies in no range, and compares as if it lay in each."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            share: float = super().convert(value, param, ctx)
        except click.BadParameter:
            share = math.nan
        if math.isnan(share):
            self.fail(f"{value} is no number from 0 to 0.5, such as 0.1 for every tenth.", param, ctx)
        return share


SHARE = Share(0, 0.5)


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What will be written: a settings file (`after` None: it goes), and a memory folder that comes or goes."""

    settings: Path
    before: str | None
    after: str | None
    folder: Path | None
    secrets: tuple[str, ...]
    exclude: Path | None = None  # git's private list, so that the settings with their token are not committed
    listed: tuple[str | None, str | None] = (None, None)  # its text before and after
    config: Path | None = None  # our own configuration, when an answer is to be kept in it
    setting: tuple[str | None, str | None] = (None, None)

    @property
    def connects(self) -> bool:
        """Whether anything of the product's connection changes, and not only our own configuration."""
        return self.folder is not None or self.before != self.after or self.listed[0] != self.listed[1]

    @property
    def differs(self) -> bool:
        return self.connects or self.setting[0] != self.setting[1]

    def shown(self) -> str:
        """The difference, with secrets left out."""
        shown = settings_file.diff(self.settings, self.before, self.after, self.secrets)
        if self.exclude is not None:
            shown += settings_file.diff(self.exclude, *self.listed)
        if self.config is not None:
            shown += settings_file.diff(self.config, *self.setting)
        return shown


@click.command()
@click.option(
    "--host",
    "product",
    type=click.Choice(["claude-code"]),
    default="claude-code",
    show_default=True,
    help="Which product.",
)
@click.option(
    "--level", type=click.Choice(["project", "user"]), default="project", show_default=True, help="Whose settings."
)
@existing_workspace_option
@click.option("--holdout", type=SHARE, help="Share of packets to keep back and measure, 0 to 0.5.")
@click.option("--remove", is_flag=True, help="Take back what was written.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def init(product: str, level: str, workspace: Path, holdout: float | None, **how: bool) -> None:
    """Connect an agent product to the daemon.

    Shows what it will write, and asks. Running it again changes nothing.

    \b
    Examples:
      remora-pre init --host claude-code
      remora-pre init --host claude-code --holdout 0.1
      remora-pre init --host claude-code --remove
    """
    remove, as_json = how["remove"], how["as_json"]
    if remove and holdout is not None:
        raise click.UsageError("--holdout is no part of taking back: change it in the configuration.")
    repository = repository_root(str(workspace.resolve())) or workspace.resolve()
    change = _change(level, repository, paths(), remove)
    if holdout is None and change.differs and not remove and not how["yes"]:
        holdout = _asked(paths(), as_json)
    if holdout is not None:
        change = _with_holdout(change, paths(), holdout)
    differs = change.differs
    if differs and not as_json:
        say(change.shown())
        if change.folder is not None:
            say(f"{'remove' if remove else 'create'} the folder {change.folder}")
    if differs and not how["yes"] and not _answered(click.confirm, "Write this?", err=as_json):
        raise RemoraError("Nothing was written.")
    if differs:
        _write(change, remove)
    if as_json:
        answer = {"changed": differs, "settings": str(change.settings), "level": level, "host": product}
        show_json(answer if holdout is None else answer | {"holdout": holdout})
    elif not differs:
        say("Nothing to change.")
    else:
        _tell(change, remove)


def _tell(change: Change, remove: bool) -> None:
    """What was done, and what comes next."""
    if change.connects:
        say("Taken back." if remove else f"Done. Start a new session, then look with: {SCRIPT} audit follow")
    if change.config is not None:
        say(f"What is kept back changes with the daemon's next start: {SCRIPT} stop ends the one that runs.")


def _asked(where: Paths, as_json: bool) -> float | None:
    """The user's answer; None when a share is set already, or stays at the default."""
    if load(where).evaluation.holdout:
        return None
    click.echo(HOLDOUT, err=as_json)
    text = "Share to keep back, 0 to 0.5"
    answer: float = _answered(click.prompt, text, type=SHARE, default=0.0, err=as_json)
    return answer or None


def _answered(ask: Callable[..., Any], *about: Any, **how: Any) -> Any:
    """What the user says. Raises RemoraError when nobody answers: in a script, or after Ctrl-C."""
    try:
        return ask(*about, **how)
    except click.Abort:
        click.echo(err=True)  # the question's line has no end
        raise RemoraError("Nothing was written, as there was no answer.", "A script says --yes.") from None


def _with_holdout(change: Change, where: Paths, share: float) -> Change:
    """The change with the share in our own configuration, if it says otherwise. Raises ConfigFault."""
    if load(where).evaluation.holdout == share:
        return change
    before = settings_file.read(where.config_file)
    after = with_setting(before, "evaluation", "holdout", share)
    return replace(change, config=where.config_file, setting=(before, after))


def _change(level: str, repository: Path, where: Paths, remove: bool) -> Change:
    settings = claude_code.settings_path(level, repository, Path.home())
    before = settings_file.read(settings)
    folder = repository / REPOSITORY_FOLDER / "memory"
    token = http_token(where)
    exclude = exclude_path(repository) if level == "project" else None
    listed = None if exclude is None else settings_file.read(exclude)
    pattern = f"/{settings.relative_to(repository)}" if exclude is not None else ""
    if remove:
        after = None if before is None else claude_code.remove(before)
        empty = folder.is_dir() and not any(folder.iterdir())
        return Change(
            settings=settings,
            before=before,
            after=after,
            folder=folder if empty else None,
            secrets=(token,),
            exclude=exclude,
            listed=(listed, without_line(listed, pattern)),
        )
    wanted = claude_code.Wanted(python=sys.executable, hook=str(HOOK), port=ensure_port(where), token=token)
    after = claude_code.plan(before, wanted)
    missing = level == "project" and not folder.exists()
    return Change(
        settings=settings,
        before=before,
        after=after,
        folder=folder if missing else None,
        secrets=(token,),
        exclude=exclude,
        listed=(listed, listed if exclude is None else with_line(listed, pattern)),
    )


def _write(change: Change, remove: bool) -> None:
    """All of it or, when a file cannot be written, nothing. The hooks come last and go first: they switch it on."""
    if remove:
        settings_file.write(change.settings, change.after, 0o600)
        settings_file.replace(change.exclude, *change.listed)
        _remove_folder(change.folder)
        return
    with ExitStack() as undo:
        for file, (before, after) in ((change.config, change.setting), (change.exclude, change.listed)):
            settings_file.replace(file, before, after)
            undo.callback(settings_file.replace, file, after, before)
        if change.folder is not None:
            change.folder.mkdir(parents=True)
            undo.callback(_remove_folder, change.folder)
        if change.before != change.after:
            settings_file.write(change.settings, change.after, 0o600)
        undo.pop_all()


def _remove_folder(folder: Path | None) -> None:
    """The memory folder, and the one around it if nothing else is in there."""
    if folder is not None:
        folder.rmdir()
        if not any(folder.parent.iterdir()):
            folder.parent.rmdir()
