"""M-05: one analyzer for writing and reading."""

import re
import sqlite3
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.analyzer import _MARKS, LONGEST_WHOLE, STOP_WORDS, distinct, entities, terms
from recall.tables import SCHEMA
from tests.support.texts import any_text

ANY_TEXT = any_text()


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
        ("needs C++17", "c++"),
        ("needs C++17", "17"),
        ("g++-12", "g++"),
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


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("提交申请后等待审批", "申请"),
        ("权限申请问题汇总", "申请"),
        ("权限申请问题汇总", "问题"),
        ("通过邀请码注册", "邀请"),
        ("错误出现在启动时", "出现"),
        ("后来发现在线人数不对", "发现"),
        ("后来发现在线人数不对", "在线"),
        ("从镜像站统一下载", "统一"),
        ("从镜像站统一下载", "下载"),
        ("对应该接口的文档", "对应"),
        ("失败原因为超时", "原因"),
        ("这个功能不能用", "功能"),
        ("证书怎么办理", "办理"),
        ("ビルドが完了しました", "完了"),
        ("プロセスの終了コード", "終了"),
        ("目的和标的", "目的"),
    ],
)
def test_a_word_of_two_characters_is_a_term_although_a_function_word_cuts_through_it(text: str, word: str) -> None:
    assert set(terms(word)) & set(terms(text)), (terms(word), terms(text))
    assert word in terms(text)


def test_words_that_no_cut_divides_are_counted_once() -> None:
    assert terms("下载统一").count("下载") == 1
    assert terms("申请").count("申请") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("हिन्दी में लिखा", ["हिन्दी", "में", "लिखा"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("বাংলা ভাষা", ["বাংলা", "ভাষা"]),
        ("مَرْحَبًا بالعالم", ["مَرْحَبًا", "بالعالم"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("cafe\u0301 café", ["café"]),
        ("r\u0308ust", ["r\u0308ust"]),
        ("İstanbul", ["i̇stanbul"]),
        ("русский Ελληνικά", ["русский", "ελληνικά"]),
    ],
)
def test_marks_belong_to_the_word_they_stand_in(text: str, expected: list[str]) -> None:
    check(text, *expected)
    assert all(unicodedata.category(term[0])[0] != "M" for term in terms(text))


@pytest.mark.parametrize("text", ["ภาษาไทยง่าย", "ພາສາລາວ", "မြန်မာစာ", "ភាសាខ្មែរ"])
def test_scripts_without_spaces_are_runs_like_those_of_chinese(text: str) -> None:
    assert set(terms(text[2:4])) & set(terms(text))


def test_the_marks_are_letters_and_marks_alone() -> None:
    marks = re.compile(f"[{_MARKS}]")
    spoiling = ("Z", "P", "S", "Cc", "Cf", "Cs")
    wrong = [
        hex(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)).startswith(spoiling) and marks.match(chr(code))
    ]
    assert wrong == []


@pytest.mark.parametrize("word", ["بالعالم", "हिन्दी", "русский", "שלום"])
def test_a_plain_word_of_a_script_without_capitals_names_nothing(word: str) -> None:
    assert entities(f"{word} {word}") == ()


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


@given(ANY_TEXT)
def test_a_term_holds_letters_digits_marks_and_seven_signs_and_is_never_long(text: str) -> None:
    found = terms(text)  # what Unicode has not assigned yet may be an ideograph of tomorrow
    foreign = {
        character
        for term in found
        for character in term
        if character not in "_-./:+#"
        and not (unicodedata.category(character) == "Cn" or unicodedata.category(character)[0] in "LMN")
    }
    assert not foreign
    assert all(0 < len(term) <= LONGEST_WHOLE and term == term.lower() for term in found)


@given(st.lists(any_text(60), max_size=8))
def test_a_term_is_one_token_of_the_full_text_table_and_read_back_as_it_was(texts: list[str]) -> None:
    wanted = sorted({f"1~{term}" for text in texts for term in terms(text)})
    connection = sqlite3.connect(":memory:")
    statement = re.search(r"CREATE VIRTUAL TABLE posting.*?;", SCHEMA[0], re.DOTALL)
    assert statement is not None
    connection.execute(statement[0])
    connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(posting, 'row')")

    connection.executemany("INSERT INTO posting (rowid, tokens) VALUES (?, ?)", enumerate(wanted, start=1))

    assert sorted(row[0] for row in connection.execute("SELECT term FROM vocabulary")) == wanted
    for row, token in enumerate(wanted, start=1):
        assert connection.execute("SELECT rowid FROM posting WHERE posting MATCH ?", (f'"{token}"',)).fetchall() == [
            (row,)
        ]
    connection.close()


@pytest.mark.parametrize(
    "text",
    [
        *("a-" * 100_000, "a/" * 100_000, "x" * 200_000, "x" * 200_000 + "/a.py", "aA1" * 60_000, "A" * 200_000),
        *("数据" * 100_000, "的" * 200_000, "申请" * 100_000, "\u0301" * 200_000, "a\u0301" * 100_000, '"' * 200_000),
        *("`" * 200_000, "E" * 200_000 + "Error", "::" * 100_000, "\ud800" * 200_000, "ab12" * 50_000, "C++" * 60_000),
    ],
    ids=lambda text: ascii(text[:4]),
)
def test_long_and_monotonous_text_is_read_to_its_end(text: str) -> None:
    assert all(len(term) <= LONGEST_WHOLE for term in terms(text))
    assert len(entities(text)) <= 16


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
