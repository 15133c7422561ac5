"""What `init` keeps about a file: for its owner alone, until our entries are taken back."""

from pathlib import Path

import msgspec
import pytest

from host.errors import ConfigFault
from host.setup.records import Record, Records, digest


def record(path: Path, **fields: object) -> Record:
    known = {"path": str(path), "host": "codex", "level": "user", "repository": "/shop", "digest": digest("text")}
    return Record(**known | fields)  # type: ignore[arg-type]  # its own fields


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_record_and_the_bytes_from_before_are_kept_private(tmp_path: Path) -> None:
    records, file = Records(tmp_path / "state" / "settings"), tmp_path / "config.toml"
    kept = record(file, mode=0o644, made=("/a", "/a/b"))

    records.keep(kept, "\ufeffbefore\r\n")

    assert records.get(file) == msgspec.structs.replace(kept, origin=digest("\ufeffbefore\r\n"))
    assert records.before(file) == "\ufeffbefore\r\n"
    assert mode(records.folder) == 0o700
    assert {mode(one) for one in records.folder.iterdir()} == {0o600} and len(list(records.folder.iterdir())) == 2


def test_a_file_that_was_not_there_has_no_bytes_from_before(tmp_path: Path) -> None:
    records, file = Records(tmp_path), tmp_path / "config.toml"
    records.keep(record(file), "something")

    records.keep(record(file), None)

    assert records.before(file) is None and records.get(file) == record(file)


def test_a_file_is_the_same_by_whatever_link_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    records = Records(tmp_path / "records")
    records.keep(record(tmp_path / "real" / "s"), "a")

    assert records.before(tmp_path / "link" / "s") == "a"


def test_what_is_dropped_leaves_nothing(tmp_path: Path) -> None:
    records = Records(tmp_path / "records")
    records.keep(record(tmp_path / "s"), "a")

    records.drop(tmp_path / "s")
    records.drop(tmp_path / "s")

    assert records.get(tmp_path / "s") is None and list(records.folder.iterdir()) == []


def test_all_are_listed_and_a_damaged_one_is_none(tmp_path: Path) -> None:
    records = Records(tmp_path / "records")
    assert list(records.all()) == []
    for name in ("b", "a"):
        records.keep(record(tmp_path / name), "x")
    (records.folder / "zz.json").write_text("{")

    assert [Path(one.path).name for one in records.all()] == ["a", "b"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigFault, match="cannot be made"):
        Records(tmp_path / "file" / "records").keep(record(tmp_path / "s"), "a")


def test_a_digest_tells_texts_apart() -> None:
    assert digest("a") == digest("a") != digest("a\n")


def test_a_text_from_before_that_is_not_the_one_is_none(tmp_path: Path) -> None:
    records = Records(tmp_path / "records")
    records.keep(record(tmp_path / "s"), "a")
    (kept,) = records.folder.glob("*.before")
    kept.write_text("b")
    assert records.before(tmp_path / "s") is None
    kept.unlink()
    assert records.before(tmp_path / "s") is None
