"""A draft is a file of its own, for its owner alone, and takes no other's place."""

import os
from pathlib import Path

from host.cli import drafts


def test_a_draft_is_readable_by_its_owner_alone(home: Path) -> None:
    file = drafts.keep("mem_1", "数据\r\n")

    assert file.read_bytes().decode() == "数据\r\n"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert file.is_relative_to(home)


def test_a_second_draft_leaves_the_first_as_it_is() -> None:
    first, second = drafts.keep("mem_1", "one"), drafts.keep("mem_1", "two")

    assert (first.read_text(), second.read_text()) == ("one", "two")


def test_a_draft_can_be_discarded_twice() -> None:
    file = drafts.keep("mem_1", "one")

    drafts.discard(file)
    drafts.discard(file)

    assert not file.exists()


def test_a_file_that_stands_elsewhere_is_not_ours_to_remove(tmp_path: Path) -> None:
    own = tmp_path / "notes.md"
    own.write_text("mine")

    drafts.discard(own)

    assert own.exists()


def test_all_drafts_of_one_name_can_be_forgotten(home: Path) -> None:
    for name in ("mem_1", "mem_1", "mem_12", "mem_1-x"):
        drafts.keep(name, "text")

    assert (drafts.forget("mem_1"), drafts.forget("mem_1")) == (2, 0)
    assert drafts.forget("mem_12") == drafts.forget("mem_1-x") == 1


def test_the_draft_that_was_begun_last_is_taken_up_again(home: Path) -> None:
    assert drafts.resume("note_1") is None
    first, second = drafts.keep("note_1", "one"), drafts.keep("note_1", "two")
    drafts.keep("note_12", "another")
    os.utime(first, ns=(2_000, 2_000))
    os.utime(second, ns=(1_000, 1_000))
    assert drafts.resume("note_1") == first
    drafts.discard(first)
    assert drafts.resume("note_1") == second
