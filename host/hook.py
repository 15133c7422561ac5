"""The hook client: one host event from standard input to the daemon, its answer to standard output. Standard library.

    python -I -S /path/to/host/hook.py claude-code < payload
    python -I -S /path/to/host/hook.py claude-code --start < payload

It is started by an agent, perhaps at every step: it imports next to nothing, says nothing on standard error, ends with
code 0 whatever happens, and prints one line of JSON or nothing. No daemon, a stale socket, one that never answers, an
answer that makes no sense: all of them are silence. A daemon that let a hook wait too long is marked, and left alone
until it takes the mark away. A session that starts without a daemon starts one. With `--start` it only looks whether
one listens, starts one if not, and prints nothing. What a person stopped stays so until a new session starts.
"""

import _signal  # type: ignore[import-not-found]  # `signal` itself costs a start of the hook some milliseconds
import _socket
import os
import sys
import time

if __name__ == "__main__":  # isolated mode puts no folder on the path
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # a terminal's Ctrl-C is for the agent, and meets us as well
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from host.namespace import LATE_FILE, STOPPED_FILE, env
from host.paths import folder_problem, socket_path

INPUT_BYTES = 1024 * 1024 - 4096
ANSWER_BYTES = 4 * 1024 * 1024
CONNECT_SECONDS = 0.2
PATIENCE_SECONDS = 0.5  # for an answer
START_SECONDS = 1.5  # for a daemon that has to start first
PAUSE_SECONDS = 0.02
PEER_UID = slice(4, 8)  # struct ucred: pid, uid, gid
STARTS = (b'"SessionStart"', b'"sessionStart"')  # of the hosts that begin a session by a hook
GOES_ON = (b'"source":"compact"', b'"source":"clear"')  # such a start is one of a session that runs
START_WORD = "--start"
BEFORE, AFTER = b'{"jsonrpc":"2.0","id":1,"result":{"output":', b"}}"
CLIENT_CHARACTERS = 100
INHERITED = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SYSTEMROOT"),
    *("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"),  # the way to a model
)
INHERITED_FAMILIES = ("LC_", "XDG_", env(""))


def main(arguments: list[str]) -> None:
    """Read, ask, print. `arguments`: the host's name, and START_WORD or not; further words are ignored."""
    payload = _read_input()  # in any case: a host that cannot write all of it takes the hook for broken
    if not arguments or os.environ.get(env("internal")) == "1":  # our own model sessions are not watched
        return
    path = socket_path(os.environ, os.getuid())
    if START_WORD in arguments:
        if not os.path.lexists(_beside(path, STOPPED_FILE)) and not _listens(path):
            _start_daemon("--revive")
        return
    flat = payload.replace(b" ", b"").replace(b"\n", b"")
    if not payload or b'"stop_hook_active":true' in flat:  # it stops again after a stop hook kept it going
        return
    starts = any(event in payload for event in STARTS)
    if starts and any(source in flat for source in GOES_ON):
        starts = not os.path.lexists(_beside(path, STOPPED_FILE))
    if not starts and os.path.lexists(_beside(path, LATE_FILE)):
        return
    question = _question(arguments[0], payload)
    begun = time.monotonic()
    answer = _ask(path, question, PATIENCE_SECONDS)
    if answer is None and starts:
        _start_daemon()
        while answer is None and (left := begun + START_SECONDS - time.monotonic()) > 0:
            time.sleep(PAUSE_SECONDS)
            answer = _ask(path, question, left)
    if answer:
        _print(answer)


def _read_input() -> bytes:
    """Standard input, or nothing when there is too much of it. It is read to its end all the same."""
    pieces, size = [], 0
    while piece := os.read(0, 1 << 16):
        size += len(piece)
        if size <= INPUT_BYTES:
            pieces.append(piece)
    return b"".join(pieces).strip() if size <= INPUT_BYTES else b""


def _question(host: str, payload: bytes) -> bytes:
    """The request, one line: raw line ends in JSON are white space."""
    flat = payload.replace(b"\r", b" ").replace(b"\n", b" ")
    client = _plain(os.environ.get("AI_AGENT", ""))[:CLIENT_CHARACTERS]  # how some products name themselves to a child
    said = b'","client":"' + client if client else b""
    return b'{"jsonrpc":"2.0","id":1,"method":"hook","params":{"host":"' + (
        _plain(host) + said + b'","payload":' + flat + b"}}\n"
    )


def _plain(text: str) -> bytes:
    return "".join(sign for sign in text if sign.isascii() and (sign.isalnum() or sign in "-_.")).encode()


def _beside(path: str, mark: str) -> str:
    """A mark beside the socket. LATE_FILE: an answer was late, and nobody waits for that daemon again until it takes
    the mark away. STOPPED_FILE: a person stopped it; the next daemon takes it away."""
    return os.path.join(os.path.dirname(path), mark)


def _listens(path: str) -> bool:
    """Whether starting a daemon is idle: somebody listens, if only one that hangs, or the folder would be refused."""
    folder = os.path.dirname(path)
    if folder_problem(folder, os.getuid()) is not None:
        return os.path.lexists(folder)
    connected = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connected.settimeout(CONNECT_SECONDS)
        connected.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    except OSError:  # a full backlog: somebody holds it
        return True
    finally:
        connected.close()
    return True


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
        _leave_alone(path)
        return b""
    except OSError:
        return None
    finally:
        connected.close()


def _leave_alone(path: str) -> None:
    try:
        os.close(os.open(_beside(path, LATE_FILE), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    except OSError:  # a full disk: the next hook waits as well
        pass


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
    """The output cut out of the daemon's answer, one line; its form is fixed, so nothing has to be parsed."""
    if not (answer.startswith(BEFORE + b"{") and answer.endswith(AFTER)) or b"\n" in answer:
        return b""
    return answer[len(BEFORE) : -len(AFTER)]


def _print(answer: bytes) -> None:
    line = answer + b"\n"
    while line:
        line = line[os.write(1, line) :]


def _start_daemon(*options: str) -> None:
    """Start a daemon that outlives us and holds none of our pipes, with as little of the environment as it needs."""
    if os.fork() > 0:
        return
    try:
        os.setsid()
        if os.fork() > 0:
            os._exit(0)
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        os.closerange(3, 256)
        os.chdir("/")
        kept = {
            key: value for key, value in os.environ.items() if key in INHERITED or key.startswith(INHERITED_FAMILIES)
        }
        os.execve(sys.executable, [sys.executable, "-P", "-m", "host.daemon", "--background", *options], kept)
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
