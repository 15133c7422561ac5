"""The hook client says one line of JSON or nothing, whatever is or is not behind the socket. Real processes."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from host.client import DaemonAbsent, call_sync
from host.namespace import LATE_FILE, env
from host.sockets import Listener, bind, is_stopped, leave_stopped
from host.wire import Connections
from tests.support.methods import FakeMethods, FakeShell

ROOT = Path(__file__).resolve().parents[2]
HOOK = ROOT / "host" / "hook.py"
PROMPT = b'{"hook_event_name":"UserPromptSubmit","session_id":"s1","prompt":"hi"}'
START = b'{\n  "hook_event_name": "SessionStart",\r\n  "session_id": "s1"\n}\n'


def run(run_dir: Path, payload: bytes, *words: str, **more: str) -> "subprocess.CompletedProcess[bytes]":
    """The hook as an agent starts it; it must always end well and quietly."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK), *(words or ("claude-code",))],
        input=payload,
        env={env("socket"): str(run_dir / "s" / "d.sock")} | more,
        capture_output=True,
        timeout=20,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done


@pytest.fixture
def folder(run_dir: Path) -> Path:
    (run_dir / "s").mkdir(0o700)
    return run_dir


@pytest.fixture
async def methods(folder: Path) -> AsyncIterator[FakeMethods]:
    made = FakeMethods()
    connections = Connections(made, FakeShell(), "1", 8)
    listener = Listener(folder / "s" / "d.sock", connections)
    await listener.open()
    yield made
    listener.close()
    await connections.drain(2)


async def test_the_answer_is_printed_as_one_line(methods: FakeMethods, folder: Path) -> None:
    done = await asyncio.to_thread(run, folder, PROMPT)

    assert done.stdout == b'{"said":1}\n'
    assert methods.settled == ["written"]


@pytest.mark.promise("field-cases")
async def test_many_lines_of_any_script_stay_one_line_of_json_in_any_locale(methods: FakeMethods, folder: Path) -> None:
    """Cases hook-multi-line-context and hook-stdout-one-json."""
    text = "Zeile eins\nZeile zwei — 部署\u2028 \u0085"
    said = {"hookSpecificOutput": {"additionalContext": text}}
    methods.table["hook"] = lambda request, peer: _given({"output": said})
    noisy = {"LC_ALL": "C", "PYTHONIOENCODING": "", "DEBUG": "1", "PYTHONWARNINGS": "default"}

    for event in ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop"):
        payload = json.dumps({"hook_event_name": event}).encode()
        done = await asyncio.to_thread(lambda payload=payload: run(folder, payload, **noisy))
        assert done.stdout.count(b"\n") == 1 and done.stdout.endswith(b"\n")
        assert json.loads(done.stdout) == said


async def _given(value: object) -> object:
    return value


async def test_the_payload_arrives_as_it_was_whatever_its_lines(methods: FakeMethods, folder: Path) -> None:
    heard = []

    async def hear(request: object, peer: object) -> object:
        heard.append(json.loads(bytes(request.params)))  # type: ignore[attr-defined]  # a Request
        return {"output": None}

    methods.table["hook"] = hear

    done = await asyncio.to_thread(run, folder, START, "claude-code", "an-ignored-word")

    assert done.stdout == b""
    assert heard == [{"host": "claude-code", "payload": json.loads(START)}]


@pytest.mark.parametrize(
    ("said", "client"),
    [("claude-code_2-1-332_harness", "claude-code_2-1-332_harness"), ('a"b\\ü c', "abc"), ("x" * 500, "x" * 100)],
)
async def test_what_the_product_calls_itself_goes_along(
    methods: FakeMethods, folder: Path, said: str, client: str
) -> None:
    heard = []

    async def hear(request: object, peer: object) -> object:
        heard.append(json.loads(bytes(request.params)))  # type: ignore[attr-defined]  # a Request
        return {"output": None}

    methods.table["hook"] = hear

    await asyncio.to_thread(lambda: run(folder, PROMPT, AI_AGENT=said))

    assert heard == [{"host": "claude-code", "client": client, "payload": json.loads(PROMPT)}]


@pytest.mark.parametrize("payload", [b"", b"  \n", b"not json", b'{"a":', b"{" + b"x" * 1_100_000 + b"}"])
async def test_what_is_no_payload_is_silence(methods: FakeMethods, folder: Path, payload: bytes) -> None:
    assert (await asyncio.to_thread(run, folder, payload)).stdout == b""
    assert methods.settled == []


@pytest.mark.promise("field-cases")
async def test_our_own_sessions_are_not_watched(methods: FakeMethods, folder: Path) -> None:
    """Case own-sessions-are-ignored."""
    for payload in (PROMPT, START):
        done = await asyncio.to_thread(lambda payload=payload: run(folder, payload, **{env("internal"): "1"}))
        assert done.stdout == b""

    assert methods.asked == []


