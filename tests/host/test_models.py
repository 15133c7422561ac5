"""Which driver a spec gives, what it needs of the settings, and whether words leave the machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from governance.formation.errors import ModelError, ModelErrorKind
from host.config import FormationSettings
from host.models import DRIVERS, INTERNAL, is_own, key_variable, make, receiver, sends_text_away, trouble, whole
from tests.support.models import a_request, a_script

ROOT = Path(__file__).parents[2]


def test_a_spec_names_a_driver(tmp_path: Path) -> None:
    script = a_script(tmp_path, {"text": "x"}, id="demo")
    settings = FormationSettings(model="m", command=("claude", "-p"), script=script)

    ids = [make(spec, settings, {}, tmp_path).id for spec in (*DRIVERS, f"scripted:{script}")]
    assert ids == ["openai:m", "anthropic:m", "command:m", "scripted:demo", "scripted:demo"]


@pytest.mark.parametrize(("spec", "variable"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")])
async def test_a_driver_that_is_named_for_one_command_needs_its_own_key(
    spec: str, variable: str, tmp_path: Path
) -> None:
    for configured in (FormationSettings(model="m"), FormationSettings(driver="scripted", model="m")):
        with pytest.raises(ModelError, match=f"{variable} is not set"):
            await make(spec, configured, {}, tmp_path).complete(a_request())


def test_the_variable_of_the_key_is_the_vendors_own_for_the_vendor_alone() -> None:
    assert key_variable(FormationSettings(driver="openai")) == "OPENAI_API_KEY"
    assert key_variable(FormationSettings(driver="anthropic", base_url="https://gate.example")) == ""
    assert key_variable(FormationSettings(driver="openai", base_url="https://gate.example", api_key_env="G")) == "G"
    assert key_variable(FormationSettings(api_key_env="G")) == key_variable(FormationSettings(driver="command")) == ""


def test_what_an_environment_lacks_is_seen_before_the_first_call(tmp_path: Path) -> None:
    openai = FormationSettings(driver="openai", model="m")
    command = FormationSettings(driver="command", command=("asker", "-p"))

    assert "OPENAI_API_KEY is not set" in trouble(openai, {"OPENAI_API_KEY": " "})
    assert trouble(openai, {"OPENAI_API_KEY": "sk-1"}) == trouble(FormationSettings(), {}) == ""
    assert "asker" in trouble(command, {"PATH": str(tmp_path)})
    (tmp_path / "asker").touch(mode=0o755)
    assert trouble(command, {"PATH": str(tmp_path)}) == ""


@pytest.mark.parametrize("spec", ["openai", "anthropic", "command"])
def test_a_driver_does_not_show_its_environment(spec: str, tmp_path: Path) -> None:
    settings = FormationSettings(model="m", command=("asker",))

    assert "sk-1" not in repr(make(spec, settings, {"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-1"}, tmp_path))


def test_a_script_is_named_by_its_whole_path_to_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/a")

    assert whole("scripted:propose.json") == f"scripted:{tmp_path / 'propose.json'}"
    assert whole("scripted:~/p.json") == "scripted:/home/a/p.json" and whole("scripted:/p.json") == "scripted:/p.json"
    assert [whole(one) for one in ("openai", "scripted", "scripted:", "")] == ["openai", "scripted", "scripted:", ""]


def test_a_session_below_our_scratch_is_our_own_by_either_name(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "state").symlink_to(tmp_path / "real")
    scratch = tmp_path / "state" / "models"

    assert is_own(str(scratch / "command" / "1"), scratch)
    assert is_own(str(tmp_path / "real" / "models" / "command" / "1"), scratch)
    assert not is_own(str(tmp_path), scratch) and not is_own("", scratch) and not is_own(f"{scratch}-2", scratch)


@pytest.mark.parametrize("spec", ["", "agent", "gemini", "openai:gpt", "Scripted", "scripted.evil"])
def test_another_spec_is_refused_with_those_there_are(spec: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="openai, anthropic, command, scripted, or scripted:FILE") as caught:
        make(spec, FormationSettings(model="m"), {}, tmp_path)

    assert caught.value.kind is ModelErrorKind.CONFIGURATION


@pytest.mark.parametrize("spec", DRIVERS)
def test_settings_that_give_no_driver_say_what_to_do(spec: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"formation\.(model|command|script)") as caught:
        make(spec, FormationSettings(), {}, tmp_path)

    assert caught.value.kind is ModelErrorKind.CONFIGURATION


@pytest.mark.parametrize(
    ("settings", "away", "who"),
    [
        (FormationSettings(), False, ""),
        (FormationSettings(driver="scripted", script="x"), False, ""),
        (FormationSettings(driver="openai"), True, "api.openai.com"),
        (FormationSettings(driver="anthropic"), True, "api.anthropic.com"),
        (FormationSettings(driver="openai", base_url="http://localhost:11434/v1"), False, "localhost"),
        (FormationSettings(driver="openai", base_url="http://127.0.0.1:8080/v1"), False, "127.0.0.1"),
        (FormationSettings(driver="openai", base_url="http://127.example/v1"), True, "127.example"),
        (FormationSettings(driver="openai", base_url="https://gate.example/v1"), True, "gate.example"),
        (FormationSettings(driver="openai", base_url="https://[::1/v1"), True, "https://[::1/v1"),
        (FormationSettings(driver="command", command=("claude", "-p")), True, "claude -p"),
    ],
)
def test_whether_words_leave_the_machine_and_to_whom(settings: FormationSettings, away: bool, who: str) -> None:
    assert sends_text_away(settings) is away and receiver(settings) == who


def test_no_client_is_loaded_before_a_driver_is_asked_for() -> None:
    program = "import sys, host.models, host.config; print('httpx2' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert told.stdout == "False\n"


def test_the_mark_of_our_own_sessions_is_the_one_that_hooks_look_for() -> None:
    assert INTERNAL == "REMORA_PRE_INTERNAL"
    hook = [sys.executable, "-m", "host.hook", "claude-code"]
    environ = {**os.environ, INTERNAL: "1", "REMORA_PRE_SOCKET": "/nowhere/d.sock"}
    told = subprocess.run(hook, cwd=ROOT, env=environ, input=b"{}", capture_output=True, check=True)

    assert told.stdout == b""
