"""Scenes, the doctrine and skills are read by one parser, counted after they are normalised, and written as read."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.errors import AnswerFault
from governance.team.files import (
    DOCTRINE_BODY,
    MOST_HEAT,
    SCENE_BODY,
    SUMMARY,
    Doctrine,
    Scene,
    Skill,
    checked_doctrine,
    checked_scene,
    checked_skill,
    named,
    normal,
    parse_doctrine,
    parse_scene,
    parse_skill,
    render_doctrine,
    render_scene,
    render_skill,
    scene_path,
    skill_path,
)
from recall.team_front import EntryFault

AT = "2026-11-12T09:30:00.000Z"
SCENE = Scene(name="release", created=AT, updated=AT, summary="How we publish", heat=3, body="# Release\n\nFrom main.")
SKILL = Skill(name="release-notes", description="Write them", body="1. Read the log.")
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"  # one picture, five code points
ACCENTED = "e\u0301"  # one letter, two code points

_said = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n"), min_size=1, max_size=200)
_word = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=20)


def code(made: object) -> str:
    assert isinstance(made, EntryFault), made
    assert made.problem
    return made.code


def test_a_scene_says_four_things_before_its_body() -> None:
    data = render_scene(SCENE)

    assert data.decode() == (
        f'---\ncreated: "{AT}"\nupdated: "{AT}"\nsummary: How we publish\nheat: 3\n---\n\n# Release\n\nFrom main.\n'
    )
    assert parse_scene("scenes/release.md", data) == SCENE


def test_a_name_that_the_file_does_not_say_stands_in_it() -> None:
    scene = msgspec.structs.replace(SCENE, name="发布流程")
    path = scene_path(scene.name)

    assert path.startswith("scenes/scene-")
    assert b'name: "\xe5\x8f\x91' in render_scene(scene)
    assert parse_scene(path, render_scene(scene)) == scene
    assert code(parse_scene("scenes/other.md", render_scene(scene))) == "identity-mismatch"


@given(_word, _said, st.integers(1, MOST_HEAT))
def test_a_scene_is_read_as_it_was_written(name: str, body: str, heat: int) -> None:
    try:
        scene = msgspec.structs.replace(SCENE, name=name, body=normal(body), heat=heat)
        data = render_scene(scene)
    except (ValueError, AnswerFault):  # nothing but blanks, or no character to be read
        return

    assert parse_scene(scene_path(name), data) == scene


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("heat: 3", "heat: 0", "bad-value"),
        ("heat: 3", f"heat: {MOST_HEAT + 1}", "bad-value"),
        ("heat: 3", "heat: true", "bad-value"),
        ("heat: 3", 'heat: "3"', "bad-value"),
        ("heat: 3\n", "", "missing-field"),
        ("heat: 3", "heat: 3\nowner: me", "unknown-field"),
        (f'created: "{AT}"', "created: yesterday", "bad-value"),
        ("summary: How we publish", f"summary: {'x' * 41}", "bad-value"),
        ("summary: How we publish", 'summary: "two\\nlines"', "bad-value"),
        ("From main.", "x" * SCENE_BODY, "over-limit"),
        ("# Release\n\nFrom main.", " ", "no-body"),
        ("From main.", "From\r\nmain.", "cr"),
        ("From main.", "<<<<<<< HEAD\n", "conflict-markers"),
    ],
)
def test_a_scene_that_is_not_as_it_must_be_is_a_fault(old: str, new: str, expected: str) -> None:
    text = render_scene(SCENE).decode()
    assert old in text

    assert code(parse_scene("scenes/release.md", text.replace(old, new, 1).encode())) == expected


@pytest.mark.parametrize(
    "letter", ["x", "发", "\U0001f680", FAMILY, ACCENTED], ids=["ascii", "cjk", "emoji", "zwj", "combining"]
)
def test_texts_are_counted_in_code_points_once_they_are_normalised(letter: str) -> None:
    """Neither bytes, nor what is seen as one letter; and accents are not put together."""

    def of(points: int) -> str:
        return (letter * points)[: points - points % len(letter)] + "y" * (points % len(letter))

    for most, made in (
        (SUMMARY, lambda text: checked_scene(msgspec.structs.replace(SCENE, summary=text))),
        (SCENE_BODY, lambda text: checked_scene(msgspec.structs.replace(SCENE, body=text))),
        (DOCTRINE_BODY, lambda text: checked_doctrine(Doctrine(body=text))),
    ):
        assert len(of(most)) == most
        assert made(of(most)) is None
        assert code(made(of(most + 1))) in ("over-limit", "bad-value")


def test_blanks_at_ends_are_not_counted() -> None:
    text = f"\n{'x' * 700} \t\r\n{'y' * 799}   \n\n"

    assert len(normal(text)) == SCENE_BODY
    assert checked_scene(msgspec.structs.replace(SCENE, body=normal(text))) is None
    with pytest.raises(AnswerFault):
        normal("\ufeffx")
    with pytest.raises(AnswerFault):
        normal("a\rb")


def test_a_doctrine_is_its_text() -> None:
    assert render_doctrine(Doctrine(body="Be exact.\n\nBe brief.")) == b"Be exact.\n\nBe brief.\n"
    assert parse_doctrine(b"Be exact.  \n\n\n") == Doctrine(body="Be exact.")
    assert code(parse_doctrine(b"---\nheat: 1\n---\nBe exact.\n")) == "bad-value"
    assert code(parse_doctrine(b"\n")) == "no-body"
    assert code(parse_doctrine(("x" * 1_201).encode())) == "over-limit"
    assert code(parse_doctrine(b"\xef\xbb\xbfx")) == "bom"


def test_a_skill_is_read_as_it_was_written() -> None:
    data = render_skill(SKILL)

    assert data == b"---\nname: release-notes\ndescription: Write them\n---\n\n1. Read the log.\n"
    assert parse_skill(skill_path("release-notes"), data) == SKILL
    assert code(parse_skill("skills/other/SKILL.md", data)) == "identity-mismatch"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("name: release-notes", "name: Release", "identity-mismatch"),
        ("description: Write them", "description: <b>", "bad-value"),
        ("description: Write them", "description: 12", "bad-value"),
        ("---\n\n1", "allowed-tools: Bash\n---\n\n1", "not-a-field"),
        ("---\n\n1", "tools: Bash\n---\n\n1", "unknown-field"),
        ("1. Read the log.", "", "bad-value"),
    ],
)
def test_a_skill_that_is_not_as_it_must_be_is_a_fault(old: str, new: str, expected: str) -> None:
    """A skill of a stranger's repository gives itself no tools."""
    text = render_skill(SKILL).decode()
    assert old in text

    assert code(parse_skill(skill_path("release-notes"), text.replace(old, new, 1).encode())) == expected


