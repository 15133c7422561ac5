"""Files of other products: read as they are, written whole or not at all, and through links."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from host.errors import ConfigFault
from host.namespace import name
from host.setup import settings_file


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_file_is_read_byte_for_byte(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    assert settings_file.read(file) is None and settings_file.mode_of(file) is None

    file.write_bytes('\ufeff{"a":\r\n 1}'.encode())

    assert settings_file.read(file) == '\ufeff{"a":\r\n 1}'
    assert settings_file.mode_of(file) == mode(file)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(ConfigFault, match="not UTF-8"):
        settings_file.read(file)
    with pytest.raises(ConfigFault, match="but a folder"):
        settings_file.read(tmp_path)
    assert settings_file.read(file / "below") is None


def special(folder: Path, kind: str) -> Path:
    """What is no plain file, and can be made without rights."""
    path = folder / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.path.relpath(path))
    return path


@pytest.mark.parametrize("linked", [False, True], ids=["itself", "a link"])
@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
def test_what_is_no_plain_file_is_refused_at_once_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, linked: bool
) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    path = special(tmp_path, kind)
    if linked:
        (tmp_path / "settings.json").symlink_to(path)
        path = tmp_path / "settings.json"
    before = path.stat()

    for act in (settings_file.read, settings_file.check_writable):
        with pytest.raises(ConfigFault, match=f"no plain file but a {kind}") as caught:
            act(path)
        assert str(path) in caught.value.problem and caught.value.next_step
    if kind != "device":  # a test that fails must not replace one
        for text in ("{}", None):
            with pytest.raises(ConfigFault, match="no plain file"):
                settings_file.put(path, text)
    assert (path.stat().st_ino, path.stat().st_mode) == (before.st_ino, before.st_mode)


def test_what_is_too_large_for_settings_is_refused_before_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    with file.open("wb") as made:
        made.truncate(settings_file.MOST_BYTES)
    assert len(settings_file.read(file) or "") == settings_file.MOST_BYTES
    with file.open("ab") as made:
        made.write(b" ")
    with pytest.raises(ConfigFault, match="has 8 MiB"):
        settings_file.read(file)


def test_a_file_is_written_at_its_mode_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"

    settings_file.put(file, "one\r\n", 0o600)
    assert (file.read_bytes(), mode(file)) == (b"one\r\n", 0o600)

    settings_file.put(file, "two", 0o640)
    assert (file.read_bytes(), mode(file)) == (b"two", 0o640)
    assert list(tmp_path.iterdir()) == [file]

    settings_file.put(file, None)
    settings_file.put(file, None)
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_and_what_it_names_is_written(tmp_path: Path) -> None:
    target, link = tmp_path / "dotfiles" / "settings.json", tmp_path / "settings.json"
    target.parent.mkdir()
    target.write_text("old")
    link.symlink_to(target)

    settings_file.put(link, "new", 0o600)

    assert link.is_symlink() and target.read_text() == "new" and mode(target) == 0o600
    assert f"{link} -> {target}" in settings_file.diff(link, "old", "new")


def test_a_link_to_nothing_stays_and_its_target_is_made(tmp_path: Path) -> None:
    target, link = tmp_path / "elsewhere" / "settings.json", tmp_path / "settings.json"
    link.symlink_to(target)

    made = settings_file.make_folders(link)
    settings_file.put(link, "new")
    assert (made, link.is_symlink(), target.read_text()) == ((target.parent,), True, "new")

    settings_file.put(link, None)
    settings_file.remove_folders(made)
    assert link.is_symlink() and not target.parent.exists()


def test_folders_are_made_and_removed_as_far_as_they_are_ours(tmp_path: Path) -> None:
    made = settings_file.make_folders(tmp_path / "a" / "b" / "settings.json")
    assert made == (tmp_path / "a", tmp_path / "a" / "b")
    assert settings_file.make_folders(tmp_path / "a" / "b" / "settings.json") == ()

    (tmp_path / "a" / "theirs").touch()
    settings_file.remove_folders(made)

    assert (tmp_path / "a" / "theirs").exists() and not (tmp_path / "a" / "b").exists()


@pytest.mark.parametrize("read_only", ["file", "folder"])
def test_what_is_read_only_is_refused_with_a_way_out(tmp_path: Path, read_only: str) -> None:
    file = tmp_path / "folder" / "settings.json"
    file.parent.mkdir()
    file.write_text("{}")
    settings_file.check_writable(file)
    settings_file.check_writable(tmp_path / "folder" / "new" / "settings.json")
    (file if read_only == "file" else file.parent).chmod(0o444 if read_only == "file" else 0o555)

    with pytest.raises(ConfigFault, match="read-only") as caught:
        settings_file.check_writable(file)

    assert caught.value.next_step
    file.parent.chmod(0o755)


def test_a_file_where_a_folder_should_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".claude").write_text("")
    with pytest.raises(ConfigFault, match="is no folder"):
        settings_file.check_writable(tmp_path / ".claude" / "settings.json")
    with pytest.raises(ConfigFault, match="cannot be written"):
        settings_file.make_folders(tmp_path / ".claude" / "deeper" / "settings.json")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.json"
    file.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigFault, match="No space left"):
        settings_file.put(file, "new")

    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]


def test_a_draft_of_a_killed_run_is_no_obstacle(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    gone = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True, check=True).stdout.strip()
    for draft in ("tmp", f"{gone}.tmp", f"{os.getpid()}.tmp", "99999999999999999999.tmp"):
        (tmp_path / f".settings.json.{name()}.{draft}").write_text("half")

    settings_file.put(file, "whole")

    assert file.read_text() == "whole" and list(tmp_path.iterdir()) == [file]


def test_the_draft_of_another_run_at_work_is_left_to_it(tmp_path: Path) -> None:
    file, draft = tmp_path / "settings.json", tmp_path / f".settings.json.{name()}.{os.getppid()}.tmp"
    draft.write_text("half")

    settings_file.put(file, "whole")

    assert (file.read_text(), draft.read_text()) == ("whole", "half")


def test_the_difference_hides_secrets_and_tells_of_a_missing_line_end(tmp_path: Path) -> None:
    shown = settings_file.diff(tmp_path / "s.json", "a", "a\nsecret-token\n", ["secret-token", ""])

    assert "secret-token" not in shown and settings_file.HIDDEN in shown
    assert "\\ No newline at end of file" in shown
    assert "/dev/null" in settings_file.diff(tmp_path / "s.json", None, "a\n")
