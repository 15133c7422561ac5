"""How memories are made of conversations: who reads them, whether that one can be asked, and what is stuck."""

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from governance.formation.errors import ModelError
from host.doctor.findings import Finding, finding
from host.doctor.scene import Scene
from host.models import AGENT, make, receiver, sends_text_away, trouble
from host.models.endpoint import Endpoint
from host.namespace import SCRIPT, env
from recall.contracts import Frozen

CONNECT_SECONDS = 2.0
PORTS = {"http": 80, "https": 443}


class Forming(Frozen, frozen=True, kw_only=True):
    """The answer of `formation.status`, as far as it is looked at."""

    state: str = "ok"
    problem: str = ""
    driver: str = AGENT
    driver_problem: str = ""
    waiting: int = 0
    poison: int = 0
    given_up: int = 0
    outbox_problem: str = ""


def driver(scene: Scene) -> Iterator[Finding]:
    """Whether whoever reads conversations can be asked. No text is sent for it: at most a connection is opened."""
    settings = scene.settings.formation
    if not settings.enabled or settings.driver == AGENT:
        return
    if sends_text_away(settings):
        yield finding(
            "text-sent-away",
            f"What you and the agent say is given to {receiver(settings)} (driver {settings.driver}).",
            "You agreed to it, or set it. Secrets are replaced; nothing of an incognito session goes there.",
            f"To stop it: {SCRIPT} init --driver {AGENT}",
            scene.paths.config_file,
        )
    try:
        made = make(settings.driver, settings, scene.environ, scene.paths.state)
    except ModelError as error:
        yield _unusable(error.problem, f"{SCRIPT} init --driver sets it anew.", scene)
        return
    forming = scene.ask("formation.status", {}, Forming)
    problem = trouble(settings, scene.environ) if forming is None else forming.driver_problem
    if problem:
        yield _unusable(
            problem,
            f"Set it where the daemon is started, then: {SCRIPT} stop, {SCRIPT} start. One that a hook starts has only "
            f"variables that begin with {env('')}: name such a one in `formation.api_key_env`.",
            scene,
        )
    where = getattr(made, "endpoint", None)
    if isinstance(where, Endpoint):
        yield from _reached(where, scene)


def _unusable(what: str, todo: str, scene: Scene) -> Finding:
    why = "No conversation is read by itself; what is to be read waits, and nothing is lost."
    return finding("driver-unusable", what, why, todo, scene.paths.config_file)


def _reached(where: Endpoint, scene: Scene) -> Iterator[Finding]:
    """Whether somebody listens there, or at the proxy on the way."""
    proxy = scene.environ.get("HTTPS_PROXY") or scene.environ.get("https_proxy")
    named = where.url if where.is_local or not proxy else proxy if "//" in proxy else f"//{proxy}"
    at = where.host
    try:
        url = urlsplit(named)
        host, port = url.hostname or "", url.port or PORTS.get(url.scheme, 443)
        at = f"{host}:{port}"
        socket.create_connection((host, port), CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        yield finding(
            "model-unreachable",
            f"{at} cannot be reached: {said}.",
            "No conversation is read until it can; it is tried again by itself.",
            "Start it, or check the network and `formation.base_url`.",
            scene.paths.config_file,
        )


def forming(scene: Scene) -> Iterator[Finding]:
    """What of it is broken, stuck, or waits for you."""
    told = scene.ask("formation.status", {}, Forming)
    if told is None:
        return
    if told.state not in ("ok", "off"):
        yield finding(
            "formation-failed",
            f"No memories are made: {told.problem or told.state}",
            "Proposals and their review stand still. Events are kept, and what is known is found and handed over.",
            f"The daemon takes a mended file by itself. {SCRIPT} extract --recover makes it anew from the records.",
            scene.paths.governance,
        )
    if told.poison:
        yield finding(
            "formation-poison",
            f"{told.poison} {'run was' if told.poison == 1 else 'runs were'} given up after breaking three times.",
            "What those sessions said was not read. It is all still there.",
            f"Look into {scene.paths.log_file}; then {SCRIPT} checkpoint --list, and --retry with its id.",
            scene.paths.log_file,
        )
    if told.given_up:
        parts = "1 part of a conversation was" if told.given_up == 1 else f"{told.given_up} parts of conversations were"
        yield finding(
            "ranges-given-up",
            f"{parts} given up.",
            "A model answered twice what could not be used. What those sessions said there was not read.",
            f"See them with: {SCRIPT} checkpoint --list, and try one again with --retry and its id.",
        )
    if told.outbox_problem:
        yield finding(
            "outbox-stuck",
            f"Memories that were kept cannot be written into their files: {told.outbox_problem}.",
            "They are safe in the database, and are not found before they are written.",
            "Check the folder and the disk. It is tried again by itself.",
            scene.paths.data,
        )
    if told.waiting and told.driver == AGENT:
        yield finding(
            "checkpoints-waiting",
            f"{told.waiting} {'part of a conversation waits' if told.waiting == 1 else 'parts of conversations wait'}.",
            "They are read when you ask an agent to; none is asked by itself.",
            "Ask your agent to run the waiting checkpoints.",
        )
