"""A hook's command line, run by the shells and clients that there are: a whole answer or nothing, and always code 0."""

import asyncio
import itertools
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import msgspec
import pytest

from host.http import BODY_BYTES, HttpServing, hook_app
from host.namespace import HTTP_SOCKET_FILE, LATE_FILE, env, name
from host.sockets import Listener, bind, leave_stopped
from host.transport import Tools, client_of, command, find
from tests.support.methods import FakeMethods, FakeShell

ROOT = Path(__file__).resolve().parents[2]
HOOK = ROOT / "host" / "hook.py"
PAYLOAD = (
    '{"hook_event_name":"PostToolUse","tool_response":"zwölf \\n \\\\ \\"%s\\" $(echo no) `echo no` 部署"}'.encode()
)
ANSWER = b'{"hookSpecificOutput":{"additionalContext":"a \\"b\\" %s \\\\n \\u00e4"}}'
SHELLS = [path for shell in ("sh", "dash", "bash", "zsh", "fish", "ksh", "busybox") if (path := shutil.which(shell))]
HERE = find(sys.executable, str(HOOK), "/nowhere")
CLIENTS = [client for client in ("curl", "nc") if getattr(HERE, client)]
pytestmark = pytest.mark.skipif(not CLIENTS, reason="NO CLIENT: this machine has neither curl nor an nc for sockets")


def tools(folder: Path, client: str = "") -> Tools:
    """What is here, with `client` alone."""
    kept = {each: getattr(HERE, each) if each == (client or each) else "" for each in ("curl", "nc")}
    return msgspec.structs.replace(HERE, folder=str(folder), **kept)


def run(line: str, payload: bytes = PAYLOAD, shell: str = "/bin/sh", **more: str) -> bytes:
    """The line as an agent runs it. It must end well and quietly; what it printed."""
    words = [shell, "sh", "-c", line] if shell.endswith("busybox") else [shell, "-c", line]
    home = {"HOME": "/nowhere", "PATH": os.environ["PATH"]}
    done = subprocess.run(words, input=payload, capture_output=True, env=home | more, timeout=20)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@pytest.fixture
def folder(run_dir: Path) -> Path:
    (run_dir / "s").mkdir(0o700)
    return run_dir / "s"


@pytest.fixture
async def methods(folder: Path) -> AsyncIterator[FakeMethods]:
    """A daemon's HTTP socket, the real one, in `folder`."""
    made = FakeMethods()
    made.say = ANSWER
    serving = HttpServing(hook_app(made, None, FakeShell().log))
    listener = Listener(folder / HTTP_SOCKET_FILE, serving)
    await listener.open()
    yield made
    made.go.set()
    listener.close()
    await serving.drain(2)


@contextmanager
def answering(folder: Path, answer: bytes | None) -> Iterator[None]:
    """Something on the socket that gives `answer` to whatever it is asked, and closes; None: never a word."""
    listening = bind(folder / HTTP_SOCKET_FILE)
    listening.setblocking(True)

    def serve() -> None:
        with suppress(OSError):
            while True:
                connected, _ = listening.accept()
                with connected:
                    while answer is None and connected.recv(65536):
                        pass
                    connected.recv(65536)
                    connected.sendall(answer or b"")

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    with closing(listening):
        yield
        listening.shutdown(2)
    serving.join(5)


@pytest.mark.parametrize(("shell", "client"), list(itertools.product(SHELLS, CLIENTS)))
async def test_the_answer_is_printed_as_it_came_by_every_shell(
    methods: FakeMethods, folder: Path, shell: str, client: str
) -> None:
    line = command("known", tools(folder, client))

    assert await asyncio.to_thread(run, line, PAYLOAD, shell) == ANSWER
    assert methods.hooks == [("known", PAYLOAD)]


@pytest.mark.parametrize(("client", "search"), list(itertools.product(CLIENTS, ["", "/nowhere"])))
async def test_a_search_path_that_leads_nowhere_changes_nothing(
    methods: FakeMethods, folder: Path, client: str, search: str
) -> None:
    line = command("known", tools(folder, client))

    assert await asyncio.to_thread(run, line, PAYLOAD, "/bin/sh", PATH=search) == ANSWER
    assert methods.hooks == [("known", PAYLOAD)]
    (folder / LATE_FILE).touch()  # then it has only to be read to its end
    assert await asyncio.to_thread(run, line, PAYLOAD * 20_000, "/bin/sh", PATH=search) == b""


