"""A quote may not leave out the word that denies it; what only looks like a denial costs no quote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.negation import affirmed, count, cuts, parity

CUT = [  # (message, quote)
    ("不可以直接删除 cache 目录", "可以直接删除 cache 目录"),
    ("请不要在周五部署", "在周五部署"),
    ("別在週五部署", "在週五部署"),
    ("禁止使用 npm", "使用 npm"),
    ("切勿提交锁文件", "提交锁文件"),
    ("这个接口还没有上线", "这个接口"),
    ("缓存不存在时才重建", "存在时才重建"),
    ("日志不过滤敏感词", "过滤敏感词"),
    ("迁移不同步执行", "同步执行"),
    ("这个别提交到主干", "提交到主干"),
    ("警告别忽略掉", "忽略掉"),
    ("避免在主线程里读文件", "在主线程里读文件"),
    ("这功能未启用", "启用"),
    ("You should not use tabs here", "use tabs"),
    ("Please don't use tabs", "use tabs"),
    ("Please don’t use tabs", "use tabs"),
    ("dont use tabs", "use tabs"),
    ("Never push to main", "push to main"),
    ("You cannot deploy on Friday", "deploy on Friday"),
    ("using npm is not allowed", "using npm"),
    ("Force pushes are forbidden on main", "Force pushes"),
    ("Stop using npm here", "using npm here"),
    ("Avoid global state in tests", "global state in tests"),
    ("Instead of using npm run pnpm", "using npm run pnpm"),
    ("Deploys fail to start on arm", "start on arm"),
    ("We decided against using Redis", "using Redis"),
    ("Why don't we use Redis", "use Redis"),
    ("Merge without review", "Merge"),
    ("No tests run on arm", "tests run on arm"),
    ("That is unsupported on Windows", "supported on Windows"),
    ("Please disallow force pushes", "allow force pushes"),
    ("Not only ruff runs here", "only ruff runs here"),
    ("use tabs\r\nnot spaces and so on", "spaces and so on"),
    ("We hardly ever deploy on Friday", "deploy on Friday"),
    ("We rarely merge without review", "merge without review"),
    ("I doubt that we should use GraphQL", "we should use GraphQL"),
    ("I'm against mocking the DB", "mocking the DB"),
    ("We dropped support for Node 16", "support for Node 16"),
    ("everything except the docs is typed", "the docs is typed"),
    ("Deploy on Friday is a no-go", "Deploy on Friday"),
    ("已经放弃使用 Travis", "使用 Travis"),
    ("这里很少用递归", "用递归"),
    ("不可变更生产配置", "变更生产配置"),
    ("本番では使わない", "本番では使"),
    ("npm을 사용하지 마세요", "npm을 사용"),
    ("Não use npm", "use npm"),
    ("Nous n'utilisons pas npm", "npm"),
    ("Не используйте npm", "используйте npm"),
]
WHOLE = [
    ("No, use tabs", "use tabs"),
    ("no — use tabs", "use tabs"),
    ("nope  - use tabs", "use tabs"),
    ("I will not; use tabs", "use tabs"),
    ("Do not use tabs. Use spaces", "Use spaces"),
    ("Do not use tabs! Use spaces", "Use spaces"),
    ("use spaces\ndon't use tabs", "use spaces"),
    ("Do not use tabs", "Do not use tabs"),
    ("Not only ruff runs but also mypy", "mypy"),
    ("No problem we use uv for installs", "use uv for installs"),
    ("Don't forget to run the tests", "run the tests"),
    ("Deploy no later than Friday noon", "Friday noon"),
    ("Use uv instead of pip", "Use uv"),
    ("git commit --no-verify is what we use", "is what we use"),
    ("Ticket no. 12 is about the cache", "about the cache"),
    ("The column is NOT NULL here", "The column"),
    ("The notes service keeps nothingness", "The notes service"),
    ("unstaged changes are kept", "unstaged changes are kept"),
    ("不要用 tab。用空格", "用空格"),
    ("不用 npm，用 pnpm", "用 pnpm"),
    ("不过用空格", "用空格"),
    ("特别注意用空格", "用空格"),
    ("不管怎样都用空格", "用空格"),
    ("日志级别是 warning", "是 warning"),
    ("两个服务用不同的端口", "两个服务"),
    ("没问题就用 pnpm", "用 pnpm"),
    ("是不是都用 pnpm", "用 pnpm"),
    ("我们不得不用空格", "用空格"),
    ("未来会用 pnpm", "会用 pnpm"),
    ("个别服务用 pnpm", "用 pnpm"),
    ("we have no choice but to use Oracle", "use Oracle"),
    ("I can't stress enough that we use UTC", "we use UTC"),
    ("Without exception we squash merge", "we squash merge"),
    ("don't you think we should use pnpm", "we should use pnpm"),
    ("set NODE_ENV=none and go on", "and go on"),
    ("Tests run against Postgres 16", "Postgres 16"),
    ("Endpoints support JSON only", "support JSON only"),
    ("use try/except around IO", "around IO"),
    ("hard deadlines are in May", "deadlines are in May"),
    ("别忘了跑 make lint", "跑 make lint"),
    ("不要忘记跑 make lint", "跑 make lint"),
    ("没有的话用默认端口 8080", "用默认端口 8080"),
    ("毫无疑问用 Postgres", "用 Postgres"),
    ("对不起端口是 8080", "端口是 8080"),
    ("要不我们用 pnpm", "我们用 pnpm"),
    ("没想到缓存这么快", "缓存这么快"),
    ("不可变基础设施用 Terraform", "用 Terraform"),
    ("很少量的数据放内存", "数据放内存"),
    ("テストを必ず実行しなければならない", "テストを必ず実行"),
    ("少ないメモリで動く", "メモリで動く"),
    ("Небо синее", "синее"),
]


def _cuts(message: str, quote: str) -> bool:
    start = message.index(quote)
    return cuts(message, start, start + len(quote))


@pytest.mark.parametrize(("message", "quote"), CUT)
def test_a_denial_outside_of_the_quote_in_its_clause_cuts_it(message: str, quote: str) -> None:
    assert _cuts(message, quote)


@pytest.mark.parametrize(("message", "quote"), WHOLE)
def test_a_denial_in_the_quote_or_in_another_clause_or_none_at_all_cuts_nothing(message: str, quote: str) -> None:
    assert not _cuts(message, quote)


@pytest.mark.parametrize("sign", ["。", "，", "；", "！", "？", ";", "!", "?", "\n", "\r\n", ". ", ", "])
def test_each_sign_that_ends_a_clause_ends_it(sign: str) -> None:
    assert not _cuts(f"do not do that{sign}use tabs", "use tabs")
    assert not _cuts(f"use tabs{sign}do not do that", "use tabs")


@pytest.mark.parametrize("sign", [".", ",", ":", "、", " - ", "…"])
def test_other_signs_end_no_clause(sign: str) -> None:
    assert _cuts(f"not that{sign}use tabs", "use tabs")


@pytest.mark.parametrize(
    ("text", "denials"),
    [
        ("use X", 0),
        ("do not use X", 1),
        ("never use X without Y", 2),
        ("不可以删除", 1),
        ("不同的端口", 0),
        ("avoid X", 1),
        ("use X not Y", 1),
        ("use X instead of Y", 1),
        ("", 0),
    ],
)
def test_denials_are_counted(text: str, denials: int) -> None:
    assert count(text) == denials
    assert parity(text) == denials % 2


def test_a_text_without_its_denials_says_what_it_denies() -> None:
    assert affirmed("do not use tabs").split() == ["do", "use", "tabs"]
    assert affirmed("不同的端口") == "不同的端口"


WORDS = "not no use tabs , . ; 不 不同 别 特别 用 空格 unless don't"
words = st.lists(st.sampled_from(WORDS.split()), max_size=12)


@given(words.map(" ".join), st.data())
def test_a_whole_message_is_never_cut_and_no_place_breaks_it(message: str, data: st.DataObject) -> None:
    assert not cuts(message, 0, len(message))
    start = data.draw(st.integers(0, len(message)))
    end = data.draw(st.integers(start, len(message)))
    assert cuts(message, start, end) in (True, False)


@given(words.map(" ".join))
def test_what_follows_a_full_stop_is_not_cut_by_what_stands_before(message: str) -> None:
    text = f"{message}。\nuse tabs"
    assert not cuts(text, len(text) - 8, len(text))


@pytest.mark.parametrize("piece", ["no ", "不", "no doubt ", "是不", "stop ", "n't", "not\n", " ", "a"])
def test_a_hostile_message_of_64_kib_is_read(piece: str) -> None:
    message = piece * (65_536 // len(piece))
    assert cuts(message, 30_000, 30_010) in (True, False)
