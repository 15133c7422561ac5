"""The socket, the daemon behind it, and its HTTP side: what stands at their names, and who answers."""

import fcntl
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from host.build import stamp
from host.client import DaemonSilent
from host.config import LOOPBACK, TOKEN_CHARACTERS
from host.doctor.findings import Finding, finding
from host.doctor.scene import Scene
from host.namespace import PROTOCOL, SCRIPT, SOCKET_FILE, env, name
from host.paths import ADDRESS_BYTES, SHORT_FOLDER, folder_problem
from host.sockets import PROBE_SECONDS, Lock, is_served
from recall.contracts import Frozen

QUIET = ("ok", "off")
TAKEN = "cannot be had"  # as the daemon says it of its port
TOLD_ELSEWHERE = ("socket", "http", "index", "engine", "formation")  # parts that have states of their own


class Greeting(Frozen, frozen=True, kw_only=True):
    """The answer to `hello`, as far as it is looked at."""

    version: str = ""


def socket_folder(scene: Scene) -> Iterator[Finding]:
    """Where the socket is, and whether that is where it was meant to be."""
    folder, uid = scene.paths.socket.parent, os.getuid()
    if os.path.lexists(folder) and (problem := folder_problem(str(folder), uid)) is not None:
        yield finding(
            "socket-folder-unsafe",
            f"The socket's folder {folder} is not safe: {problem}.",
            "Others could put a socket of theirs in our place, so neither the daemon nor a hook uses it.",
            f"Remove it, or make it yours alone: chmod 700 {folder}",
            folder,
        )
    chosen, runtime = scene.environ.get(env("socket"), ""), scene.environ.get("XDG_RUNTIME_DIR", "")
    if chosen:
        yield from _shortened(scene, Path(os.path.abspath(chosen)))
    elif os.path.isabs(runtime):
        if (problem := folder_problem(runtime, uid)) is not None:
            yield finding(
                "runtime-folder-unsafe",
                f"XDG_RUNTIME_DIR names {runtime}, which cannot be used: {problem}.",
                f"The socket goes to {folder} instead; a program started with another environment looks elsewhere.",
                "Log in anew so that the system makes the folder, or unset XDG_RUNTIME_DIR everywhere.",
                runtime,
            )
        else:
            yield from _shortened(scene, Path(runtime) / name() / SOCKET_FILE)


def _shortened(scene: Scene, meant: Path) -> Iterator[Finding]:
    if scene.paths.socket != meant and scene.paths.socket.is_relative_to(SHORT_FOLDER):
        yield finding(
            "socket-path-long",
            f"The socket's name {meant} is too long, so it is {scene.paths.socket}.",
            f"An address has room for {ADDRESS_BYTES} bytes. The daemon and its clients agree on the short name.",
            "There is nothing to do.",
            meant,
        )


def socket_file(scene: Scene) -> Iterator[Finding]:
    """What stands at the socket's name."""
    path = scene.paths.socket
    try:
        found = os.lstat(path)
    except OSError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        yield finding(
            "socket-blocked",
            f"At the socket's name {path} stands something that is no socket.",
            "The daemon does not remove what it did not make, so it cannot start.",
            f"Move it away: mv {path} {path}.away",
            path,
        )
    elif scene.said is None and _is_foreign(scene):
        yield finding(
            "socket-foreign",
            f"Another program serves the socket {path}, and does not speak our protocol or is another user's.",
            "Hooks and commands go there and get no answer; nothing is handed over.",
            f"Find it with `ss -xlp` or `lsof {path}` and end it, or name another socket with {env('socket')}.",
            path,
        )
    elif scene.said is None and scene.silence is None and not is_served(path):
        yield finding(
            "socket-stale",
            f"The socket {path} is left over: nobody listens there.",
            "A daemon was killed before it could clean up. Nothing was lost by that.",
            f"{SCRIPT} start puts a new one in its place.",
            path,
        )