@pytest.mark.parametrize("client", CLIENTS)
async def test_silence_faults_and_unknown_hosts_print_nothing(methods: FakeMethods, folder: Path, client: str) -> None:
    for host in ("broken", "unhappy", "unknown"):
        assert await asyncio.to_thread(run, command(host, tools(folder, client))) == b""
    methods.say = b""
    assert await asyncio.to_thread(run, command("known", tools(folder, client))) == b""


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_payload_of_any_size_is_sent_whole_or_not_at_all(
    methods: FakeMethods, folder: Path, client: str
) -> None:
    for size, answer in ((200_000, ANSWER), (BODY_BYTES + 1, b"")):
        payload = b'{"a":"' + b"x" * size + b'"}'
        assert await asyncio.to_thread(run, command("known", tools(folder, client)), payload) == answer
    assert [len(raw) for _, raw in methods.hooks] == [200_008]


@pytest.mark.parametrize("client", CLIENTS)
async def test_our_own_sessions_are_not_watched(methods: FakeMethods, folder: Path, client: str) -> None:
    line = command("known", tools(folder, client))

    assert await asyncio.to_thread(lambda: run(line, **{env("internal"): "1"})) == b""
    assert methods.hooks == []


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\n",
        b'{"hookSpecificOutput":{}}',
        b"HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\n" + ANSWER,
        b"HTTP/1.1 200 OK\r\ncontent-length: 25\r\n\r\n<html>not for you</html>.",
        b"HTTP/1.1 500 Oh\r\ncontent-length: %d\r\n\r\n" % len(ANSWER) + ANSWER,
        b"HTTP/1.1 200 OK\r\ncontent-le",
    ],
    ids=["closes", "garbage", "no-http", "half", "a-page", "error", "half-a-head"],
)
def test_an_answer_that_makes_no_sense_prints_nothing(folder: Path, client: str, answer: bytes) -> None:
    with answering(folder, answer):
        assert run(command("codex", tools(folder, client))) == b""


@pytest.mark.promise("client-without-daemon")
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("daemon", ["absent", "no folder", "stale", "another's link"])
def test_without_a_daemon_nothing_is_printed(folder: Path, client: str, daemon: str) -> None:
    if daemon == "no folder":
        folder.rmdir()
    if daemon == "stale":
        bind(folder / HTTP_SOCKET_FILE).close()
    if daemon == "another's link":
        folder.rename(folder.with_name("elsewhere"))
        folder.symlink_to("elsewhere")

    assert run(command("codex", tools(folder, client))) == b""


@pytest.mark.parametrize("client", CLIENTS)
def test_a_daemon_that_hangs_is_waited_for_once(folder: Path, client: str) -> None:
    line = command("codex", tools(folder, client))
    with answering(folder, None):
        assert run(line) == b""
    assert (folder / LATE_FILE).exists()

    with answering(folder, b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(ANSWER) + ANSWER):
        assert run(line) == b"", "while the mark is there nobody is asked"
        (folder / LATE_FILE).unlink()
        assert run(line) == ANSWER


@pytest.mark.parametrize("state", ["absent", "given up", "our own", "no interpreter", "a start", "only a start"])
def test_the_payload_is_read_to_its_end_whatever_becomes_of_it(folder: Path, state: str) -> None:
    """More than a pipe holds: a host that cannot write it takes the hook for broken."""
    own = {env("internal"): "1"} if state == "our own" else {env("socket"): str(folder / "d.sock")}
    here = tools(folder)
    if state == "given up":
        bind(folder / HTTP_SOCKET_FILE).close()
        (folder / LATE_FILE).touch()
    if state == "no interpreter":
        here = msgspec.structs.replace(here, python="/nowhere/python")
    if state == "only a start":
        leave_stopped(folder)
    starts = state in ("no interpreter", "a start")
    line = command("codex", here, starts=starts, revives=state == "only a start")
    words = ["/bin/sh", "-c", line]
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"], env("data"): str(folder / "data")} | own

    with subprocess.Popen(words, stdin=-1, stdout=-1, stderr=-1, env=environment) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        for _ in range(32):
            process.stdin.write(b"x" * 65536)
        process.stdin.close()
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
    assert process.returncode == 0


