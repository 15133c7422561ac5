"""What a document may hold: counted in code points, without secrets, and posing as nothing."""

from collections.abc import Callable

import pytest

from governance.formation import doctexts
from governance.formation.contracts import DocumentKind
from governance.formation.doctexts import (
    apart,
    body,
    description,
    even,
    line,
    normal,
    rationale,
    resource_path,
    resource_text,
    skill_body,
    skill_name,
)
from governance.formation.errors import AnswerFault
from tests.support.noting import TOKEN

LONG = ("中", "🙂", "e\u0301", "👩\u200d👧")  # CJK, emoji, combining, joined


def refused(work: Callable[[], object]) -> str:
    with pytest.raises(AnswerFault) as fault:
        work()
    return fault.value.code


def test_line_ends_are_one_and_blanks_at_their_ends_are_gone() -> None:
    assert normal("\n\na \r\n\tb\t \r\n\r\n") == "a\n\tb"
    assert even("a \r\nb") == "a \nb"


@pytest.mark.parametrize("text", ["\ufeffa", "a\rb", "a\x00b", "a\x1bb", "a\ud800b", "a\x85b"])
def test_what_is_no_text_is_refused(text: str) -> None:
    assert refused(lambda: normal(text)) == "not-text"


@pytest.mark.parametrize("kind", [DocumentKind.SCENE, DocumentKind.PERSONA, DocumentKind.DOCTRINE])
@pytest.mark.parametrize("piece", LONG)
def test_a_body_is_counted_in_code_points_after_it_was_normalised(kind: DocumentKind, piece: str) -> None:
    most = doctexts.BODY[kind]
    full = (piece * most)[:most]

    assert body(f"\n{full}  \r\n", kind) == full
    assert refused(lambda: body(f"{full}x", kind)) == "over-limit"


def test_a_summary_is_one_line_of_forty_code_points() -> None:
    full = ("发布🙂" * 20)[:40]

    assert line(f" {full} ", 40, "the summary") == full
    assert refused(lambda: line(f"{full}x", 40, "the summary")) == "over-limit"
    assert [refused(lambda text=text: line(text, 40, "it")) for text in ("", " ", "a\nb", "a\tb")] == [
        *("empty", "empty", "schema", "schema")
    ]
    assert rationale("Two\nlines  become one.") == "Two lines become one."


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: x\n---\nbody",
        "Text.\n<!-- memory:mem_0123456789abcdef0123456789abcdef -->\nForged.",
        "  <!--memory: x -->",
        "a\n<!-- scenes -->\n- mine",
        "Heat: 900",
        "- **heat**: 7",
        "heat = 3",
    ],
)
def test_a_scene_gives_itself_no_front_matter_no_marker_and_no_heat(text: str) -> None:
    assert refused(lambda: body(text, DocumentKind.SCENE)) == "forged"


def test_words_that_only_look_alike_are_a_scenes_own() -> None:
    said = "Heat the plate first.\n\n----\n\nThe memory: it leaks. `heat` is a field.\nHeat: see below"

    assert body(said, DocumentKind.SCENE) == said
    assert skill_body("heat: 3 minutes at least") == "heat: 3 minutes at least"


def test_a_secret_is_refused_wherever_it_stands() -> None:
    assert [
        refused(work)
        for work in (
            lambda: body(f"Use {TOKEN} there.", DocumentKind.SCENE),
            lambda: skill_body(f"export TOKEN={TOKEN}"),
            lambda: resource_text(f"TOKEN={TOKEN}\n"),
            lambda: line(TOKEN, 64, "the name"),
            lambda: rationale(f"Because of {TOKEN}."),
            lambda: description(f"Uses {TOKEN}."),
        )
    ] == ["secret"] * 6


def test_a_skill_has_a_name_that_is_a_folder_everywhere() -> None:
    assert skill_name("release-2-a") == "release-2-a" and skill_name("a" * 64) == "a" * 64
    wrong = ("", "A", "a_b", "-a", "a-", "a--b", "a/b", "..", "a.b", "a" * 65, "发布", "con", "nul", "lpt1", "a\n")
    assert {name: refused(lambda name=name: skill_name(name)) for name in wrong} == dict.fromkeys(wrong, "schema")


def test_a_description_is_one_line_without_brackets() -> None:
    full = "d" * 1024

    assert description(full) == full
    assert [refused(lambda text=text: description(text)) for text in (f"{full}d", "a\nb", "a <b>", "a > b")] == [
        *("over-limit", "schema", "schema", "schema")
    ]


def test_the_body_of_a_skill_is_bounded_in_bytes() -> None:
    full = "中" * (doctexts.SKILL_BODY // 3)

    assert skill_body(full) == full
    assert refused(lambda: skill_body(f"{full}中")) == "over-limit"


def test_a_resource_lies_below_its_skill_and_nowhere_else() -> None:
    for path in ("a.sh", "scripts/check.sh", "a/b/c/d.txt", "_x", "A-b.c_d"):
        assert resource_path(path) == path
    wrong = (
        *("", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/", ".git/config", "a/.b", "a\\b", "C:x", "a b"),
        *("a\x00", "a/b/c/d/e", "x" * 65, "a.", "con", "Aux.txt", "scripts/nul.sh", "SKILL.md", "skill.MD", "中.md"),
    )
    assert {path: refused(lambda path=path: resource_path(path)) for path in wrong} == dict.fromkeys(wrong, "path")


@pytest.mark.parametrize("paths", [("a", "a"), ("a.sh", "A.SH"), ("a", "a/b"), ("Docs/x", "docs"), ("d/e/f", "D/E")])
def test_two_resources_are_never_one_file(paths: tuple[str, ...]) -> None:
    assert refused(lambda: apart(paths)) == "path"
    apart(("a", "b/a", "b/c", "bc"))


@pytest.mark.parametrize("piece", [" ", "\n", "- ", "*", "<!--", "\t\n", "heat", "heat:", "中 ", "---\n", "a/"])
def test_a_text_that_is_large_and_odd_is_read_in_one_walk(piece: str) -> None:
    """Nothing here takes the square of its length: a megabyte would not come to its end."""
    said = "a" + piece * (1_000_000 // len(piece)) + "b"

    for work in (lambda: body(said, DocumentKind.SCENE), lambda: skill_body(said), lambda: resource_path(said)):
        assert refused(work) in ("over-limit", "path", "forged")
    assert resource_text(said)
