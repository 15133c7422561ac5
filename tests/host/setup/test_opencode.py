"""OpenCode's settings: the plugin by its address, the server beside it, in whichever file there is."""

import json
from pathlib import Path

from host.namespace import name
from host.setup.opencode import SETTINGS, detect, files, notes
from tests.support.settings import WANTED, places


def test_the_plugin_is_named_by_its_address_and_the_server_beside_it() -> None:
    said = json.loads(SETTINGS.plan(None, WANTED))

    assert said["plugin"] == ["file:///apps/own/host/setup/data/remora-pre.js"]
    server = said["mcp"][name()]
    assert (server["type"], server["command"]) == ("local", [WANTED.script, "mcp"])


def test_a_list_that_was_empty_stays_a_list() -> None:
    text = '{"plugin": [], "mcp": {}}'
    assert SETTINGS.remove(SETTINGS.plan(text, WANTED)) == text


def test_the_member_that_opencode_adds_to_every_file_keeps_no_file_alive() -> None:
    ours = SETTINGS.plan(None, WANTED).replace("{\n", '{\n  "$schema": "s",\n', 1)
    assert SETTINGS.remove(ours) is None and SETTINGS.plan(ours, WANTED) == ours
    theirs = SETTINGS.plan('{"$schema": "s"}', WANTED)
    assert SETTINGS.remove(theirs) == '{"$schema": "s"}'


def test_the_file_that_is_there_is_the_one(tmp_path: Path) -> None:
    where = places(tmp_path)
    assert [file.path for file in files("project", where)] == [where.repository / "opencode.json"]
    where.repository.mkdir()
    (where.repository / "opencode.jsonc").touch()
    assert [file.path for file in files("project", where)] == [where.repository / "opencode.jsonc"]
    (where.repository / "opencode.json").write_text(SETTINGS.plan(None, WANTED))  # from before the other was made
    assert [file.path for file in files("project", where)] == [where.repository / "opencode.json"]
    assert [file.path for file in files("user", where)] == [where.home / ".config" / "opencode" / "opencode.json"]
    moved = places(tmp_path, XDG_CONFIG_HOME="/moved")
    assert [str(file.path) for file in files("user", moved)] == ["/moved/opencode/opencode.json"]


def test_a_wait_at_every_start_is_told_only_where_there_is_one(tmp_path: Path) -> None:
    where = places(tmp_path)
    assert len(notes("user", where)) == 2
    (where.home / ".config" / "opencode" / "node_modules" / "@opencode-ai" / "plugin").mkdir(parents=True)
    assert len(notes("user", where)) == 1
    assert detect(where, lambda program: None) == (f"{where.home / '.config' / 'opencode'} exists",)
