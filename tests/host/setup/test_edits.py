"""Edits are shown, then written all or not at all; what was before comes back, bytes and permissions."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from host.errors import ConfigFault, RemoraError
from host.setup import settings_file
from host.setup.claude_code import HOOKS
from host.setup.edits import Edit, Edits, Folder, about, connecting, removing, secrets_of
from host.setup.records import Records, digest
from host.setup.registrar import SettingsFile
from tests.support.settings import WANTED

BEFORE = '{\n  "model": "opus"\n}\n'


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path / "state" / "settings")


@pytest.fixture
def file(tmp_path: Path) -> SettingsFile:
    return HOOKS.at(tmp_path / "shop" / ".claude" / "settings.local.json", "hooks", private=True)


def connect(file: SettingsFile, records: Records) -> Edit:
    edit = connecting(file, WANTED, records, settings_file.read(file.path), about("claude-code", "project", Path("/x")))
    Edits(files=(edit,)).write(records)
    return edit


def take_back(file: SettingsFile, records: Records) -> None:
    edit = removing(file, records, settings_file.read(file.path), "claude-code")
    Edits(files=(edit,)).write(records)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def wrote(file: SettingsFile, text: str, permissions: int = 0o644) -> None:
    file.path.parent.mkdir(parents=True, exist_ok=True)
    file.path.write_bytes(text.encode())
    file.path.chmod(permissions)


def test_a_new_file_and_its_folders_go_whole(file: SettingsFile, records: Records, tmp_path: Path) -> None:
    connect(file, records)
    assert mode(file.path) == 0o600

    take_back(file, records)

    assert not (tmp_path / "shop").exists() and list(records.folder.iterdir()) == []


def test_a_folder_that_was_there_stays(file: SettingsFile, records: Records) -> None:
    file.path.parent.mkdir(parents=True)
    connect(file, records)
    take_back(file, records)
    assert list(file.path.parent.iterdir()) == []


@pytest.mark.parametrize("text", [BEFORE, "", " \r\n", '{"hooks": {"Stop": []}, }'])
def test_bytes_and_permissions_come_back(file: SettingsFile, records: Records, text: str) -> None:
    wrote(file, text, 0o640)
    connect(file, records)
    assert mode(file.path) == 0o600 and records.before(file.path) == text

    take_back(file, records)

    assert (file.path.read_bytes().decode(), mode(file.path)) == (text, 0o640)


def test_what_others_wrote_since_stays(file: SettingsFile, records: Records) -> None:
    wrote(file, BEFORE)
    connect(file, records)
    grown = json.loads(file.path.read_text()) | {"theme": "dark"}
    file.path.write_text(json.dumps(grown, indent=2))

    take_back(file, records)

    assert json.loads(file.path.read_text()) == {"model": "opus", "theme": "dark"}
    assert mode(file.path) == 0o644 and records.get(file.path) is None


def test_after_an_update_what_others_wrote_in_between_is_part_of_what_comes_back(
    file: SettingsFile, records: Records
) -> None:
    wrote(file, BEFORE)
    connect(file, records)
    theirs = file.path.read_text().replace('"model": "opus"', '"model": "haiku"')
    file.path.write_text(theirs.replace(WANTED.token, "stale"))
    connect(file, records)

    take_back(file, records)

    assert file.path.read_text() == BEFORE.replace("opus", "haiku")


def test_when_the_past_is_lost_a_users_file_is_not_taken_for_ours(file: SettingsFile, records: Records) -> None:
    wrote(file, BEFORE)
    connect(file, records)
    for kept in records.folder.glob("*.before"):
        kept.unlink()

    take_back(file, records)

    assert file.path.read_text() == BEFORE and records.get(file.path) is None


def test_without_a_record_every_entry_is_still_found(file: SettingsFile, records: Records) -> None:
    wrote(file, BEFORE)
    connect(file, records)
    records.drop(file.path)

    take_back(file, records)

    assert file.path.read_text() == BEFORE


def test_a_second_time_nothing_differs_and_the_record_stays(file: SettingsFile, records: Records) -> None:
    wrote(file, BEFORE)
    connect(file, records)
    kept = records.get(file.path)

    edit = connect(file, records)

    assert not edit.differs and records.get(file.path) == kept and records.before(file.path) == BEFORE
    assert kept is not None and kept.digest == digest(file.path.read_text())


def test_a_file_that_changed_while_one_was_asked_is_not_written_over(
    file: SettingsFile, records: Records, tmp_path: Path
) -> None:
    wrote(file, BEFORE)
    first = Edit(path=tmp_path / "exclude", before=None, after="line\n")
    edit = connecting(file, WANTED, records, BEFORE, about("claude-code", "project", Path("/x")))
    file.path.write_text('{"model": "sonnet"}')

    with pytest.raises(RemoraError, match="changed while you were asked"):
        Edits(files=(first, edit)).write(records)

    assert file.path.read_text() == '{"model": "sonnet"}' and records.get(file.path) is None
    assert not (tmp_path / "exclude").exists()


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_when_one_cannot_be_written_none_is(
    records: Records, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    places = [tmp_path / name for name in ("a", "b", "new/c")]
    for place in places[:2]:
        place.write_text("old")
    named = about("codex", "user", tmp_path)
    files = [
        Edit(path=places[0], before="old", after="new", mode=0o600),
        Edit(path=places[1], before="old", after=None),
        Edit(path=places[2], before=None, after="new", record=msgspec.structs.replace(named, path=str(places[2]))),
    ]
    did: list[str] = []
    moved = ((lambda: did.append("do")), (lambda: did.append("undo")))
    put = settings_file.put

    def refused(path: Path, text: str | None, mode: int = 0o644) -> None:
        if path == places[failing] and text != "old":
            raise ConfigFault("no", "no")
        put(path, text, mode)

    monkeypatch.setattr(settings_file, "put", refused)
    folder = Folder(path=tmp_path / "memories" / "memory", makes=True)
    with pytest.raises(ConfigFault):
        Edits(files=tuple(files), folder=folder, also=(moved,)).write(records)

    assert [place.read_text() for place in places[:2]] == ["old", "old"]
    assert not places[2].parent.exists() and not (tmp_path / "memories").exists()
    assert records.get(places[2]) is None and did == ["do", "undo"]


def test_what_is_read_only_is_refused_before_anything_is_written(
    file: SettingsFile, records: Records, tmp_path: Path
) -> None:
    wrote(file, BEFORE, 0o444)
    first = Edit(path=tmp_path / "exclude", before=None, after="line\n")
    edit = connecting(file, WANTED, records, BEFORE, about("claude-code", "project", Path("/x")))

    with pytest.raises(ConfigFault, match="read-only"):
        Edits(files=(first, edit)).write(records)

    assert file.path.read_text() == BEFORE and not (tmp_path / "exclude").exists()


def test_a_fault_names_the_file(file: SettingsFile, records: Records) -> None:
    with pytest.raises(ConfigFault, match=str(file.path)):
        connecting(file, WANTED, records, "{", about("claude-code", "project", Path("/x")))
    with pytest.raises(ConfigFault, match=str(file.path)):
        removing(file, records, "{", "claude-code")


def test_what_is_shown_has_no_token(file: SettingsFile, records: Records) -> None:
    edit = connecting(file, WANTED, records, None, about("claude-code", "project", Path("/x")))
    edits = Edits(files=(edit, replace(edit, before="same", after="same")), secrets=(WANTED.token,))

    assert edits.differs and "Bearer" in edits.shown() and WANTED.token not in edits.shown()
    assert secrets_of([(file, edit.after), (file, None)]) == (WANTED.token,)
    assert not Edits().differs


def test_a_memory_folder_goes_with_the_one_around_it_unless_something_is_in_there(
    records: Records, tmp_path: Path
) -> None:
    folder = tmp_path / "ours" / "memory"
    Edits(folder=Folder(path=folder, makes=True)).write(records)
    assert folder.is_dir()
    (folder.parent / "note").touch()

    Edits(folder=Folder(path=folder, makes=False)).write(records)
    assert not folder.exists() and folder.parent.exists()
