"""Settings files: read as they are, written whole or not at all, with a backup while ours is in."""

from pathlib import Path

import pytest

from host.errors import ConfigFault
from host.namespace import name
from host.setup import settings_file

OURS = f'{{"x": "{name()}"}}\n'


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def backup_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.{name()}.bak")


def test_a_file_is_read_byte_for_byte(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    assert settings_file.read(file) is None

    file.write_bytes('\ufeff{"a":\r\n 1}'.encode())

    assert settings_file.read(file) == '\ufeff{"a":\r\n 1}'


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(ConfigFault, match="not UTF-8"):
        settings_file.read(file)
    with pytest.raises(ConfigFault, match="cannot be read"):
        settings_file.read(tmp_path)


def test_a_new_file_is_private_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / ".claude" / "settings.local.json"

    settings_file.write(file, OURS)

    assert (file.read_text(), mode(file)) == (OURS, 0o600)
    assert list(file.parent.iterdir()) == [file]


def test_an_existing_file_keeps_its_past_and_with_our_token_in_it_is_private(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(b'{"a": 1}\r\n')
    file.chmod(0o644)

    settings_file.write(file, OURS)
    settings_file.write(file, OURS + "\n")

    assert mode(file) == 0o600
    assert backup_of(file).read_bytes() == b'{"a": 1}\r\n'  # from before our first change
    assert mode(backup_of(file)) == 0o600


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [(0o644, OURS, 0o600), (0o640, OURS, 0o600), (0o400, OURS, 0o400), (0o644, "{}\n", 0o644), (0o755, "{}\n", 0o755)],
)
def test_a_mode_is_narrowed_for_a_token_and_else_kept(tmp_path: Path, before: int, text: str, after: int) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}\n\n")
    file.chmod(before)

    settings_file.write(file, text)

    assert mode(file) == after


def test_taking_ours_out_takes_the_backup_along(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}\n")
    settings_file.write(file, OURS)
    assert backup_of(file).exists()

    settings_file.write(file, "{}\n")

    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_was_ours_alone_goes_with_its_empty_folder(tmp_path: Path) -> None:
    file = tmp_path / ".claude" / "settings.local.json"
    settings_file.write(file, OURS)

    settings_file.write(file, None)

    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_other_files_stays(tmp_path: Path) -> None:
    file = tmp_path / ".claude" / "settings.local.json"
    settings_file.write(file, OURS)
    (file.parent / "agents").mkdir()

    settings_file.write(file, None)

    assert [path.name for path in file.parent.iterdir()] == ["agents"]


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.json"
    target.write_text("{}\n")
    link = tmp_path / "settings.json"
    link.symlink_to(target)

    settings_file.write(link, OURS)

    assert link.is_symlink()
    assert target.read_text() == OURS


def test_a_file_that_is_none_of_ours_is_rewritten_with_its_mode_and_without_a_backup(tmp_path: Path) -> None:
    file = tmp_path / "info" / "exclude"
    settings_file.rewrite(file, "first\n")
    file.chmod(0o640)

    settings_file.rewrite(file, OURS)

    assert (file.read_text(), mode(file)) == (OURS, 0o640)
    assert list(file.parent.iterdir()) == [file]


def test_an_interrupted_earlier_write_is_no_obstacle(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    (tmp_path / f".settings.json.{name()}.tmp").write_text("half")

    settings_file.write(file, OURS)

    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]


def test_a_folder_that_is_none_is_explained(tmp_path: Path) -> None:
    (tmp_path / ".claude").write_text("a file")
    with pytest.raises(ConfigFault, match="cannot be written"):
        settings_file.write(tmp_path / ".claude" / "settings.json", OURS)


def test_the_difference_is_shown_without_secrets(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    shown = settings_file.diff(file, '{"a": 1}\n', '{"a": 1, "token": "abc123"}', ("abc123", ""))
    assert "abc123" not in shown
    assert f'+{{"a": 1, "token": "{settings_file.HIDDEN}"}}' in shown
    assert shown.startswith(f"--- {file}\n+++ {file}\n")
    assert "\\ No newline at end of file" in shown


def test_a_file_that_comes_or_goes_is_shown_as_such(tmp_path: Path) -> None:
    assert "--- /dev/null" in settings_file.diff(tmp_path, None, "{}\n")
    assert "+++ /dev/null" in settings_file.diff(tmp_path, "{}\n", None)
    assert settings_file.diff(tmp_path, "{}\n", "{}\n") == ""


def test_a_text_is_put_in_anothers_place_and_back(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"

    settings_file.replace(None, None, "x")
    settings_file.replace(file, None, None)
    assert not file.exists()
    settings_file.replace(file, None, "x = 1\n")
    assert file.read_text() == "x = 1\n"
    settings_file.replace(file, "x = 1\n", None)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_taken_away_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match="cannot be written"):
        settings_file.replace(tmp_path, "x", None)
