"""Model drivers (formation.md 4): who reads a conversation when it is not the agent that is running.

A new one is a module with a `make`, and one line in DRIVERS. The module is loaded when it is asked for: with
`driver = "agent"` no HTTP client is even loaded.
"""

import importlib
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from urllib.parse import urlsplit

import msgspec

from governance.formation.contracts import ModelDriver
from governance.formation.errors import ModelError, ModelErrorKind
from host.config import FormationSettings
from host.models.endpoint import on_loopback
from host.namespace import env

SCRATCH = "models"  # below the state folder
INTERNAL = env("internal")  # in the environment of a command: its session is ours, and nobody watches it
AGENT = "agent"

VENDOR_KEYS: Mapping[str, str] = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
VENDORS: Mapping[str, str] = {"openai": "api.openai.com", "anthropic": "api.anthropic.com"}
DRIVERS: Mapping[str, str] = {name: f"host.models.{name}" for name in ("openai", "anthropic", "command", "scripted")}


def make(spec: str, settings: FormationSettings, environ: Mapping[str, str], scratch: Path) -> ModelDriver:
    """The driver that `spec` names: `openai`, `anthropic`, `command`, `scripted`, or `scripted:FILE`.

    `environ`: where a key's variable is looked up, at each call, and what a command gets. `scratch`: a folder for the
    empty folders of commands. The first driver of a kind takes about 0.1 s, as its client is loaded.

    Raises ModelError (`configuration`): the settings give no such driver. It says what to do.
    """
    name, _, rest = spec.partition(":")
    if name not in DRIVERS or (rest and name != "scripted"):
        raise ModelError(
            ModelErrorKind.CONFIGURATION,
            f"There is no model driver {spec!r}. Name one of {', '.join(DRIVERS)}, or scripted:FILE.",
        )
    settings = msgspec.structs.replace(settings, driver=name)  # a command may name another than the settings do
    built: Callable[..., ModelDriver] = importlib.import_module(DRIVERS[name]).make
    match name:
        case "scripted":
            return built(rest or settings.script)
        case "command":
            return built(settings, environ, scratch)
        case _:
            return built(settings, environ)


def whole(spec: str) -> str:
    """A spec for another process: the file of `scripted:FILE` by its whole path, seen from the current folder."""
    name, colon, rest = spec.partition(":")
    return f"{name}:{Path(rest).expanduser().absolute()}" if name == "scripted" and colon and rest else spec


def own_folders(scratch: Path) -> tuple[str, ...]:
    """Below which sessions are our own, as we name it and as products that resolve links do."""
    return str(scratch), os.path.realpath(scratch)


def is_own(folder: str, scratch: Path) -> bool:
    """Whether a session in this folder is one of our own, which nobody listens to."""
    return any(PurePath(folder).is_relative_to(own) for own in own_folders(scratch))


def sends_text_away(settings: FormationSettings) -> bool:
    """Whether words of a conversation leave this machine. Of a command nobody can know: yes."""
    if settings.driver in (AGENT, "scripted"):
        return False
    return settings.driver == "command" or not _is_local(settings.base_url)


def _is_local(base_url: str) -> bool:
    try:
        return on_loopback(urlsplit(base_url).hostname or "")
    except ValueError:
        return False


def key_variable(settings: FormationSettings) -> str:
    """The variable that holds the key; empty: none is sent. The vendor's usual one is for the vendor alone."""
    if settings.driver not in VENDOR_KEYS:
        return ""
    return settings.api_key_env or ("" if settings.base_url else VENDOR_KEYS[settings.driver])


def trouble(settings: FormationSettings, environ: Mapping[str, str]) -> str:
    """What in this environment keeps the configured driver from its first call: no key, or no such program. Empty:
    nothing that can be seen without calling."""
    variable = key_variable(settings)
    if variable and not environ.get(variable, "").strip():
        return f"{variable} is not set in the environment of the daemon, so there is no key for {receiver(settings)}."
    if settings.driver == "command" and settings.command:
        program = settings.command[0]
        if shutil.which(program, path=environ.get("PATH")) is None:
            return f"The program {program} is not found on the daemon's search path."
    return ""


def receiver(settings: FormationSettings) -> str:
    """Who gets the words, for people: a host's name, or the command."""
    if settings.driver == "command":
        return " ".join(settings.command) or "a command"
    if settings.base_url:
        try:
            return urlsplit(settings.base_url).hostname or settings.base_url
        except ValueError:
            return settings.base_url
    return VENDORS.get(settings.driver, "")
