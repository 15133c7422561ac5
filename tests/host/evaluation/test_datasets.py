"""Sets are read from files and folders, and what is wrong with one is said plainly."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from host.evaluation.datasets import Dataset, DatasetFault, Passed, Query, load

DATA = Path(__file__).parents[2] / "data" / "eval"
SMALL: dict[str, Any] = {
    "name": "small",
    "lang": "en",
    "namespaces": [{"ns": "one", "docs": [["a", "text"]], "queries": [["q", "text?", ["a"], "fact"]]}],
}


def write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def only(*places: Path) -> Dataset:
    (found,) = load(places)
    assert isinstance(found, Dataset)
    return found


@pytest.mark.parametrize("name", ["set.json", "set.json.gz"])
def test_a_set_is_read_gzipped_or_not(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, SMALL)

    found = only(path)

    assert (found.name, found.lang, found.file) == ("small", "en", str(path))
    assert found.namespaces[0].queries[0] == Query("q", "text?", ("a",), "fact")


def test_a_set_without_a_name_is_called_by_its_file(tmp_path: Path) -> None:
    assert only(write(tmp_path / "mine.v2.json.gz", SMALL | {"name": ""})).name == "mine"


def test_numbers_are_ids_too_and_a_type_may_be_absent(tmp_path: Path) -> None:
    found = only(write(tmp_path / "n.json", {"namespaces": [{"docs": [[1, "a"]], "queries": [[2, "b", [1]]]}]}))

    assert found.namespaces[0].queries[0] == Query(2, "b", (1,), "")


def test_a_folder_stands_for_the_sets_below_it_and_other_json_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "b" / "second.json", SMALL)
    write(tmp_path / "a.json.gz", SMALL)
    other = write(tmp_path / "b" / "labels.json", {"gold": []})
    rows = write(tmp_path / "rows.json", [1, 2])

    found = list(load([tmp_path, tmp_path / "a.json.gz"]))

    assert [Path(one.file).name for one in found] == ["a.json.gz", "labels.json", "second.json", "rows.json"]
    assert [one.file for one in found if isinstance(one, Passed)] == [str(other), str(rows)]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", b"{", "is no JSON"),
        ("a.json", b'{"namespaces": [{"docs": [["a", "\\ud800"]], "queries": []}]}', "is no JSON"),
        ("a.json", b"\xff{}", "is no JSON"),
        ("a.json", [1], "not of the form of a set: Expected `object`, got `array`"),
        ("a.json", {"name": "x"}, "missing required field `namespaces`"),
        ("a.json", {"namespaces": [{"docs": [["a"]], "queries": []}]}, "namespaces[0].docs[0]"),
        ("a.json", {"namespaces": [{"docs": [["a", 3]], "queries": []}]}, "namespaces[0].docs[0][1]"),
        ("a.json", {"namespaces": [{"docs": [], "queries": [["q", "t", "a"]]}]}, "namespaces[0].queries[0][2]"),
        (
            "a.json",
            {"namespaces": [{"ns": "x", "docs": [["a", "t"], ["a", "u"]], "queries": []}]},
            "the document id a occurs twice in namespaces[0] (x)",
        ),
        ("a.json", {"namespaces": [{"docs": [["a", "t"]], "queries": []}]}, "holds no query"),
        ("a.json", {"namespaces": []}, "holds no query"),
        ("a.md", b"text", "is no set"),
    ],
)
def test_what_is_wrong_with_a_set_is_said_with_its_file_and_place(
    tmp_path: Path, name: str, content: Any, said: str
) -> None:
    path = write(tmp_path / name, content)

    with pytest.raises(DatasetFault) as fault:
        list(load([path]))

    assert said in str(fault.value) and str(path) in str(fault.value)
    assert fault.value.next_step


@pytest.mark.parametrize("cut", [10, -4])
def test_a_broken_archive_is_told_apart_from_broken_json(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(json.dumps(SMALL).encode())[:cut])

    with pytest.raises(DatasetFault, match=r"a\.json\.gz cannot be unpacked"):
        list(load([path]))


def test_what_is_no_archive_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(b"plain text")

    with pytest.raises(DatasetFault, match="cannot be unpacked"):
        list(load([tmp_path]))


def test_a_file_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(DatasetFault, match="cannot be read: No such file"):
        list(load([tmp_path / "a.json"]))


def test_an_endless_archive_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.evaluation.datasets.LARGEST", 1024)
    path = write(tmp_path / "a.json.gz", b" " * 4096)

    with pytest.raises(DatasetFault, match="more than 0 MiB of JSON"):
        list(load([path]))


def test_an_empty_folder_and_a_broken_file_in_one_are_no_silence(tmp_path: Path) -> None:
    with pytest.raises(DatasetFault, match="holds no set"):
        list(load([tmp_path]))
    write(tmp_path / "a.json", b"{,}")
    with pytest.raises(DatasetFault, match=r"a\.json is no JSON"):
        list(load([tmp_path]))


def test_none_alone_or_nothing_at_all_means_that_nothing_should_be_recalled() -> None:
    assert Query("q", "t", ("none",)).negative
    assert Query("q", "t", ()).negative
    assert not Query("q", "t", ("none", "a")).negative


def test_the_shipped_sets_can_be_read() -> None:
    names = {one.name for one in load([DATA]) if isinstance(one, Dataset)}

    assert names == {"agentmem", "agentmem_neg", "kitchen"}
