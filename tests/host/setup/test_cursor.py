"""Cursor's settings: hooks straight in the events' lists, the server in a file of its own."""

import json
from pathlib import Path

from host.setup.cursor import EVENTS, HOOKS, SERVERS, detect, files, notes
from tests.support.settings import WANTED, places


def test_hooks_are_in_no_groups_and_a_new_file_says_its_version() -> None:
    said = json.loads(HOOKS.plan(None, WANTED))

    assert said["version"] == 1 and tuple(said["hooks"]) == EVENTS
    for (hook,) in said["hooks"].values():
        assert set(hook) == {"command", "timeout"} and hook["command"].startswith("/bin/sh -c ")


def test_a_file_that_gained_hooks_of_others_keeps_its_version() -> None:
    grown = json.loads(HOOKS.plan(None, WANTED))
    grown["hooks"]["stop"].append({"command": "theirs"})

    left = json.loads(HOOKS.remove(json.dumps(grown)) or "")

    assert left == {"version": 1, "hooks": {"stop": [{"command": "theirs"}]}}


def test_each_level_has_its_files() -> None:
    where = places(Path("/x"))
    assert [str(file.path) for file in files("project", where)] == [
        "/x/shop/.cursor/mcp.json",
        "/x/shop/.cursor/hooks.json",
    ]
    assert [str(file.path) for file in files("user", where)] == [
        "/x/home/.cursor/mcp.json",
        "/x/home/.cursor/hooks.json",
    ]
    assert SERVERS.installed(SERVERS.plan(None, WANTED), WANTED)[0].what == "mcp"


def test_it_is_found_by_either_program_and_told_to_be_untried(tmp_path: Path) -> None:
    where = places(tmp_path)
    assert detect(where, lambda program: "/bin/x" if program == "cursor-agent" else None) == ("cursor-agent is /bin/x",)
    assert detect(where, lambda program: None) == ()
    assert any("tried" in note for note in notes("user", where))
