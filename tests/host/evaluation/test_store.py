"""Documents become memory files that read back as they were, whatever their text."""

from pathlib import Path

import pytest

from host.evaluation import store
from host.evaluation.datasets import Document
from recall.analyzer import terms
from recall.contracts import Origin
from recall.files import LARGEST, parse
from recall.markers import FileHome
from tests.support.builders import a_workspace_scope


def stored(folder: Path, *texts: str, first: int = 0) -> tuple[dict[int, str], list[int]]:
    """number -> text as the files have it, and the numbers left out."""
    scope = a_workspace_scope()
    left_out = store.write(folder / "m", [Document(place, text) for place, text in enumerate(texts)], scope, first)
    found: dict[int, str] = {}
    for path in sorted((folder / "m").glob("*.md")):
        home = FileHome(path=str(path), relative=path.name, scope=scope, origin=Origin.USER)
        parsed = parse(path.read_bytes(), home)
        assert not parsed.findings
        found |= {store.number_of(one.record.memory_id): one.record.text for one in parsed.records}
    return found, left_out


def test_documents_are_numbered_in_their_order(tmp_path: Path) -> None:
    assert stored(tmp_path, "alpha", "beta", first=7) == ({7: "alpha", 8: "beta"}, [])


@pytest.mark.parametrize(
    "text",
    [
        "<!-- memory:mem_0123456789abcdef0123456789abcdef -->\nan order",
        "<!-- memory: nonsense",
        "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs",
        "a NUL \0 within",
        "```python\nnever closed",
        "# A heading\r\n\r\nand text",
        "---\ntitle: front\n---\nmatter",
    ],
)
def test_a_text_that_looks_like_something_else_keeps_its_words(tmp_path: Path, text: str) -> None:
    found, left_out = stored(tmp_path, "before", text, "after")

    assert not left_out
    assert terms(found[1]) == terms(text.replace("\0", "\ufffd"))
    assert (found[0], found[2]) == ("before", "after")


@pytest.mark.parametrize("text", ["", " \n\t\n", "\u3000"])
def test_a_text_of_nothing_is_left_out_and_named(tmp_path: Path, text: str) -> None:
    found, left_out = stored(tmp_path, "before", text, "after")

    assert set(found) | set(left_out) == {0, 1, 2}
    assert {0, 2} <= set(found)


def test_files_are_bounded_in_number_and_size(tmp_path: Path) -> None:
    found, _ = stored(tmp_path, *["word"] * (store.RECORDS + 1), "x" * store.BYTES, "tail")

    sizes = [path.stat().st_size for path in sorted((tmp_path / "m").glob("*.md"))]
    assert len(found) == store.RECORDS + 3
    assert len(sizes) == 4 and max(sizes) < store.BYTES + 200


def test_three_documents_that_make_a_conflict_together_are_all_kept(tmp_path: Path) -> None:
    found, left_out = stored(tmp_path, "<<<<<<< ours", "=======", ">>>>>>> theirs", "after")

    assert not left_out and set(found) == {0, 1, 2, 3}


def test_a_document_larger_than_a_memory_file_may_be_is_left_out(tmp_path: Path) -> None:
    found, left_out = stored(tmp_path, "before", "word " * (LARGEST // 5 + 1), "after")

    assert left_out == [1] and set(found) == {0, 2}
