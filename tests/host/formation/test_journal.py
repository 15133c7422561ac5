"""The lines of what was written: whole, once, and without the words of what was forgotten."""

from pathlib import Path
from typing import Any

import msgspec

from governance.formation.contracts import CursorLine, Line, Pipeline, TombstoneLine
from host.formation.journal import Journal, day_of
from recall.canonical import canonical

AT = 1_794_009_600_000  # 2026-11-07
DAY = 86_400_000


def gone(memory_id: str = "mem_1", **fields: Any) -> TombstoneLine:
    given = {"memory_id": memory_id, "version": 1, "why": "archived", "digest": "d", "at": AT} | fields
    return TombstoneLine(**given)


def moved(to: int) -> CursorLine:
    return CursorLine(
        pipeline=Pipeline.CHECKPOINT,
        session_id="s",
        processed_seq=to,
        operation_id=f"memory_{to}",
        request_hash="h",
        status="skipped",
        at=AT,
    )


def put(journal: Journal, line: Line, at: int = AT) -> bool:
    return journal.append(canonical(line), at)


def lines(journal: Journal) -> list[Line | None]:
    return [one.line for one in journal.read()]


def test_a_line_comes_back_as_it_was_and_stands_in_the_file_of_its_day(tmp_path: Path) -> None:
    journal = Journal(tmp_path)

    assert put(journal, gone()) and put(journal, moved(4), AT + DAY)

    assert lines(journal) == [gone(), moved(4)]
    assert sorted(path.name for path in journal.folder.iterdir()) == ["2026-11-07.jsonl", "2026-11-08.jsonl"]
    assert day_of(AT) == "2026-11-07.jsonl"


def test_it_is_its_owners_alone(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    put(journal, gone())

    assert journal.folder.stat().st_mode & 0o777 == 0o700
    assert (journal.folder / day_of(AT)).stat().st_mode & 0o777 == 0o600


def test_what_stands_there_is_not_written_again_by_another_daemon_either(tmp_path: Path) -> None:
    put(Journal(tmp_path), gone())

    again = Journal(tmp_path)

    assert not put(again, gone()) and put(again, gone(version=2))
    assert len(lines(again)) == 2


def test_a_line_that_a_crash_cut_is_left_alone_and_told(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    put(journal, gone())
    path = journal.folder / day_of(AT)
    path.write_bytes(path.read_bytes() + canonical(moved(4))[:30])
    assert [(one.line is None, one.last) for one in Journal(tmp_path).read()] == [(False, False), (True, True)]

    put(Journal(tmp_path), moved(4))

    assert lines(journal) == [gone(), None, moved(4)]
    assert [one.number for one in journal.read() if one.line is None] == [2]


def test_what_is_forgotten_leaves_only_that_it_is(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    words = b'{"at":1,"line":"sighting","memoryId":"mem_1","sources":[],"version":0}'
    journal.append(words, AT)
    journal.append(words.replace(b"mem_1", b"mem_2"), AT)
    put(journal, gone(why="forgotten"))
    put(journal, moved(4))

    assert journal.forget("mem_1") == 1

    whole = (journal.folder / day_of(AT)).read_bytes()
    assert words not in whole and words.replace(b"mem_1", b"mem_2") in whole
    assert lines(journal)[1:] == [gone(why="forgotten"), moved(4)]
    assert journal.forget("mem_1") == 0
    assert put(journal, gone(version=3)), "it goes on after the file was written anew"


def test_a_torn_line_with_words_of_what_is_forgotten_goes_too(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    put(journal, moved(1))
    path = journal.folder / day_of(AT)
    path.write_bytes(path.read_bytes() + b'{"line":"record","memoryId":"mem_1","record":{"text":"the wor')

    journal.forget("mem_1")

    assert b"the wor" not in path.read_bytes()


def test_lines_are_plain_json(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    put(journal, gone())

    found = msgspec.json.decode((journal.folder / day_of(AT)).read_bytes())

    assert found["memoryId"] == "mem_1" and found["line"] == "tombstone"


def test_what_a_stopped_rewriting_left_is_taken_away(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    put(journal, moved(1))
    left = journal.folder / f".{day_of(AT)}.new"
    left.write_bytes(b"words of a memory")

    journal.forget("mem_1")

    assert not left.exists()
