"""The real clients accept what `init` writes beside the settings of others: hooks call, the server answers, and the
hooks of other tools run as before; and what is taken back is as it was."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from host import namespace
from host.mcp.server import INSTRUCTIONS
from tests.e2e import asked, clients, codex_driver, driver
from tests.e2e.codex_driver import Codex
from tests.e2e.gemini_driver import Gemini
from tests.e2e.installed import client as claude_client
from tests.e2e.installed import logged, ours, repository
from tests.e2e.opencode_driver import OpenCode
from tests.support.daemon import RunningDaemon

pytestmark = pytest.mark.client
Json = dict[str, Any]
SEARCH = namespace.tool("memory_search")


@pytest.fixture
def daemon(run_dir: Path) -> Iterator[RunningDaemon]:
    with RunningDaemon(run_dir) as running:
        yield running
        with contextlib.suppress(OSError), running.connect() as wire:  # whoever answers now, a hook may have started it
            wire.call("shutdown")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    repository(tmp_path / "project")
    return tmp_path / "project"


def others(project: Path) -> str:
    """A hook of another tool, which leaves a trace."""
    return f"cat >/dev/null; echo ran >> '{project.parent / 'others'}'"


def others_ran(project: Path) -> int:
    trace = project.parent / "others"
    return trace.read_text().count("ran") if trace.exists() else 0


def offers(body: Json) -> bool:
    """Whether a request offers our server: its tools, or its instructions where tools are looked up when needed."""
    whole = json.dumps(body, ensure_ascii=False)
    return SEARCH in whole or json.dumps(INSTRUCTIONS[:80], ensure_ascii=False).strip('"') in whole


def said(file: Path, text: str) -> None:
    """Wait until a client's own report says so: it starts its servers beside its first request."""
    for _ in range(1200):
        if file.exists() and text in file.read_text("utf-8", errors="replace"):
            return
        time.sleep(0.05)
    raise TimeoutError(f"{file} never said {text}")


def heard(daemon: RunningDaemon, session_id: str) -> set[str]:
    return {kind for kind, _ in logged(daemon, session_id)}


def environment(daemon: RunningDaemon) -> dict[str, str]:
    return {name: value for name, value in daemon.environment().items() if name not in ("HOME", "PATH")}


def daemons_of_their_own(project: Path) -> list[Path]:
    """Databases that a server or a hook made because it did not find the daemon."""
    return list((project.parent / "home").rglob(namespace.DATABASE_FILE))


def status(project: Path) -> str:
    done = subprocess.run(["git", "status", "--short"], cwd=project, check=True, capture_output=True, text=True)
    return done.stdout


def test_claude_code(daemon: RunningDaemon, project: Path) -> None:
    settings = project / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    hook = json.dumps({"hooks": [{"type": "command", "command": others(project)}]})
    settings.write_bytes(f'\ufeff{{\r\n\t"hooks": {{"Stop": [{hook}], "PostToolBatch": []}}\r\n}}'.encode())
    before = settings.read_bytes()
    ours(daemon, project, "init", "--host", "claude-code", "--yes")

    told = project.parent / "debug.txt"
    replies = [driver.reply("I look.", driver.bash("echo hi")), driver.reply("Done.")]
    with driver.Model(replies, at={0: lambda: said(told, f'"{namespace.SCRIPT}" connected')}) as model:
        claude = claude_client(project.parent, model, daemon)
        claude.arguments = ["--debug-file", str(told)]
        run = claude.say("Say hi")
        assert (run.code, model.played) == (0, 2)
        assert offers(model.requests[1].body)
    assert {"session/start", "user/message", "tool/result", "session/end"} <= heard(daemon, run.session_id)
    assert others_ran(project) == 1 and "hook" not in run.stderr.lower()
    assert daemons_of_their_own(project) == []

    ours(daemon, project, "init", "--remove", "--yes")
    assert settings.read_bytes() == before and not (project / ".mcp.json").exists()


