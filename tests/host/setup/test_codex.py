"""Codex's settings: hooks in one file, the server in another, and the trust that Codex keeps."""

import json
import tomllib
from pathlib import Path

import msgspec
import pytest

from host.mcp.hosts import FORWARDED
from host.setup.codex import (
    CUTS,
    EVENTS,
    HOOKS,
    detect,
    files,
    notes,
    plan,
    remove,
    trust_keys,
    trusted,
    without_trust,
)
from host.setup.registrar import Level, Places
from tests.support.settings import WANTED, places

CONFIG = '# mine\nmodel = "m"\n'
STATE = "\n[hooks.state]\n"


def trust(key: str) -> str:
    return f'\n[hooks.state."{key}"]\ntrusted_hash = "sha256:00"\n'


def test_hooks_are_commands_with_time_outs_in_seconds() -> None:
    hooks = json.loads(HOOKS.plan(None, WANTED))["hooks"]
    assert tuple(hooks) == EVENTS and "PreToolUse" not in hooks
    for event, groups in hooks.items():
        (hook,) = groups[0]["hooks"]
        assert set(hook) == {"type", "command", "timeout"}  # unknown fields are refused by some versions
        assert hook["timeout"] == {"SessionStart": 5, "SessionEnd": 1, "Interrupt": 1}.get(event, 2)


def test_the_server_gets_the_variables_that_say_where_the_daemon_is() -> None:
    (server,) = tomllib.loads(plan(None, WANTED))["mcp_servers"].values()
    assert (server["command"], server["args"]) == (WANTED.script, ["mcp"])
    assert server["env_vars"] == list(FORWARDED)
    assert {"XDG_RUNTIME_DIR", "REMORA_PRE_DATA", "REMORA_PRE_SOCKET"} <= set(FORWARDED)


def test_a_server_that_is_switched_off_stays_off() -> None:
    off = plan(CONFIG, WANTED).replace("args =", "enabled = false\nargs =")
    (file, *_) = files("user", places())

    assert plan(off, WANTED) == off
    (entry,) = file.installed(off, WANTED)
    assert entry.disabled and entry.current


def test_the_keys_of_trust_are_by_file_event_and_place() -> None:
    text = '{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "theirs"}]}]}}'
    keys = trust_keys(Path("/x/hooks.json"), HOOKS.plan(text, WANTED))

    assert len(keys) == len(EVENTS)
    assert {"/x/hooks.json:post_tool_use:1:0", "/x/hooks.json:session_start:0:0"} <= keys
    assert trust_keys(Path("/x"), None) == trust_keys(Path("/x"), " ") == trust_keys(Path("/x"), "{}") == frozenset()


def test_what_codex_keeps_about_our_hooks_goes_and_about_others_stays() -> None:
    keys = frozenset(["/x/hooks.json:stop:0:0", "/x/hooks.json:stop:1:0"])
    ours = CONFIG + STATE + "".join(trust(key) for key in sorted(keys))
    theirs = CONFIG + STATE + trust("/x/hooks.json:stop:2:0")

    assert without_trust(ours, keys) == CONFIG
    assert without_trust(theirs + trust("/x/hooks.json:stop:1:0"), keys) == theirs
    assert without_trust(CONFIG + STATE, keys) == CONFIG + STATE


@pytest.mark.parametrize("text", [CONFIG, CONFIG.rstrip("\n"), "", None])
def test_server_and_trust_are_taken_back_together(text: str | None) -> None:
    keys = frozenset(["/x/hooks.json:stop:0:0"])
    written = plan(text, WANTED) + STATE + "".join(trust(key) for key in keys)

    assert remove(written, lambda: keys) == (text or None)


@pytest.mark.parametrize("level", ["project", "user"])
def test_trust_stands_in_the_users_file_at_both_levels(tmp_path: Path, level: Level) -> None:
    where = places(tmp_path)
    *_, hooks = files(level, where)
    hooks.path.parent.mkdir(parents=True)
    hooks.path.write_text(HOOKS.plan(None, WANTED))
    users = where.home / ".codex" / "config.toml"
    users.parent.mkdir(parents=True, exist_ok=True)
    users.write_text(CONFIG + STATE + trust(f"{hooks.path}:stop:0:0"))

    assert trusted(where) == {f"{hooks.path}:stop:0:0"}
    (file,) = (file for file in files(level, where) if file.path == users)
    assert file.remove(users.read_text()) == CONFIG


@pytest.mark.parametrize("level", ["project", "user"])
def test_what_codex_trusts_of_a_hook_that_changes_is_taken_out(tmp_path: Path, level: Level) -> None:
    where = places(tmp_path)
    *_, hooks = files(level, where)
    hooks.path.parent.mkdir(parents=True)
    hooks.path.write_text(HOOKS.plan(None, WANTED))
    (file,) = (file for file in files(level, where) if file.path == where.home / ".codex" / "config.toml")
    text = (file.plan(CONFIG, WANTED) or "") + STATE + trust(f"{hooks.path}:stop:0:0") + trust("/theirs:stop:0:0")
    tools = msgspec.structs.replace(WANTED.tools, curl="/other/curl")

    assert file.plan(text, WANTED) == text
    changed = file.plan(text, msgspec.structs.replace(WANTED, tools=tools)) or ""

    assert str(hooks.path) not in changed and "/theirs:stop:0:0" in changed and CONFIG in changed


def test_codex_home_moves_the_users_files() -> None:
    where = places(Path("/x"), CODEX_HOME="/moved")
    assert [str(file.path) for file in files("user", where)] == ["/moved/config.toml", "/moved/hooks.json"]
    assert [(str(file.path), file.holds) for file in files("project", where)] == [
        ("/x/shop/.codex/config.toml", "mcp"),
        ("/moved/config.toml", "trust"),
        ("/x/shop/.codex/hooks.json", "hooks"),
    ]


def test_the_file_of_trust_alone_is_never_written_when_connecting() -> None:
    (alone,) = (file for file in files("project", places()) if file.holds == "trust")
    assert alone.plan(None, WANTED) is None and alone.plan(CONFIG, WANTED) == CONFIG
    assert alone.installed(CONFIG, WANTED) == ()


def test_it_is_found_and_trust_in_projects_is_told(tmp_path: Path) -> None:
    assert detect(places(tmp_path), lambda program: "/bin/codex") == ("codex is /bin/codex",)
    assert len(notes("project", places())) == 2 and notes("user", places()) == (CUTS,)


def test_who_has_lifted_the_limit_of_an_answer_is_not_told_of_it(tmp_path: Path) -> None:
    config = tmp_path / "home" / ".codex" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("tool_output_token_limit = 150000\n")
    mine = Places(home=tmp_path / "home", repository=tmp_path, environ={})

    assert notes("user", mine) == ()
    config.write_text("tool_output_token_limit = \n")
    assert notes("user", mine) == (CUTS,)
