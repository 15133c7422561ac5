"""Documents as files: where they lie, what they say, and what of a person's hand stays."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.contracts import Document, DocumentKind, DocumentMeta
from governance.formation.docform import (
    document_digest,
    document_id,
    file_of,
    kind_of,
    moment,
    navigation,
    read_document,
    read_front,
    renavigated,
    slug,
    with_navigation,
    without_navigation,
    written,
)
from governance.formation.errors import AnswerFault
from recall.entries import is_document
from tests.support.clock import START
from tests.support.drafting import a_doctrine, a_resource, a_scene, a_skill

BLANK = {kind: Document(id="d", kind=kind, name="", version=1, content="") for kind in DocumentKind}


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("Release process", "release-process"),
        ("  Release   PROCESS ", "release-process"),
        ("a b c d e f g h", "a-b-c-d-e-f-g-h"),
    ],
)
def test_a_name_of_plain_words_is_its_own_slug(name: str, file: str) -> None:
    assert slug(name, "scene") == file


def test_a_name_that_loses_something_ends_in_its_digest() -> None:
    names = (
        "发布流程",
        "数据库",
        "C++ build",
        "C build!",
        "a b c d e f g h i",
        "x" * 60,
        f"{'word ' * 7}long",
        "🙂",
        "../../etc",
    )
    slugs = [slug(name, "scene") for name in names]

    assert len(set(slugs)) == len(names)
    assert slugs[0].startswith("scene-") and slugs[2].startswith("c-build-") and slugs[4].startswith("a-b-c-d-e-f-g-h-")
    assert slug("C build", "scene") == "c-build"


@given(st.text(max_size=80))
def test_a_slug_is_a_file_name_that_leads_nowhere(name: str) -> None:
    assert set(slug(name, "scene")) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") and len(slug(name, "scene")) <= 57


def test_every_document_has_its_place_and_none_is_a_record() -> None:
    documents = (a_scene(), a_doctrine(), a_doctrine(kind=DocumentKind.PERSONA), a_skill(), a_resource("x", "a/b.sh"))
    places = [file_of(one) for one in documents]

    assert places == [
        "scenes/scene-1.md",
        "doctrine.md",
        "persona.md",
        "skills/release-a-version/SKILL.md",
        "skills/x/a/b.sh",
    ]
    assert [kind_of(place) for place in places] == [one.kind for one in documents]
    assert all(map(is_document, places))
    others = ("records/2026-05.md", "scenes/a/b.md", "scenes/a.txt", "skills/a.md", "a.md", "x/doctrine.md")
    assert {kind_of(place) for place in others} == {None}


@pytest.mark.parametrize(
    "document",
    [
        a_scene(),
        a_scene(name='发布: "流程"', meta=DocumentMeta(created=START, updated=START + 1, summary='a: "b" #c', heat=9)),
        a_doctrine("One.\n\n- two"),
        a_skill(),
        a_resource("x", "check.sh", "#!/bin/sh\n\n  make   \n\n"),
    ],
    ids=lambda one: str(one.kind),
)
def test_what_is_written_is_read_back(document: Document) -> None:
    text = written(document)

    back = read_document(text, BLANK[document.kind])

    assert (back.content, back.meta.summary, back.meta.heat) == (
        document.content,
        document.meta.summary,
        document.meta.heat,
    )
    if document.kind is DocumentKind.SCENE:
        assert (back.name, back.meta) == (document.name, document.meta)
    assert written(document, text) == text


def test_a_scene_says_what_is_kept_of_it_before_its_body() -> None:
    assert written(a_scene()).splitlines() == [
        "---",
        'name: "Scene 1"',
        f'created: "{moment(START)}"',
        f'updated: "{moment(START)}"',
        'summary: "About scene 1"',
        "heat: 1",
        "---",
        "",
        "In scene 1 the checks come first.",
    ]


def test_what_a_person_added_to_the_front_matter_stays() -> None:
    by_hand = (
        '---\nname: mine\nlicense: "MIT"\nallowed-tools:\n  - Read\n# note\n'
        "description: >\n  Old words\n  on two lines\n---\n\nOld.\n"
    )
    front = read_front(by_hand, DocumentKind.SKILL)

    assert front.said == {"name": "mine", "description": "Old words on two lines"}
    text = written(a_skill(), by_hand)
    assert text.startswith('---\nname: "release-a-version"\ndescription: "How a version gets out."\nlicense: "MIT"\n')
    assert "allowed-tools:\n  - Read\n# note\n---\n" in text and "Old" not in text
    assert written(a_skill(), text) == text
    windows = "\ufeff" + by_hand.replace("\n", "\r\n")
    assert written(a_skill(), windows) == text


@pytest.mark.parametrize(
    ("front", "summary", "heat"),
    [
        ("summary: plain words", "plain words", 1),
        ("summary: 'quoted'\nheat: 4", "quoted", 4),
        ("heat: -3\nsummary: x", "x", 1),
        ("heat: true\nsummary: [1,\nother: y", "[1,", 1),
        ("heat: 99999999999", "", 1),
        ('created: yesterday\nheat: "5"', "", 1),
        ("summary: " + "[" * 5000, "[" * 5000, 1),
    ],
)
def test_front_matter_by_hand_is_read_as_far_as_it_says_something(front: str, summary: str, heat: int) -> None:
    read = read_document(f"---\n{front}\n---\nBody.\n", BLANK[DocumentKind.SCENE])

    assert (read.content, read.meta.summary, read.meta.heat, read.meta.created) == ("Body.", summary, heat, 0)


def test_a_name_by_hand_is_one_line_that_is_not_too_long() -> None:
    names = [
        read_document(f"---\nname: {said}\n---\nx", BLANK[DocumentKind.SCENE]).name
        for said in ('"a\\nb"', "n" * 90, "")
    ]

    assert names == ["a b", "n" * 64, ""]


def test_a_known_scene_keeps_the_heat_that_was_counted() -> None:
    text = written(a_scene(3)).replace("heat: 3", "heat: 900")

    assert read_document(text, a_scene(3)).meta.heat == 3


def test_front_matter_without_an_end_is_not_guessed_at() -> None:
    with pytest.raises(AnswerFault):
        read_document("---\nsummary: x\n", BLANK[DocumentKind.SCENE])
    assert read_document("-- no front\n", BLANK[DocumentKind.SCENE]).content == "-- no front"
    assert read_document("\ufeff---\r\nsummary: x\r\n---\r\nBody.\r\n", BLANK[DocumentKind.SCENE]).content == "Body."


def test_the_list_of_scenes_names_the_hottest_first_and_says_how_many_more() -> None:
    scenes = [a_scene(number) for number in range(1, 18)]

    lines = navigation(scenes).splitlines()

    assert (
        lines[1] == "- Scene 17: About scene 17"
        and lines[15] == "- Scene 3: About scene 3"
        and lines[16] == "- and 2 more"
    )
    even = [a_scene(1, name="b"), a_scene(1, name="a")]
    assert navigation(even).splitlines()[1:] == ["- a: About scene 1", "- b: About scene 1"]
    assert navigation(()) == ""


def test_the_list_is_put_after_the_words_and_taken_off_again() -> None:
    content = with_navigation("Checks first.", [a_scene()])

    assert without_navigation(content) == "Checks first."
    assert renavigated("Tests first.", content) == with_navigation("Tests first.", [a_scene()])
    assert with_navigation("Alone.", ()) == "Alone." and renavigated("Else.", "Alone.") == "Else."


def test_an_id_is_of_place_kind_and_name() -> None:
    kinds = (DocumentKind.SCENE, DocumentKind.SKILL)
    ids = {document_id(scope, kind, name) for scope, kind, name in itertools.product("ab", kinds, "xy")}

    assert len(ids) == 8 and all(one.startswith("doc_") for one in ids)
    assert document_digest(a_scene()) == document_digest(a_scene(version=7, evidence=())) != document_digest(a_scene(2))