def _is_foreign(scene: Scene) -> bool:
    if scene.silence is None:  # it was refused, or closed before an answer came
        return is_served(scene.paths.socket)
    if folder_problem(str(scene.paths.socket.parent), os.getuid()) is not None:
        return False
    return not _timed_out(scene)


def _timed_out(scene: Scene) -> bool:
    return isinstance(scene.silence, DaemonSilent) and isinstance(scene.silence.__cause__, TimeoutError)


def daemon(scene: Scene) -> Iterator[Finding]:
    """Who holds the locks, who answers, and for which data."""
    if scene.said is not None:
        if not scene.ours:
            yield _elsewhere(scene, f"(pid {scene.said.pid}) keeps the data folder {scene.said.data}")
        return
    if _timed_out(scene):
        yield finding(
            "daemon-silent",
            f"A daemon (pid {Lock(scene.paths.lock).holder()}) listens at {scene.paths.socket} and does not answer.",
            "Hooks give up after a moment, so agents go on without memory.",
            f"Look into its log, {scene.paths.log_file}. End it with `{SCRIPT} stop`, then: {SCRIPT} start",
            scene.paths.socket,
        )
    elif _is_held(scene.paths.lock):
        yield finding(
            "daemon-stuck",
            f"A daemon (pid {Lock(scene.paths.lock).holder()}) holds {scene.paths.lock}, and nobody listens.",
            "It is just starting or ending. If this stays so it hangs, and no other can start.",
            f"Try again in a moment. If it stays, end the process with kill -9, then: {SCRIPT} start",
            scene.paths.lock,
        )
    elif _is_held(scene.paths.data_lock):
        holder = Lock(scene.paths.data_lock).holder()
        yield _elsewhere(scene, f"(pid {holder}) uses our data folder from another socket")
    elif scene.silence is None and not is_served(scene.paths.socket):
        yield finding(
            "daemon-absent",
            "The daemon does not run.",
            "An agent's next session starts it, where its hooks are connected. Until then nothing is looked up.",
            f"{SCRIPT} start",
            scene.paths.socket,
        )


def _elsewhere(scene: Scene, what: str) -> Finding:
    return finding(
        "daemon-elsewhere",
        f"A daemon {what}; the environment names {scene.paths.data} and {scene.paths.socket}.",
        f"It was started with another HOME, {env('data')} or {env('socket')}. Commands from here are refused.",
        f"Use its environment (XDG_RUNTIME_DIR for one, which ssh and cron may lack), or end it there with "
        f"`{SCRIPT} stop` and start one here: {SCRIPT} start",
        scene.paths.data,
    )


def _is_held(lock: Path) -> bool:
    """Whether a process has a lock on the file. It is only tried, never made, and let go at once; and not even tried
    where nobody wrote his pid down, for a daemon that is just starting must find it free."""
    if Lock(lock).holder() == "?":
        return False
    try:
        number = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(number)
    return False


def version(scene: Scene) -> Iterator[Finding]:
    """A daemon goes on with the code that it was started with."""
    greeting = scene.ask("hello", {"client": name("doctor"), "protocol": PROTOCOL, "capabilities": []}, Greeting)
    said = "" if scene.said is None else scene.said.code
    version = "" if greeting is None else greeting.version
    if (version and version != scene.version) or (said and said != stamp()):
        yield finding(
            "daemon-older",
            f"The daemon that runs is version {version}, and this is {scene.version}."
            if version != scene.version
            else "The daemon that runs has other code than what is installed now.",
            "It was started before the installation changed, and goes on with the code from then.",
            f"{SCRIPT} stop, then {SCRIPT} start",
            scene.paths.socket,
        )


