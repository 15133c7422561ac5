"""Same, update or new: an update is never taken for a duplicate, and what is said again is not kept twice."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.compare import COMPARED, New, Same, Update, compare, same, updates

CASES = Path(__file__).parents[1] / "data" / "cases"
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=120)
WORDS = 'the a Use use uv UV pnpm 3 4 v2 not on Tuesday 数据库 は . , ! ` " - \n ² https http'
words = st.sampled_from(WORDS.split(" "))
said = st.lists(words, max_size=12).map(" ".join)


def case(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text("utf-8"))
    return found


SAME = [
    ("Use uv for Python installs.", "use UV for python installs"),
    ("Use uv for Python installs.", "Use uv for Python installs"),
    ("Use uv for Python installs.", "  Use  uv for\nPython installs!"),
    ("Use uv.", "Ｕｓｅ ｕｖ．"),
    ("Use the uv tool.", "Use uv tool."),
    ("Please run make check before a commit.", "run make check before the commit"),
    ("Bitte den Port der Datenbank nennen", "den Port Datenbank nennen."),
    ("Say “yes”.", 'Say "yes".'),
    ("Run `make check` first.", "Run make check first."),
    ("- Run make check first.", "Run make check first."),
    ("用 uv 安装 Python 包。", "用uv安装Python包"),
    ("デプロイは火曜日です。", "デプロイは 火曜日です"),
    ("", "."),
]
OTHER_WORDS = [  # (one, other): never the same, whatever else they are
    ("Retry limit is 5.", "Retry limit is 3."),
    ("Use Python 3.11.", "Use Python 3.12."),
    ("Deploys are on Monday.", "Deploys are on Friday."),
    ("Use X in tests.", "Do not use X in tests."),
    ("Use https for the mirror.", "Use http for the mirror."),
    ("Use C++ here.", "Use C here."),
    ("x > 1 is checked", "x < 1 is checked"),
    ("10² items fit.", "102 items fit."),
    ("Deploy on Friday?", "Deploy on Friday."),
    ("Use option A", "Use option"),
    ("Use plan a", "Use plan"),
    ("No, use tabs.", "No use tabs."),
    ("No. Use tabs.", "No use tabs"),
    ('Set FLAG to "true".', "Set FLAG to true."),
    ('Answer "the end".', 'Answer "end".'),
    ("Tabs, not spaces.", "Spaces, not tabs."),
    ("Trinke in Maßen.", "Trinke in Massen."),
    ("- 5 degrees", "5 degrees"),
    ("```\nif a:\n    b\n```", "```\nif a:\nb\n```"),
    ("不。要删除缓存", "不要删除缓存"),
    ("Use the Windows builds.", "Use the window builds."),
]
UPDATES = [
    ("Deploy window is Tuesday 14:00 UTC.", "Deploy window is Thursday 14:00 UTC."),
    ("The API returns snake_case.", "The API returns camelCase since v3."),
    ("The timeout is 30 s.", "The timeout is 60 s."),
    ("Upload size limit 5 per request", "Upload size limit 8 per request"),
    ("Requests wait 30s before retry", "Requests wait 45s before retry"),
    ("请求超时30秒", "请求超时60秒"),
    ("Releases go out on Thursdays.", "Releases go out on Fridays."),
    ("Tests need Docker.", "Tests no longer need Docker."),
    ("Always squash merge.", "Never squash merge."),
    ("Use pnpm, never npm, in this repository.", "Use npm, never pnpm, in this repository."),
    ("Use tabs for indentation.", "Use spaces for indentation."),
    ("Feature flags are enabled in staging.", "Feature flags are disabled in staging."),
    ("Das Deploy-Fenster ist Dienstag 14 Uhr.", "Das Deploy-Fenster ist Donnerstag 14 Uhr."),
    ("Die API liefert snake_case.", "Die API liefert seit v3 camelCase."),
    ("Tests brauchen Docker.", "Tests brauchen kein Docker."),
    ("部署窗口是星期二 14:00。", "部署窗口是星期四 14:00。"),
    ("接口返回 snake_case。", "接口从 v3 起返回 camelCase。"),
    ("超时时间是30秒。", "超时时间是60秒。"),
    ("デプロイは火曜日の14時です。", "デプロイは木曜日の14時です。"),
    ("APIはsnake_caseを返す。", "APIはv3からcamelCaseを返す。"),
    ("배포는 화요일이다.", "배포는 목요일이다."),
    ("The endpoint is stable since v2.", "The endpoint is stable since v3."),
]
OTHER_MATTERS = [
    ("Node 1 is in Berlin.", "Node 2 is in Berlin."),
    ("Port of service-a is 5432.", "Port of service-b is 5433."),
    ("Ask Anna about billing.", "Ask Ben about billing."),
    ("Ada saw heron 3.", "Ada saw heron 4."),
    ("Heron 3 nests by the lake.", "Heron 4 nests by the lake."),
    ("Read ADR 12 about caching.", "Read ADR 13 about caching."),
    ("Run the tests with make check.", "The build cache lives in .cache/build."),
    ("Use uv.", "Use pip."),
    ("Deploys go through the heron gateway.", "The gateway has a new owner."),
    ("数据库的备份在 ops/backup.md。", "测试用 make check 运行。"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_words_in_another_spelling_are_the_same(one: str, other: str) -> None:
    assert compare(other, [("m1", one)]) == compare(one, [("m1", other)]) == Same(id="m1")


@pytest.mark.parametrize(("one", "other"), OTHER_WORDS)
def test_a_word_that_decides_makes_it_another_statement(one: str, other: str) -> None:
    assert not isinstance(compare(other, [("m1", one)]), Same)
    assert not isinstance(compare(one, [("m1", other)]), Same)


@pytest.mark.parametrize(("old", "new"), UPDATES)
def test_another_value_in_the_same_frame_is_an_update(old: str, new: str) -> None:
    assert compare(new, [("m1", old)]) == Update(ids=("m1",))


@pytest.mark.parametrize(("old", "new"), OTHER_MATTERS)
def test_another_matter_is_new(old: str, new: str) -> None:
    assert compare(new, [("m1", old)]) == New()


@pytest.mark.promise("field-cases")
def test_every_spelling_of_one_sentence_is_one_record() -> None:
    told = case("exact-duplicate-merged")
    (kept,) = told["given"]["memories"]

    answers = [compare(text, [(kept["id"], kept["text"])]) for text in told["when"]["candidates"]]

    assert answers == [Same(id=kept["id"])] * 3


@pytest.mark.promise("field-cases")
@pytest.mark.parametrize("name", ["update-is-not-a-duplicate", "contradiction-supersedes"])
def test_an_update_is_not_a_duplicate(name: str) -> None:
    told = case(name)
    (kept,) = told["given"]["memories"]

    assert compare(told["when"]["candidate"]["text"], [(kept["id"], kept["text"])]) == Update(ids=("m1",))


def test_of_several_records_the_same_one_decides_and_all_that_say_otherwise_are_named() -> None:
    others = [("m1", "The limit is 10."), ("m2", "Ask Ben."), ("m3", "The limit is 30."), ("m4", "the limit is 20")]

    assert compare("The limit is 20.", others) == Same(id="m4")
    assert compare("The limit is 20.", others[:3]) == Update(ids=("m1", "m3"))
    assert compare("The limit is 20.", []) == New()


def test_an_update_is_looked_for_in_the_beginning_of_a_long_text_only() -> None:
    filler = "Nothing of note happened that day\n" * (COMPARED // 10)

    assert updates(f"The limit is 20.\n{filler}", f"The limit is 10.\n{filler}")
    assert not updates(f"{filler}\nThe limit is 20.", f"{filler}\nThe limit is 10.")


@given(said | texts, said | texts)
def test_sameness_is_symmetric_and_every_text_says_the_same_as_itself(one: str, other: str) -> None:
    assert same(one, other) == same(other, one)
    assert same(one, one)


@given(said | texts, st.integers(min_value=0, max_value=9), said | texts, st.integers(min_value=1, max_value=9))
def test_a_changed_digit_is_never_the_same(before: str, digit: int, after: str, step: int) -> None:
    one, other = f"{before}{digit}{after}", f"{before}{(digit + step) % 10}{after}"

    assert not same(one, other)


@given(said | texts, st.lists(st.tuples(st.sampled_from("abc"), said | texts), max_size=4))
def test_any_texts_are_compared_without_an_error(text: str, others: list[tuple[str, str]]) -> None:
    answer = compare(text, others)

    assert isinstance(answer, Same | Update | New)


@pytest.mark.parametrize("pair", ["㌀㌁", "1 2 ,1 3 ", "ﷺﷲ", "a b ,b a ", "漢字,字漢"])
def test_texts_made_to_keep_us_busy_do_not(pair: str) -> None:
    """Sentences that repeat one word would be matched against each other for minutes."""
    one, two = pair.split(",") if "," in pair else pair
    long, other = one * COMPARED, two * COMPARED

    assert compare(long, [("a", f"{long[:1000]} {other}"), ("b", other)]) == New()
