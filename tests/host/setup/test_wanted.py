"""What entries must say: absolute paths of this installation, and never a version manager's stand-in."""

import os
import sys
from pathlib import Path

import pytest

from host.config import locate
from host.namespace import env
from host.setup.wanted import folder, interpreter, script, wanted


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_it_names_this_installation(tmp_path: Path) -> None:
    said = wanted(locate({env("data"): str(tmp_path)}), 4711, "token")

    named = (said.tools.python, said.tools.hook, said.plugin, said.tools.folder)
    assert all(Path(path).is_absolute() for path in named)
    assert Path(said.tools.python).samefile(sys.executable)
    assert Path(said.tools.hook).is_file() and Path(said.plugin).is_file()
    assert Path(said.script).is_absolute() and (said.port, said.token) == (4711, "token")


def test_an_interpreter_of_its_own_environment_is_taken_as_it_is() -> None:
    assert interpreter("/apps/own/bin/python", "/apps/own") == "/apps/own/bin/python"


def test_a_stand_in_is_replaced_by_what_it_stands_for(tmp_path: Path) -> None:
    shim, own = program(tmp_path / "shims" / "python3"), program(tmp_path / "versions" / "3.11" / "bin" / "python3")
    assert interpreter(str(shim), str(tmp_path / "versions" / "3.11")) == str(own)
    assert interpreter(str(shim), str(tmp_path / "nothing")) == str(shim)


def test_the_command_line_is_the_one_of_the_same_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "own" / "bin" / "python"
    running, other = program(tmp_path / "run" / "remora-pre"), program(tmp_path / "path" / "remora-pre")
    monkeypatch.setattr(sys, "argv", ["pytest"])
    assert script(str(python), lambda name: None) == str(python.with_name("remora-pre"))
    assert script(str(python), lambda name: str(other)) == str(other)
    monkeypatch.setattr(sys, "argv", [str(running)])
    assert script(str(python), lambda name: str(other)) == str(running)
    beside = program(python.with_name("remora-pre"))
    assert script(str(python), lambda name: str(other)) == str(beside)


def test_sessions_with_and_without_a_runtime_folder_name_the_same_one(tmp_path: Path) -> None:
    uid = os.getuid()
    (tmp_path / str(uid)).mkdir(mode=0o700)
    desktop = tmp_path / str(uid) / "remora-pre" / "remora-pre.sock"
    over_ssh, chosen = Path(f"/tmp/remora-pre-{uid}/remora-pre.sock"), Path("/chosen/remora-pre.sock")

    assert folder(desktop, uid, str(tmp_path)) == folder(over_ssh, uid, str(tmp_path)) == str(desktop.parent)
    assert folder(chosen, uid, str(tmp_path)) == "/chosen"
    assert folder(over_ssh, uid, str(tmp_path / "none")) == str(over_ssh.parent)
