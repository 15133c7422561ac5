"""Two claims are one only when nothing that matters differs: a claim lost is worse than a claim kept twice."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.claims import claim_of, contrary, near, same, shared_terms, tied

CASES = Path(__file__).parents[2] / "data" / "cases"
SAME = [
    ("Use uv for Python installs.", "use UV for python installs"),
    ("Use uv for Python installs.", "  Use  uv for\nPython installs!"),
    ("Use uv.", "Ｕｓｅ ｕｖ．"),
    ("Say “yes”.", 'Say "yes"'),
    ("用 pnpm。", "用 pnpm"),
    ("", " . "),
]
NEAR = [
    ("Use uv for Python installs.", "Please always use uv for Python installs"),
    ("Use `uv` for Python installs", "For Python installs use uv"),
    ("Releases go out on Thursdays.", "Releases go out on Thursdays each week"),
    ("The retry limit is 10 for uploads", "Retry limit for uploads is 10"),
    ("Commit messages are in English.", "commit messages must be in English"),
    ("Never push to main", "never push directly to main"),
    ("Deploys run at 14:00 UTC", "Deploys always run at 14:00 UTC."),
    ("用 uv 安装 Python 包。", "用uv安装Python包"),
    ("In CI, use Postgres", "Use Postgres in CI"),
    ("The retry limit is 3", "The retry limit is three"),
    ("重试上限是 3 次", "重试上限是三次"),
]
NOT_NEAR = [
    ("Limit is 10", "Limit is 20"),
    ("use X", "do not use X"),
    ("Use X", "Use Y"),
    ("Deploy window is Tuesday 14:00 UTC.", "Deploy window is Thursday 14:00 UTC."),
    ("Python 3.11 is used in CI", "Python 3.12 is used in CI"),
    ("Set maxRetries in src/a.py", "Set maxRetries in src/b.py"),
    ("timeout is 30 s", "timeout is 30 ms"),
    ("Squash merge always", "Never squash merge"),
    ("Deploy on Friday", "Do not deploy on Friday without approval"),
    ("10² rows", "102 rows"),
    ("缓存目录可以删除", "缓存目录不可以删除"),
    ("每周四发布", "每周五发布"),
    ("重试三次", "重试四次"),
    ("Enable the cache in CI for all jobs of billing", "Disable the cache in CI for all jobs of billing"),
    (
        "The nightly export job writes its parquet files to the staging bucket before the report service reads them",
        "The nightly export job writes its parquet files to the production bucket before the report service reads them",
    ),
    ("Use Redis", "Use Redis for sessions but Postgres for jobs"),
    ("Tests go in tests/", "Tests go in test/"),
    ("The API calls the worker", "The worker calls the API"),
    ("Dev uses SQLite and prod uses Postgres", "Dev uses Postgres and prod uses SQLite"),
    ("Port 8080 is HTTP and 8443 is HTTPS", "Port 8443 is HTTP and 8080 is HTTPS"),
    ("回答用英文，注释用中文", "回答用中文，注释用英文"),
    ("服务 A 调用服务 B", "服务 B 调用服务 A"),
    ("All tests need a database", "Some tests need a database"),
    ("The user moved to Berlin", "The user moved from Berlin"),
    ("Rarely deploy on Friday", "Deploy on Friday"),
    ("🙂", "🙃"),
    ("Use tabs", ""),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spelling_makes_no_other_claim(one: str, other: str) -> None:
    assert same(one, other)
    assert near(one, other)
    assert claim_of(one) == claim_of(other)


@pytest.mark.parametrize(("one", "other"), NEAR)
def test_nearly_the_same_words_are_near_and_not_the_same(one: str, other: str) -> None:
    assert near(one, other)
    assert near(other, one)


@pytest.mark.parametrize(("one", "other"), NOT_NEAR)
def test_what_differs_in_anything_that_matters_is_not_near(one: str, other: str) -> None:
    assert not near(one, other)
    assert not near(other, one)


@pytest.mark.promise("field-cases")
def test_an_update_is_no_duplicate() -> None:
    case = json.loads((CASES / "update-is-not-a-duplicate.json").read_text("utf-8"))
    old, new = case["given"]["memories"][0]["text"], case["when"]["candidate"]["text"]
    assert not near(old, new)
    assert contrary(new, old)


@pytest.mark.promise("field-cases")
def test_three_spellings_of_a_sentence_are_one_claim() -> None:
    case = json.loads((CASES / "exact-duplicate-merged.json").read_text("utf-8"))
    old = case["given"]["memories"][0]["text"]
    assert {claim_of(said) for said in case["when"]["candidates"]} == {claim_of(old)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Limit is 10", "Limit is 20"),
        ("use X", "do not use X"),
        ("The API returns snake_case.", "The API returns camelCase since v3."),
        ("重试上限是 3 次", "重试上限是 5 次"),
        ("在周五部署", "不要在周五部署"),
        ("The retry limit is three", "The retry limit is 4"),
        ("Use Node 18", "Use Node 20"),
        ("重试上限是三次", "重试上限是 5 次"),
        ("Tests need Docker.", "Tests no longer need Docker."),
    ],
)
def test_the_same_matter_with_another_value_or_a_denial_is_contrary(one: str, other: str) -> None:
    assert contrary(one, other)
    assert contrary(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Project uses Python 3.11", "Project uses Node 20"),
        ("Use tabs", "Use tabs."),
        ("Releases go out on Thursdays", "The cache is in Redis 7"),
        ("Node 1 is in Berlin.", "Node 2 is in Berlin."),
        ("不要提交锁文件", "周五部署"),
    ],
)
def test_other_matters_are_not_contrary(one: str, other: str) -> None:
    assert not contrary(one, other)


@pytest.mark.parametrize(
    ("content", "gap", "one"),
    [
        ("We ship releases on Thursdays only", "Releases go out on Thursdays.", True),
        ("Releases go out on Thursdays at 14:00", "Releases go out on Thursdays.", True),
        ("Retry limit is 20", "Retry limit is 10", False),
        ("Releases never go out on Thursdays", "Releases go out on Thursdays.", False),
        ("The cache lives in Redis", "Releases go out on Thursdays.", False),
        ("Deploy from main", "Deploy", False),
        ("发布都安排在周四下午", "发布安排在周四", True),
    ],
)
def test_a_claim_is_tied_to_the_gap_that_it_cites_by_its_words(content: str, gap: str, one: bool) -> None:
    assert tied(content, gap) is one


def test_shared_terms_are_a_share_of_the_smaller_text() -> None:
    assert shared_terms("cache lives here", "the cache lives in Redis") == 1.0
    assert shared_terms("", "cache") == shared_terms("。", "…") == 0.0


WORDS = "Use use uv UV pnpm 3 4 v2 not on off Tuesday 周三 数据库 不 用 . , ! ? ` before after a_b"
said = st.lists(
    st.sampled_from(WORDS.split(" ")),
    max_size=10,
).map(" ".join)


@given(said, said)
def test_near_and_contrary_ask_no_order_and_what_is_the_same_is_near(one: str, other: str) -> None:
    assert near(one, other) == near(other, one)
    assert contrary(one, other) == contrary(other, one)
    assert same(one, other) == (claim_of(one) == claim_of(other))
    if same(one, other):
        assert near(one, other)


@given(said, st.integers(0, 10_000), st.integers(0, 10_000))
def test_another_number_is_another_claim(text: str, number: int, other: int) -> None:
    assert near(f"{text} limit is {number}", f"{text} limit is {other}") is (number == other)


@given(said)
def test_a_denial_more_is_another_claim(text: str) -> None:
    assert not near(f"{text}\nuse it", f"{text}\ndo not use it")
    assert not near(f"{text}\n用它", f"{text}\n不用它")


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert near(one, one)
    assert tied(one, other) in (True, False)
    assert 0.0 <= shared_terms(one, other) <= 1.0


def test_texts_beyond_the_bound_are_one_only_when_they_are_the_same() -> None:
    long = "use the cache of the build " * 400
    assert near(long, long.upper())
    assert not near(long, long + "here")
