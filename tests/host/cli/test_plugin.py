"""The plugin folder on the disk: built, brought up to date, and never over somebody else's files."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from host.cli.main import main
from host.namespace import env
from host.setup.plugin import HOOKS, MANIFEST, README


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(env("data"), str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "made" / "plugin"


def build(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["plugin", str(folder), *options])


def test_a_folder_is_built_with_all_it_needs(folder: Path) -> None:
    result = build(folder)

    assert result.exit_code == 0, result.output
    assert f"claude --plugin-dir {folder}" in result.output
    assert json.loads((folder / MANIFEST).read_text("utf-8"))["name"] == "remora-pre"
    assert not (folder.parents[1] / "data").exists()  # nothing else is made


def test_built_again_it_stays_as_it_is(folder: Path) -> None:
    build(folder)

    assert build(folder).output == "Nothing to change.\n"


def test_what_is_old_in_it_is_brought_up_to_date_and_what_others_put_there_stays(folder: Path) -> None:
    build(folder)
    wanted = (folder / HOOKS).read_text("utf-8")
    (folder / HOOKS).write_text("{}", encoding="utf-8")
    (folder / README).unlink()
    (folder / "notes.txt").write_text("mine", encoding="utf-8")

    said = json.loads(build(folder, "--json").output)

    assert said == {"folder": str(folder), "changed": [HOOKS, README]}
    assert (folder / HOOKS).read_text("utf-8") == wanted
    assert (folder / "notes.txt").read_text("utf-8") == "mine"


@pytest.mark.parametrize("manifest", [None, '{"name": "another"}'])
def test_a_folder_of_somebody_else_is_left_alone(folder: Path, manifest: str | None) -> None:
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    if manifest is not None:
        (folder / MANIFEST).parent.mkdir()
        (folder / MANIFEST).write_text(manifest, encoding="utf-8")
    before = sorted(folder.rglob("*"))

    result = build(folder)

    assert result.exit_code == 1 and "Name a new folder" in result.output
    assert sorted(folder.rglob("*")) == before


def test_an_empty_folder_will_do(folder: Path) -> None:
    folder.mkdir(parents=True)

    assert build(folder).exit_code == 0
