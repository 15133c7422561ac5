"""Settings and places: few, strict, and secrets made once and kept private."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from governance.formation.prompts import names
from host.config import (
    KEY_BYTES,
    AttentionSettings,
    Config,
    DaemonSettings,
    EvaluationSettings,
    FormationSettings,
    Paths,
    PromptName,
    PromptSettings,
    another_port,
    ensure_port,
    http_token,
    install_key,
    is_free,
    keep_port,
    load,
    locate,
    make_folders,
)
from host.errors import ConfigFault
from host.namespace import MARK, env
from recall.contracts import Attention


@pytest.fixture
def paths(run_dir: Path) -> Paths:
    return locate({env("data"): str(run_dir / "data"), env("socket"): str(run_dir / "s" / "d.sock")})


@pytest.mark.promise("preview-names")
def test_every_usual_place_carries_the_preview_mark() -> None:
    paths = locate({})

    for place in (paths.data, paths.state, paths.config_file, paths.socket.parent, paths.socket, paths.database.name):
        assert MARK in str(place)


def test_a_data_folder_of_ones_own_holds_everything(paths: Paths) -> None:
    inside = (paths.state, paths.config_file, paths.database, paths.index, paths.key_file, paths.token_file)

    assert all(place.is_relative_to(paths.data) for place in inside)
    assert paths.http_socket.parent == paths.lock.parent == paths.socket.parent


def test_the_configuration_file_can_be_chosen(run_dir: Path) -> None:
    assert locate({env("config"): str(run_dir / "my.toml")}).config_file == run_dir / "my.toml"


def test_without_a_file_the_defaults_hold(paths: Paths) -> None:
    assert load(paths) == Config()


def test_settings_are_read(paths: Paths) -> None:
    make_folders(paths)
    text = '[daemon]\nhttp = false\nlog_level = "debug"\n[evaluation]\nholdout = 0.5\n[attention]\ndefault = "quiet"\n'
    paths.config_file.write_text(text)

    daemon = DaemonSettings(http=False, log_level="debug")
    assert load(paths) == Config(
        daemon=daemon,
        evaluation=EvaluationSettings(holdout=0.5),
        attention=AttentionSettings(default=Attention.QUIET),
    )


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[daemon]\nhtpp = false\n", "htpp"),
        ("[demon]\n", "demon"),
        ("[daemon]\nhttp_port = 70000\n", "http_port"),
        ('[daemon]\nlog_level = "loud"\n', "log_level"),
        ('[attention]\ndefault = "loud"\n', "default"),
        ("[evaluation]\nholdout = 0.6\n", "holdout"),
        ("[evaluation]\nholdout = -0.1\n", "holdout"),
        ("[audit]\ndays = 0\n", "days"),
        ("[audit]\nmebibytes = 0\n", "mebibytes"),
        ('[hosts]\nallow = ["codex"]\n', "allow"),
        ('[hosts]\nallow = ["codex 0.181.x"]\n', "allow"),
        ('[hosts]\nallow = "codex 0.181"\n', "allow"),
        ("[daemon\n", "line 1"),
        ('[daemon]\nlog_level = "\udcff"\n', "codec"),
        ('[formation]\ndriver = "gemini"\n', "driver"),
        ('[formation]\napi = "legacy"\n', "api"),
        ('[formation]\napi_key = "sk-1"\n', "api_key"),
        ('[formation]\ncommand = "claude -p"\n', "command"),
        ("[formation]\ntimeout_seconds = 0\n", "timeout_seconds"),
        ("[formation]\nimportance = 1.1\n", "importance"),
        ("[formation]\nmin_sessions = -1\n", "min_sessions"),
        ("[formation]\ngap_max_age_days = -1\n", "gap_max_age_days"),
        ('[formation]\nmode = "talk"\n', "mode"),
        ('[formation.prompts]\nnotes = "x"\n', "notes"),
        ('[formation.prompts.user]\nnote = "x"\n', "user"),
        ('[formation.prompts.user]\nnotes = ""\n', "user"),
    ],
)
def test_a_wrong_setting_is_named(paths: Paths, text: str, named: str) -> None:
    make_folders(paths)
    paths.config_file.write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(ConfigFault, match=named) as caught:
        load(paths)

    assert str(paths.config_file) in caught.value.problem and caught.value.next_step


@pytest.mark.parametrize("entry", ["codex 0.181", "claude-code 2", "gemini-cli 0.61.0.1", "opencode *"])
def test_a_version_can_be_allowed(paths: Paths, entry: str) -> None:
    make_folders(paths)
    paths.config_file.write_text(f'[hosts]\nallow = ["{entry}"]\n', "utf-8")

    assert load(paths).hosts.allow == (entry,)


def test_formation_is_read(paths: Paths) -> None:
    make_folders(paths)
    text = """
        [formation]
        driver = "command"
        command = ["claude", "-p"]
        min_sessions = 0
        [formation.prompts.user]
        notes = "Write titles in German."
        [formation.prompts.workspaces."/home/me/shop"]
        checkpoint-propose = "Prices are never facts."
    """
    paths.config_file.write_text(text, "utf-8")

    prompts = PromptSettings(
        user={"notes": "Write titles in German."},
        workspaces={"/home/me/shop": {"checkpoint-propose": "Prices are never facts."}},
    )
    assert load(paths).formation == FormationSettings(
        driver="command", command=("claude", "-p"), min_sessions=0, prompts=prompts
    )


def test_the_prompts_that_can_be_added_to_are_those_that_there_are() -> None:
    assert set(get_args(PromptName)) == {one.partition("@")[0] for one in names()}


def test_by_itself_no_model_is_called(paths: Paths) -> None:
    assert load(paths).formation.driver == "agent"


def test_a_configuration_that_cannot_be_read_is_an_error(paths: Paths) -> None:
    paths.config_file.mkdir(parents=True)

    with pytest.raises(ConfigFault, match="cannot be read"):
        load(paths)


def test_a_folder_that_cannot_be_made_is_an_error(run_dir: Path) -> None:
    (run_dir / "data").touch()

    with pytest.raises(ConfigFault, match="cannot be made"):
        make_folders(locate({env("data"): str(run_dir / "data")}))


def test_folders_and_secrets_are_their_owners_alone(paths: Paths) -> None:
    make_folders(paths)
    install_key(paths), http_token(paths), ensure_port(paths)

    assert [place.stat().st_mode & 0o777 for place in (paths.data, paths.state)] == [0o700, 0o700]
    secrets = (paths.key_file, paths.token_file, paths.port_file)
    assert [place.stat().st_mode & 0o777 for place in secrets] == [0o600] * 3


def test_key_token_and_port_are_made_once(paths: Paths) -> None:
    first = install_key(paths), http_token(paths), ensure_port(paths)

    assert len(first[0]) == KEY_BYTES
    assert (install_key(paths), http_token(paths), ensure_port(paths)) == first
    assert not [file for file in paths.state.iterdir() if file.suffix not in (".token", ".port")], "no drafts are left"


def test_two_installations_have_different_secrets(run_dir: Path) -> None:
    one, two = (locate({env("data"): str(run_dir / part)}) for part in ("one", "two"))

    assert install_key(one) != install_key(two)
    assert http_token(one) != http_token(two)


def test_a_key_that_was_opened_to_others_is_closed_again(paths: Paths) -> None:
    install_key(paths)
    paths.key_file.chmod(0o644)

    install_key(paths)

    assert paths.key_file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("file", "read"), [("key_file", install_key), ("token_file", http_token), ("port_file", ensure_port)]
)
def test_a_damaged_file_is_an_error_that_says_what_to_do(paths: Paths, file: str, read: object) -> None:
    make_folders(paths)
    getattr(paths, file).write_bytes(b"\xff")
    assert callable(read)

    with pytest.raises(ConfigFault, match="damaged") as caught:
        read(paths)

    assert caught.value.next_step


def test_a_port_can_be_wanted_and_is_kept_otherwise(paths: Paths) -> None:
    assert ensure_port(paths, wanted=4321) == 4321

    first = ensure_port(paths)

    assert 0 < first <= 65535
    assert ensure_port(paths) == first


@pytest.mark.promise("acknowledged-is-kept")
def test_a_key_is_never_made_anew_for_a_database_that_exists(paths: Paths) -> None:
    install_key(paths)
    paths.database.touch()
    paths.key_file.unlink()

    with pytest.raises(ConfigFault, match="missing") as caught:
        install_key(paths)

    assert "backup" in caught.value.next_step and not paths.key_file.exists()


@pytest.mark.parametrize("make", [http_token, ensure_port, install_key])
def test_what_is_made_first_leaves_no_folder_open(paths: Paths, make: Callable[[Paths], object]) -> None:
    """`init` makes a token before any daemon has made the folders."""
    make(paths)

    there = [folder for folder in (paths.data, paths.state) if folder.exists()]
    assert there and {folder.stat().st_mode & 0o777 for folder in there} == {0o700}


def test_a_port_that_something_listens_at_is_not_free() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen(1)
        port = other.getsockname()[1]
        assert not is_free(port)
    assert is_free(port)


def test_another_port_comes_with_a_token_and_neither_is_kept_yet(paths: Paths) -> None:
    (port, token), (_, again) = another_port(), another_port()

    assert is_free(port) and len(token) == len(again) == 43 and token != again
    assert not paths.port_file.exists() and not paths.token_file.exists()


def test_a_port_and_a_token_take_the_place_of_the_old_ones(paths: Paths) -> None:
    old = ensure_port(paths), http_token(paths)

    keep_port(paths, 4321, "t" * 43)

    assert (ensure_port(paths), http_token(paths)) == (4321, "t" * 43) != old
    assert {one.name for one in paths.state.iterdir()} == {paths.port_file.name, paths.token_file.name}
    assert {one.stat().st_mode & 0o777 for one in paths.state.iterdir()} == {0o600}


def test_a_port_that_cannot_be_kept_is_told(paths: Paths) -> None:
    paths.state.parent.mkdir(parents=True)
    paths.state.write_text("")
    with pytest.raises(ConfigFault, match="cannot be written"):
        keep_port(paths, 4321, "t" * 43)
