"""A repository's memory is checked with the other memory files: each fault once, with what to do."""

from pathlib import Path

import pytest

from host.team.checking import once, repository_flaws
from host.team.formats import FORMATS
from recall.lint import Flaw, Severity
from tests.support.team_entries import an_entry, write_entry


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def test_a_folder_without_memory_has_no_fault(top: Path) -> None:
    assert repository_flaws(top, FORMATS) == []


def test_what_blocks_is_an_error_and_names_the_whole_path(top: Path) -> None:
    path = write_entry(top, an_entry("Publish from the release branch.", 1))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    (found,) = repository_flaws(top, FORMATS)

    assert (found.rule, found.severity, found.file) == ("cr", Severity.ERROR, str(path))
    assert found.problem and found.next


def test_a_memory_folder_that_is_a_link_is_told_and_not_read(top: Path) -> None:
    (top / ".remora-pre").mkdir()
    (top / ".remora-pre" / "memory").symlink_to("/")

    (found,) = repository_flaws(top, FORMATS)

    assert (found.severity, found.file) == (Severity.ERROR, str(top / ".remora-pre" / "memory"))


def test_what_the_index_says_of_a_file_gives_way_to_the_closer_word() -> None:
    def flaw(rule: str, file: str) -> Flaw:
        return Flaw(rule=rule, severity=Severity.ERROR, file=file, line=0, problem="p", next="n")

    index = [flaw("malformed-entry", "a"), flaw("malformed-entry", "b"), flaw("orphan-anchor", "a")]
    closer = [flaw("cr", "a")]

    assert [(one.rule, one.file) for one in once(index, closer)] == [
        ("malformed-entry", "b"),
        ("orphan-anchor", "a"),
        ("cr", "a"),
    ]
