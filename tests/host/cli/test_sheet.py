"""The sheet a memory is edited on reads back as what was written on it, and says why when it cannot be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.cli.sheet import Sheet, Unreadable, of_record, read, write
from recall.contracts import MemoryKind
from tests.support.builders import a_memory

LINE = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters="\x85"), max_size=20)
SHEETS = st.builds(
    Sheet,
    text=st.lists(LINE).map(lambda lines: "\n".join(lines).strip("\n")),
    title=LINE.map(lambda title: " ".join(title.split())),
    tags=st.lists(LINE.filter(lambda tag: bool(tag.strip()))).map(tuple),
    kind=st.sampled_from(MemoryKind),
)


@given(SHEETS)
def test_a_sheet_reads_back_as_it_was_written(sheet: Sheet) -> None:
    assert read(write(sheet, "A note\nof two lines: no header")) == sheet


def test_a_record_is_laid_out_for_a_person() -> None:
    record = a_memory("Use make.\n\n---\n\nAlways.", title="Tests: how", tags=("ci", "make"))

    written = write(of_record(record), "A note.")

    assert written == (
        "---\n# A note.\ntitle: Tests: how\ntags: ci, make\nkind: semantic\n---\n\nUse make.\n\n---\n\nAlways.\n"
    )


def test_a_header_may_be_short_and_untidy() -> None:
    assert read("---\r\n\r\n tags : a,, b \r\n---\r\nText.\r\n\r\n") == Sheet(text="Text.", tags=("a", "b"))


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ("Text.", "begin"),
        ("", "begin"),
        ("---\ntitle: a\n", "second line"),
        ("---\nscope: User\n---\nx", "scope: User"),
        ("---\ntitle: a\ntitle: b\n---\nx", "title: b"),
        ("---\nkind: joke\n---\nx", "procedural"),
        ("---\ntags: [1]\n---\nx", "list of texts"),
    ],
)
def test_what_cannot_be_read_says_why(document: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read(document)
