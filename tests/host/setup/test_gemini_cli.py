"""Gemini CLI's settings: hooks and server in one file, time-outs in milliseconds."""

import json
from pathlib import Path

from host.namespace import name
from host.setup.gemini_cli import EVENTS, SETTINGS, detect, files, notes
from tests.support.settings import WANTED, places


def test_hooks_and_server_stand_in_one_file() -> None:
    said = json.loads(SETTINGS.plan(None, WANTED))

    assert tuple(said["hooks"]) == EVENTS
    assert said["mcpServers"][name()]["command"] == WANTED.script
    for event, (group,) in said["hooks"].items():
        (hook,) = group["hooks"]
        assert (hook["type"], hook["name"]) == ("command", name())
        assert hook["timeout"] == (5000 if event == "SessionStart" else 2000)


def test_events_of_every_chunk_or_turn_are_not_registered_and_of_tools_only_the_subagents() -> None:
    assert not {"AfterModel", "BeforeModel", "PreCompress"} & set(EVENTS)
    hooks = json.loads(SETTINGS.plan(None, WANTED))["hooks"]
    matchers = {event: group["matcher"] for event, (group,) in hooks.items()}
    assert matchers.pop("BeforeTool") == "^invoke_agent$" and set(matchers.values()) == {"*"}


def test_switches_among_the_events_stay_as_they_are() -> None:
    text = '{"hooks": {"enabled": true, "disabled": ["guard"]}}'
    after = SETTINGS.plan(text, WANTED)
    assert SETTINGS.installed(after, WANTED) and SETTINGS.remove(after) == text


def test_each_level_has_its_file() -> None:
    where = places(Path("/x"))
    assert [str(file.path) for file in files("project", where)] == ["/x/shop/.gemini/settings.json"]
    assert [str(file.path) for file in files("user", where)] == ["/x/home/.gemini/settings.json"]
    moved = places(Path("/x"), GEMINI_CLI_HOME="/moved")
    assert [str(file.path) for file in files("user", moved)] == ["/moved/.gemini/settings.json"]
    assert not any(file.private for file in files("user", where))
    assert {refused for file in files("user", where) for refused in file.refuses} == {"commas", "mark", "blank"}


def test_it_is_found_and_trust_in_folders_is_told(tmp_path: Path) -> None:
    assert detect(places(tmp_path), lambda program: None) == ()
    (tmp_path / "home" / ".gemini").mkdir(parents=True)
    assert detect(places(tmp_path), lambda program: None)
    assert notes("project", places()) and notes("user", places()) == ()
