"""What `init` puts into a repository: made once, lines of others kept, and taken back where nobody else wrote."""

from pathlib import Path

import pytest

from host.errors import ConfigFault
from host.setup.edits import Edits, Folder
from host.setup.records import Records
from host.setup.repository_files import coming, going, is_unused
from host.team.formats import FORMATS

NAMES = (".remora-pre/memory/index.json", ".remora-pre/.gitignore", ".remora-pre/.gitattributes")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = tmp_path / "repository"
    made.mkdir()
    return made


def write(repository: Path, *edits: object, folder: bool | None = None) -> None:
    memory = repository / FORMATS.memory_root
    moves = None if folder is None else Folder(path=memory, makes=folder)
    Edits(files=edits, folder=moves).write(Records(repository.parent / "records"))  # type: ignore[arg-type]


def test_what_is_missing_is_made_and_taken_back_without_a_trace(repository: Path) -> None:
    write(repository, *coming(repository, FORMATS), folder=True)
    there = {name: (repository / name).read_text() for name in NAMES}
    again = coming(repository, FORMATS)

    assert there[NAMES[1]] == ".rpx-*\n"
    assert not any(edit.differs for edit in again)
    assert is_unused(repository / FORMATS.memory_root)
    write(repository, *going(repository, FORMATS), folder=False)
    assert list(repository.iterdir()) == []


@pytest.mark.parametrize("text", ["*.tmp", "*.tmp\n", "# of the team\n.rpx-*\n*.tmp\n"])
def test_lines_of_others_stay(repository: Path, text: str) -> None:
    ignore = repository / NAMES[1]
    ignore.parent.mkdir()
    ignore.write_text(text)

    write(repository, *coming(repository, FORMATS), folder=True)
    made = ignore.read_text()
    write(repository, *going(repository, FORMATS))

    assert made.startswith(text) and made.splitlines().count(".rpx-*") == 1
    assert ignore.read_text() == made
    assert not (repository / NAMES[2]).exists()


def test_an_index_of_another_make_is_left_alone(repository: Path) -> None:
    index = repository / NAMES[0]
    index.parent.mkdir(parents=True)
    index.write_text("{}")

    assert not coming(repository, FORMATS)[0].differs
    assert not going(repository, FORMATS)[0].differs


@pytest.mark.parametrize("name", [".remora-pre", ".remora-pre/memory", *NAMES])
def test_a_link_in_the_way_is_refused(repository: Path, name: str) -> None:
    (repository / name).parent.mkdir(parents=True, exist_ok=True)
    (repository / name).symlink_to(repository.parent)

    for edits in (coming, going):
        with pytest.raises(ConfigFault, match="is a link"):
            edits(repository, FORMATS)


def test_a_folder_with_memories_is_in_use(repository: Path) -> None:
    memory = repository / FORMATS.memory_root
    assert not is_unused(memory)
    (memory / "entries").mkdir(parents=True)
    assert not is_unused(memory)