@pytest.mark.promise("field-cases")
async def test_a_repeated_stop_does_nothing(methods: FakeMethods, folder: Path) -> None:
    """Case stop-hook-active."""
    payload = b'{"hook_event_name":"Stop","stop_hook_active" :  true}'

    assert (await asyncio.to_thread(run, folder, payload)).stdout == b""
    assert methods.asked == []


async def test_a_refusal_is_silence(methods: FakeMethods, folder: Path) -> None:
    for method in ("fail", "break"):
        methods.table["hook"] = methods.table[method]
        assert (await asyncio.to_thread(run, folder, PROMPT)).stdout == b""


# ------------------------------------------------------------------------------------------------------- daemon down


@pytest.mark.promise("client-without-daemon")
@pytest.mark.promise("field-cases")
@pytest.mark.parametrize("daemon", ["absent", "no folder", "stale", "open to others"])
def test_without_a_daemon_the_prompt_goes_through(run_dir: Path, daemon: str) -> None:
    """Case daemon-down-prompt-goes-through."""
    folder = run_dir / "s"
    if daemon != "no folder":
        folder.mkdir(0o700)
    if daemon == "stale":
        bind(folder / "d.sock").close()
    if daemon == "open to others":
        folder.chmod(0o777)

    assert run(run_dir, PROMPT).stdout == b""


@pytest.mark.promise("client-without-daemon")
@pytest.mark.promise("field-cases")
@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"",
        b"garbage\n",
        b"x" * 100_000,
        b'{"jsonrpc":"2.0","id":1,"result":{"output":"text"}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{"output":{"half":1}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{"output":{"a":1}}}\n' * 2,
    ],
    ids=["never", "closes", "garbage", "endless", "text", "half", "error", "two"],
)
def test_an_answer_that_makes_no_sense_is_silence(folder: Path, answer: bytes | None) -> None:
    """Case daemon-down-prompt-goes-through: accepts and never answers, answers garbage."""
    listening = bind(folder / "s" / "d.sock")
    listening.setblocking(True)

    def serve() -> None:
        with suppress(OSError):
            connected, _ = listening.accept()
            with connected:
                while answer is None and connected.recv(65536):
                    pass
                connected.recv(65536)
                connected.sendall(answer or b"")

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    with closing(listening):
        assert run(folder, PROMPT).stdout == b""
    serving.join(5)


def test_an_interrupt_at_the_terminal_ends_it_no_other_way(folder: Path) -> None:
    """Ctrl-C is for the agent; whatever runs in its terminal gets it as well."""
    listening = bind(folder / "s" / "d.sock")
    listening.setblocking(True)
    environment = {env("socket"): str(folder / "s" / "d.sock")}
    words = [sys.executable, "-I", "-S", str(HOOK), "claude-code"]
    with closing(listening), subprocess.Popen(words, stdin=-1, stdout=-1, stderr=-1, env=environment) as process:
        assert process.stdin is not None
        process.stdin.write(PROMPT)
        process.stdin.close()
        connected, _ = listening.accept()
        with connected:
            process.send_signal(signal.SIGINT)
            connected.recv(65536)
            connected.sendall(b'{"jsonrpc":"2.0","id":1,"result":{"output":{"said":2}}}\n')
            assert process.stdout is not None and process.stderr is not None
            assert (process.stdout.read(), process.stderr.read()) == (b'{"said":2}\n', b"")
    assert process.returncode == 0


def test_a_daemon_that_hangs_is_waited_for_once(folder: Path) -> None:
    """It is marked, and asked again once it has taken the mark away. A start asks it all the same."""
    listening = bind(folder / "s" / "d.sock")
    listening.setblocking(True)
    asked = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                connected, _ = listening.accept()
                with connected:
                    asked.append(connected.recv(65536))
                    while connected.recv(65536):
                        pass

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    with closing(listening):
        for payload in (PROMPT, PROMPT, START):
            assert run(folder, payload).stdout == b""
        assert (folder / "s" / LATE_FILE).exists()
        assert [b"SessionStart" in one for one in asked] == [False, True]
        (folder / "s" / LATE_FILE).unlink()
        run(folder, PROMPT)
        assert len(asked) == 3
        listening.shutdown(2)
    serving.join(5)


# ------------------------------------------------------------------------------------------------------------ starting


