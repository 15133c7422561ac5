"""Settings of agent products: missing, half, stale, doubled, open and committed entries of ours, in real files."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from host.doctor import connections
from host.doctor.connections import connected
from host.doctor.connections import connections as all_of
from host.namespace import SCRIPT, env
from host.paths import socket_path
from host.setup import REGISTRARS, claude_code
from host.setup.registrar import Level
from tests.support.checkouts import write
from tests.support.patients import Patient

HOSTS = list(REGISTRARS)
NOTES = {"host-unconnected", "mcp-missing"}
IGNORED = "# kept out\n/.claude/settings.local.json\n"


@pytest.fixture
def ignored(patient: Patient) -> Patient:
    """After a first run, with settings kept out of git as init does it."""
    patient.settle()
    write(patient.repository / ".git" / "info" / "exclude", IGNORED)
    return patient


def local(patient: Patient) -> Path:
    """Claude Code's hooks of the project."""
    return patient.repository / ".claude" / "settings.local.json"


def edited(file: Path, before: str, after: str) -> None:
    text = file.read_text("utf-8")
    assert before in text, text
    file.write_text(text.replace(before, after), "utf-8")


# -------------------------------------------------------------------------------------------------------- connected?


@pytest.mark.parametrize("level", ["project", "user"])
@pytest.mark.parametrize("host", HOSTS)
def test_a_product_that_was_connected_is_well(ignored: Patient, host: str, level: Level) -> None:
    ignored.connect(host, level)

    assert ignored.states(all_of) == []
    assert {one.registrar.HOST for one in connected(ignored.scene())} == {host}


def test_nothing_connected_is_told_until_something_is(ignored: Patient) -> None:
    assert ignored.the(all_of).state == "nothing-connected"
    ignored.connect("claude-code")
    assert ignored.states(all_of) == []


@pytest.mark.parametrize("host", HOSTS)
def test_a_product_that_is_here_and_not_connected_is_told(ignored: Patient, host: str) -> None:
    ignored.connect("claude-code" if host != "claude-code" else "codex")
    ignored.program({"claude-code": "claude", "gemini-cli": "gemini"}.get(host, host), "exit 0")
    if host == "cursor":
        (ignored.home / ".cursor").mkdir(exist_ok=True)

    told = [one for one in ignored.found(all_of) if one.where == host]

    assert [one.state for one in told] == ["host-unconnected"] and f"init --host {host}" in told[0].todo
    ignored.connect(host)
    assert ignored.states(all_of) == []


def test_without_a_home_nothing_is_looked_for(ignored: Patient) -> None:
    assert ignored.states(all_of, HOME="") == []
    assert connected(ignored.scene(HOME="")) == []


# ------------------------------------------------------------------------------------------------------------- hooks


def test_a_hook_that_somebody_took_out_is_told_by_its_event(ignored: Patient) -> None:
    ignored.connect("claude-code")
    settings = json.loads(local(ignored).read_text("utf-8"))
    del settings["hooks"]["PostToolBatch"]
    local(ignored).write_text(json.dumps(settings), "utf-8")

    one = ignored.the(all_of)

    assert one.state == "hooks-missing" and "PostToolBatch" in one.what
    ignored.connect("claude-code")
    assert ignored.states(all_of) == []


def test_settings_of_a_version_without_the_hook_that_has_the_daemon_back_are_told(ignored: Patient) -> None:
    ignored.connect("claude-code")
    settings = json.loads(local(ignored).read_text("utf-8"))
    del settings["hooks"]["UserPromptSubmit"][1]
    local(ignored).write_text(json.dumps(settings), "utf-8")

    one = ignored.the(all_of)

    assert one.state == "hooks-missing" and one.what.endswith("without UserPromptSubmit in the background.")
    assert "not started again" in one.why and "not heard" not in one.why


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini-cli", "opencode", "cursor"])
def test_entries_of_an_installation_that_is_gone_are_told(ignored: Patient, host: str) -> None:
    """The virtual environment was removed, or moved."""
    says = connections.wanted_now(ignored.scene())
    for file in ignored.connect(host):
        for path in (says.tools.hook, says.tools.python, says.script, says.plugin):
            file.write_text(file.read_text("utf-8").replace(path, f"/gone{path}"), "utf-8")

    told = ignored.found(all_of)

    assert {one.state for one in told} == {"hooks-stale", "mcp-stale"}
    assert all("/gone/" in one.what and "init --host" in one.todo for one in told)
    ignored.connect(host)
    assert ignored.states(all_of) == []


def test_a_wrong_port_and_a_wrong_token_are_told_and_no_token_is_shown(ignored: Patient) -> None:
    paths = ignored.settle()
    ignored.connect("claude-code")
    old = paths.token_file.read_text("ascii")
    paths.port_file.write_text("1234", "ascii")
    paths.token_file.write_text("n" * 43, "ascii")

    one = ignored.the(all_of)

    assert one.state == "hooks-misdirected" and "instead of 1234" in one.what and "their token is another" in one.what
    assert old not in repr(one) and "n" * 43 not in repr(one)
    ignored.connect("claude-code")
    assert ignored.states(all_of) == []


