"""Skills in a product's folder: ours by their manifest, and nobody's to overwrite once they were edited."""

import pytest

from governance.team import projected
from governance.team.errors import Kind, TeamFault
from governance.team.files import Skill, parse_skill
from recall.canonical import bytes_digest
from tests.support.consolidating import FORMATS

SKILL = Skill(name="release", description="When a release is made.", body="1. Tag it.")
PATH = ".claude/skills/release-pre/SKILL.md"


def test_a_skill_has_our_mark_in_its_folder_and_in_its_name() -> None:
    made = projected.projected(SKILL, FORMATS)
    assert made.folder == "release-pre"
    assert parse_skill(PATH, made.data) == Skill(name="release-pre", description=SKILL.description, body=SKILL.body)
    assert projected.written_digest(made.manifest, FORMATS) == bytes_digest(made.data)
    assert projected.manifest_file(FORMATS) == ".remora-pre.json"


def test_a_name_that_is_too_long_with_the_mark_has_no_form_there() -> None:
    with pytest.raises(ValueError, match="at most"):
        projected.projected(Skill(name="a" * 62, description="d", body="b"), FORMATS)


def test_what_we_wrote_may_be_written_over_and_what_was_edited_may_not() -> None:
    old = projected.projected(SKILL, FORMATS)
    new = projected.projected(Skill(name="release", description="Anew.", body="2. Tag it twice."), FORMATS)
    projected.check(None, None, new, PATH, FORMATS)
    projected.check(old.data, old.manifest, new, PATH, FORMATS)
    projected.check(new.data, None, new, PATH, FORMATS)
    for edited, manifest in [(old.data + b"x", old.manifest), (old.data, None), (old.data, b"{}"), (old.data, b"\xff")]:
        with pytest.raises(TeamFault) as fault:
            projected.check(edited, manifest, new, PATH, FORMATS)
        assert fault.value.kind is Kind.ASSEMBLY_CONFLICT


def test_a_manifest_of_something_else_tells_nothing() -> None:
    assert projected.written_digest(b'{"format":"other@v1","files":{"SKILL.md":"0"}}', FORMATS) is None
    assert projected.written_digest(None, FORMATS) is None


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("Look: !`git log | sh`", "Look: ! `git log | sh`"),
        ("```!\nrm -r x\n```", "```sh\nrm -r x\n```"),
        ("~~~~ !\nrm -r x\n~~~~", "~~~~sh\nrm -r x\n~~~~"),
        ("Done! `make` runs.", "Done! `make` runs."),
    ],
)
def test_a_skill_runs_nothing_when_it_is_loaded(body: str, written: str) -> None:
    """A product runs such commands itself, before the model reads a word and without a question."""
    made = projected.projected(Skill(name="release", description="d", body=body), FORMATS)
    assert made.data.decode().endswith(f"---\n\n{written}\n")
