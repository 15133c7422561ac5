"""What `doctor` looks at, read once: places, settings, and what the daemon says of itself. Starts no daemon."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from host.client import DaemonAbsent, DaemonSilent, call_sync
from host.clock import Clock, SystemClock
from host.config import Config, Paths, load, locate
from host.doctor.findings import Finding
from host.doctor.programs import Programs
from host.errors import ConfigFault, RemoraError, SocketFault
from host.homes import Homes, homes_of
from host.namespace import name
from recall.contracts import Frozen
from recall.workspace import repository_root

T = TypeVar("T")
SECONDS = 5.0  # for an answer of the daemon


class Unasked(Frozen, frozen=True, kw_only=True):
    repository: str
    records: int = 0


class Memory(Frozen, frozen=True, kw_only=True):
    """Of the daemon's answer, what stands in memory files that is not used, or is not trusted yet."""

    problem_count: int = 0
    missing: tuple[str, ...] = ()
    unasked: tuple[Unasked, ...] = ()


class Index(Frozen, frozen=True, kw_only=True):
    stage: str = "idle"
    done: int = 0
    total: int = 0


class Waiting(Frozen, frozen=True, kw_only=True):
    approvals: int = 0
    review: int = 0


class Speaking(Frozen, frozen=True, kw_only=True):
    host: str
    version: str = ""
    sessions: int = 0
    watched: str = ""


class Said(Frozen, frozen=True, kw_only=True):
    """What the daemon answers to `health`, as far as it is looked at."""

    ready: bool
    parts: dict[str, Any] = {}
    data: str = ""
    pid: int = 0
    memory: Memory = Memory()
    index: Index = Index()
    waiting: Waiting = Waiting()
    hosts: tuple[Speaking, ...] = ()
    code: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """`said`: None without a daemon, or when `silence` says why it could not be asked. `config`: None when it cannot be
    used, and `fault` says why. `repository`: the checkout that is looked at, or the folder itself."""

    paths: Paths
    environ: Mapping[str, str]
    repository: Path
    homes: Homes | None
    programs: Programs
    version: str  # of this installation
    clock: Clock = field(default_factory=SystemClock)
    config: Config | None = None
    fault: ConfigFault | None = None
    said: Said | None = None
    silence: RemoraError | None = None

    @property
    def settings(self) -> Config:
        """The settings that hold; where the file cannot be used, the defaults."""
        return self.config or Config()

    @property
    def ours(self) -> bool:
        """Whether the daemon that answers keeps the data that is looked at."""
        said = self.said
        return said is not None and (not said.data or os.path.realpath(said.data) == os.path.realpath(self.paths.data))

    def ask(self, method: str, params: Mapping[str, object], answer: type[T]) -> T | None:
        """One more question to the daemon, if it is the one of this data; None when it has no answer."""
        if not self.ours:
            return None
        with suppress(RemoraError, msgspec.MsgspecError):
            raw = call_sync(self.paths.socket, method, dict(params), timeout=SECONDS)
            return msgspec.json.decode(raw, type=answer)
        return None


def to_read(database: Path) -> str:
    """The address under which SQLite reads a database without leaving a file beside it: one that nobody has open has no
    log, and is read as it stands."""
    log = database.with_name(f"{database.name}-wal")
    return f"{database.as_uri()}?mode=ro" + ("" if log.exists() else "&immutable=1")


Check = Callable[[Scene], Iterable[Finding]]


def look(environ: Mapping[str, str], workspace: Path) -> Scene:
    """Read all that is to be looked at. Raises nothing for what is broken: it is what is looked for."""
    paths = locate(environ)
    top = repository_root(str(workspace.absolute())) or Path(os.path.realpath(workspace))
    homes = homes_of(environ)
    config, fault = _configured(paths)
    said, silence = _asked(paths)
    return Scene(
        paths=paths,
        environ=environ,
        repository=top,
        homes=homes,
        programs=Programs(environ, beyond=_beyond(top, homes)),
        version=_version(),
        config=config,
        fault=fault,
        said=said,
        silence=silence,
    )


def settings_only(environ: Mapping[str, str], repository: Path, config: Config) -> Scene:
    """A scene in which neither the daemon nor any program was asked."""
    return Scene(
        paths=locate(environ),
        environ=environ,
        repository=repository,
        homes=homes_of(environ),
        programs=Programs(environ),
        version=_version(),
        config=config,
    )


def _beyond(top: Path, homes: Homes | None) -> Path | None:
    """Where programs do not count: in what is looked at, which anybody may have filled, unless the home folder with its
    own programs lies in it."""
    inside = homes is not None and Path(os.path.realpath(homes.home)).is_relative_to(top)
    return None if inside else top


def _configured(paths: Paths) -> tuple[Config | None, ConfigFault | None]:
    try:
        return load(paths), None
    except ConfigFault as fault:
        return None, fault


def _asked(paths: Paths) -> tuple[Said | None, RemoraError | None]:
    try:
        return msgspec.json.decode(call_sync(paths.socket, "health", timeout=SECONDS), type=Said), None
    except DaemonAbsent:
        return None, None
    except (DaemonSilent, SocketFault) as silence:
        return None, silence
    except (RemoraError, msgspec.MsgspecError) as odd:
        return None, RemoraError(f"What listens there does not answer as a daemon of ours: {odd}", "End it.")


def _version() -> str:
    try:
        return version(name())
    except PackageNotFoundError:
        return ""
