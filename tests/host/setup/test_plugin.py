"""The plugin folder: the product's own forms, the events of `init`, and no secret."""

import json
import shlex
from typing import Any

import pytest

from host.namespace import name
from host.setup import claude_code
from host.setup.plugin import CATALOGUE, HOOKS, MANIFEST, README, SERVERS, files, is_ours
from host.setup.registrar import Wanted
from host.transport import Tools, command

TOKEN = "t0ken"
TOOLS = Tools(python="/a b/python", hook="/a b/hook.py", folder="/run/u/it's", uid=7, curl="/usr/bin/curl")
WANTED = Wanted(tools=TOOLS, script="/a b/remora", plugin="/a/x.js", port=4711, token=TOKEN)


def folder() -> dict[str, str]:
    return dict(files(WANTED, "1.2.3"))


def loaded(path: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(folder()[path])
    return value


def test_the_folder_has_what_the_product_looks_for() -> None:
    assert set(folder()) == {MANIFEST, CATALOGUE, HOOKS, SERVERS, README}
    assert (loaded(MANIFEST)["name"], loaded(MANIFEST)["version"]) == (name(), "1.2.3")
    assert loaded(SERVERS) == {"mcpServers": {name(): {"command": "/a b/remora", "args": ["mcp"]}}}
    (listed,) = loaded(CATALOGUE)["plugins"]
    assert (listed["name"], listed["source"]) == (name(), "./")
    assert all(text.endswith("\n") for text in folder().values())


def test_there_is_no_secret_and_no_port_in_it() -> None:
    assert not any(TOKEN in text or "4711" in text for text in folder().values())


def test_every_event_that_init_registers_is_a_command_that_starts_no_further_shell() -> None:
    hooks = loaded(HOOKS)["hooks"]
    assert tuple(hooks) == claude_code.TOLD
    for event, groups in hooks.items():
        hook, *more = (hook for group in groups for hook in group["hooks"])
        starts = event == claude_code.START_EVENT
        line = command("claude-code", TOOLS, starts=starts)
        assert [hook["command"], *hook["args"]] == shlex.split(line)
        assert (hook["type"], hook["timeout"]) == ("command", 5 if starts else 2)
        assert "async" not in hook and len(more) == (event == "UserPromptSubmit")


def test_a_second_hook_at_a_prompt_has_the_daemon_back_and_nobody_waits_for_it() -> None:
    (hook,) = loaded(HOOKS)["hooks"]["UserPromptSubmit"][1]["hooks"]
    assert [hook["command"], *hook["args"]] == shlex.split(command("claude-code", TOOLS, revives=True))
    assert (hook["type"], hook["timeout"], hook["async"]) == ("command", 5, True)


@pytest.mark.parametrize(
    ("manifest", "ours"),
    [
        (None, False),
        ("", False),
        ("{", False),
        ("[]", False),
        ('{"name": "another"}', False),
        ('{"name": "remora-pre", "version": "0.0.1"}', True),
    ],
)
def test_a_folder_is_ours_by_its_manifest(manifest: str | None, ours: bool) -> None:
    assert is_ours(manifest) is ours
