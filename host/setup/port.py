"""The daemon's port on loopback: kept, or moved when another program holds it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from host.config import Config, Paths, another_port, ensure_port, http_token, is_free, keep_port
from host.errors import ConfigFault, RemoraError


@dataclass(frozen=True, kw_only=True, slots=True)
class Door:
    """The port and the token of HTTP hooks. `old`: the port and token that they take the place of, when another program
    holds that port; None: nothing moves. `new`: there was none before, and none is kept yet."""

    port: int
    token: str
    old: tuple[int, str] | None = None
    new: bool = False

    def keep(self, paths: Paths) -> tuple[Callable[[], None], Callable[[], None]]:
        """How to write a choice down, and how to undo that."""
        if self.new:
            made = [file for file in (paths.port_file, paths.token_file) if not file.exists()]
            return (lambda: _begin(paths, self)), (lambda: _forget(made))
        old = self.old or (self.port, self.token)
        return (lambda: keep_port(paths, self.port, self.token)), (lambda: keep_port(paths, *old))


def door(paths: Paths, config: Config, listens: bool | None) -> Door:
    """The port and token to write into entries. `listens`: a daemon of ours runs, and listens there (True) or cannot
    (False); None: none runs.

    They are only chosen here: nothing is written. Raises ConfigFault when the configuration names a port that another
    program holds.
    """
    chosen = config.daemon.http_port
    fresh_port, fresh_token = another_port()
    has_port, has_token = bool(chosen) or paths.port_file.exists(), paths.token_file.exists()
    port = ensure_port(paths, chosen) if has_port else fresh_port
    token = http_token(paths) if has_token else fresh_token
    new = not (has_port and has_token)
    if not config.daemon.http or listens or is_free(port):
        return Door(port=port, token=token, new=new)
    if chosen:
        raise ConfigFault(
            f"Another program holds the port {port} that {paths.config_file} names.",
            "Stop it, or set `http_port` in section `daemon` to another port, or to 0.",
        )
    return Door(port=fresh_port, token=fresh_token, old=(port, token))


def _begin(paths: Paths, door: Door) -> None:
    """Keep a first choice. Raises RemoraError when a daemon made one of its own meanwhile."""
    kept = (paths.port_file.exists() and ensure_port(paths) != door.port) or (
        paths.token_file.exists() and http_token(paths) != door.token
    )
    if kept:
        raise RemoraError("The daemon chose its port while you were asked. Nothing was written.", "Run it again.")
    keep_port(paths, door.port, door.token)


def _forget(files: list[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)
