"""A command as the model: text in, text out, and nothing of it left, however the call ends."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from governance.formation.contracts import ChatMessage, FinishReason, ToolCall
from governance.formation.errors import ModelError, ModelErrorKind
from host.config import FormationSettings
from host.models.command import PLACES, Command, make, prompt
from tests.support.library import until
from tests.support.models import SUBMIT, a_command, a_request, running

SELF = """
import json
names = ("REMORA_PRE_INTERNAL", "MINE", "AI_AGENT", "CLAUDECODE")
about = {name: os.environ.get(name) for name in names}
print(json.dumps(about | {"cwd": os.getcwd(), "files": os.listdir()}))
open("left", "w")
"""


def a_driver(scratch: Path, program: str, **environ: str) -> Command:
    settings = FormationSettings(driver="command", command=a_command(program))
    return make(settings, {**os.environ, **environ}, scratch)


async def test_the_prompt_goes_in_and_the_answer_comes_out(tmp_path: Path) -> None:
    told = await a_driver(tmp_path, "print(said.upper(), end='')").complete(a_request(tools=(), tool_choice="none"))

    assert told.text == "YOU TAKE NOTES.\n\nWE SHIP ON THURSDAYS.\n"
    assert told.finish_reason is FinishReason.STOP and told.usage is None and told.tool_calls == ()
    assert told.model_id == f"command:{Path(sys.executable).name}"


async def test_it_runs_in_an_empty_folder_with_the_mark_of_our_own_sessions(tmp_path: Path) -> None:
    driver = a_driver(tmp_path, SELF, MINE="1", AI_AGENT="claude-code", CLAUDECODE="1")

    for _ in range(2):
        told = json.loads((await driver.complete(a_request())).text)
        assert told == {
            "REMORA_PRE_INTERNAL": "1",
            "MINE": "1",
            "AI_AGENT": None,
            "CLAUDECODE": None,
            "cwd": str(tmp_path / "command" / "1"),
            "files": [],
        }
        assert not (tmp_path / "command" / "1").exists()


async def test_calls_at_once_have_a_folder_each(tmp_path: Path) -> None:
    driver = a_driver(tmp_path, "print(os.getcwd())")
    told = {(one.text) for one in await asyncio.gather(*(driver.complete(a_request()) for _ in range(3)))}

    assert len(told) == 3


async def test_more_calls_than_folders_wait_for_another_time(tmp_path: Path) -> None:
    driver = a_driver(tmp_path, "print(1)")
    told = await asyncio.gather(*(driver.complete(a_request()) for _ in range(PLACES + 1)), return_exceptions=True)

    (error,) = [one for one in told if isinstance(one, ModelError)]
    assert error.kind is ModelErrorKind.UNAVAILABLE


async def test_a_tool_is_told_as_the_form_of_the_answer() -> None:
    told = prompt(a_request())

    assert "Answer with one JSON value" in told and '"notes": {' in told
    assert "Answer with" in prompt(a_request(tool_choice="auto"))
    assert "Answer with" not in prompt(a_request(tool_choice="none"))
    assert "Answer with" not in prompt(a_request(tools=(SUBMIT, SUBMIT), tool_choice="auto"))


async def test_a_step_with_tools_is_refused(tmp_path: Path) -> None:
    call = ToolCall(id="1", name="read", arguments={})
    for message in (
        ChatMessage(role="assistant", content="", tool_calls=(call,)),
        ChatMessage(role="tool", content="x", tool_call_id="1"),
    ):
        with pytest.raises(ModelError, match="text alone") as caught:
            await a_driver(tmp_path, "print(1)").complete(a_request(messages=(message,)))
        assert caught.value.kind is ModelErrorKind.CONFIGURATION


@pytest.mark.parametrize(
    ("program", "kind", "said"),
    [
        ("print('half'); sys.exit(3)", ModelErrorKind.UNAVAILABLE, "ended with 3"),
        ("os.kill(os.getpid(), 11)", ModelErrorKind.UNAVAILABLE, "ended with -11"),
        ("os.killpg(0, 9)", ModelErrorKind.UNAVAILABLE, "was killed"),
        ("sys.stdout.buffer.write(b'\\xff')", ModelErrorKind.PROTOCOL, "not UTF-8"),
        ("print('x' * 5_000_000)", ModelErrorKind.PROTOCOL, "4 MiB"),
    ],
)
async def test_what_goes_wrong_is_of_its_kind(tmp_path: Path, program: str, kind: ModelErrorKind, said: str) -> None:
    with pytest.raises(ModelError, match=said) as caught:
        await a_driver(tmp_path, program).complete(a_request())

    assert caught.value.kind is kind


async def test_what_it_complains_of_is_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        await a_driver(tmp_path, "sys.exit('failed at: ' + said)").complete(a_request())

    assert "Thursdays" not in str(caught.value)


async def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    driver = make(FormationSettings(command=("no-such-program", "-p")), os.environ, tmp_path)

    with pytest.raises(ModelError, match=r"no-such-program.*formation\.command") as caught:
        await driver.complete(a_request())
    assert caught.value.kind is ModelErrorKind.CONFIGURATION


async def test_a_command_may_end_without_reading(tmp_path: Path) -> None:
    driver = make(FormationSettings(command=(sys.executable, "-c", "print('at once')")), os.environ, tmp_path)

    assert (await driver.complete(a_request("x" * 2_000_000))).text == "at once\n"


async def test_a_long_prompt_and_a_long_answer_pass_each_other(tmp_path: Path) -> None:
    program = "import sys\nfor piece in iter(lambda: sys.stdin.read(4096), ''):\n    sys.stdout.write(piece)"
    driver = make(FormationSettings(command=(sys.executable, "-c", program)), os.environ, tmp_path)

    assert (await driver.complete(a_request("é" * 1_000_000, tools=()))).text.count("é") == 1_000_000


async def test_what_it_left_running_ends_with_it(tmp_path: Path) -> None:
    mark = str(tmp_path)
    stays = f"import subprocess; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', {mark!r}])"
    told = await a_driver(tmp_path, f"{stays}; print('done')").complete(a_request())

    assert told.text == "done\n" and running(mark) == []


async def test_its_time_is_up(tmp_path: Path) -> None:
    mark = str(tmp_path)
    driver = make(
        FormationSettings(command=(sys.executable, "-c", "import time; time.sleep(600)", mark)), os.environ, tmp_path
    )
    with pytest.raises(ModelError) as caught:
        await driver.complete(a_request(timeout_ms=500))

    assert caught.value.kind is ModelErrorKind.TIMEOUT and "0.5 s" in caught.value.problem
    assert running(mark) == []


async def _started(tmp_path: Path) -> tuple[asyncio.Task[object], str]:
    """A call whose command runs, ignores SIGTERM and says so by a file."""
    mark, file = str(tmp_path), tmp_path / "runs"
    os.mkfifo(file)
    program = (
        f"import signal, time; signal.signal(15, signal.SIG_IGN); open({str(file)!r}, 'w').close(); time.sleep(600)"
    )
    driver = make(FormationSettings(command=(sys.executable, "-c", program, mark)), os.environ, tmp_path / "s")
    call: asyncio.Task[object] = asyncio.create_task(driver.complete(a_request()))  # type: ignore[arg-type]  # any
    await asyncio.to_thread(lambda: file.open().close())
    return call, mark


async def test_a_cancelled_call_ends_its_command(tmp_path: Path) -> None:
    call, mark = await _started(tmp_path)
    assert running(mark)

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert running(mark) == []
    assert not (tmp_path / "s" / "command" / "1").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "command").touch()
    with pytest.raises(ModelError, match="cannot be used"):
        asyncio.run(a_driver(tmp_path, "print(1)").complete(a_request()))


@pytest.mark.parametrize("command", [(), ("",)])
def test_a_command_must_be_named(command: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"formation\.command"):
        make(FormationSettings(command=command), {}, tmp_path)


def test_its_name_is_the_model_or_the_program(tmp_path: Path) -> None:
    assert make(FormationSettings(command=("/usr/bin/claude", "-p")), {}, tmp_path).id == "command:claude"
    assert make(FormationSettings(command=("claude",), model="opus"), {}, tmp_path).id == "command:opus"


DAEMON = """
import asyncio, os, sys
from pathlib import Path
from host.config import FormationSettings
from host.models import make
from tests.support.models import a_request
settings = FormationSettings(driver="command", command=tuple(sys.argv[2:]))
asyncio.run(make("command", settings, os.environ, Path(sys.argv[1])).complete(a_request()))
"""


@pytest.mark.promise("field-cases")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
async def test_children_end_with_the_daemon(tmp_path: Path, end: signal.Signals) -> None:
    """Case children-end-with-daemon: nothing is left over, even of a daemon that was killed."""
    mark, file = str(tmp_path), tmp_path / "runs"
    os.mkfifo(file)
    program = f"import time; held = open({str(file)!r}, 'w'); held.write('runs'); held.flush(); time.sleep(600)"
    daemon = subprocess.Popen(
        [sys.executable, "-c", DAEMON, str(tmp_path / "s"), sys.executable, "-c", program, mark],
        cwd=Path(__file__).parents[3],
    )
    with file.open() as held:
        assert held.read(4) == "runs"
        assert len(running(mark)) == 3  # the daemon, the keeper and the command

        daemon.send_signal(end)
        daemon.wait(30)
        assert held.read() == ""  # the command's end of it is closed
    await until(lambda: running(mark) == [])
