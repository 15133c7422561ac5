"""What `init` and `doctor` ask of every agent product: where its settings are, what we write, what of it is there.

A module of this package *is* a registrar: `HOST`, `TITLE`, `EVENTS`, `detect`, `files` and `notes`. The text work
is pure.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from host.namespace import env, name
from host.transport import Tools
from recall.contracts import Frozen

Level = Literal["project", "user"]
Refused = Literal["comments", "commas", "mark", "blank"]  # trailing commas, a byte order mark, a file without anything
STRICT: frozenset[Refused] = frozenset({"comments", "commas"})
LEVELS: tuple[Level, ...] = ("project", "user")
ENTRY_MARK = env("entry")  # the environment variable of a server's entry that carries our mark
SERVER = name()  # our MCP server's name in every product's settings
Which = Callable[[str], str | None]  # a program's name -> its path


class Wanted(Frozen, frozen=True, kw_only=True):
    """What the entries of this installation must say. All paths are absolute.

    `tools`: how a command hook reaches the daemon, with the interpreter and the hook client; `script`: our command
    line; `plugin`: OpenCode's plugin file; `port` and `token`: of the daemon's HTTP on loopback.
    """

    tools: Tools
    script: str
    plugin: str
    port: int
    token: str


class Entry(Frozen, frozen=True, kw_only=True):
    """One entry of ours in a text. `what`: the hook event, "mcp" or "plugin". `current`: it says what it must.

    `line`: its command line or address, without the token; `paths`: the absolute paths in it; `port` and `token` of an
    http hook; `disabled`: the product leaves it out.
    """

    what: str
    kind: Literal["command", "http", "mcp", "plugin"]
    current: bool
    line: str
    paths: tuple[str, ...] = ()
    port: int = 0
    token: str = ""
    disabled: bool = False


class Places(Frozen, frozen=True, kw_only=True):
    """Where settings are looked for: the home folder, the checkout, and the environment that may move some of them."""

    home: Path
    repository: Path
    environ: Mapping[str, str]

    def folder(self, variable: str, usual: str) -> Path:
        """The folder that `variable` names, else `usual` in the home folder."""
        named = self.environ.get(variable, "")
        return Path(named) if named and Path(named).is_absolute() else self.home / usual


Plan = Callable[[str | None, Wanted], str | None]
Remove = Callable[[str], str | None]
Installed = Callable[[str | None, Wanted | None], tuple[Entry, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class SettingsFile:
    """A file of the product and what is done with it.

    `plan`: the text with our entries, all else as it was; None or a blank text is a new file, and None as the answer
    leaves it unwritten. `remove`: the text without them, None when the file was ours alone. `installed`: what of ours
    is there, in file order; without `Wanted` every entry counts as current. All raise ConfigFault for a text that
    cannot be edited safely.

    `private`: what we write holds the token. `refuses`: what of JSON as people write it the product cannot read.
    """

    path: Path
    holds: str
    plan: Plan
    remove: Remove
    installed: Installed
    private: bool = False
    refuses: frozenset[Refused] = frozenset()


class Registrar(Protocol):
    """A module of this package. `EVENTS`: the hook events that it registers."""

    @property
    def HOST(self) -> str: ...

    @property
    def TITLE(self) -> str: ...

    @property
    def EVENTS(self) -> tuple[str, ...]: ...

    def detect(self, places: Places, which: Which) -> tuple[str, ...]:
        """Why the product is thought to be here: its program on the search path, its folders. Empty: it is not."""
        ...

    def files(self, level: Level, places: Places) -> tuple[SettingsFile, ...]:
        """The files that are written for it at a level, in the order of writing."""
        ...

    def notes(self, level: Level, places: Places) -> tuple[str, ...]:
        """What the user should know once it is connected: what the product asks, and what we do not touch."""
        ...


def evidence(which: Which, program: str, *folders: Path) -> tuple[str, ...]:
    """What speaks for a product: `program` on the search path, and those of its folders that exist."""
    place = which(program)
    return (
        *((f"{program} is {place}",) if place else ()),
        *(f"{folder} exists" for folder in folders if folder.is_dir()),
    )
