"""Skills that a run may look at: the workspace's, and others that are not ours."""

from pathlib import Path

from governance.formation.applying import Standing
from governance.formation.contracts import DocumentKind
from governance.formation.standing import looked
from host.formation.held_skills import HeldSkills, elsewhere
from tests.support.clock import START
from tests.support.noting import SCOPE


def standing(**texts: str) -> Standing:
    files = {f"skills/{name.replace('_', '-')}/SKILL.md": text for name, text in texts.items()}
    return looked(SCOPE, files | {"skills/seal/a.sh": "make\n"}, {}, (), START).standing


def put(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(text)


async def test_skills_are_listed_found_and_read() -> None:
    skills = HeldSkills(standing(seal="---\ndescription: Seals it.\n---\nRun make.", other="Else entirely."))

    assert [one.name for one in await skills.list()] == ["other", "seal"]
    (found,) = await skills.search("seals")
    assert (found.meta.summary, found.resources, found.writable) == ("Seals it.", ("a.sh",), True)
    assert await skills.get(found.id) == found and await skills.get("doc_none") is None


async def test_a_resource_is_read_by_its_own_id() -> None:
    held = standing(seal="Run make.")
    (resource,) = held.of(DocumentKind.RESOURCE)

    assert await HeldSkills(held).get(resource.id) == resource
    assert resource not in await HeldSkills(held).list()


async def test_skills_elsewhere_are_seen_and_not_ours(tmp_path: Path) -> None:
    put(tmp_path / "skills", "theirs", "---\nname: theirs\ndescription: >-\n  Does it\n  all.\n---\n\nBody.\n")
    put(tmp_path / "skills", "seal", "A skill of a name that we have.")
    put(tmp_path / "skills", "Bad Name", "No skill.")
    put(tmp_path / "skills", "no-end", "---\nname: x\n")
    put(tmp_path / "out", "linked", "SECRET")
    (tmp_path / "skills" / "linked").symlink_to(tmp_path / "out" / "linked")
    (tmp_path / "skills" / "hard").mkdir()
    (tmp_path / "skills" / "hard" / "SKILL.md").hardlink_to(tmp_path / "out" / "linked" / "SKILL.md")

    found = await elsewhere([tmp_path / "skills", tmp_path / "none"])
    skills = HeldSkills(standing(seal="Ours."), found)

    assert [(one.name, one.writable) for one in await skills.list()] == [("seal", True), ("theirs", False)]
    assert {one.meta.summary for one in found if one.name == "theirs"} == {"Does it all."}
    assert "SECRET" not in str(found)
