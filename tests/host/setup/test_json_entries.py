"""Entries in JSON settings: what is made for them goes with them, and nothing else."""

import json

import pytest

from host.errors import ConfigFault
from host.setup.claude_code import HOOKS, SERVERS
from host.setup.gemini_cli import SETTINGS
from host.setup.json_entries import below, first_word, root, unread
from host.setup.registrar import STRICT
from tests.support.settings import WANTED


def test_a_container_with_a_comment_of_somebody_else_stays() -> None:
    planned = SERVERS.plan('{"a": 1}', WANTED)
    noted = planned.replace('"mcpServers": {', '"mcpServers": { /* theirs */ ')
    assert noted != planned

    left = SERVERS.remove(noted)

    assert left is not None and "/* theirs */" in left and "mcpServers" in left


def test_a_file_of_ours_with_a_comment_of_somebody_else_stays() -> None:
    noted = SERVERS.plan(None, WANTED) + "// theirs\n"
    assert SERVERS.remove(noted) == "{}\n// theirs\n"


def test_two_kinds_in_one_new_file_go_in_any_order() -> None:
    said = json.loads(SETTINGS.plan(None, WANTED))
    turned = {key: said[key] for key in reversed(said)}
    assert SETTINGS.remove(json.dumps(turned)) is None
    del turned["hooks"]
    assert SETTINGS.remove(json.dumps(turned)) is None


def test_one_kind_that_is_stale_brings_the_file_up_to_date_and_leaves_others() -> None:
    said = json.loads(SETTINGS.plan('{"b": [1]}', WANTED))
    said["mcpServers"]["remora-pre"]["command"] = "/old"
    said["mcpServers"]["theirs"] = {"command": "x"}

    after = json.loads(SETTINGS.plan(json.dumps(said), WANTED))

    assert after["mcpServers"]["remora-pre"]["command"] == WANTED.script
    assert (after["mcpServers"]["theirs"], after["b"]) == ({"command": "x"}, [1])


def test_the_way_to_a_container_is_checked() -> None:
    tree = root('{"a": {"b": [1]}}')
    assert [number for _, number in below(tree, ("a", "b"), "[")] == [0, 0]
    assert below(tree, ("x",), "{") == []
    with pytest.raises(ConfigFault, match=r"`a.b` in the settings is no object"):
        below(tree, ("a", "b"), "{")


def test_what_a_product_refuses_of_a_text_is_said() -> None:
    assert unread('{"a": "// no"}', STRICT) == ""
    assert unread('{"a": 1,}', STRICT) == "holds trailing commas"
    assert unread("{} // x", STRICT) == "holds comments" and unread("{} // x", {"commas"}) == ""
    assert unread('{"a": [1,], /* x */}', STRICT) == "holds comments and holds trailing commas"
    assert unread("\ufeff{}", {"mark"}) == "begins with a byte order mark" and unread("\ufeff{}", STRICT) == ""
    assert unread(" \n", {"blank"}) == "is empty" and unread("{}", {"blank"}) == ""


def test_a_mark_carries_others_after_a_space() -> None:
    assert first_word("servers plugin=list") == "servers"


def test_an_entry_tells_where_it_leads_without_its_token() -> None:
    text = HOOKS.plan(None, WANTED)
    entries = {entry.what: entry for entry in HOOKS.installed(text, None)}
    assert (entries["Stop"].port, entries["Stop"].token, entries["Stop"].kind) == (4711, WANTED.token, "http")
    assert WANTED.tools.python in entries["SessionStart"].paths


@pytest.mark.parametrize("before", ['{\n  "a": 1\n}\n', '{\n  "hooks": {\n    "Stop": []\n  }\n}\n'])
def test_entries_that_stand_over_several_lines_as_earlier_versions_wrote_them_stay_and_go(before: str) -> None:
    text = json.dumps(json.loads(HOOKS.plan(before, WANTED)), indent=2) + "\n"

    assert HOOKS.plan(text, WANTED) == text
    assert json.loads(HOOKS.remove(text) or "") == json.loads(before)
