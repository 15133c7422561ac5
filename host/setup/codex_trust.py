"""Codex's trust in our hooks: read and, with its user's consent, given through Codex's own `app-server`.

Codex keeps a hash of every hook that its user trusts, in its config.toml, and skips all others in silence. Only Codex
knows the hash, so it is asked.
"""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from host.errors import RemoraError
from host.namespace import name

SECONDS = 20.0  # for all of it
TRUSTED = "trusted"
# No plugins: Codex would fetch their list. What it is told here it keeps nowhere.
QUIET = ("-c", "features.plugins=false", "-c", "features.apps=false", "-c", "analytics.enabled=false")
BY_HAND = "Trust the hooks in Codex itself: /hooks."


class TrustFault(RemoraError):
    """Codex could not be asked, or did not answer as it should."""


class Hook(msgspec.Struct, frozen=True, rename="camel"):
    """A hook as Codex sees it. `trust_status`: `trusted`, `untrusted`, `modified`, or `managed`."""

    key: str
    current_hash: str
    trust_status: str
    source_path: str = ""
    event_name: str = ""


class _Listed(msgspec.Struct):
    hooks: list[Hook] = []


class _Lists(msgspec.Struct):
    data: list[_Listed] = []


class _Answer(msgspec.Struct):
    id: int | None = None
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: msgspec.Raw = msgspec.Raw(b"")


@contextmanager
def app_server(codex: Path, environ: Mapping[str, str]) -> Iterator["AppServer"]:
    """A running `codex app-server`. It is ended with the block, or when the time is up, and its children with it, for
    `codex` may be a script that only starts the server. Raises TrustFault."""
    try:
        process = subprocess.Popen(
            [str(codex), "app-server", *QUIET],
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise TrustFault(f"{codex} cannot be started: {error.strerror}.", BY_HAND) from error
    timer = threading.Timer(SECONDS, _end, [process])
    timer.start()
    try:
        server = AppServer(process)
        server.greet()
        yield server
    finally:
        timer.cancel()
        _end(process)
        process.communicate()


def _end(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class AppServer:
    """The conversation with it: JSON messages, one a line."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._number = 0

    def greet(self) -> None:
        """What every conversation begins with."""
        self._call("initialize", {"clientInfo": {"name": name(), "version": "1"}})
        self._send({"method": "initialized"})

    def hooks(self, folder: Path, keys: frozenset[str]) -> tuple[Hook, ...]:
        """The hooks with these keys, as a session in `folder` would have them. Raises TrustFault."""
        lists = self._call("hooks/list", {"cwds": [str(folder)]})
        try:
            listed = msgspec.json.decode(lists, type=_Lists)
        except msgspec.DecodeError as error:
            raise TrustFault(f"Codex's list of hooks is unknown to us: {error}.", BY_HAND) from error
        return tuple(hook for one in listed.data for hook in one.hooks if hook.key in keys)

    def trust(self, hooks: Sequence[Hook]) -> None:
        """Have Codex trust these hooks as they are now. Raises TrustFault."""
        state = {hook.key: {"trusted_hash": hook.current_hash} for hook in hooks}
        edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
        self._call("config/batchWrite", {"edits": [edit]})

    def _call(self, method: str, params: object) -> bytes:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                answer = msgspec.json.decode(line, type=_Answer)
            except msgspec.DecodeError:
                continue  # a request or a notice
            if answer.id == self._number:
                if bytes(answer.error):
                    raise TrustFault(f"Codex refused {method}: {bytes(answer.error).decode()}.", BY_HAND)
                return bytes(answer.result)
        raise TrustFault(f"Codex gave no answer to {method}.", BY_HAND)

    def _send(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise TrustFault("Codex's app-server has ended.", BY_HAND) from error
