"""Settings and places: the only reader of configuration files and of the environment.

What a user may set is `Config`, in TOML; constants of the pass are versioned policy, not settings. Secrets that belong
to this installation (the install key, the HTTP token) are made here once and are readable by their owner alone.
"""

import contextlib
import os
import secrets
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import platformdirs

from host.capability import ALLOWED
from host.errors import ConfigFault
from host.namespace import DATABASE_FILE, GOVERNANCE_FILE, HTTP_SOCKET_FILE, INDEX_FILE, LOCK_FILE, env, name
from host.paths import socket_path
from recall.contracts import Attention

KEY_BYTES = 32
TOKEN_CHARACTERS = 43
LOOPBACK = "127.0.0.1"

Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]
Share = Annotated[float, msgspec.Meta(ge=0, le=0.5)]
PromptName = Literal[
    "notes",
    "checkpoint-propose",
    "checkpoint-canonicalise",
    "batch-extract",
    "batch-decide",
    "scenes",
    "persona",
    "doctrine",
    "skills",
]
PromptAddition = Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
Driver = Literal["agent", "openai", "anthropic", "command", "scripted"]


class DaemonSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[daemon]`: how the background process listens and speaks."""

    http: bool = True  # listen for HTTP hooks, on loopback and on a second Unix socket
    http_port: Port = 0  # 0: a free port, chosen once and kept
    connections: Annotated[int, msgspec.Meta(ge=8, le=8192)] = 2048  # at once, on the Unix socket
    log_level: Literal["debug", "info", "warning", "error"] = "info"


class RecallSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[recall]`: how memories are found."""

    engine: bool = True  # search by meaning too, when the extra `semantic` is installed
    episodes: bool = True  # note what a session did when it is over, for sessions to come


class EvaluationSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[evaluation]`: what is measured beside the work."""

    holdout: Share = 0.0  # of the packets that would be handed over, the share that is kept back


class AttentionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[attention]`: how sure a memory has to be before it speaks."""

    default: Attention = Attention.NORMAL  # in workspaces where nobody chose


class AuditSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[audit]`: how long, and how much of, what was decided is kept entry by entry."""

    days: Annotated[int, msgspec.Meta(ge=1, le=3650)] = 14
    mebibytes: Annotated[int, msgspec.Meta(ge=1, le=4096)] = 32


class EvidenceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[evidence]`: what agents did with memories."""

    enabled: bool = True  # form it; off: nothing is counted as read, used or corrected, and nothing is promoted


class PromptSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[formation.prompts]`: what is added to a prompt, by its name. The most particular one counts.

    A workspace is named by its folder, an agent by its product, as `claude-code`.
    """

    user: dict[PromptName, PromptAddition] = {}
    workspaces: dict[str, dict[PromptName, PromptAddition]] = {}
    agents: dict[str, dict[PromptName, PromptAddition]] = {}


class FormationSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[formation]`: how memories are made of conversations."""

    enabled: bool = True  # off: no job, no row, no call
    driver: Driver = "agent"  # who reads the conversation; `agent`: the one that is running, and no connection is made
    model: str = ""  # as the provider calls it; `openai` and `anthropic` need it
    base_url: str = ""  # of a compatible endpoint, with its version: https, or http on loopback
    api_key_env: str = ""  # the variable that holds the key; the key itself is never written down
    api: Literal["chat", "responses"] = "chat"  # of `openai`: which of its two interfaces
    command: tuple[str, ...] = ()  # of `command`: the program and its arguments
    script: str = ""  # of `scripted`: the file with the answers
    timeout_seconds: Annotated[float, msgspec.Meta(ge=1, le=600)] = 60  # of a checkpoint's call
    auto_commit: bool = True  # commit what passes every check, as not reviewed; off: everything waits for you
    exclude_subagents: bool = True  # nothing is made of what subagents did
    dedupe: bool = True  # compare with what is there before a commit
    importance: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5  # salience of what is committed by itself
    min_sessions: Annotated[int, msgspec.Meta(ge=0, le=100)] = 2  # conversations that must have said it; 0: no floor
    gap_max_age_days: Annotated[int, msgspec.Meta(ge=0, le=3650)] = 90  # how long one of them counts; 0: none is noted
    batch: bool = False  # note running sessions batch by batch, too
    mode: Literal["code", "chat"] = "code"  # what conversations are about
    prompts: PromptSettings = PromptSettings()


class HostsSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[hosts]`: the agent products."""

    # versions that are trusted like those of the table, as `codex 0.181`, which stands for 0.181.0 and all of 0.181
    allow: tuple[Annotated[str, msgspec.Meta(pattern=ALLOWED)], ...] = ()


class TeamSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[team]`: the memory that a repository keeps."""

    run: bool = False  # a model may read past turns and stage what it finds, without an agent


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything a user can set."""

    daemon: DaemonSettings = DaemonSettings()
    recall: RecallSettings = RecallSettings()
    attention: AttentionSettings = AttentionSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    audit: AuditSettings = AuditSettings()
    evidence: EvidenceSettings = EvidenceSettings()
    hosts: HostsSettings = HostsSettings()
    formation: FormationSettings = FormationSettings()
    team: TeamSettings = TeamSettings()


class Paths(msgspec.Struct, frozen=True, kw_only=True):
    """Where everything of one installation is. Folders may not exist yet."""

    data: Path
    state: Path
    config_file: Path
    socket: Path
    http_socket: Path
    lock: Path  # beside the socket: one daemon a socket
    data_lock: Path  # beside the databases: one daemon a data folder
    database: Path
    governance: Path  # beside it: proposals, and the life of memories
    index: Path
    key_file: Path
    token_file: Path
    port_file: Path
    log_file: Path


def environment() -> Mapping[str, str]:
    """The process's environment."""
    return os.environ


def locate(environ: Mapping[str, str]) -> Paths:
    """The places for this environment: `…_DATA`, `…_SOCKET` and `…_CONFIG` name others than the usual ones.

    With a data folder of its own an installation keeps its state in there too, apart from the user's usual one.
    """
    own = environ.get(env("data"), "")
    data = Path(own).absolute() if own else platformdirs.user_data_path(name(), appauthor=False)
    state = data / "state" if own else platformdirs.user_state_path(name(), appauthor=False)
    if not own and state == data:  # one folder for both, as on macOS
        state = data / "state"
    chosen = environ.get(env("config"), "")
    usual = data if own else platformdirs.user_config_path(name(), appauthor=False)
    socket_file = Path(socket_path(environ, os.getuid()))
    return Paths(
        data=data,
        state=state,
        config_file=Path(chosen).absolute() if chosen else usual / "config.toml",
        socket=socket_file,
        http_socket=socket_file.with_name(HTTP_SOCKET_FILE),
        lock=socket_file.with_name(LOCK_FILE),
        data_lock=data / LOCK_FILE,
        database=data / DATABASE_FILE,
        governance=data / GOVERNANCE_FILE,
        index=data / INDEX_FILE,
        key_file=data / "install.key",
        token_file=state / "http.token",
        port_file=state / "http.port",
        log_file=state / "daemon.log",
    )


def load(paths: Paths) -> Config:
    """The settings; without a file, the defaults. Raises ConfigFault that names the field."""
    try:
        raw = paths.config_file.read_bytes()
    except FileNotFoundError:
        return Config()
    except OSError as error:
        raise ConfigFault(
            f"The configuration {paths.config_file} cannot be read: {error.strerror}.", "Check its permissions."
        ) from error
    try:
        return msgspec.toml.decode(raw, type=Config)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigFault(
            f"The configuration {paths.config_file} cannot be used: {error}.",
            "Correct the line, or remove it to get the default.",
        ) from error


def make_folders(paths: Paths) -> None:
    """The data and the state folder, for their owner alone."""
    for folder in (paths.data, paths.state):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigFault(
                f"The folder {folder} cannot be made: {error.strerror}.",
                f"Make it yourself, or name another with {env('data')}.",
            ) from error


def install_key(paths: Paths) -> bytes:
    """The secret of this installation (32 bytes): digests and references are keyed with it. Made once.

    Never made for a database that exists: under another key nothing stored is recognised, and what was delivered
    would be delivered again.
    """
    if paths.database.exists() and not paths.key_file.exists():
        raise ConfigFault(
            f"The install key {paths.key_file} is missing, and {paths.database.name} was written with it.",
            "Restore it from a backup, or move the database away and begin anew.",
        )
    key = _kept(paths.key_file, lambda: secrets.token_bytes(KEY_BYTES))
    if len(key) != KEY_BYTES:
        raise ConfigFault(
            f"The install key {paths.key_file} is damaged: it has {len(key)} bytes instead of {KEY_BYTES}.",
            "Restore it from a backup; without it, what is stored cannot be matched with what comes in.",
        )
    return key


def http_token(paths: Paths) -> str:
    """The bearer token of HTTP hooks. Made once."""
    token = (
        _kept(paths.token_file, lambda: secrets.token_urlsafe(KEY_BYTES).encode()).decode("ascii", "replace").strip()
    )
    if len(token) < TOKEN_CHARACTERS or not token.isascii():
        raise ConfigFault(f"The token {paths.token_file} is damaged.", "Remove the file, and connect the hosts again.")
    return token


def ensure_port(paths: Paths, wanted: int = 0) -> int:
    """The loopback port of HTTP hooks: `wanted`, else the one chosen before, else a free one, from then on kept.

    It is only chosen here; whether it can still be bound shows when the daemon starts.
    """
    if wanted:
        return wanted
    said = _kept(paths.port_file, lambda: str(_free_port()).encode())
    if not said.strip().isdigit() or not 0 < int(said) <= 65535:
        raise ConfigFault(f"The port file {paths.port_file} is damaged.", "Remove it, and connect the hosts again.")
    return int(said)


def is_free(port: int) -> bool:
    """Whether nothing listens at the port on loopback, so that a daemon could."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError:
            return False
        return True


def another_port() -> tuple[int, str]:
    """A free port, and a token: what was sent to a port may be known to whoever held it. Neither is kept yet."""
    return _free_port(), secrets.token_urlsafe(KEY_BYTES)


def keep_port(paths: Paths, port: int, token: str) -> None:
    """Use this port and this token from now on. A daemon that runs keeps its own until it is started again."""
    for file, said in ((paths.port_file, str(port)), (paths.token_file, token)):
        draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
        try:
            _make_private(file.parent)
            _write_private(draft, said.encode())
            os.replace(draft, file)
            _sync_folder(file.parent)
        except OSError as error:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise ConfigFault(f"{file} cannot be written: {error.strerror}.", "Check the folder.") from error


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def _kept(file: Path, make: Callable[[], bytes]) -> bytes:
    """The content of a private file, made once: of two that make it at the same time one wins, and both read it."""
    try:
        if not file.exists():
            _make_private(file.parent)
            draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
            try:
                _write_private(draft, make())
                os.link(draft, file)
            except FileExistsError:
                pass
            finally:
                draft.unlink(missing_ok=True)
            _sync_folder(file.parent)
        if file.stat().st_mode & 0o077:
            file.chmod(0o600)
        return file.read_bytes()
    except OSError as error:
        raise ConfigFault(
            f"{file} cannot be made or read: {error.strerror}.", "Check the folder's permissions."
        ) from error


def _make_private(folder: Path) -> None:
    """Make a folder for its owner alone, and those above it that are missing: with its parents made in one call, a data
    folder that holds the state would be open to all."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o700, exist_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make a new name durable: the install key must not be lost where the database that needs it is kept."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _write_private(file: Path, content: bytes) -> None:
    number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(number, content)
        os.fsync(number)
    finally:
        os.close(number)