@pytest.mark.parametrize("chosen", ["socket", "runtime", "temporary", "then"])
async def test_the_socket_is_found_where_the_daemon_puts_it(
    methods: FakeMethods, folder: Path, run_dir: Path, chosen: str
) -> None:
    """As host/paths.py: the chosen one, the runtime folder, the temporary folder; last the one that init saw."""
    places = {"runtime": run_dir / name(), "temporary": run_dir / name(str(os.getuid()))}
    if chosen in places:
        folder.rename(places[chosen])
    where: dict[str, dict[str, str]] = {
        "socket": {env("socket"): str(folder / "d.sock")},
        "runtime": {"XDG_RUNTIME_DIR": str(run_dir)},
        "temporary": {"TMPDIR": str(run_dir)},
        "then": {},
    }
    line = command("known", tools(folder if chosen == "then" else Path("/nowhere")))

    assert await asyncio.to_thread(lambda: run(line, **where[chosen])) == ANSWER


async def test_a_chosen_socket_is_the_only_one(methods: FakeMethods, folder: Path) -> None:
    elsewhere = {env("socket"): "/nowhere/d.sock", "TMPDIR": str(folder.parent)}

    assert await asyncio.to_thread(lambda: run(command("known", tools(folder)), **elsewhere)) == b""
    assert methods.hooks == []


def test_folders_with_any_name_are_quoted(run_dir: Path) -> None:
    odd = run_dir / 'it\'s a $HOME `x` "folder"'
    odd.mkdir(0o700)
    with answering(odd, b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(ANSWER) + ANSWER):
        for shell in SHELLS:
            assert run(command("codex", tools(odd)), shell=shell) == ANSWER


def test_a_start_and_a_bare_machine_take_the_interpreter(folder: Path) -> None:
    bare = tools(folder, "none of them")

    assert client_of(bare) == "python" and client_of(tools(folder)) == CLIENTS[0]
    for line in (command("codex", bare), command("codex", tools(folder), starts=True)):
        assert f"{sys.executable} -I -S {HOOK} codex" in line
        assert run(line, **{env("socket"): str(folder / "d.sock")}) == b""


def test_a_hook_that_only_starts_says_so_to_the_interpreter(folder: Path) -> None:
    line = command("codex", tools(folder), revives=True)

    assert f"{sys.executable} -I -S {HOOK} codex --start 2>/dev/null" in line
    with answering(folder, ANSWER):
        bind(folder / "d.sock").close()
        leave_stopped(folder)
        assert run(line, **{env("socket"): str(folder / "d.sock")}) == b""


def test_an_interpreter_that_is_gone_is_silence(folder: Path) -> None:
    gone = msgspec.structs.replace(tools(folder, "none"), python="/nowhere/python")

    assert run(command("codex", gone)) == b""


def test_the_line_is_one_that_settings_can_hold() -> None:
    for starts, revives in itertools.product((False, True), repeat=2):
        line = command("codex", HERE, starts=starts, revives=revives)
        assert "\n" not in line and "#" not in line.replace("${#", "") and line.isprintable()


def test_wrapped_and_deaf_clients_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(*parts: str) -> str:
        path = tmp_path.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return str(path)

    monkeypatch.setattr("host.transport.SYSTEM_FOLDERS", ())
    monkeypatch.setattr("host.transport.SOCKET_NC_SYSTEMS", ())
    shim, plain, deaf, hears = (
        program("shims", "curl"),
        program("bin", "curl"),
        program("bin", "nc.traditional"),
        program("bin", "ncat"),
    )
    linked = tmp_path / "bin" / "nc"
    linked.symlink_to(deaf)

    assert find("p", "h", "f", {"curl": shim}.get).curl == ""
    assert find("p", "h", "f", {"curl": plain}.get).curl == plain
    assert find("p", "h", "f", {"nc": str(linked)}.get).nc == ""
    assert find("p", "h", "f", {"nc": str(linked), "ncat": hears}.get).nc == hears
