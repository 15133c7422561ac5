"""The stamp of the code is the same until a file of it changes."""

from pathlib import Path

from host.build import PACKAGES, stamp


def test_it_changes_with_any_file_of_the_code_and_with_nothing_else(tmp_path: Path) -> None:
    for package in PACKAGES:
        (tmp_path / package / "inner").mkdir(parents=True)
        (tmp_path / package / "inner" / "a.py").write_text("a = 1")
    before = stamp(tmp_path)
    (tmp_path / "host" / "inner" / "notes.txt").write_text("no code")
    assert stamp(tmp_path) == before
    (tmp_path / "recall" / "inner" / "a.py").write_text("a = 12")
    changed = stamp(tmp_path)
    (tmp_path / "host" / "b.sql").write_text("SELECT 1")
    assert len({before, changed, stamp(tmp_path)}) == 3


def test_it_is_that_of_the_code_that_runs() -> None:
    assert stamp() == stamp(Path(__file__).resolve().parents[2])
