"""Our plugin in OpenCode's list: known by its file's name, wherever it lies."""

import json

from host.setup.opencode import SETTINGS
from tests.support.settings import WANTED


def plugins(text: str | None) -> list[str]:
    found: list[str] = json.loads(text or "{}").get("plugin", [])
    return found


def test_plugins_of_others_stay_and_an_old_place_of_ours_is_replaced() -> None:
    theirs = ["notify@1.0.0", "file:///home/ada/remora.js"]
    text = json.dumps({"plugin": [*theirs, "file:///old/host/setup/data/remora-pre.js"]})

    after = SETTINGS.plan(text, WANTED)

    assert plugins(after) == [*theirs, "file:///apps/own/host/setup/data/remora-pre.js"]
    assert plugins(SETTINGS.remove(after)) == theirs


def test_without_its_mark_the_list_stays() -> None:
    said = json.loads(SETTINGS.plan("{}", WANTED))
    del said["mcp"]
    assert SETTINGS.remove(json.dumps(said)) == '{"plugin": []}'


def test_what_it_names_is_told() -> None:
    entry = next(entry for entry in SETTINGS.installed(SETTINGS.plan(None, WANTED), WANTED) if entry.what == "plugin")
    assert entry.paths == (WANTED.plugin,) and entry.kind == "plugin"
