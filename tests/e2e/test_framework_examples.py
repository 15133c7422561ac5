"""The examples of the page about programs, run as they stand there: against a scripted model and a real daemon."""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.inprocess.companion import Companion
from host.inprocess.talk import Call
from tests.e2e.driver import QUIET
from tests.e2e.frameworks import PATIENCE, Model, Remora, packets, remora, strings
from tests.support.daemon import ROOT, RunningDaemon

pytestmark = pytest.mark.client

PAGE = (ROOT / "docs" / "how-to" / "use-in-process.md").read_text(encoding="utf-8")
EXAMPLES = {
    match[1]: match[2] for match in re.finditer(r"^## ([^\n]+)\n(?:(?!^## ).)*?^```py\n(.*?)^```", PAGE, re.M | re.S)
}
KNOWN = re.search(r'remember "([^"]+)"', PAGE)
ANSWER = "Start the database with make db."


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remora]:
    with remora(tmp_path_factory.mktemp("shared"), lesson="") as one:
        yield one


def run(example: str, here: Remora, model: Model) -> str:
    """What the program prints, started in the workspace as a user would."""
    keys = {"ANTHROPIC_API_KEY": "dummy", "OPENAI_API_KEY": "dummy", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
    where = {"ANTHROPIC_BASE_URL": model.url, "OPENAI_BASE_URL": f"{model.url}/v1"}
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=here.workspace,
        env=here.daemon.environment() | QUIET | keys | where,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE * 2,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_is_an_example_of_each() -> None:
    frameworks = {"LangChain and LangGraph", "pydantic-ai", "OpenAI Agents", "Claude Agent SDK"}
    assert set(EXAMPLES) == frameworks | {"Anything else"}
    assert KNOWN is not None


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "Anything else"])
def test_an_example_asks_its_model_with_the_memory_behind_the_question(
    name: str, shared: Remora, tmp_path: Path
) -> None:
    assert KNOWN is not None
    here = shared.at(tmp_path / "project")
    here.remember(KNOWN[1])
    with Model([{"text": ANSWER}, {"text": ANSWER, "tools": False}]) as model:
        printed = run(EXAMPLES[name], here, model)

    (body,) = [one for one in model.requests if "port 5433 refuses" in "\n".join(strings(one))]
    assert ANSWER in printed
    assert len(packets(body)) == 1
    said = "\n".join(strings(body.get("messages") or body.get("input")))
    assert said.index("port 5433 refuses") < said.index(KNOWN[1])
    assert here.settled() == ["claimed", "delivered"]


def test_a_program_of_ones_own_gets_the_memory_from_the_client(shared: Remora, tmp_path: Path) -> None:
    assert KNOWN is not None
    here = shared.at(tmp_path / "project")
    here.remember(KNOWN[1])
    with Model([]) as model:
        printed = run(EXAMPLES["Anything else"], here, model)

    assert KNOWN[1] in printed
    assert here.settled() == ["claimed", "delivered"]


def test_a_companion_starts_the_daemon_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    daemon = RunningDaemon(tmp_path)
    for name, value in daemon.environment().items():
        monkeypatch.setenv(name, value)
    daemon.data.mkdir(mode=0o700)
    (daemon.data / "config.toml").write_text("[recall]\nengine = false\n", encoding="utf-8")
    status = Call(method="session.status", params={"sessionId": "s", "agentId": "main"})
    companion = Companion(tmp_path, start=True, seconds=5)
    try:
        assert companion.exchange_sync([status]) is None and "start" in companion.problem, "there is none"
        assert companion.ready() and companion.problem == ""
        assert companion.exchange_sync([status]) is None and "No event" in companion.problem, "it answers"
    finally:
        deadline = time.monotonic() + PATIENCE
        while _reapers() > 1 and time.monotonic() < deadline:  # the start beside sees that a daemon is there, and goes
            time.sleep(0.05)
        with daemon.connect() as wire:
            wire.call("shutdown")
        for thread in threading.enumerate():  # whoever waits for the process ends with it
            if thread.name.startswith("daemon-"):
                thread.join(PATIENCE)


def _reapers() -> int:
    """How many processes that were started here still run."""
    return sum(thread.name == "daemon-reaper" for thread in threading.enumerate())