def test_an_entry_that_was_changed_is_told(ignored: Patient) -> None:
    ignored.connect("claude-code")
    edited(local(ignored), '"timeout": 1', '"timeout": 600')

    assert ignored.the(all_of).state == "hooks-outdated"
    ignored.connect("claude-code")
    assert ignored.states(all_of) == []


@pytest.mark.parametrize("host", ["codex", "gemini-cli", "cursor"])
def test_a_client_that_is_gone_is_told_by_its_path_alone(ignored: Patient, host: str) -> None:
    """A hook calls curl or nc; what else looks like a path in its line is none."""
    says = connections.wanted_now(ignored.scene())
    client = says.tools.curl or says.tools.nc
    if not client:
        pytest.skip("this machine has neither curl nor an nc that knows Unix sockets")
    ignored.connect(host)
    for found in connected(ignored.scene()):
        if client in found.file.path.read_text("utf-8"):
            edited(found.file.path, client, "/gone/bin/curl")

    one = ignored.the(all_of)

    assert one.state == "hooks-stale" and one.what.endswith(" names /gone/bin/curl, which is not there.")
    ignored.connect(host)
    assert ignored.states(all_of) == []


def test_hooks_that_were_written_in_another_session_of_the_user_are_well(ignored: Patient) -> None:
    """Over ssh, without the folder that a desktop's session has for sockets, which is there now."""
    ignored.connect("codex", "user")
    desktop = ignored.folder / "runtime"
    desktop.mkdir(mode=0o700)
    session = {env("socket"): "", "XDG_RUNTIME_DIR": str(desktop), "TMPDIR": ""}
    over_ssh = os.path.dirname(socket_path({}, os.getuid()))
    file = ignored.home / ".codex" / "hooks.json"
    edited(file, f" {ignored.paths.socket.parent};", f" {over_ssh};")

    assert ignored.states(all_of, **session) == []
    edited(file, f" {over_ssh};", " /somewhere/else;")
    assert ignored.states(all_of, **session) != []


def test_hooks_at_both_levels_are_told_until_one_is_taken_away(ignored: Patient) -> None:
    ignored.connect("claude-code")
    ignored.connect("claude-code", "user")

    one = ignored.the(all_of)

    assert one.state == "hooks-twice" and "--remove --host claude-code" in one.todo
    local(ignored).unlink()
    assert ignored.states(all_of) == []


@pytest.mark.parametrize("host", HOSTS)
def test_the_home_folder_is_no_project(ignored: Patient, host: str) -> None:
    ignored.connect(host, "user")
    ignored.repository = ignored.home

    assert ignored.states(all_of) == []


def test_two_hooks_of_one_event_in_a_file_are_told(ignored: Patient) -> None:
    ignored.connect("claude-code")
    settings = json.loads(local(ignored).read_text("utf-8"))
    settings["hooks"]["Stop"] *= 2
    local(ignored).write_text(json.dumps(settings), "utf-8")

    assert "hooks-twice" in ignored.states(all_of)


@pytest.mark.parametrize("where", ["home", "project"])
def test_a_plugin_connects_too_and_both_are_one_too_many(ignored: Patient, where: str) -> None:
    ignored.program("claude", "exit 0")
    plugins = '{"enabledPlugins": {"other@shop": true, "remora-pre@remora-pre": true}}'
    write(ignored.folder / where / ".claude" / "settings.json", plugins)
    alone = ignored.states(all_of)
    ignored.connect("claude-code")

    one = ignored.the(all_of)

    assert alone == [] and one.state == "hooks-twice" and "by the plugin" in one.what
    write(ignored.folder / where / ".claude" / "settings.json", plugins.replace("true", "false"))
    assert ignored.states(all_of) == []


def test_a_server_that_was_switched_off_is_told(ignored: Patient) -> None:
    ignored.connect("codex", "user")
    config = ignored.home / ".codex" / "config.toml"
    edited(config, "args = ", "enabled = false\nargs = ")

    assert ignored.states(all_of) == ["hooks-off"]


def test_hooks_without_a_server_are_worth_knowing(ignored: Patient) -> None:
    ignored.connect("claude-code")
    (ignored.repository / ".mcp.json").unlink()

    assert ignored.states(all_of) == ["mcp-missing"]


def test_http_hooks_that_nobody_listens_for_are_told(ignored: Patient) -> None:
    ignored.connect("claude-code")
    ignored.configure("[daemon]\nhttp = false\n")

    assert ignored.the(all_of).state == "http-off"
    ignored.configure("")
    assert ignored.states(all_of) == []


