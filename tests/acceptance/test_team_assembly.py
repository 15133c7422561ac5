"""team.md 15, item 24: assembling twice changes nothing more, and what is not as we left it is not touched."""

from pathlib import Path

import pytest

from governance.team.errors import Kind, TeamFault
from tests.support.assembling import Assembled
from tests.support.consolidating import FORMATS, a_scene, put_doctrine, put_scene

pytestmark = pytest.mark.promise("team-24")


@pytest.fixture
def repository(tmp_path: Path) -> Assembled:
    made = Assembled(tmp_path / "repository")
    put_doctrine(made.root, "发布前先跑测试。 Test before a release.")
    for number in range(18):
        put_scene(made.root, a_scene(f"scene-{number:02}", heat=number + 1))
    made.skill()
    return made


@pytest.mark.parametrize("provider", ["claude", "codex"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
async def test_item_24_assembling_twice_gives_identical_bytes_and_keeps_the_users_own(
    repository: Assembled, provider: str, newline: bytes
) -> None:
    name = {"claude": "CLAUDE.md", "codex": "AGENTS.md"}[provider]
    mine = newline.join([b"# Mine", b"", b"Caf\xc3\xa9, without a newline at the end"])
    (repository.root / name).write_bytes(mine)
    first = await repository.assemble(provider)
    once = repository.files()
    second = await repository.assemble(provider)
    assert repository.files() == once
    assert (first.files[0].changed, second.files[0].changed, second.skills[0].changed) == (True, False, False)
    made = once[name]
    assert isinstance(made, bytes) and made.startswith(mine)
    assert first.omitted_scenes == 3 and b"- and 3 more" in made
    assert made.count(b"\n") == made.count(newline)


@pytest.mark.parametrize("half", [FORMATS.begin, FORMATS.end])
async def test_item_24_half_a_marker_is_a_conflict_and_the_file_is_untouched(repository: Assembled, half: str) -> None:
    (repository.root / "CLAUDE.md").write_text(f"# Mine\n{half}\nmore\n")
    before = repository.files()
    with pytest.raises(TeamFault) as fault:
        await repository.assemble()
    assert fault.value.kind is Kind.ASSEMBLY_CONFLICT
    assert repository.files() == before


async def test_item_24_an_edited_projected_skill_is_a_conflict(repository: Assembled) -> None:
    await repository.assemble()
    edited = repository.root / ".claude" / "skills" / "release-pre" / "SKILL.md"
    edited.write_text(edited.read_text().replace("Tag it", "Tag nothing"))
    before = repository.files()
    with pytest.raises(TeamFault) as fault:
        await repository.assemble()
    assert fault.value.kind is Kind.ASSEMBLY_CONFLICT
    assert repository.files() == before


async def test_item_24_a_link_from_one_file_to_the_other_is_one_block(repository: Assembled) -> None:
    (repository.root / "AGENTS.md").write_text("# Ours\n")
    (repository.root / "CLAUDE.md").symlink_to("AGENTS.md")
    for provider in ("claude", "codex", "claude"):
        done = await repository.assemble(provider)
        assert [one.target_path for one in done.files] == ["AGENTS.md"]
    assert repository.files()["CLAUDE.md"] == "AGENTS.md"
    assert (repository.root / "AGENTS.md").read_text().count(FORMATS.begin) == 1
    assert not (await repository.assemble("codex")).files[0].changed


@pytest.mark.parametrize(("provider", "mine"), [("codex", 32_000), ("claude", 39_500)])
async def test_item_24_a_block_over_the_hosts_cap_warns_of_the_part_that_falls_out(
    repository: Assembled, provider: str, mine: int
) -> None:
    name = {"claude": "CLAUDE.md", "codex": "AGENTS.md"}[provider]
    (repository.root / name).write_text("x" * (mine - 1) + "\n")
    told = await repository.assemble(provider)
    (warning,) = told.files[0].warnings
    assert name in warning and "scenes, skills" in warning and "doctrine" not in warning
    (repository.root / name).write_text("x\n")
    assert (await repository.assemble(provider)).files[0].warnings == ()
