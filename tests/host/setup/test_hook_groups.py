"""Hooks of ours are known by their marks, whatever kind they are; hooks of others are not."""

import json

from host.setup.claude_code import HOOKS
from host.setup.cursor import HOOKS as FLAT
from host.setup.hook_groups import BACKGROUND, HEADER, absolute, event_of, mark_of, shell, told
from tests.support.settings import WANTED


def test_each_kind_has_its_mark() -> None:
    assert mark_of({"command": "p", "args": ["x", "remora-pre:group"]}) == "group"
    assert mark_of({"type": "http", "headers": {HEADER: "event"}}) == "event"
    assert mark_of({"type": "command", "command": shell("codex", WANTED, "file")}) == "file"


def test_hooks_of_others_are_not_ours() -> None:
    for theirs in (
        {"type": "http", "url": "http://127.0.0.1:4711/hook/claude-code", "headers": {"X-Other": "file"}},
        {"type": "command", "command": "python", "args": ["hook.py", "claude-code"]},
        {"command": "make # remora"},
        {"command": "make # remora-pre:notes"},
        {"command": "echo ' # remora-pre:file' && make"},
        {"command": "docker", "args": ["run", "remora-pre:latest"]},
        {"type": "http", "url": "http://hooks.example", "headers": {HEADER: "1"}},
        {"command": 5},
        "odd",
        None,
    ):
        assert mark_of(theirs) is None
    text = json.dumps({"hooks": {"Stop": [{"hooks": ["odd", 5]}, "odd", {"hooks": "odd"}], "X": "odd"}})
    assert HOOKS.installed(text, None) == () and HOOKS.remove(text) == text
    flat = json.dumps({"hooks": {"stop": ["odd", {"command": "x"}]}})
    assert FLAT.installed(flat, None) == () and FLAT.remove(flat) == flat


def test_a_mark_is_no_part_of_what_the_shell_runs() -> None:
    line = shell("codex", WANTED, "file")
    command, _, mark = line.rpartition(" # ")
    assert mark == "remora-pre:file" and "#" not in command


def test_a_hook_that_nobody_waits_for_is_another_one_than_that_of_its_event() -> None:
    line = shell("claude-code", WANTED, "event")
    both = [{"type": "command", "command": line, "async": waits} for waits in (False, True)]
    text = json.dumps({"hooks": {"Stop": [{"hooks": both}]}})

    assert [entry.what for entry in HOOKS.installed(text, None)] == ["Stop", "Stop" + BACKGROUND]
    assert event_of("Stop" + BACKGROUND) == event_of("Stop") == "Stop"


def test_what_a_hook_names_is_told() -> None:
    hook = {"command": shell("codex", WANTED, "file", starts=True)}
    entry = told("SessionStart", hook, True)
    assert {WANTED.tools.python, WANTED.tools.hook} <= set(entry.paths) and "#" not in entry.line
    assert told("Stop", {"type": "prompt"}, True).current is False
    assert absolute(["/a", "b", "/a", "/"]) == ("/a",)
