"""`init`: connects agent products to the daemon through their own settings, and takes the connection back.

Nothing is written before it was said which files change and how, and agreed to; then all of it or nothing. Every line
is shown on demand. What other tools wrote stays byte for byte.
"""

import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from host.cli.answers import Health
from host.cli.codex_hooks import Consent, offer_trust
from host.cli.init_answers import Outcome, show, tell
from host.cli.init_driver import QUESTION as SEND_QUESTION
from host.cli.init_driver import SECTION, Chosen, chosen, driver_options, taken, told
from host.cli.init_memory import Answer, offer_memory
from host.cli.init_summary import summary
from host.cli.link import ask_running, keeps_ours, paths
from host.cli.output import existing_workspace_option, json_option, say
from host.client import DaemonAbsent
from host.config import Config, Paths, environment, load, make_folders
from host.doctor.checks import hampered
from host.doctor.scene import settings_only
from host.errors import RemoraError
from host.homes import homes_of
from host.namespace import REPOSITORY_FOLDER
from host.setup import REGISTRARS, codex, settings_file
from host.setup.config_file import with_setting, with_settings
from host.setup.edits import Edit, Edits, Folder
from host.setup.gather import Gathered, Scene, connect, connected, take_back
from host.setup.port import Door, door
from host.setup.records import Records
from host.setup.registrar import LEVELS, Places
from host.setup.repository_files import coming, going, is_unused
from host.setup.wanted import wanted
from host.sockets import start_anew
from host.team.formats import FORMATS
from recall.workspace import repository_root

QUESTION = "Write this? [y/N, d shows every line]"


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
class Task:
    """What this run is about."""

    where: Paths
    config: Config
    scene: Scene
    hosts: tuple[str, ...]
    remove: bool
    yes: bool
    diff: bool
    as_json: bool


