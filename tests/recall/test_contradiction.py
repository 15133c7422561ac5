"""Which of two records takes the other back, on pairs made up for this test."""

from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recall import contradiction
from recall.contradiction import COMPARED, contradicts, reading

TAKEN_BACK = [  # (newer, older)
    ("The API returns camelCase since v3.", "The API returns snake_case."),
    ("Deploy window is Thursday 14:00 UTC.", "Deploy window is Tuesday 14:00 UTC."),
    ("Gradle needs JDK 21.", "Gradle needs JDK 17."),
    ("We use pnpm for installs.", "We use yarn for installs."),
    ("Node 22 is required to build the docs.", "Node 18 is required to build the docs."),
    ("Migrations do not run automatically at start.", "Migrations run automatically at start."),
    ("Never squash commits on release branches.", "Squash commits on release branches before merging."),
    ("Tests now run with Vitest instead of Jest.", "Tests run with Jest; config in jest.config.ts."),
    ("Secrets are read from Vault rather than from .env files.", "Secrets are read from .env files."),
    ("We switched from Jenkins to GitHub Actions for CI.", "CI runs on Jenkins."),
    ("The worker pool uses processes, not threads.", "The worker pool uses threads."),
    ("A file called .lintignore or a comment is not read by the linter.", "List files in .lintignore for the linter."),
    ("生产部署窗口是周四下午三点。", "生产部署窗口是周二下午三点。"),
    ("请求超时时间为 60 秒。", "请求超时时间为 30 秒。"),
    ("提交前不需要运行 make lint。", "提交前需要运行 make lint。"),
    ("日志不再写入 /var/log/app，改为标准输出。", "日志写入 /var/log/app。"),
    ("接口返回驼峰命名。", "接口返回下划线命名。"),
]
BOTH_HOLD = [
    ("Production deploys need approval from security.", "Staging deploys need approval from ops."),
    ("Run make docs after editing .md files.", "Run make proto after editing .proto files."),
    ("The dev API listens on port 3000.", "The prod API listens on port 8080."),
    ("Ask Maria for cluster access.", "Ask Maria for database access."),
    ("API errors use RFC 9457; validation errors list the fields.", "API errors use RFC 9457."),
    ("Do not edit generated files in gen/; run make gen.", "gen/ holds generated files from the proto definitions."),
    ("errors.Is with the type is not valid Go; use errors.As.", "errors.go defines SilentError as a struct type."),
    ("HTTP 404 means the tenant is unknown.", "HTTP 409 means the tenant is locked."),
    ("Kafka consumer lag alerts fire at 5000 messages.", "Kafka topics are created by Terraform, not by hand."),
    ("users.email is unique; users.phone is not.", "users.email is lower-cased before it is stored."),
    ("Integration tests need Docker; unit tests do not.", "Integration tests take ten minutes."),
    ("测试环境的端口是 8081。", "生产环境的端口是 8080。"),
    ("部署后不要忘记清理缓存。", "部署前必须先备份数据库。"),
    ("代码评审不看格式问题。", "代码评审需要两个人批准。"),
]


@pytest.mark.parametrize(("newer", "older"), TAKEN_BACK)
def test_the_newer_text_takes_the_older_back(newer: str, older: str) -> None:
    assert contradicts(newer, older)


@pytest.mark.parametrize(("newer", "older"), BOTH_HOLD)
def test_texts_that_can_both_hold_are_left_alone(newer: str, older: str) -> None:
    assert not contradicts(newer, older)


def test_a_text_does_not_contradict_itself() -> None:
    for newer, older in TAKEN_BACK + BOTH_HOLD:
        assert not contradicts(newer, newer)
        assert not contradicts(older, older)


def test_only_the_beginning_of_a_long_text_is_compared() -> None:
    newer, older = TAKEN_BACK[0]
    filler = "Something else entirely, with a clause that says little. " * 2_000

    assert contradicts(f"{newer} {filler}", f"{older} {filler}")
    assert not contradicts(f"{filler} {newer}", older)
    assert len(reading(filler).clauses) <= COMPARED // len("a b, ")


FRAGMENTS = [*dict.fromkeys(sentence for pair in TAKEN_BACK + BOTH_HOLD for sentence in pair)]
SLOTS = ("the", "port", "is", "8080", "9090", "deploy", "uses", "yarn", "pnpm", "not", "on", "超", "时", "为")
texts = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=3).map(" ".join)
tokens = st.lists(st.sampled_from(SLOTS), max_size=5).map(tuple)


@settings(max_examples=200, deadline=None)
@given(texts, texts)
def test_what_is_not_looked_at_more_closely_shows_none_of_the_signs(newer: str, older: str) -> None:
    one, two = reading(newer), reading(older)
    signs = (contradiction._other_slot, contradiction._opposite, contradiction._replaces)

    if not one.may_take_back(two):
        assert [sign(one, two) for sign in signs] == [False, False, False]


def test_most_texts_of_other_matters_are_not_looked_at_more_closely() -> None:
    plain = [reading(text) for text in FRAGMENTS if not reading(text).denies and not reading(text).replaced]
    looked = [one.may_take_back(two) for one, two in product(plain, plain) if one is not two]

    assert sum(looked) < 0.2 * len(looked)
    assert all(reading(newer).may_take_back(reading(older)) for newer, older in TAKEN_BACK)


@settings(max_examples=300, deadline=None)
@given(tokens, tokens, tokens, tokens)
@example(("the", "port", "is"), ("8080",), ("9090",), ())
def test_two_sentences_that_are_not_matched_have_no_slot_that_differs(
    before: tuple[str, ...], this: tuple[str, ...], that: tuple[str, ...], after: tuple[str, ...]
) -> None:
    one, two = ("deploy", *before, *this, *after), ("deploy", *before, *that, *after)
    found = contradiction._slot_differs(one, two)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contradiction, "_ends_alike", lambda *_: len(one))
        assert contradiction._slot_differs(one, two) is found
