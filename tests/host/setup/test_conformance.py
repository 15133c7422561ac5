"""What every product's settings promise: entries go in, are brought up to date, and come out without a trace; all that
others wrote stays, byte for byte. Over realistic files, over their variants, and over made-up ones."""

import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.errors import ConfigFault
from host.namespace import name
from host.setup import REGISTRARS
from host.setup.json_entries import root
from host.setup.json_text import plain
from host.setup.registrar import LEVELS, SettingsFile
from tests.support.json_texts import TEXTS as JSON_TEXTS
from tests.support.settings import DATA, TEXTS, WANTED, places, read, stands_for

FILES = {
    f"{host}-{level}-{file.holds}": file
    for host, registrar in REGISTRARS.items()
    for level in LEVELS
    for file in registrar.files(level, places())
    if file.holds != "trust"
}
EVERY_FILE = pytest.mark.parametrize("file", FILES.values(), ids=FILES.keys())
JSON_FILES = [file for file in FILES.values() if file.path.suffix == ".json"]
TOML_FILES = [file for file in FILES.values() if file.path.suffix == ".toml"]
CHANGES: tuple[dict[str, Any], ...] = (
    {"port": 5000, "token": "another"},
    {"script": "/new/bin/remora-pre", "plugin": "/new/remora-pre.js"},
    {"tools": msgspec.structs.replace(WANTED.tools, python="/new/bin/python", hook="/new/hook.py", curl="")},
)
VARIANTS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "carriage returns": lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"),
    "byte order mark": lambda text: "\ufeff" + text.removeprefix("\ufeff"),
    "no final newline": lambda text: text.rstrip("\r\n"),
    "more at the end": lambda text: text + "\n\n",
}
REALISTIC = [
    pytest.param(stands_for(text, places())[1], vary(read(text)), id=f"{text.parent.name}-{text.name}-{variant}")
    for text in TEXTS
    for variant, vary in VARIANTS.items()
]


def planned(file: SettingsFile, text: str | None) -> str:
    after = file.plan(text, WANTED)
    assert after is not None
    return after


def is_within(before: str, after: str) -> bool:
    """Whether all characters of `before` are in `after`, in order: nothing was rewritten."""
    rest = iter(after)
    return all(sign in rest for sign in before)


def says(file: SettingsFile, text: str) -> Any:
    if file.path.suffix == ".toml":
        return tomllib.loads(text.removeprefix("\ufeff"))
    return json.loads(plain(text).removeprefix("\ufeff"))


def without_ours(value: Any) -> Any:
    """What a text says, our entries and empty containers left out: nothing else may differ."""
    if isinstance(value, dict):
        kept = {key: without_ours(one) for key, one in value.items() if key != name()}
        return {key: one for key, one in kept.items() if one not in ({}, [])}
    if isinstance(value, list):
        return [without_ours(one) for one in value if not is_ours(one)]
    return value


def is_ours(value: Any) -> bool:
    told = json.dumps(value, default=str)
    return "/apps/own/" in told or WANTED.token in told or f" # {name()}:" in told


def test_there_are_a_dozen_realistic_files_and_some_of_each_product() -> None:
    assert len(TEXTS) >= 12
    assert {text.parent.name for text in TEXTS} == set(REGISTRARS)
    assert any(b"\r\n" in text.read_bytes() for text in TEXTS) and any(b"\t" in text.read_bytes() for text in TEXTS)


@pytest.mark.parametrize(("file", "text"), REALISTIC)
def test_what_others_wrote_stays_and_comes_back_byte_for_byte(file: SettingsFile, text: str) -> None:
    after = planned(file, text)

    assert is_within(text, after)
    assert without_ours(says(file, after)) == without_ours(says(file, text))
    entries = file.installed(after, WANTED)
    assert entries and all(entry.current for entry in entries)
    assert file.remove(after) == text


@pytest.mark.parametrize(("file", "text"), REALISTIC)
def test_planning_again_changes_nothing(file: SettingsFile, text: str) -> None:
    after = planned(file, text)

    assert file.plan(after, WANTED) == after


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: f"{text.parent.name}-{text.name}")
def test_a_moved_installation_is_brought_up_to_date_in_place_of_the_old_one(text: Path) -> None:
    (_, file), before = stands_for(text, places()), read(text)
    for change in CHANGES:
        other = msgspec.structs.replace(WANTED, **change)
        updated = file.plan(planned(file, before), other)
        assert updated == file.plan(before, other)
        assert updated is not None and file.remove(updated) == before
        assert all(entry.current for entry in file.installed(updated, other))


@EVERY_FILE
@pytest.mark.parametrize("text", [None, "", " \n", "\ufeff"], ids=["none", "empty", "blank", "mark alone"])
def test_a_new_file_is_ours_alone_and_goes_whole(file: SettingsFile, text: str | None) -> None:
    after = planned(file, text)

    assert file.installed(after, WANTED) and file.remove(after) is None
    assert after.endswith("\n") and file.plan(after, WANTED) == after


