"""What a user's own words say: that it worked, or that a memory is wrong. Hard negatives above all."""

import pytest

from governance.evidence_words import LONGEST, complaint, confirms
from tests.support.builders import a_memory_id

WORKED = (
    "that worked",
    "That fixed it, thanks!",
    "works now",
    "Great, it works now.",
    "perfect, the tests pass now",
    "yes, it's working",
    "ok it compiles now thanks",
    "Awesome, that did the trick",
    "problem solved",
    "the error is gone, thank you",
    "no more errors",
    "all green",
    "The build is green",
    "It works like a charm",
    "Works perfectly",
    "nice, the build passes",
    "it finally works",
    "好了，谢谢",
    "可以了",
    "解决了",
    "搞定了，谢谢",
    "测试通过了",
    "现在可以跑了",
    "成功了！",
    "现在正常了",
    "没问题了",
    "不报错了",
    "问题解决了，继续下一步",
    "终于好了",
    "能用了",
    "跑通了",
)
SAYS_NOTHING = (
    "ok",
    "thanks",
    "go on",
    "great",
    "perfect",
    "looks good",
    "yes please",
    "it works but the tests are slow",
    "does it work now?",
    "still doesn't work",
    "not fixed",
    "if that works, commit it",
    "make sure it works",
    "when the tests pass, push",
    "it should work now",
    "check whether it works",
    "it worked before your change",
    "that worked locally only",
    "it almost works",
    "the fix is wrong",
    "run the tests until they pass",
    "tell me how it works",
    "how does that work",
    "explain how this works",
    "Great, now make it work on Windows",
    "the tests pass, but lint fails",
    "does that fix it",
    "I want it fixed",
    "is it fixed now",
    "write a test that passes",
    "好",
    "好的",
    "继续",
    "谢谢",
    "可以",
    "可以吗",
    "好了吗？",
    "还是不行",
    "没有解决",
    "解决了吗",
    "如果成功了就提交",
    "等测试通过了再合并",
    "测试通过了但是很慢",
    "应该好了",
    "现在可以开始了吗",
    "先解决这个问题",
    "搞定之后告诉我",
    "没通过",
    "失败了",
    "差不多好了",
    "继续，把下一步做了",
    "现在可以开始下一步",
    "做好了就提交",
)


@pytest.mark.promise("evidence-rules")
@pytest.mark.parametrize("text", WORKED)
def test_a_user_says_that_it_worked(text: str) -> None:
    assert confirms(text)


@pytest.mark.promise("evidence-rules")
@pytest.mark.parametrize("text", SAYS_NOTHING)
def test_thanks_orders_questions_doubts_and_buts_are_no_success(text: str) -> None:
    assert not confirms(text)


def test_a_long_text_says_more_than_that_it_worked() -> None:
    assert not confirms("it works now. " + "and so on " * 40)
    assert not confirms("")


def test_what_is_rejected_and_what_is_put_in_its_place_are_read() -> None:
    found = complaint("No, the cache is in Memcached, not Redis.")
    assert found is not None
    assert [(turn.rejected, turn.proposed) for turn in found.turns] == [("Redis", "Memcached")]
    found = complaint("不对，缓存不是 Redis，而是 Memcached。")
    assert found is not None
    assert [(turn.rejected, turn.proposed) for turn in found.turns] == [("Redis", "Memcached")]


@pytest.mark.parametrize(
    "text",
    [
        "isn't that note outdated?",
        "For now use npm rather than pnpm.",
        "> that note is outdated",
        "```\nuse npm, not pnpm\n```",
        "as your note says, use pnpm, not npm",
        "这次先用 npm，不用 pnpm",
        "这条记忆是不是过时了？",
        "hello",
        "Write in the README: 'that note is wrong'",
        "Fix the bug: that note is wrong after saving",
        "your reminder is incorrect in the calendar page",
        "页面上的这个提醒过期了，改一下",
        "那个备忘功能错了",
        "他说“这条记忆错了”，你看看",
    ],
)
def test_what_is_asked_quoted_meant_for_once_or_said_in_agreement_takes_nothing_back(text: str) -> None:
    assert complaint(text) is None


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f"{a_memory_id(1)} is wrong", True),
        (f"{a_memory_id(1)} 已经过时了", True),
        (f"{a_memory_id(1)} is not wrong, keep it", False),
        (f"No, follow {a_memory_id(1)} as the note says, your file is wrong", False),
        (f"see {a_memory_id(1)}. Your test is wrong.", False),
    ],
)
def test_a_memory_is_named_only_in_the_sentence_that_calls_it_wrong(text: str, named: bool) -> None:
    found = complaint(text)
    assert (found is not None and found.ids == {a_memory_id(1)}) is named


@pytest.mark.parametrize(
    "piece", ["is ", "not a, use b ", "use the a not ", "不是甲，而是", "从甲换成", "mem_", "no longer use the ", "，"]
)
def test_a_text_that_is_built_to_be_slow_is_read_no_slower_than_a_pass_allows(piece: str) -> None:
    """No clock: what is read is bounded, and each pattern looks at a few words from each place."""
    complaint(piece * (LONGEST // len(piece)))
    confirms(piece * (240 // len(piece)))
