"""The baselines: FTS5 over our own terms and over the raw text."""

from collections.abc import Iterable

import pytest

from host.evaluation.baselines import exhaustive, plain

TEXTS = {
    3: "Call getUserById before the cache is warm.",
    5: "数据库的备份在每天凌晨三点运行。",
    8: "The cache of the parser is cold.",
    9: "Nothing of this.",
}


def found(baseline: object, query: str, limit: int = 10) -> list[int]:
    rows: Iterable[tuple[int, str]] = TEXTS.items()
    with baseline(rows, limit) as ask:  # type: ignore[operator]
        return [number for number, _ in ask(query)]


def test_exhaustive_knows_our_terms() -> None:
    assert found(exhaustive, "get user by id") == [3]
    assert found(exhaustive, "备份") == [5]
    assert found(exhaustive, "the caches of parsers")[0] == 8


def test_plain_knows_words_as_they_stand() -> None:
    assert found(plain, "getuserbyid") == [3]
    assert found(plain, "备份") == []
    assert set(found(plain, "the parser")) == {3, 8}


@pytest.mark.parametrize("baseline", [exhaustive, plain])
@pytest.mark.parametrize("query", ["", "🙂", '"AND" OR NOT (', "*", "NEAR(a b)", "cache" * 5000, "c++ foo-bar a:b"])
def test_no_query_is_an_error(baseline: object, query: str) -> None:
    assert set(found(baseline, query)) <= set(TEXTS)


@pytest.mark.parametrize("baseline", [exhaustive, plain])
def test_the_limit_keeps_the_best_and_scores_fall(baseline: object) -> None:
    with baseline(TEXTS.items(), 1) as ask:  # type: ignore[operator]
        assert [number for number, _ in ask("cold cache")] == [8]
    with baseline(TEXTS.items(), 9) as ask:  # type: ignore[operator]
        scores = [score for _, score in ask("cold cache")]
    assert scores == sorted(scores, reverse=True) and scores[0] > 0


def test_ten_thousand_words_can_be_asked_at_once() -> None:
    assert found(exhaustive, " ".join(f"word{number}" for number in range(10_000)) + " parser") == [8]
