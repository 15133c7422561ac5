"""Claude Code's settings: our hooks go in, are brought up to date, and come out without a trace."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from host.errors import ConfigFault
from host.namespace import name
from host.setup.claude_code import EVENTS, HEADER, Wanted, installed, plan, remove, settings_path

WANTED = Wanted(python="/venv/bin/python", hook="/venv/host/hook.py", port=4711, token="a-token")
FOREIGN = """{
\t"zeta": 1,
\t"permissions": {"allow": ["Bash(make *)"]},
\t"hooks": {
\t\t"Stop": [
\t\t\t{"matcher": "", "hooks": [{"type": "command", "command": "notify"}]}
\t\t],
\t\t"PreToolUse": []
\t},
\t"alpha": "zürich \\u00fc"
}
"""
TEXTS = {
    "foreign hooks, tabs": FOREIGN,
    "no final newline": FOREIGN.rstrip("\n"),
    "carriage returns": FOREIGN.replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + FOREIGN,
    "empty object": "{}\n",
    "empty object with space": "{\n\n}",
    "empty hooks": '{"hooks":{}}',
    "empty event": '{\n  "hooks": {\n    "Stop": []\n  }\n}\n',
    "no hooks": '{\n    "model": "opus"\n}\n',
    "one line": '{"model":"opus","hooks":{"Stop":[{"hooks":[]}]}}',
}
EVERY_TEXT = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())


def settings(text: str | None) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((text or "").removeprefix("\ufeff"))
    return loaded


def test_a_new_file_holds_one_command_hook_and_http_hooks_with_the_token() -> None:
    hooks = settings(plan(None, WANTED))["hooks"]

    assert tuple(hooks) == EVENTS
    (start,) = hooks["SessionStart"][0]["hooks"]
    assert (start["type"], start["command"]) == ("command", "/venv/bin/python")
    assert start["args"][:4] == ["-I", "-S", "/venv/host/hook.py", "claude-code"]  # no shell reads the paths
    for event in EVENTS[1:]:
        (hook,) = hooks[event][0]["hooks"]
        assert (hook["type"], hook["url"]) == ("http", "http://127.0.0.1:4711/hook/claude-code")
        assert hook["headers"]["Authorization"] == "Bearer a-token"
        assert 0 < hook["timeout"] <= 2
    assert "PreToolUse" not in hooks


def test_every_entry_carries_our_name() -> None:
    hooks = settings(plan(None, WANTED))["hooks"]
    marks = [json.dumps(hooks[event]).lower() for event in EVENTS]
    assert all(name() in mark for mark in marks)
    assert HEADER.lower().endswith(name())


@EVERY_TEXT
def test_foreign_settings_stay_as_they_are_and_come_back_byte_for_byte(text: str) -> None:
    planned = plan(text, WANTED)

    assert sorted(installed(planned)) == sorted(EVENTS)
    before, after = settings(text), settings(planned)
    assert {key: after[key] for key in before if key != "hooks"} == {k: v for k, v in before.items() if k != "hooks"}
    for event, groups in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(groups)] == groups
    assert remove(planned) == text


@EVERY_TEXT
def test_foreign_lines_are_not_rewritten(text: str) -> None:
    planned = plan(text, WANTED)
    place = 0
    for character in text:  # the old text is a subsequence of the new
        place = planned.index(character, place) + 1


@EVERY_TEXT
def test_planning_again_changes_nothing(text: str) -> None:
    planned = plan(text, WANTED)
    assert plan(planned, WANTED) == planned


@EVERY_TEXT
@pytest.mark.parametrize("change", [{"port": 5000}, {"token": "other"}, {"python": "/new/python"}])
def test_a_changed_port_token_or_path_is_brought_up_to_date(text: str, change: dict[str, object]) -> None:
    other = msgspec.structs.replace(WANTED, **change)

    updated = plan(plan(text, WANTED), other)

    assert updated == plan(text, other)
    assert remove(updated) == text


def test_a_file_of_ours_alone_goes_whole() -> None:
    assert remove(plan(None, WANTED)) is None
    assert remove(plan(" \n", WANTED)) is None


def test_what_was_added_around_ours_since_stays() -> None:
    grown = settings(plan(None, WANTED))
    theirs = {"type": "command", "command": "theirs"}
    grown["model"] = "opus"
    grown["hooks"]["Stop"].append({"hooks": [theirs]})
    grown["hooks"]["SessionEnd"][0]["hooks"].insert(0, theirs)
    grown["hooks"]["Notification"] = [{"hooks": [theirs]}]

    left = settings(remove(json.dumps(grown, indent=2)))

    assert left == {
        "hooks": {
            "Stop": [{"hooks": [theirs]}],
            "SessionEnd": [{"hooks": [theirs]}],
            "Notification": [{"hooks": [theirs]}],
        },
        "model": "opus",
    }


def test_a_missing_entry_is_put_back() -> None:
    partial = settings(plan(FOREIGN, WANTED))
    del partial["hooks"]["PostToolBatch"]
    repaired = plan(json.dumps(partial), WANTED)
    assert sorted(installed(repaired)) == sorted(EVENTS)


def test_hooks_of_others_are_not_ours() -> None:
    theirs = {
        "hooks": {
            "Stop": [
                {
                    "hooks": [
                        {
                            "type": "http",
                            "url": "http://127.0.0.1:4711/hook/claude-code",
                            "headers": {"X-Other": "file"},
                        }
                    ]
                },
                {"hooks": [{"type": "command", "command": "python", "args": ["hook.py", "claude-code"]}, "odd", 5]},
                "odd",
            ]
        }
    }
    text = json.dumps(theirs)
    assert installed(text) == ()
    assert remove(text) == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1,}', "not strict JSON"),
        ("// mine\n{}", "not strict JSON"),
        ('{"a": 1} // mine', "not strict JSON"),
        ("[]", "not an object of lists"),
        ('{"hooks": []}', "not an object of lists"),
        ('{"hooks": null}', "not an object of lists"),
        ('{"hooks": {"Stop": {}}}', "not an object of lists"),
    ],
)
def test_settings_that_cannot_be_edited_safely_are_refused(text: str, problem: str) -> None:
    for act in (lambda: plan(text, WANTED), lambda: remove(text)):
        with pytest.raises(ConfigFault, match=problem) as caught:
            act()
        assert caught.value.next_step


def test_nothing_is_installed_in_nothing() -> None:
    assert installed(None) == installed("") == installed("{}") == ()


def test_each_level_has_its_file() -> None:
    assert settings_path("project", Path("/r"), Path("/h")) == Path("/r/.claude/settings.local.json")
    assert settings_path("user", Path("/r"), Path("/h")) == Path("/h/.claude/settings.json")