@EVERY_FILE
def test_a_file_without_anything_of_ours_is_left_as_it_is(file: SettingsFile) -> None:
    text = "[a]\nb = 1\n" if file.path.suffix == ".toml" else '{"a": [1]}'

    assert file.remove(text) == text and file.installed(text, WANTED) == ()


@EVERY_FILE
def test_what_differs_from_what_is_wanted_is_stale(file: SettingsFile) -> None:
    after = planned(file, None)
    stale = [any(not e.current for e in file.installed(after, msgspec.structs.replace(WANTED, **c))) for c in CHANGES]

    assert any(stale)
    assert all(entry.current for entry in file.installed(after, None))


@EVERY_FILE
def test_an_entry_names_absolute_paths_or_the_port(file: SettingsFile) -> None:
    for entry in file.installed(planned(file, None), WANTED):
        assert entry.line
        assert entry.port == WANTED.port if entry.kind == "http" else entry.paths
        assert all(Path(path).is_absolute() for path in entry.paths)
        assert WANTED.token not in entry.line


@EVERY_FILE
def test_the_token_is_in_private_files_alone(file: SettingsFile) -> None:
    assert (WANTED.token in planned(file, None)) == file.private


@EVERY_FILE
def test_what_cannot_be_edited_safely_is_refused_with_a_way_out(file: SettingsFile) -> None:
    odd = ["[a\n", "a = 1\na = 2\n"] if file.path.suffix == ".toml" else ["[]", "{", '{"a": 1,,}', "{'a': 1}", "null"]
    for text in odd:
        for act in (lambda text=text: file.plan(text, WANTED), lambda text=text: file.remove(text)):
            with pytest.raises(ConfigFault) as caught:
                act()
            assert caught.value.next_step


@EVERY_FILE
def test_what_the_user_added_to_an_entry_of_ours_is_no_reason_to_write(file: SettingsFile) -> None:
    after = planned(file, None)
    command = "command = " if file.path.suffix == ".toml" else '"command":'
    if command not in after:
        return
    added = "enabled = true\ncommand = " if file.path.suffix == ".toml" else '"added": true, "command":'
    changed = after.replace(command, added)

    assert file.plan(changed, WANTED) == changed
    assert file.remove(changed) is None


@given(st.sampled_from(JSON_FILES), JSON_TEXTS)
def test_any_json_with_comments_and_trailing_commas_survives(file: SettingsFile, text: str) -> None:
    try:
        after = planned(file, text)
    except ConfigFault:
        return  # something else than a container stands where ours would go
    assert is_within(text, after)
    assert file.plan(after, WANTED) == after
    assert file.remove(after) == text


LINES = st.sampled_from(
    [
        *("# a note", "", "  ", "a = 1  # one", 'b = """', '"""', "c = [", "]", "  'x', # in a list", "d = 1979-05-27"),
        *(
            "[t]",
            "[ t . u ]",
            "[[list]]",
            '["quo.ted"]',
            "e.f = 2",
            "g = { h = 1 }",
            "[mcp_servers.other]",
            "[hooks.state]",
        ),
        *('[hooks.state."/x/hooks.json:stop:0:0"]', 'trusted_hash = "sha256:00"', "[mcp_servers]", "i = nan"),
    ]
)


@given(st.sampled_from(TOML_FILES), st.lists(LINES, max_size=9), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_toml_survives(file: SettingsFile, lines: list[str], newline: str, ended: bool) -> None:
    text = newline.join(lines) + (newline if ended and lines else "")
    try:
        after = planned(file, text)
    except ConfigFault:
        return  # no TOML
    assert is_within(text.strip(), after)  # a blank text is a new file
    assert file.plan(after, WANTED) == after
    assert (file.remove(after) or "") == (text if text.strip() else "")


def test_every_comment_of_the_realistic_files_is_still_there() -> None:
    checked = 0
    for text in TEXTS:
        _, file = stands_for(text, places())
        notes = [line.strip() for line in read(text).splitlines() if line.strip().startswith(("//", "#", "/*"))]
        after = planned(file, read(text))
        assert all(note in after for note in notes)
        checked += len(notes)
    assert checked >= 10


def _hook_commands(text: str) -> Iterator[tuple[str, str]]:
    for event, groups in json.loads(text)["hooks"].items():
        for group in groups:
            for hook in group.get("hooks", [group]):
                if "command" in hook:
                    yield event, hook["command"]


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini-cli", "cursor"])
def test_only_what_starts_the_daemon_takes_the_interpreter(host: str) -> None:
    (file,) = (f for f in REGISTRARS[host].files("project", places()) if "hooks" in f.holds)
    for event, command in _hook_commands(planned(file, None)):
        starts = event.lower() == "sessionstart" or f" {host} --start " in command
        assert (WANTED.tools.hook in command) == starts
        assert command.startswith("/bin/sh -c ") and "\n" not in command


def test_the_texts_that_are_read_here_are_the_ones_in_the_folder() -> None:
    assert {text.parent.parent for text in TEXTS} == {DATA}
    assert all(root(read(text)).opened == "{" for text in TEXTS if text.suffix != ".toml")
