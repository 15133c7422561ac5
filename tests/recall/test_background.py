"""The background table: packed small, read fast, of one analyzer version."""

import tracemalloc
import zlib

import pytest

from recall.analyzer import ANALYZER
from recall.background import Background, BackgroundFault, load_background, packed, unpacked


def test_the_shipped_table_loads_and_knows_common_words_from_rare_ones() -> None:
    table = load_background()
    assert table.share("test", 2e-6) > 1e-3
    assert table.share("zeugma", 2e-6) == 2e-6
    assert table.total >= 50_000


def test_the_shipped_table_is_small() -> None:
    tracemalloc.start()
    load_background()
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 10_000_000
    assert peak < 20_000_000


def test_a_table_survives_packing_without_the_terms_that_are_too_rare() -> None:
    table = unpacked(packed({"error": 5, "数据": 5, "c++": 2, "once": 1}, 20, least=2))
    assert table == Background({"error": 5, "数据": 5, "c++": 2}, 20)


def test_an_unknown_term_has_the_floor() -> None:
    assert Background({"error": 5}, 20).share("error", 1e-6) == 0.25
    assert Background({"error": 5}, 20).share("other", 1e-6) == 1e-6


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not zlib",
        zlib.compress(b"\xff\xfe"),
        zlib.compress(f"{ANALYZER} many".encode()),
        zlib.compress(f"{ANALYZER} 20\nx error".encode()),
        zlib.compress(b"lexical_pre_v0 20\n5 error"),
    ],
)
def test_a_damaged_or_foreign_table_is_refused(data: bytes) -> None:
    with pytest.raises(BackgroundFault):
        unpacked(data)
