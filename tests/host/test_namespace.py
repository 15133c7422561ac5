"""host/namespace.py: every external name, from one function."""

import pytest

from host import namespace


@pytest.mark.promise("preview-names")
@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (namespace.name(), "remora-pre"),
        (namespace.name("http"), "remora-pre-http"),
        (namespace.name("recall", sep="_"), "remora_pre_recall"),
        (namespace.policy("gate", 3), "gate_pre_v3"),
        (namespace.env("data"), "REMORA_PRE_DATA"),
        (namespace.tool("memory_search"), "memory_search_pre"),
    ],
)
def test_every_made_name_carries_the_mark(made: str, expected: str) -> None:
    assert made == expected


@pytest.mark.promise("preview-names")
def test_every_constant_name_carries_the_mark_and_none_says_dev() -> None:
    bare = ("BASE", "MARK", "INDEX_FILE", "VECTORS_FILE", "GOVERNANCE_FILE", "RECORDS_FOLDER")  # in a marked folder
    constants = {
        name: value
        for name, value in vars(namespace).items()
        if name.isupper() and isinstance(value, str) and name not in bare
    }
    assert constants
    for value in constants.values():
        assert "remora-pre" in value or "_pre" in value
        assert "dev" not in value
