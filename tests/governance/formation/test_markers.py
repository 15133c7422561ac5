"""Which sentences ask to be remembered, and which only look as if they did."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.formation.contracts import Role
from governance.formation.markers import (
    LONGEST_SENTENCE,
    MOST_OF_MESSAGE,
    explicit,
    marked,
    marked_notes,
    remembers,
)
from tests.support.clock import START
from tests.support.noting import SCOPE, STREAM, a_message, quoted_slices_hold


@pytest.mark.parametrize(
    "text",
    [
        "Remember: releases go out on Thursdays",
        "Please remember that the staging database is read only.",
        "ok, remember to run make lint before a commit",
        "I want you to remember the new port, it's 8443",
        "Can you remember that we deploy from main?",
        "Keep in mind that the importer is single threaded.",
        "Don't forget to bump the schema version.",
        "Don’t forget: the tests need redis.",
        "From now on use pnpm instead of npm.",
        "going forward, all branches start with the ticket number",
        "For future reference, the token expires after an hour.",
        "Always squash merge.",
        "please never push to main directly",
        "We never commit generated files.",
        "You should always run the linter first, ok?",
        "Make sure to never edit files under vendor/.",
        "I always use tabs.",
        "Never run the migrations by hand",
        "As a rule, errors are logged once.",
        "Save this to your memory: the API is frozen.",
        "- **Always** use the wrapper script",
        "记住：发布在每周四",
        "請記住 staging 資料庫是唯讀的",
        "以后提交前都先跑 make lint",
        "以後都用 pnpm",
        "不要再直接修改生成的文件",
        "别再用 npm 安装依赖",
        "从现在开始所有分支都以工单号开头",
        "永远不要直接推送到 main",
        "别忘了更新 schema 版本",
        "请始终使用 UTC 时间",
        "今后日志一律写到 stderr",
        "记得先备份数据库再迁移",
        "Please don't use npm again.",
        "do not ever force push",
        "never ever touch prod",
        "We agreed to always squash",
        "Don’t use mocks anymore",
        "Stop using npm in this repo.",
        "Let's always use UTC",
        "Make sure you never push to main",
        "Use pnpm, always.",
        "Keep this in mind: uv only",
        "Add to memory: I live in Berlin",
        "I said: always use UTC",
        'Remember: "always green" is our motto',
        "每次提交前都要跑 lint",
        "切记不要推 main",
        "任何时候都不要推 main",
        "無論何時都不要推 main",
        "提交信息以后都用英文",
        "不要再问我确认",
        "Ab jetzt nutzen wir pnpm",
        "覚えておいて：pnpm を使う",
    ],
)
def test_a_sentence_that_asks_is_marked_whole(text: str) -> None:
    found = marked(text)
    assert [one.text for one in found] == [text.removeprefix("- ")]
    assert remembers(f"Some words before.\n{text}")


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember what we did about the cache?",
        "I remember that this was slow.",
        "I can't remember the name of the flag.",
        "If I remember correctly, it was in utils.py.",
        "Remember when we broke the build?",
        "It never worked on Windows.",
        "The job always fails at night and always retries twice.",
        "never mind, it works now",
        "you never told me that the tests were red",
        "Why does it always time out?",
        "This is memory bound, save it in memory for speed.",
        "Use the branch that was merged from main.",
        "How do I remember a password in git?",
        "What happens from now on?",
        "The value is always the same and never empty.",
        "Remember",
        "Remember:",
        "always",
        "你还记得上次的问题吗？",
        "我记得这个函数在 utils.py 里",
        "升级以后就报错了",
        "改完以后都报错",
        "以后再说吧",
        "这个测试总是失败",
        "我没记住那个参数",
        "上线以后会不会有问题？",
        "下次再说",
        "The docs say: never call this twice",
        "My boss said: always use UTC",
        'The README says "always use UTC".',
        "“Always use UTC”, says the linter",
        "文档里说“永远不要推 main”",
        "错误信息说不要再调用",
        "登录页加一个“记住我”",
        "记住密码功能怎么做",
        "我没听说过，不要再说了",
        "从那以后就没问题了",
        "每次都报错",
        "从今天起就连不上了",
        "登录以后都会跳转到首页",
        "He played, never professionally performed it.",
        "I just want to keep moving forward.",
        "The shoes remind me not to forget why I started",
        "Next time I see her I will ask",
        "never heard of it",
        "It failed from then on",
        "In the future we might move to Rust",
        "I don't understand it anymore",
        "",
        "\n\n",
    ],
)
def test_a_sentence_that_only_looks_so_is_not(text: str) -> None:
    assert marked(text) == ()


def test_only_the_sentence_is_taken_and_its_place_is_right() -> None:
    text = "The build is red. Remember: releases go out on v1.2 Thursdays! Can you look?\n\nThanks."
    (one,) = marked(text)
    assert one.text == text[one.start : one.end] == "Remember: releases go out on v1.2 Thursdays!"
    place = text.index("Thursdays")
    assert explicit(text, place, place + 9)
    assert not explicit(text, 0, 17)


def test_a_wrapped_sentence_is_one() -> None:
    text = "Hello.\nRemember that the release goes out\non Thursdays and is cut\nby the bot. Thanks"
    (one,) = marked(text)
    assert one.text == "Remember that the release goes out\non Thursdays and is cut\nby the bot."


def test_what_a_line_announces_is_what_is_meant() -> None:
    text = "Please remember the following:\n\n- releases go out on Thursdays\n- the port is 8443\n\nNow fix the test."
    assert [one.text for one in marked(text)] == ["releases go out on Thursdays", "the port is 8443"]
    assert [one.text for one in marked("记住以下几点：\n1. 端口是 8443\n2. 周四发布\n好了，开始吧")] == [
        "端口是 8443",
        "周四发布",
    ]
    assert [one.text for one in marked("Remember:\nreleases go out on Thursdays\nNow fix it.")] == [
        "releases go out on Thursdays"
    ]


def test_code_quotations_and_pasted_text_do_not_count() -> None:
    code = "Look:\n```\nAlways squash merge.\n```\n> Never push to main.\n    Always indent four\n| Always | never |\n"
    assert marked(code) == ()
    assert marked("~~~\nRemember: this is code\n") == ()
    assert marked("<summary>Retries must always be ten.</summary>\n<note></note>") == ()
    assert marked("Always " + "very long words " * 60) == ()
    assert len("Always " + "very long words " * 60) > LONGEST_SENTENCE
    assert len(marked("Always use tabs here.\n" * 50)) == MOST_OF_MESSAGE


@given(st.text(alphabet=st.sampled_from("Always never remember: that\n. -`>记住以后都，。?！x1 \t")))
def test_any_text_gives_slices_of_itself_in_order(text: str) -> None:
    last = 0
    for one in marked(text):
        assert text[one.start : one.end] == one.text == one.text.strip()
        assert last <= one.start < one.end
        last = one.end


def test_hostile_texts_are_read_soon() -> None:
    """Were any of this quadratic, it would take hours."""
    for text in ("always ", "remember ", "to ", "a.b. ", "- ", "` ", "以后", "not forget ", "save this "):
        marked(text * 60_000)


def test_each_marked_sentence_is_a_pending_note_and_its_own_quote() -> None:
    messages = (
        a_message(1, "Hi. Remember: releases go out on Thursdays. Always squash merge."),
        a_message(2, "Always deploy by hand.", Role.ASSISTANT),
        a_message(3, "Nothing here."),
    )
    runs = marked_notes(messages, SCOPE, STREAM, START)
    assert [run.coverage.new_ids for run in runs] == [("m1",)]
    notes = [change.after for change in runs[0].changes]
    assert [note.content for note in notes] == ["Remember: releases go out on Thursdays.", "Always squash merge."]
    for note in notes:
        assert note.citations[0].quote == note.content
        assert (note.review.status, note.author) == ("pending", "rule")
        assert quoted_slices_hold(note, *messages)
    assert (runs[0].provenance.calls, runs[0].provenance.usage) == (0, None)


def test_a_day_is_written_as_its_date_and_one_that_may_be_two_is_left_to_others() -> None:
    sure, unsure = a_message(1, "Remember: the freeze begins tomorrow."), a_message(2, "Remember: it ends next Friday.")
    first, second = marked_notes([sure, unsure], SCOPE, STREAM, START)
    note = first.changes[0].after
    assert (note.content, note.citations[0].quote) == ("Remember: the freeze begins on 2026-05-29.", sure.content)
    assert (second.changes, [one.code for one in second.rejected]) == ((), ["relative-date"])


def test_the_same_sentence_is_the_same_note_whatever_comes_after() -> None:
    first = marked_notes([a_message(1, "Always squash merge.")], SCOPE, STREAM, START)
    later = marked_notes([a_message(0), a_message(1, "Always squash merge."), a_message(2)], SCOPE, STREAM, START + 9)
    assert first[0].changes == later[0].changes


def test_a_long_sentence_has_a_title_of_whole_words() -> None:
    text = "Remember that " + "alpha beta " * 30
    (run,) = marked_notes([a_message(1, text)], SCOPE, STREAM, START)
    title = run.changes[0].after.title
    assert len(title) <= 120 and title.endswith(("alpha…", "beta…"))
