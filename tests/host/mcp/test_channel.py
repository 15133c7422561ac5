"""Both ends of the MCP server's pipes: clean output, lines in their order, greetings until the SDK is there."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from host.mcp.channel import SHORT, Channel

ROOT = Path(__file__).resolve().parents[3]


class Greeting:
    """Answers what begins with `hello`, and remembers what it was asked to."""

    def __init__(self) -> None:
        self.noted: list[bytes] = []
        self.to_tell = ""

    def answer(self, line: bytes) -> bytes | None:
        return b"welcome\n" if line.startswith(b"hello") else None

    def note(self, line: bytes) -> None:
        self.noted.append(line)

    def sent(self, line: str) -> bool:
        return not line.startswith("welcome")

    def news(self) -> str:
        told, self.to_tell = self.to_tell, ""
        return told


class Pipes:
    """The client's ends of the two pipes."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.source: BinaryIO = os.fdopen(reading, "rb")
        self.to_server: BinaryIO = os.fdopen(writing, "wb", buffering=0)
        reading, writing = os.pipe()
        self.from_server: BinaryIO = os.fdopen(reading, "rb")
        self.wire: BinaryIO = os.fdopen(writing, "wb", buffering=0)

    def close(self) -> None:
        for one in (self.to_server, self.from_server, self.wire, self.source):
            one.close()


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    made = Pipes()
    yield made
    made.close()


async def rest(channel: Channel) -> list[bytes]:
    async with asyncio.timeout(10):
        return [line async for line in channel]


async def test_until_the_sdk_is_there_greetings_are_given_and_it_gets_every_line_all_the_same(pipes: Pipes) -> None:
    greeting = Greeting()
    channel = Channel(pipes.source, pipes.wire, greeting)
    channel.listen()
    pipes.to_server.write(b'hello 1\n{"method": "notification"}\n')
    assert await asyncio.to_thread(pipes.from_server.readline) == b"welcome\n"
    assert not channel.needed.is_set()
    pipes.to_server.write(b'{"id": 1}\n')
    assert await asyncio.to_thread(channel.needed.wait, 10)

    channel.ready()
    pipes.to_server.write(b"hello 2\n")
    await channel.write("welcome\n")  # was given already
    greeting.to_tell = "news\n"
    await channel.write("welcome\n")
    assert await asyncio.to_thread(pipes.from_server.readline) == b"news\n"
    await channel.write("the SDK\n")
    await channel.flush()
    pipes.to_server.close()

    lines = [b"hello 1\n", b'{"method": "notification"}\n', b'{"id": 1}\n', b"hello 2\n"]
    assert await rest(channel) == lines
    assert await asyncio.to_thread(pipes.from_server.readline) == b"the SDK\n"
    assert greeting.noted == [b"hello 2\n"]


async def test_a_long_line_is_no_question_that_is_answered_at_a_greeting(pipes: Pipes) -> None:
    greeting = Greeting()
    channel = Channel(pipes.source, pipes.wire, greeting)
    channel.ready()
    channel.listen()
    long = b"x" * SHORT + b"\n"
    await asyncio.to_thread(pipes.to_server.write, long + b"short\n")
    pipes.to_server.close()

    assert await rest(channel) == [long, b"short\n"]
    assert greeting.noted == [b"short\n"]


async def test_a_large_message_is_sent_whole_while_the_client_reads_slowly(pipes: Pipes) -> None:
    channel = Channel(pipes.source, pipes.wire, Greeting())
    channel.ready()
    sending = asyncio.create_task(channel.write("x" * 1_000_000 + "\n"))

    assert len(await asyncio.to_thread(pipes.from_server.readline)) == 1_000_001
    await sending


def run(program: str) -> "subprocess.CompletedProcess[str]":
    """A program in a process of its own, with buffered output as anybody has it."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, cwd=ROOT, env=environ, input="in\n", capture_output=True, text=True, timeout=60, check=False
    )


def test_once_standard_output_is_taken_nobody_else_writes_there() -> None:
    done = run(
        "import os, sys\n"
        "from host.mcp import channel\n"
        "print('before')\n"
        "wire = channel.taken()\n"
        "print('python'); os.write(1, b'raw\\n'); os.system('echo child'); sys.__stdout__.write('old')\n"
        "wire.write(b'message\\n')\n"
        "channel.end()\n"
    )

    assert done.stdout == "before\nmessage\n"
    assert sorted(done.stderr.split()) == ["child", "python", "raw"]


def test_standard_output_can_be_taken_though_standard_error_is_closed() -> None:
    done = run(
        "import os\n"
        "from host.mcp import channel\n"
        "os.close(2)\n"
        "wire = channel.taken()\n"
        "os.write(1, b'raw'); wire.write(b'message')\n"
        "channel.end()\n"
    )

    assert (done.returncode, done.stdout) == (0, "message")


def test_once_standard_input_is_taken_nobody_else_reads_there() -> None:
    done = run(
        "import os\nfrom host.mcp import channel\nsource = channel.given()\nprint([os.read(0, 9), source.readline()])\n"
    )

    assert done.stdout == "[b'', b'in\\n']\n"


def test_the_process_ends_when_nobody_reads_its_messages() -> None:
    done = run(
        "import os\n"
        "from host.mcp import channel\n"
        "reading, writing = os.pipe(); os.dup2(writing, 1); os.close(writing); os.close(reading)\n"
        "one = channel.Channel(channel.given(), channel.taken(), None)\n"
        "one._put(b'message')\n"
        "os.write(2, b'it goes on')\n"
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("waits", "ended"), [(False, True), (True, False)])
def test_a_client_that_goes_away_before_the_sdk_was_needed_ends_the_process(waits: bool, ended: bool) -> None:
    done = run(
        "import sys, types\n"
        "from host.mcp import channel\n"
        f"greets = types.SimpleNamespace(answer=lambda line: {None if waits else b'welcome'!r})\n"
        "one = channel.Channel(channel.given(), channel.taken(), greets)\n"
        "one._take(b'{\"id\": 1}')\n"
        "one._take(None)\n"
        "print('it goes on')\n"
    )

    assert (done.returncode, done.stdout) == (0, "" if waits else "welcome")
    assert (done.stderr == "") is ended


def test_the_end_is_abrupt_and_quiet() -> None:
    done = run(
        "import sys, threading\n"
        "from host.mcp import channel\n"
        "sys.stdout.write('left in a buffer')\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        "channel.end()\n"
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
