"""M-05: one analyzer for writing and reading."""

import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.analyzer import STOP_WORDS, distinct, entities, terms

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=300)


def check(text: str, *expected: str) -> None:
    missing = [term for term in expected if term not in terms(text)]
    assert not missing, f"{missing} not in {terms(text)}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("retryBudgetMs", ["retri", "budget", "ms"]),
        ("RetryBudgetMS", ["retri", "budget", "ms"]),
        ("snake_case_name", ["snake_case_name", "snake", "case", "name"]),
        ("gen-index", ["gen-index", "gen", "index"]),
        ("src/billing/invoice.py", ["src/billing/invoice.py", "src", "bill", "invoice.py", "invoic", "py"]),
        (r"src\billing\invoice.py", ["src/billing/invoice.py", "invoice.py"]),
        ("~/.claude/settings.json", ["claude/settings.json", "settings.json"]),
        ("std::io::Error", ["std::io::error", "std", "io", "error"]),
        ("sha256", ["sha256", "sha", "256"]),
        ("HTTPServer2", ["httpserver2", "http", "server"]),
        ("URLs", ["url"]),
    ],
)
def test_identifiers_and_paths_are_found_whole_and_in_parts(text: str, expected: list[str]) -> None:
    check(text, *expected)


def test_both_spellings_of_an_identifier_are_one_term() -> None:
    assert terms("retryBudgetMs") == terms("RetryBudgetMS")


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("error[E0277]: the trait bound", "e0277"),
        ("error TS2345: argument", "ts2345"),
        ("ENOENT: no such file", "enoent"),
        ("ModuleNotFoundError: yaml", "modulenotfounderror"),
        ("Gradle needs JDK 21", "21"),
        ("RFC 9457", "9457"),
        ("kdl 6.7.1", "6.7.1"),
        ("The C++ build", "c++"),
        ("written in C#", "c#"),
        ("a .NET service", ".net"),
    ],
)
def test_codes_numbers_versions_and_names_of_symbols_are_terms(text: str, term: str) -> None:
    check(text, term)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("部署前必须先备份数据库。", ["部署", "备份", "数据", "据库"]),
        ("备份", ["备份"]),
        ("重建gen-index后再发布，否则死链检查会失败。", ["重建", "gen-index", "gen", "index", "发布", "死链"]),
        ("数据库的备份", ["数据库", "备份"]),
        ("部署流程怎么走？", ["部署流程", "部署", "流程"]),
        ("日本語のテキスト", ["日本", "本語", "テキ", "スト"]),
        ("데이터베이스 백업", ["데이", "백업"]),
        ("目的和结果", ["目的"]),
    ],
)
def test_cjk_runs_become_bigrams_and_short_runs_stay_whole(text: str, expected: list[str]) -> None:
    check(text, *expected)


def test_a_long_cjk_run_has_bigrams_only() -> None:
    assert max(map(len, terms("部署流程说明" * 20))) == 2


@pytest.mark.parametrize("text", ["@", "。", "！？", "👍", "   ", "…", '""', "", "-", "+", "(((", "\x00", "\ud800"])
def test_symbols_alone_have_no_terms(text: str) -> None:
    assert terms(text) == []


@pytest.mark.parametrize(
    "query",
    [
        "AND",
        "NEAR(a b, 5",
        '"unclosed',
        "foo*^",
        "col:value",
        "--flag",
        "^ccache",
        "e=mc2",
        "50%",
        r"a\b",
        "`rm`",
        "x;y",
    ],
)
def test_query_syntax_is_plain_text(query: str) -> None:
    assert all(character not in term for term in terms(query) for character in ' "*^()`')


def test_stop_words_of_both_languages_are_dropped() -> None:
    assert terms("what should we do with the 我们 什么 如果") == []
    assert {"the", "的", "怎么"} <= STOP_WORDS


def test_english_words_are_stemmed_alike() -> None:
    assert terms("rotating certificates") == terms("rotate certificate")


def test_terms_keep_order_and_repeats_and_distinct_drops_repeats() -> None:
    assert terms("alpha beta alpha") == ["alpha", "beta", "alpha"]
    assert distinct("alpha beta alpha") == ("alpha", "beta")


def test_hashes_encoded_runs_and_long_numbers_give_no_parts() -> None:
    assert terms("4b4d4addfe12") == ["4b4d4addfe12"]
    assert terms("A" * 65) == []
    assert terms("20261103090007") == []


@given(ANY_TEXT)
def test_any_text_is_accepted_and_read_the_same_way_twice(text: str) -> None:
    assert terms(text) == terms(text)
    assert all(term and not term.isspace() for term in terms(text))


@given(ANY_TEXT)
def test_a_normalised_text_has_the_same_terms(text: str) -> None:
    assert terms(unicodedata.normalize("NFKC", text)) == terms(text)


@given(ANY_TEXT, st.integers(0, 16))
def test_entities_are_bounded_and_distinct(text: str, limit: int) -> None:
    found = entities(text, limit)
    assert len(found) <= limit
    assert len(set(found)) == len(found)


def test_entities_name_errors_first_then_identifiers_quotes_and_runs() -> None:
    found = entities("see src/main.rs: `cargo build` gives E0277 in parseConfig 数据库")
    assert found == ("e0277", "src/main.rs", "parseconfig", "cargo build", "数据库")


def test_threads_do_not_disturb_each_other() -> None:
    texts = [f"running certificates rotated number {place}" for place in range(200)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(terms, texts))
    assert found == [terms(text) for text in texts]


def test_hashes_and_encoded_runs_are_no_entities() -> None:
    assert entities(f"commit 4b4d4addfe12 of {'a.' * 80}b") == ()
