"""Document files are found, read and written below their folder alone."""

from pathlib import Path

import pytest

from governance.formation.contracts import FileStep
from governance.formation.errors import ParameterFault
from host.formation.document_files import MOST, DocumentFiles, NotWritten, Texts
from recall.documents import Documents
from tests.support.noting import SCOPE


@pytest.fixture
def files(tmp_path: Path) -> DocumentFiles:
    return DocumentFiles(tmp_path / "data", Documents())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "data" / "memory" / SCOPE
    made.mkdir(parents=True)
    return made


def put(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        file = folder / name.replace("__", "/").replace("_dot_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


async def test_documents_are_found_and_nothing_else_is(files: DocumentFiles, folder: Path) -> None:
    put(folder, scenes__a_dot_md="A", persona_dot_md="P", doctrine_dot_md="D", skills__x__SKILL_dot_md="X")
    put(
        folder,
        skills__x__scripts__a_dot_sh="S",
        records__2026_dot_md="record",
        scenes__b_dot_txt="no",
        skills__loose_dot_md="no",
    )
    put(
        folder,
        scenes___dot_hidden_dot_md="no",
        other_dot_md="no",
        scenes__deep__c_dot_md="no",
        skills__a__b__c__d__e__f="no",
    )

    assert await files.texts(SCOPE) == Texts(
        said={
            "scenes/a.md": "A",
            "persona.md": "P",
            "doctrine.md": "D",
            "skills/x/SKILL.md": "X",
            "skills/x/scripts/a.sh": "S",
        }
    )


async def test_a_workspace_without_documents_has_none(files: DocumentFiles) -> None:
    assert await files.texts(SCOPE) == Texts(said={})


async def test_what_cannot_be_read_is_told_with_the_reason(files: DocumentFiles, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("SECRET")
    put(folder, scenes__a_dot_md="A", skills__x__SKILL_dot_md="X", skills__x__big_dot_txt="x" * 262_145)
    (folder / "scenes/bytes.md").write_bytes(b"\xff\xfe")
    (folder / "scenes/link.md").symlink_to(tmp_path / "secret.md")
    (folder / "persona.md").symlink_to(tmp_path / "secret.md")
    (folder / "skills/linked").symlink_to(tmp_path)
    (folder / "skills/x/out").symlink_to(tmp_path)

    found = await files.texts(SCOPE)

    assert set(found.said) == {"scenes/a.md", "skills/x/SKILL.md"} and "SECRET" not in str(found)
    assert found.unreadable == {
        "scenes/bytes.md": "not-utf-8",
        "scenes/link.md": "link",
        "persona.md": "link",
        "skills/linked": "link",
        "skills/x/out": "link",
        "skills/x/big.txt": "too-large",
    }


async def test_a_folder_that_is_a_link_holds_nothing(files: DocumentFiles, folder: Path, tmp_path: Path) -> None:
    put(tmp_path / "elsewhere", a_dot_md="A")
    (folder / "scenes").symlink_to(tmp_path / "elsewhere")

    assert (await files.texts(SCOPE)).said == {}


async def test_so_many_files_are_looked_at(files: DocumentFiles, folder: Path) -> None:
    put(folder, **{f"scenes__{n:04}_dot_md": "x" for n in range(MOST + 5)})

    assert len((await files.texts(SCOPE)).said) == MOST


@pytest.mark.parametrize("key", ["", "../x", "a/b", "/etc", ".", "..", ".hidden", "a\x00b", "x" * 200])
async def test_what_is_no_key_of_a_workspace_is_no_folder(files: DocumentFiles, key: str) -> None:
    with pytest.raises(ParameterFault) as refused:
        await files.texts(key)
    assert refused.value.code == "bad-workspace"


async def test_a_step_writes_changes_and_takes_away(files: DocumentFiles, folder: Path) -> None:
    file = folder / "scenes/a.md"
    for before, after in ((None, "one"), ("one", "two"), ("two", None), (None, None)):
        await files.take(SCOPE, FileStep(file="scenes/a.md", before=before, after=after))
        assert (file.read_text() if file.exists() else None) == after


async def test_a_step_that_was_taken_already_is_left(files: DocumentFiles, folder: Path) -> None:
    put(folder, scenes__a_dot_md="two")
    before = (folder / "scenes/a.md").stat().st_mtime_ns

    await files.take(SCOPE, FileStep(file="scenes/a.md", before="one", after="two"))

    assert (folder / "scenes/a.md").stat().st_mtime_ns == before


@pytest.mark.parametrize(("before", "after"), [("one", "two"), ("one", None), (None, "two")])
async def test_a_file_that_says_something_else_stays(
    files: DocumentFiles, folder: Path, before: str | None, after: str | None
) -> None:
    put(folder, scenes__a_dot_md="theirs")

    with pytest.raises(NotWritten):
        await files.take(SCOPE, FileStep(file="scenes/a.md", before=before, after=after))

    assert (folder / "scenes/a.md").read_text() == "theirs" and len(list((folder / "scenes").iterdir())) == 1


async def test_a_path_out_of_the_folder_is_not_written(files: DocumentFiles, folder: Path, tmp_path: Path) -> None:
    for path in ("../x.md", "/x.md", "scenes/../../x.md"):
        with pytest.raises(NotWritten):
            await files.take(SCOPE, FileStep(file=path, before=None, after="x"))
    assert list(tmp_path.rglob("x.md")) == []
