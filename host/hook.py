"""The hook client: one host event from standard input to the daemon, its answer to standard output. Standard library.

    python -I -S /path/to/host/hook.py claude-code < payload

It is started by an agent, perhaps at every step: it imports next to nothing, says nothing on standard error, ends with
code 0 whatever happens, and prints one line of JSON or nothing. No daemon, a stale socket, one that never answers, an
answer that makes no sense: all of them are silence. A session that starts without a daemon starts one.
"""

import _socket
import os
import sys
import time

if __name__ == "__main__":  # isolated mode puts no folder on the path
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from host.namespace import env
from host.paths import folder_problem, socket_path

INPUT_BYTES = 1024 * 1024 - 4096
ANSWER_BYTES = 4 * 1024 * 1024
CONNECT_SECONDS = 0.2
PATIENCE_SECONDS = 0.6  # for an answer
START_SECONDS = 1.5  # for a daemon that has to start first
PAUSE_SECONDS = 0.02
PEER_UID = slice(4, 8)  # struct ucred: pid, uid, gid
BEFORE, AFTER = b'{"jsonrpc":"2.0","id":1,"result":{"output":', b"}}"
INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SYSTEMROOT")
INHERITED_FAMILIES = ("LC_", "XDG_", env(""))


def main(arguments: list[str]) -> None:
    """Read, ask, print. `arguments`: the host's name; further words are ignored."""
    if not arguments or os.environ.get(env("internal")) == "1":  # our own model sessions are not watched
        return
    payload = _read_input()
    if not payload or _is_repeated_stop(payload):
        return
    path = socket_path(os.environ, os.getuid())
    question = _question(arguments[0], payload)
    begun = time.monotonic()
    answer = _ask(path, question, PATIENCE_SECONDS)
    if answer is None and b'"SessionStart"' in payload:
        _start_daemon()
        while answer is None and (left := begun + START_SECONDS - time.monotonic()) > 0:
            time.sleep(PAUSE_SECONDS)
            answer = _ask(path, question, left)
    if answer:
        _print(answer)


def _read_input() -> bytes:
    """Standard input, or nothing when there is too much of it."""
    pieces, size = [], 0
    while piece := os.read(0, 1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > INPUT_BYTES:
            return b""
    return b"".join(pieces).strip()


def _is_repeated_stop(payload: bytes) -> bool:
    """The host stops again after a stop hook kept it going: nothing may be done then."""
    return b'"stop_hook_active":true' in payload.replace(b" ", b"").replace(b"\n", b"")


def _question(host: str, payload: bytes) -> bytes:
    """The request, one line: raw line ends in JSON are white space."""
    name = "".join(sign for sign in host if sign.isalnum() or sign in "-_.")
    flat = payload.replace(b"\r", b" ").replace(b"\n", b" ")
    return (
        b'{"jsonrpc":"2.0","id":1,"method":"hook","params":{"host":"' + name.encode() + b'","payload":' + flat + b"}}\n"
    )


def _ask(path: str, question: bytes, seconds: float) -> bytes | None:
    """What to print, empty for silence; None when no daemon could be asked."""
    if folder_problem(os.path.dirname(path), os.getuid()) is not None:
        return None
    connected = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connected.settimeout(CONNECT_SECONDS)
        connected.connect(path)
        if not _is_ours(connected):
            return b""
        connected.settimeout(seconds)
        connected.sendall(question)
        return _output(_receive(connected, time.monotonic() + seconds))
    except TimeoutError:
        return b""
    except OSError:
        return None
    finally:
        connected.close()


def _is_ours(connected: _socket.socket) -> bool:
    option = getattr(_socket, "SO_PEERCRED", None)
    if option is None:  # macOS: the folder, which only we may write to, must do
        return True
    who = connected.getsockopt(_socket.SOL_SOCKET, option, 12)
    return int.from_bytes(who[PEER_UID], sys.byteorder) == os.getuid()


def _receive(connected: _socket.socket, deadline: float) -> bytes:
    answer = b""
    while not answer.endswith(b"\n") and len(answer) < ANSWER_BYTES:
        connected.settimeout(max(0.001, deadline - time.monotonic()))
        piece = connected.recv(1 << 16)
        if not piece:
            break
        answer += piece
    return answer.strip()


def _output(answer: bytes) -> bytes:
    """The output cut out of the daemon's answer; its form is fixed, so nothing has to be parsed."""
    if not (answer.startswith(BEFORE + b"{") and answer.endswith(AFTER)):
        return b""
    return answer[len(BEFORE) : -len(AFTER)]


def _print(answer: bytes) -> None:
    line = answer + b"\n"
    while line:
        line = line[os.write(1, line) :]


def _start_daemon() -> None:
    """Start a daemon that outlives us and holds none of our pipes, with as little of the environment as it needs."""
    if os.fork() > 0:
        return
    try:
        os.setsid()
        if os.fork() > 0:
            os._exit(0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        os.closerange(3, 256)
        os.chdir("/")
        kept = {
            key: value for key, value in os.environ.items() if key in INHERITED or key.startswith(INHERITED_FAMILIES)
        }
        os.execve(sys.executable, [sys.executable, "-P", "-m", "host.daemon", "--background"], kept)
    finally:
        os._exit(0)


def run() -> None:
    """`main`, and silence in place of any fault."""
    try:
        main(sys.argv[1:])
    except Exception:  # noqa: BLE001  (boundary: a connection; the agent must not notice that we failed)
        pass
    os._exit(0)


if __name__ == "__main__":
    run()
