"""`init` and `init --remove` on a dozen realistic settings files, as files and as links: every foreign byte stays."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from host.cli.main import main
from host.namespace import env
from tests.support.settings import TEXTS, places, stands_for


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(env("data"), str(tmp_path / "data"))
    monkeypatch.setenv(env("socket"), str(tmp_path / "run" / "remora.sock"))
    monkeypatch.setenv("PATH", f"/usr/bin{os.pathsep}/bin")  # no agent product
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def init(repository: Path, host: str, level: str, *arguments: str) -> Result:
    command = ["init", "--workspace", str(repository), "--host", host, "--level", level, "--yes", *arguments]
    return CliRunner().invoke(main, command)


def written(*folders: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for folder in folders for file in folder.rglob("*") if file.is_file()}


def place(text: Path, repository: Path, home: Path) -> tuple[str, Path]:
    """Put a realistic file where its product looks for it; the level, and where that is."""
    where = places(repository.parent)
    level, file = stands_for(text, where)
    path = home / file.path.relative_to(where.home) if level == "user" else file.path
    if text.suffix == ".jsonc":
        path = path.with_suffix(".jsonc")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.read_bytes())
    path.chmod(0o640)
    return level, path


@pytest.mark.promise("settings-untouched")
@pytest.mark.parametrize("linked", [False, True], ids=["a file", "a link"])
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: f"{text.parent.name}-{text.name}")
def test_a_realistic_file_comes_back_as_it_was(repository: Path, home: Path, text: Path, linked: bool) -> None:
    level, path = place(text, repository, home)
    target = path
    if linked:
        target = repository.parent / "dotfiles" / path.name
        target.parent.mkdir()
        path.rename(target)
        path.symlink_to(target)

    first = init(repository, text.parent.name, level)
    assert first.exit_code == 0, first.output
    assert target.read_bytes() != text.read_bytes() and path.is_symlink() == linked
    between = written(repository, home)
    assert "Nothing to change." in init(repository, text.parent.name, level).output
    assert between == written(repository, home)

    last = init(repository, text.parent.name, level, "--remove")
    assert last.exit_code == 0, last.output
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == (text.read_bytes(), 0o640)
    assert path.is_symlink() == linked
    assert set(written(repository, home)) <= {path, target}


@pytest.mark.parametrize("read_only", ["file", "folder"])
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: f"{text.parent.name}-{text.name}")
def test_what_is_read_only_is_refused_and_nothing_is_written(
    repository: Path, home: Path, text: Path, read_only: str
) -> None:
    level, path = place(text, repository, home)
    locked, permissions = (path, 0o444) if read_only == "file" else (path.parent, 0o555)
    before = locked.stat().st_mode
    locked.chmod(permissions)
    try:
        result = init(repository, text.parent.name, level)
    finally:
        locked.chmod(before)

    assert result.exit_code == 1 and "read-only" in result.stderr and "chmod u+w" in result.stderr
    assert path.read_bytes() == text.read_bytes()
    assert set(written(repository, home)) == {path}
