"""What stands in the files, beside what was kept of them."""

from typing import Any

from governance.formation.applying import file_digest
from governance.formation.contracts import AtomEvidence, DocumentKind, DocumentMeta, DocumentState, KeptDocument
from governance.formation.docform import document_id, written
from governance.formation.standing import Looked, looked
from tests.support.clock import START
from tests.support.drafting import a_scene, a_skill
from tests.support.noting import SCOPE

NOW = START + 50
SCENE = a_scene(1)
FILE = "scenes/scene-1.md"
TEXT = written(SCENE)


def a_row(**fields: Any) -> KeptDocument:
    given = {
        "document_id": SCENE.id,
        "kind": SCENE.kind,
        "name": SCENE.name,
        "version": 3,
        "digest": file_digest(TEXT),
        "file": FILE,
        "updated_at": START,
        "meta": SCENE.meta,
        "evidence": SCENE.evidence,
        "item_id": "chg_1",
    } | fields
    return KeptDocument(**given)


def look(texts: dict[str, str], *rows: KeptDocument, **unreadable: str) -> Looked:
    return looked(SCOPE, texts, unreadable, rows, NOW)


def test_a_file_that_says_what_it_said_is_its_version() -> None:
    seen = look({FILE: TEXT}, a_row())

    (held,) = seen.standing.held.values()
    assert (held.document.version, held.document.content, held.document.evidence) == (3, SCENE.content, SCENE.evidence)
    assert (held.document.meta, seen.news, held.text) == (SCENE.meta, (), TEXT)


def test_a_changed_file_is_its_next_version_and_a_persons() -> None:
    text = (
        TEXT.replace("checks come first", "tests come first")
        .replace('"Scene 1"', '"First scene"')
        .replace("heat: 1", "heat: 8")
    )

    seen = look({FILE: text}, a_row())

    (row,) = seen.news
    assert (row.version, row.name, row.item_id, row.digest) == (4, "First scene", "", file_digest(text))
    assert (row.meta.heat, row.meta.created, row.meta.updated, row.file) == (1, START, NOW, FILE)
    (document,) = seen.standing.of(DocumentKind.SCENE)
    assert document.content == "In scene 1 the tests come first." and document.evidence == SCENE.evidence


def test_a_file_by_hand_is_a_document() -> None:
    seen = look({"scenes/how-we_test.md": "Test first.\n", "doctrine.md": "Rules.\n"})

    scene, doctrine = seen.standing.of(DocumentKind.SCENE)[0], seen.standing.of(DocumentKind.DOCTRINE)[0]
    assert (scene.name, scene.content, scene.version, scene.meta) == (
        *("how we test", "Test first.", 1),
        DocumentMeta(created=NOW, updated=NOW, heat=1),
    )
    assert (doctrine.name, doctrine.content) == ("doctrine", "Rules.") and len(seen.news) == 2
    assert scene.id == document_id(SCOPE, DocumentKind.SCENE, "how we test")


def test_two_files_of_one_name_are_two_documents() -> None:
    seen = look({"scenes/a.md": '---\nname: "Same"\n---\nOne.', "scenes/b.md": '---\nname: "Same"\n---\nTwo.'})

    assert len(seen.standing.held) == 2 and {one.name for one in seen.standing.of(DocumentKind.SCENE)} == {"Same"}


def test_what_is_gone_and_comes_back_by_hand_goes_on_from_its_version() -> None:
    seen = look({FILE: TEXT}, a_row(state=DocumentState.GONE, version=7))

    (row,) = seen.news
    assert (row.document_id, row.version, row.state) == (SCENE.id, 8, DocumentState.LIVE)


def test_a_missing_file_takes_nothing_away() -> None:
    seen = look({}, a_row(), a_row(document_id="doc_gone", file="scenes/gone.md", state=DocumentState.GONE))

    assert (seen.standing.missing, seen.news, seen.standing.held) == ((FILE,), (), {})
    assert seen.standing.rows[SCENE.id].state is DocumentState.LIVE


def test_what_cannot_be_read_is_told_and_not_missing() -> None:
    seen = looked(SCOPE, {"scenes/b.md": "---\nno end"}, {FILE: "link"}, (a_row(),), NOW)

    assert seen.standing.unreadable == {FILE: "link", "scenes/b.md": "bad-front-matter"}
    assert seen.standing.missing == () and seen.standing.held == {}


def test_a_skill_knows_what_lies_beside_it() -> None:
    name = a_skill().name
    texts = {
        f"skills/{name}/SKILL.md": written(a_skill()),
        f"skills/{name}/a.sh": "a\n",
        f"skills/{name}/b/c.txt": "c\n",
        "skills/without-one/a.sh": "lost\n",
        "skills/Bad_Name/SKILL.md": "x",
    }

    standing = look(texts).standing

    (skill,) = standing.of(DocumentKind.SKILL)
    assert skill.resources == ("a.sh", "b/c.txt") and skill.meta.summary == "How a version gets out."
    assert [one.name for one in standing.of(DocumentKind.RESOURCE)] == [f"{name}/a.sh", f"{name}/b/c.txt"]
    assert standing.unreadable == {"skills/Bad_Name/SKILL.md": "bad-name"}


def test_evidence_is_kept_beside_the_file() -> None:
    rests = (AtomEvidence(id="mem_1", version=2),)

    (held,) = look({FILE: TEXT}, a_row(evidence=rests)).standing.held.values()

    assert held.document.evidence == rests and held.kept.item_id == "chg_1"