@pytest.mark.parametrize("name", ["", "con", "A", "a--b", "../a", "x" * 65])
def test_a_skill_has_a_name_that_is_a_folder_everywhere(name: str) -> None:
    assert code(checked_skill(msgspec.structs.replace(SKILL, name=name))) == "bad-value"


@pytest.mark.parametrize(
    "made",
    [
        lambda: render_scene(msgspec.structs.replace(SCENE, heat=0)),
        lambda: render_scene(msgspec.structs.replace(SCENE, body="x ")),
        lambda: render_scene(msgspec.structs.replace(SCENE, name="")),
        lambda: render_doctrine(Doctrine(body="x" * 1_201)),
        lambda: render_skill(msgspec.structs.replace(SKILL, description="")),
    ],
)
def test_what_would_not_read_back_is_not_written(made: object) -> None:
    with pytest.raises(ValueError):
        made()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("scenes/how-we-release.md", "how-we-release\nhow we release"),
        (".remora-pre/memory/skills/release-notes/SKILL.md", "release-notes\nrelease notes"),
        (".remora-pre/memory/entries/scenes-1.md", ""),
        ("doctrine.md", ""),
    ],
)
def test_the_name_of_a_scene_and_of_a_skill_says_something_by_itself(path: str, said: str) -> None:
    assert named(path) == said