@click.command()
@click.option(
    "--host",
    "hosts",
    type=click.Choice(list(REGISTRARS)),
    multiple=True,
    help="Which product; can be given again.  [default: those that are found]",
)
@click.option("--level", type=click.Choice(LEVELS), default="project", show_default=True, help="Whose settings.")
@existing_workspace_option
@click.option("--holdout", type=SHARE, help="Share of packets to keep back and measure, 0 to 0.5.")
@driver_options
@click.option("--trust-hooks", is_flag=True, help="Have Codex trust our hooks, without a question.")
@click.option(
    "--trust-memory/--distrust-memory", default=None, help="Whether you trust the memory that this repository brings."
)
@click.option("--remove", is_flag=True, help="Take back what was written.")
@click.option("--diff", is_flag=True, help="Show every line that is written.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def init(hosts: tuple[str, ...], workspace: Path, holdout: float | None, **how: Any) -> None:
    """Connect an agent product to the daemon.

    Says what it will write, and asks. Running it again changes nothing, or brings up to date what has moved.

    \b
    Examples:
      remora-pre init
      remora-pre init --host claude-code --host codex --level user
      remora-pre init --diff
      remora-pre init --driver anthropic --model claude-haiku-4-5
      remora-pre init --remove
    """
    driver = taken(how)
    if how["remove"] and (holdout is not None or how["trust_hooks"] or how["trust_memory"] is not None or driver):
        raise click.UsageError("--holdout, --driver, --trust-hooks and --trust-memory are no part of taking back.")
    task = _task(hosts, workspace, how)
    gathered, edits, opened = _gathered(task)
    made = chosen(driver, task.config.formation, environment(), task.where.state / "models") if driver else None
    if made is not None and made.sends and not driver["send_text"]:
        _agree_to_send(task, made)
    edits = _with_settings(edits, task.where, holdout, made)
    if edits.differs:
        try:
            _agree(task, edits, gathered, opened)
        except click.exceptions.Exit:  # a no to the settings is none to what was said of the memory
            if how["trust_memory"] is not None:
                _about_memory(task, how)
            raise
        make_folders(task.where)
        edits.write(task.scene.records)
    if not task.remove:
        start_anew(task.where.socket.parent)  # connected anew: what was stopped may start by itself again
    done = Outcome(task.scene, task.hosts, gathered, edits, opened, task.remove, holdout, driver.get("driver"))
    if not task.as_json:
        tell(done)
        for line in () if task.remove else _hampered(task, gathered):
            say(line)
    trusted = None
    if codex.HOST in task.hosts and not task.remove:
        consent = Consent(granted=how["trust_hooks"], asks=not task.yes and not task.as_json, quiet=task.as_json)
        changed = any(edit.differs and edit.holds == "hooks" and edit.host == codex.HOST for edit in edits.files)
        trusted = offer_trust(task.scene, changed, consent)
    memory = None
    if not task.remove and (task.scene.level == "project" or how["trust_memory"] is not None):
        memory = _about_memory(task, how)
    if task.as_json:
        show(done, trusted, memory)


def _about_memory(task: Task, how: Mapping[str, Any]) -> bool | None:
    """Have it known whether the repository's memory is trusted. Raises RemoraError when what was said is not kept."""
    answer = Answer(said=how["trust_memory"], asks=not task.yes and not task.as_json, quiet=task.as_json)
    return offer_memory(task.scene.places.repository, answer)


def _task(hosts: Sequence[str], workspace: Path, how: dict[str, Any]) -> Task:
    """Raises RemoraError when there is nothing to connect."""
    folder = workspace.resolve()
    repository = repository_root(str(folder))
    if repository is None and folder == Path.home().resolve() and how["level"] == "project":
        raise RemoraError("Your home folder is no project.", "Go to one, or connect all projects with --level user.")
    if homes_of(environment()) is None:  # settings would go below the current folder, where no product looks
        raise RemoraError("There is no home folder: HOME is no absolute path.", "Set HOME, then try again.")
    where = paths()
    config = load(where)
    places = Places(home=Path.home(), repository=repository or folder, environ=environment())
    scene = Scene(level=how["level"], places=places, records=Records(where.state / "settings"), http=config.daemon.http)
    chosen = tuple(dict.fromkeys(hosts))
    if not chosen:
        chosen = connected(scene) if how["remove"] else _found(places)
    asked = {option: how[option] for option in ("remove", "yes", "diff", "as_json")}
    return Task(where=where, config=config, scene=scene, hosts=chosen, **asked)


def _found(places: Places) -> tuple[str, ...]:
    found = tuple(host for host, registrar in REGISTRARS.items() if registrar.detect(places, shutil.which))
    if not found:
        titles = ", ".join(registrar.TITLE for registrar in REGISTRARS.values())
        raise RemoraError(f"None of {titles} was found here.", "Name what you use, such as: --host claude-code")
    return found


def _gathered(task: Task) -> tuple[Gathered, Edits, Door | None]:
    """What would be written. Raises ConfigFault."""
    folder = task.scene.places.repository / REPOSITORY_FOLDER / "memory"
    if task.remove:
        gathered = take_back(task.hosts, task.scene)
        others = set(connected(task.scene)) - set(task.hosts)  # whose memories these are as well
        empty = task.scene.level == "project" and not others and is_unused(folder)
        goes = Folder(path=folder, makes=False) if empty else None
        files = (*gathered.edits, *(going(task.scene.places.repository, FORMATS) if empty else ()))
        return gathered, Edits(files=files, folder=goes, secrets=gathered.secrets), None
    opened = door(task.where, task.config, _listens())
    gathered = connect(task.hosts, task.scene, wanted(task.where, opened.port, opened.token))
    missing = task.scene.level == "project" and not folder.exists()
    shared = task.scene.level == "project" and repository_root(str(task.scene.places.repository)) is not None
    files = (*gathered.edits, *(coming(task.scene.places.repository, FORMATS) if shared else ()))
    writes = missing or any(edit.differs for edit in files)
    edits = Edits(
        files=files,
        folder=Folder(path=folder, makes=True) if missing else None,
        secrets=(opened.token, *gathered.secrets),
        also=(opened.keep(task.where),) if opened.old or (opened.new and writes) else (),
    )
    return gathered, edits, opened


def _listens() -> bool | None:
    """Whether a daemon of ours holds the port; None when none runs."""
    try:
        health = ask_running("health", {}, Health)
    except DaemonAbsent:
        return None
    except RemoraError:
        return True  # it runs, and cannot say
    return keeps_ours(health) and bytes(health.parts.get("http", b"")) == b'"ok"'


def _agree(task: Task, edits: Edits, gathered: Gathered, opened: Door | None) -> None:
    """Say all of it, and ask. Ends the program on a no. Raises ConfigFault when it cannot be written."""
    if not (task.as_json and task.yes):
        for line in summary(task.scene, task.hosts, gathered, edits, opened):
            say(line, err=task.as_json)
    if task.diff:
        say(edits.shown(), err=task.as_json)
    edits.check()
    if not task.yes and not _consents(edits, task.as_json):
        say("Nothing was written.", err=task.as_json)
        raise click.exceptions.Exit(1)


def _consents(edits: Edits, err: bool) -> bool:
    """Whether the user agrees, who may look at every line first. Raises RemoraError without an answer."""
    while True:
        answer: str = _answered(click.prompt, QUESTION, default="n", show_default=False, err=err)
        match answer.strip().lower():
            case "y" | "yes":
                return True
            case "n" | "no":
                return False
            case "d" | "diff":
                say(edits.shown(), err=err)


def _hampered(task: Task, gathered: Gathered) -> Iterator[str]:
    """What keeps the hooks from running though they are there. What `tell` says of a file is not said again."""
    told = {str(one.path) for one in gathered.unread}
    places = task.scene.places
    for one in hampered(settings_only(places.environ, places.repository, task.config), task.hosts):
        if one.where not in told:
            yield f"{one.what} {one.todo}"


def _answered(ask: Callable[..., Any], *about: Any, **how: Any) -> Any:
    """What the user says. Raises RemoraError when nobody answers: in a script, or after Ctrl-C."""
    try:
        return ask(*about, **how)
    except click.Abort:
        click.echo(err=True)  # the question's line has no end
        raise RemoraError("Nothing was written, as there was no answer.", "A script says --yes.") from None


def _agree_to_send(task: Task, made: Chosen) -> None:
    """Ask before words of a conversation leave the machine. Ends the program on a no. Raises RemoraError when nobody
    was asked: to agree to what is written is not to agree to that."""
    if task.yes or task.as_json:
        raise RemoraError(
            f"Nothing was written: with this driver, what you say would be given to {made.sends}.",
            "A script that means it says --send-text.",
        )
    for line in told(made, environment()):
        say(line)
    answer: str = _answered(click.prompt, SEND_QUESTION, default="n", show_default=False)
    if answer.strip().lower() not in ("y", "yes"):
        say("Nothing was written.")
        raise click.exceptions.Exit(1)


def _with_settings(edits: Edits, where: Paths, holdout: float | None, made: Chosen | None) -> Edits:
    """With what was said in our own configuration, if it says otherwise. Raises ConfigFault."""
    config = load(where)
    before = text = settings_file.read(where.config_file)
    about = list[str]()
    if holdout is not None and config.evaluation.holdout != holdout:
        text = with_setting(text, "evaluation", "holdout", holdout)
        about.append("the share that is kept back to measure")
    if made is not None and config.formation != made.settings:
        text = with_settings(text, SECTION, made.values)
        about.append(made.about)
    if not about:
        return edits
    mode = settings_file.mode_of(where.config_file)
    edit = Edit(
        path=where.config_file,
        before=before,
        after=text,
        mode=mode if mode is not None else settings_file.NEW_MODE,
        holds="configuration",
        about=tuple(about),
    )
    return replace(edits, files=(edit, *edits.files))