def parts(scene: Scene) -> Iterator[Finding]:
    """What the daemon says of its own parts."""
    for part, state in sorted((scene.said.parts if scene.said else {}).items()):
        plain = state if isinstance(state, str) else str(state)
        if part.startswith("source "):
            yield finding(
                "source-resting",
                f"The {part} is left out: {plain}.",
                "It failed several times in a row. The others answer without it.",
                f"It is tried again by itself. If it stays out, look into the log, {scene.paths.log_file}.",
                part,
            )
        elif part not in TOLD_ELSEWHERE and not plain.startswith(QUIET):
            yield finding(
                "daemon-unwell",
                f"The daemon's {part} is not well: {plain}",
                "What it cannot write down it does not hand over.",
                f"Look into its log, {scene.paths.log_file}; a full or read-only disk is the usual cause.",
                part,
            )


def http(scene: Scene) -> Iterator[Finding]:
    """The loopback port and its token."""
    if not scene.settings.daemon.http:
        return
    said = scene.paths.port_file
    port = scene.settings.daemon.http_port or kept_port(said)
    if port == 0 and said.exists():
        yield finding(
            "port-damaged",
            f"The port file {said} holds no port.",
            "The daemon serves no HTTP hooks: Claude Code's would reach nobody.",
            f"Remove it, start the daemon anew, and run: {SCRIPT} init",
            said,
        )
    if scene.said is None:
        heard, taken = "", bool(port) and not _is_ours_at_work(scene) and _answers(port)
    elif scene.ours:
        heard = str(scene.said.parts.get("http", "ok"))
        taken = TAKEN in heard and str(port) in heard  # else it was moved since, and the daemon has to start again
    else:
        return
    if taken:
        yield finding(
            "port-taken",
            f"Another program holds the port {port} of 127.0.0.1, which HTTP hooks are sent to.",
            "Hooks of Claude Code go to that program and get nothing; the token goes with them.",
            f"End that program, or move to another port: {SCRIPT} init",
            said,
        )
    elif heard and not heard.startswith(QUIET) and "is damaged" not in heard:
        yield finding(
            "daemon-unwell",
            f"The daemon serves no HTTP hooks: {heard}",
            "Hooks that go there reach nobody: Claude Code's, and those that are sent by curl.",
            f"Mend that, then start the daemon anew: {SCRIPT} stop, {SCRIPT} start",
            "http",
        )


def _is_ours_at_work(scene: Scene) -> bool:
    """Whether a daemon of ours runs that was not reached from here: the port may be its own."""
    return _is_held(scene.paths.lock) or _is_held(scene.paths.data_lock)


def _answers(port: int) -> bool:
    """Whether somebody listens at the port of 127.0.0.1. It is not bound to find out: a daemon may start just now."""
    with socket.socket() as probe:
        probe.settimeout(PROBE_SECONDS)
        return probe.connect_ex((LOOPBACK, port)) == 0


def kept_port(file: Path) -> int:
    """The port that is kept, 0 for none or a damaged one."""
    try:
        text = file.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return 0
    return int(text) if text.isdigit() and 0 < int(text) <= 65535 else 0


def secrets(scene: Scene) -> Iterator[Finding]:
    """The token of HTTP hooks, and who can read what is secret."""
    token, key = scene.paths.token_file, scene.paths.key_file
    if token.exists() and not kept_token(token):
        yield finding(
            "token-damaged",
            f"The token {token} is damaged.",
            "The daemon serves no HTTP hooks without it.",
            f"Remove it, start the daemon anew, and connect the hosts again: {SCRIPT} init",
            token,
        )
    for file in (token, key):
        if file.exists() and file.stat().st_mode & 0o077:
            yield finding(
                "secret-readable",
                f"{file} can be read by others (mode {stat.S_IMODE(file.stat().st_mode):04o}).",
                "Who has the token can speak to the daemon as you; who has the key can undo what digests hide.",
                f"chmod 600 {file}",
                file,
            )


def kept_token(file: Path) -> str:
    """The token that is kept, empty for none or a damaged one."""
    try:
        text = file.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if len(text) >= TOKEN_CHARACTERS else ""
