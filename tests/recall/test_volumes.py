"""Each month has its volumes; one that is full or unusable is followed by the next."""

from pathlib import Path

import pytest

from recall import volumes
from recall.contracts import Origin
from recall.files import RefusalKind, Refused, parse
from recall.markers import FileHome
from recall.volumes import Outcome, filling, last_volume, month_of, name_of
from tests.support.builders import a_memory, a_memory_id, a_workspace_scope
from tests.support.clock import START

HOME = FileHome(path="/m/records/a.md", relative="records/a.md", scope=a_workspace_scope(), origin=Origin.USER)
MEMORIES = [a_memory(f"Number {n}.", memory_id=a_memory_id(n)) for n in range(1, 6)]


def test_a_month_is_of_utc_and_its_first_volume_has_no_number() -> None:
    assert month_of(START) == "2026-05" and month_of(0) == "1970-01" and month_of(-1) == "1969-12"
    assert [name_of("2026-05", volume) for volume in (1, 2)] == ["records/2026-05.md", "records/2026-05-2.md"]


def test_the_last_volume_is_the_one_with_the_highest_number(tmp_path: Path) -> None:
    assert last_volume(str(tmp_path), "2026-05") == 1
    (tmp_path / "records").mkdir()
    for name in ("2026-05.md", "2026-05-2.md", "2026-05-10.md", "2026-06-11.md", "2026-05-x.md", "2026-05-012.md"):
        (tmp_path / "records" / name).write_text("")

    assert last_volume(str(tmp_path), "2026-05") == 10


def test_a_volume_takes_what_it_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volumes, "MOST", 3)
    told: list[Outcome] = []

    data = filling(MEMORIES, HOME, told.append)(b"")

    assert isinstance(data, bytes) and told == [(None, None, None)]
    assert [one.record.memory_id for one in parse(data, HOME).records] == [a_memory_id(n) for n in (1, 2, 3)]
    full = filling(MEMORIES[3:], HOME, told.append)(data)
    assert isinstance(full, Refused) and full.kind is RefusalKind.UNUSABLE_FILE and len(told) == 1


def test_a_record_larger_than_a_volume_is_taken_by_an_empty_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volumes, "LARGE", 5)
    told: list[Outcome] = []

    assert isinstance(filling(MEMORIES, HOME, told.append)(b""), bytes) and told == [(None,)]


def test_a_record_that_cannot_stand_in_a_file_is_refused_alone() -> None:
    told: list[Outcome] = []
    bad = a_memory("<!-- memory:mem_x -->", memory_id=a_memory_id(9))

    data = filling([MEMORIES[0], bad, MEMORIES[1]], HOME, told.append)(b"")

    assert isinstance(data, bytes) and len(parse(data, HOME).records) == 2
    assert [one.kind if isinstance(one, Refused) else one for one in told[0]] == [None, RefusalKind.UNSAFE_TEXT, None]


def test_a_file_that_cannot_be_used_is_refused_as_a_whole() -> None:
    told: list[Outcome] = []

    done = filling(MEMORIES, HOME, told.append)(b"\xff\xfe")

    assert isinstance(done, Refused) and done.kind is RefusalKind.UNUSABLE_FILE and told == []
