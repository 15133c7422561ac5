"""Claude Code's settings: which hooks, of which kind, and in which files."""

import json
from pathlib import Path
from typing import Any

import pytest

from host.errors import ConfigFault
from host.namespace import name
from host.setup.claude_code import EVENTS, HOOKS, REVIVES, SERVERS, TOLD, detect, files, notes
from host.setup.hook_groups import HEADER
from host.setup.registrar import STRICT
from tests.support.settings import WANTED, places

COMMANDS = {"SessionStart": 5, "SessionEnd": 1}


def hooks() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(HOOKS.plan(None, WANTED))["hooks"]
    return found


def test_the_start_and_the_end_are_commands_and_the_rest_http_hooks_with_the_token() -> None:
    assert tuple(hooks()) == TOLD
    for event, groups in hooks().items():
        (hook,) = groups[0]["hooks"]
        assert "async" not in hook
        if event in COMMANDS:
            assert (hook["type"], WANTED.tools.hook in hook["command"]) == ("command", event == "SessionStart")
            assert "exit 0" in hook["command"] and hook["timeout"] == COMMANDS[event]  # of a removed one, too
        else:
            assert (hook["type"], hook["url"]) == ("http", "http://127.0.0.1:4711/hook/claude-code")
            assert hook["headers"]["Authorization"] == f"Bearer {WANTED.token}"
            assert 0 < hook["timeout"] <= 1
    assert "PreToolUse" not in hooks()


def test_a_second_hook_at_a_prompt_has_the_daemon_back_and_nobody_waits_for_it() -> None:
    more = {event: groups[1:] for event, groups in hooks().items() if len(groups) > 1}

    ((group,),) = more.values()
    (hook,) = group["hooks"]
    assert (list(more), EVENTS) == (["UserPromptSubmit"], (*TOLD, REVIVES))
    assert (hook["type"], hook["async"], hook["timeout"]) == ("command", True, 5)
    assert f"{WANTED.tools.python} -I -S {WANTED.tools.hook} claude-code --start" in hook["command"]


def test_settings_without_the_second_hook_get_it_and_keep_the_rest() -> None:
    """As an earlier version wrote them."""
    earlier = json.loads(HOOKS.plan('{"model": "opus"}', WANTED))
    del earlier["hooks"]["UserPromptSubmit"][1]
    earlier["hooks"]["UserPromptSubmit"].append({"hooks": [{"type": "command", "command": "theirs", "async": True}]})
    assert {e.what for e in HOOKS.installed(json.dumps(earlier), WANTED)} == set(TOLD)

    planned = HOOKS.plan(json.dumps(earlier), WANTED)

    assert {e.what: e.current for e in HOOKS.installed(planned, WANTED)} == dict.fromkeys(EVENTS, True)
    assert planned.count("theirs") == 1 and "theirs" in (HOOKS.remove(planned) or "")


def test_every_entry_carries_our_name() -> None:
    assert all(name() in json.dumps(groups).lower() for groups in hooks().values())
    assert HEADER.lower().endswith(name())


def test_the_server_is_one_of_ours() -> None:
    (server,) = json.loads(SERVERS.plan(None, WANTED))["mcpServers"].items()
    assert server == (
        name(),
        {"type": "stdio", "command": WANTED.script, "args": ["mcp"], "env": {"REMORA_PRE_ENTRY": "file"}},
    )


def test_what_was_added_around_ours_since_stays() -> None:
    grown = json.loads(HOOKS.plan(None, WANTED))
    theirs = {"type": "command", "command": "theirs"}
    grown["model"] = "opus"
    grown["hooks"]["Stop"].append({"hooks": [theirs]})
    grown["hooks"]["SessionEnd"][0]["hooks"].insert(0, theirs)
    grown["hooks"]["Notification"] = [{"hooks": [theirs]}]

    left = json.loads(HOOKS.remove(json.dumps(grown, indent=2)) or "")

    assert left == {
        "hooks": {
            "Stop": [{"hooks": [theirs]}],
            "SessionEnd": [{"hooks": [theirs]}],
            "Notification": [{"hooks": [theirs]}],
        },
        "model": "opus",
    }


def test_a_missing_entry_is_put_back_and_a_doubled_one_becomes_one() -> None:
    planned = HOOKS.plan('{"model": "opus"}', WANTED)
    partial = json.loads(planned)
    del partial["hooks"]["PostToolBatch"]
    partial["hooks"]["Stop"] *= 2

    repaired = HOOKS.plan(json.dumps(partial), WANTED)

    assert sorted(entry.what for entry in HOOKS.installed(repaired, WANTED)) == sorted(EVENTS)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"hooks": []}', "`hooks` in the settings is no object"),
        ('{"hooks": null}', "`hooks` in the settings is no object"),
        ('{"hooks": {"Stop": {}}}', "`hooks.Stop` in the settings is no list"),
    ],
)
def test_hooks_of_another_shape_are_refused(text: str, problem: str) -> None:
    with pytest.raises(ConfigFault, match=problem):
        HOOKS.plan(text, WANTED)


def test_each_level_has_its_files() -> None:
    where = places(Path("/x"))
    assert [str(file.path) for file in files("project", where)] == [
        "/x/shop/.mcp.json",
        "/x/shop/.claude/settings.local.json",
    ]
    assert [str(file.path) for file in files("user", where)] == [
        "/x/home/.claude.json",
        "/x/home/.claude/settings.json",
    ]
    moved = places(Path("/x"), CLAUDE_CONFIG_DIR="/moved")
    assert [str(file.path) for file in files("user", moved)] == ["/moved/.claude.json", "/moved/settings.json"]
    assert all(file.refuses == STRICT for file in files("user", where))


def test_it_is_found_by_its_program_and_its_folder(tmp_path: Path) -> None:
    where = places(tmp_path)
    assert detect(where, lambda program: None) == ()
    assert detect(where, lambda program: f"/bin/{program}") == ("claude is /bin/claude",)
    (where.home / ".claude").mkdir(parents=True)
    assert detect(where, lambda program: None) == (f"{where.home / '.claude'} exists",)


def test_at_project_level_the_user_is_told_of_the_question() -> None:
    assert any(".mcp.json" in note for note in notes("project", places())) and notes("user", places()) == ()