# ----------------------------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("host", "file", "text"),
    [
        ("claude-code", ".claude/settings.json", '{"hooks": '),
        ("codex", ".codex/config.toml", "[broken"),
        ("gemini-cli", ".gemini/settings.json", "not json"),
        ("cursor", ".cursor/hooks.json", '{"hooks": [1'),
    ],
)
def test_settings_that_cannot_be_read_are_told(ignored: Patient, host: str, file: str, text: str) -> None:
    ignored.connect("opencode")
    write(ignored.home / file, text)

    told = [one for one in ignored.found(all_of) if one.state == "settings-unusable"]

    assert [one.where for one in told] == [str(ignored.home / file)]


def test_a_file_of_both_levels_is_told_once(ignored: Patient) -> None:
    (ignored.home / ".codex").mkdir()
    (ignored.home / ".codex" / "config.toml").write_bytes(b"\xff\xfe")

    assert ignored.states(all_of).count("settings-unusable") == 1


def test_comments_where_the_product_takes_none_are_told(ignored: Patient) -> None:
    ignored.connect("claude-code")
    local(ignored).write_text("// mine\n" + local(ignored).read_text("utf-8"), "utf-8")

    assert ignored.the(all_of).state == "settings-unusable"
    edited(local(ignored), "// mine\n", "")
    assert ignored.states(all_of) == []


def test_a_token_that_others_can_read_is_told(ignored: Patient) -> None:
    ignored.connect("claude-code")
    local(ignored).chmod(0o644)

    one = ignored.the(all_of)

    assert (one.state, one.todo) == ("settings-readable", f"chmod 600 {local(ignored)}")
    local(ignored).chmod(0o600)
    assert ignored.states(all_of) == []


def test_a_token_that_git_does_not_ignore_is_told(patient: Patient) -> None:
    patient.settle()
    patient.connect("claude-code")

    one = patient.the(all_of)

    assert one.state == "settings-shared" and "not ignored" in one.what
    write(patient.repository / ".git" / "info" / "exclude", IGNORED)
    assert patient.states(all_of) == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        (".gitignore", ".claude/"),
        (".gitignore", "**/.claude/settings.local.json"),
        (".gitignore", "*.local.json"),
        (".claude/.gitignore", "settings.local.json"),
        (".git/info/exclude", "/.claude"),
    ],
)
def test_it_may_be_ignored_in_many_ways(patient: Patient, file: str, line: str) -> None:
    patient.settle()
    patient.connect("claude-code")
    write(patient.repository / file, f"# theirs\nbuild/\n{line}\n")

    assert patient.states(all_of) == []


@pytest.mark.parametrize("line", ["!.claude/", "# .claude/", "src/", ""])
def test_a_line_of_another_kind_ignores_nothing(patient: Patient, line: str) -> None:
    patient.settle()
    patient.connect("claude-code")
    write(patient.repository / ".gitignore", f"{line}\n")

    assert patient.states(all_of) == ["settings-shared"]


def test_a_token_that_git_tracks_is_told_though_it_is_ignored(ignored: Patient) -> None:
    """With a real git: it goes on tracking what was added by force."""
    ignored.connect("claude-code")
    for words in (["init", "-q"], ["add", "-f", str(local(ignored))]):
        subprocess.run(["git", *words], cwd=ignored.repository, check=True, capture_output=True)

    one = ignored.the(all_of)

    assert one.state == "settings-shared" and "tracked" in one.what
    assert ignored.paths.token_file.read_text("ascii").strip() not in repr(one)
    subprocess.run(["git", "rm", "-q", "--cached", str(local(ignored))], cwd=ignored.repository, check=True)
    assert ignored.states(all_of) == []


def test_every_event_of_claude_code_is_one_that_is_looked_for(ignored: Patient) -> None:
    ignored.connect("claude-code")
    (hooks,) = [one for one in connected(ignored.scene()) if one.hooks]

    assert {entry.what for entry in hooks.hooks} == set(claude_code.EVENTS)


@pytest.mark.parametrize("host", HOSTS)
def test_what_a_finding_says_to_do_does_it(patient: Patient, host: str) -> None:
    """By the real command, word by word: connect what is here, break it, connect it again."""
    patient.settle()
    patient.program({"claude-code": "claude", "gemini-cli": "gemini"}.get(host, host), "exit 0")
    (patient.home / ".cursor").mkdir()

    (here,) = [one for one in patient.found(all_of) if one.where == host]
    assert obeyed(patient, here.todo) == []
    for found in connected(patient.scene()):
        text = found.file.path.read_text("utf-8")
        found.file.path.write_text(text.replace("/bin/", "/gone/bin/").replace(".js", ".gone/remora-pre.js"), "utf-8")
    broken = patient.found(all_of)

    assert broken and {one.level for one in broken if one.state not in NOTES} <= {"problem", "warning"}
    assert obeyed(patient, broken[0].todo) == []


def obeyed(patient: Patient, todo: str) -> list[str]:
    """What is left to mend of this product once that command was run."""
    words = shlex.split(todo)
    assert words[0] == SCRIPT
    done = patient.run(*words[1:], "--yes")
    assert done.returncode == 0, done.stderr
    return [state for state in patient.states(all_of) if state not in NOTES]