def test_codex_in_a_project_that_it_trusts(daemon: RunningDaemon, project: Path) -> None:
    config = project / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text("# of this project\nmodel_reasoning_effort = 'low'  # quick")
    hook = {"type": "command", "command": others(project)}
    hooks = project / ".codex" / "hooks.json"
    hooks.write_text(json.dumps({"hooks": {"PostToolUse": [{"hooks": [hook]}]}}))
    before = {file: file.read_bytes() for file in (config, hooks)}

    with codex_driver.Model(
        [codex_driver.reply("I look.", codex_driver.shell("echo hi")), codex_driver.reply("Done.")]
    ) as model:
        codex = Codex(project.parent, model, env=environment(daemon), trusted=False)
        users = codex.codex_home / "config.toml"
        users.write_text(users.read_text() + f'[projects."{project}"]\ntrust_level = "trusted"\n')
        before[users] = users.read_bytes()
        initialise(codex, daemon, "--yes", "--trust-hooks")
        # A word of the user's in our table: Codex waits for the server, and does not ask its model meanwhile.
        config.write_text(config.read_text().replace("\nargs =", "\nrequired = true\nargs ="))
        run = codex.say("Say hi")
        assert (run.code, run.failures(), model.played) == (0, [], 2)
        assert all(offers(request.body) for request in model.requests)
    assert {"session/start", "user/message", "tool/result", "session/end"} <= heard(daemon, run.session_id)
    assert others_ran(project) == 0  # not ours to trust
    assert daemons_of_their_own(project) == []

    initialise(codex, daemon, "--remove", "--yes")
    assert {file: file.read_bytes() for file in before} == before


def initialise(codex: Codex, daemon: RunningDaemon, *arguments: str) -> None:
    """Our `init` for a project, with this user's Codex on the search path."""
    path = f"{clients.codex().parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(Path(sys.executable).parent / namespace.SCRIPT), "init", "--host", "codex", *arguments],
        cwd=codex.project,
        env=daemon.environment() | {"CODEX_HOME": str(codex.codex_home), "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_gemini_cli(daemon: RunningDaemon, project: Path) -> None:
    settings = project / ".gemini" / "settings.json"
    settings.parent.mkdir()
    hook = json.dumps({"hooks": [{"type": "command", "command": others(project), "timeout": 5000}]})
    settings.write_text(
        f'// mine\n{{\n  "hooks": {{\n    "AfterAgent": [{hook}], // once\n  }},\n}}\n'.replace(
            ", // once\n  },", " // once\n  }"
        )
    )
    before = settings.read_bytes()
    ours(daemon, project, "init", "--host", "gemini-cli", "--yes")

    with asked.Asked([asked.reply("Hello.")]) as model:
        run = Gemini(project.parent, model, env=environment(daemon)).say("Say hello")
        assert run.code == 0, run.stderr
        assert all(offers(request.body) for request in model.requests)
    assert {"session/start", "user/message", "session/end"} <= heard(daemon, run.session_id)
    assert others_ran(project) == 1
    assert daemons_of_their_own(project) == []

    ours(daemon, project, "init", "--remove", "--yes")
    assert settings.read_bytes() == before


def test_opencode(daemon: RunningDaemon, project: Path) -> None:
    settings = project / "opencode.jsonc"  # one without `$schema` gets it from OpenCode itself
    settings.write_text('{\n\t// mine\n\t"$schema": "https://opencode.test",\n\t"instructions": [], // none\n}\n')
    before = settings.read_bytes()
    ours(daemon, project, "init", "--host", "opencode", "--yes")

    with asked.Asked([asked.reply("Hello.")]) as model:
        run = OpenCode(project.parent, model, env=environment(daemon)).say("Say hello")
        assert run.code == 0, run.stderr
        assert all(offers(request.body) for request in model.requests)
    assert "user/message" in heard(daemon, run.session_id)
    assert daemons_of_their_own(project) == []

    ours(daemon, project, "init", "--remove", "--yes")
    assert settings.read_bytes() == before and status(project) == "?? opencode.jsonc\n"