@pytest.fixture
def stand_in(run_dir: Path) -> Iterator[Path]:
    """In the interpreter's place: starts a daemon of the tests, and writes down how it was called."""
    script = run_dir / "python"
    script.write_text(
        f'#!/bin/sh\nenv > "{run_dir}/env"\necho "$@" > "{run_dir}/words"\npwd >> "{run_dir}/words"\n'
        f'cd "{ROOT}" && exec "{sys.executable}" -m tests.support.fake_daemon background\n'
    )
    script.chmod(0o700)
    yield script
    with suppress(DaemonAbsent):
        call_sync(run_dir / "s" / "d.sock", "shutdown")


def started_by(stand_in: Path, run_dir: Path, payload: bytes, *words: str) -> "subprocess.CompletedProcess[bytes]":
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.executable = {str(stand_in)!r}"
    places = {env("socket"): str(run_dir / "s" / "d.sock"), env("data"): str(run_dir / "data")}
    own = {"PATH": os.environ["PATH"], "HOME": str(run_dir), "A_SECRET_KEY": "canary"}
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"{program}; from host import hook; hook.run()", "claude-code", *words],
        input=payload,
        env=places | own,
        capture_output=True,
        timeout=20,
    )


@pytest.mark.parametrize("event", ["SessionStart", "sessionStart"])
def test_every_products_word_for_a_start_is_understood(run_dir: Path, stand_in: Path, event: str) -> None:
    started_by(stand_in, run_dir, json.dumps({"hook_event_name": event, "conversation_id": "c"}).encode())

    while True:
        with suppress(DaemonAbsent):
            call_sync(run_dir / "s" / "d.sock", "health")
            break


def test_a_session_that_starts_without_a_daemon_starts_one(run_dir: Path, stand_in: Path) -> None:
    first = started_by(stand_in, run_dir, START)

    assert (first.returncode, first.stderr) == (0, b"")
    assert first.stdout in (b"", b'{"said":1}\n'), "it may be ready in time or not"
    while True:  # the hook has ended, and what it started lives
        with suppress(DaemonAbsent):
            call_sync(run_dir / "s" / "d.sock", "health")
            break
    assert started_by(stand_in, run_dir, START).stdout == b'{"said":1}\n'
    assert (run_dir / "words").read_text().splitlines() == ["-P -m host.daemon --background", "/"]
    inherited = (run_dir / "env").read_text()
    assert env("data") in inherited and "canary" not in inherited


def test_no_other_event_starts_one(run_dir: Path, stand_in: Path) -> None:
    prompt = json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": 'what is "SessionStart"?'}).encode()

    for payload in (PROMPT, prompt):
        assert started_by(stand_in, run_dir, payload).stdout == b""

    assert not (run_dir / "words").exists()


@pytest.mark.parametrize("before", ["absent", "no folder", "stale"])
def test_one_that_only_looks_starts_a_daemon_where_nobody_listens(run_dir: Path, stand_in: Path, before: str) -> None:
    if before != "no folder":
        (run_dir / "s").mkdir(0o700)
    if before == "stale":
        bind(run_dir / "s" / "d.sock").close()

    done = started_by(stand_in, run_dir, PROMPT, "--start")

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    while True:
        with suppress(DaemonAbsent):
            call_sync(run_dir / "s" / "d.sock", "health")
            break
    assert (run_dir / "words").read_text().splitlines() == ["-P -m host.daemon --background --revive", "/"]
    (run_dir / "words").unlink()
    assert started_by(stand_in, run_dir, PROMPT, "--start").stdout == b"", "nothing is asked of the one that is there"
    assert not (run_dir / "words").exists()


@pytest.mark.parametrize("before", ["hangs", "stopped", "open to others", "our own"])
def test_one_that_only_looks_leaves_everything_else_as_it_is(folder: Path, stand_in: Path, before: str) -> None:
    own = {env("internal"): "1"} if before == "our own" else {}
    with closing(bind(folder / "s" / "d.sock")) as listening:
        if before != "hangs":
            listening.close()
        if before == "stopped":
            leave_stopped(folder / "s")
        if before == "open to others":
            (folder / "s").chmod(0o777)
        assert run(folder, PROMPT, "claude-code", "--start", **own).stdout == b""
        if before != "our own":
            assert started_by(stand_in, folder, PROMPT, "--start").stdout == b""
    (folder / "s").chmod(0o700)
    assert not (folder / "words").exists()


@pytest.mark.parametrize(
    ("source", "starts"), [("startup", True), ("resume", True), ("clear", False), ("compact", False)]
)
def test_what_a_person_stopped_is_started_by_a_new_session_alone(
    folder: Path, stand_in: Path, source: str, starts: bool
) -> None:
    leave_stopped(folder / "s")

    started_by(stand_in, folder, json.dumps({"hook_event_name": "SessionStart", "source": source}).encode())

    while starts:
        with suppress(DaemonAbsent):
            call_sync(folder / "s" / "d.sock", "health")
            break
    assert (folder / "words").exists() is starts
    assert is_stopped(folder / "s") is not starts
