import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.gate_words import asks_to_recall, corrects, error_classes, is_acknowledgement, is_empty

ACKNOWLEDGEMENTS = """
ok|OK!|Ok.|thanks|Thank you so much!|yes|y|Y|👍|👍🏽 ship it|好的|好的，继续吧|继续|はい|네|lgtm|LGTM 🚀|hmm|...
?|！|[image]|[Image #1]|[Image: source: a.png]|yes please do it|sounds good, go ahead!|that's right|谢谢你|2|b
try again|no|no, thanks|no problem|行|嗯嗯好的|可以，开始吧|ｏｋ|是的是的|请继续|keep going|hello
ok and continue|of course|Great — go ahead and continue
"""
SIGNALS = """
yes, use pnpm instead|push|commit and push please|fix it|option 3 is the cache|好的，把它改成异步
ok now add tests|what did we do before?|do you remember?|上次呢？|不对|不对，应该用 pnpm
no, that is the other file|run the tests|why does auth.py fail|部署|[image] what is this error|it worked!
没有生效|thanks, but the build still fails
"""
RECALLS = """
what did we decide about the queue?|What have we agreed on for retries|do you remember the port?
can you recall how we fixed it|last time it was redis|how did we solve this|did we already discuss caching?
remind me why|as we discussed|what is our convention for ids|what's the decision on auth|check your notes
之前怎么部署的|上次是怎么修的|我们决定用哪个库|你还记得端口吗|前面说过的规则|有没有遇到过这个错误|前回の設定は？
지난번 설정
"""
NO_RECALLS = """
remember to run the tests|add a last_time column|what does this do?|fix the failing test
decide which one is better|use the previous button|之前|部署到测试环境|把结果记下来
"""
CORRECTIONS = """
no, use pnpm|No - that's the wrong branch|no use yarn|that's wrong|This is not right|you forgot the migration
use pnpm instead|actually, it is 8080|not what I asked|I said port 3000|don't use mocks|stop adding comments
undo that|wrong file|make it async rather than threaded|不对，应该用 pnpm|不是这样|错了|要用 poetry|改成异步
我说的是测试环境|不要用 npm|你忘了迁移|不是 npm 而是 pnpm|别再改这个文件
"""
NO_CORRECTIONS = """
no problem|no need|add a test for the parser|write the docs instead of me|why is this wrong value printed?
nothing else|should we use redis?|No conversation found to continue|应该可以|对的|不知道为什么
"""


def said(table: str) -> list[str]:
    return [text for line in table.strip().splitlines() for text in line.split("|")]


@pytest.mark.parametrize("text", [*said(ACKNOWLEDGEMENTS), "", "  \n"])
def test_an_acknowledgement_is_no_signal(text: str) -> None:
    assert is_acknowledgement(text)
    assert is_empty(text)


@pytest.mark.parametrize("text", said(SIGNALS))
def test_whatever_names_a_thing_is_a_signal(text: str) -> None:
    assert not is_acknowledgement(text)
    assert not is_empty(text)


@pytest.mark.parametrize("text", ["the", "what about this?", "是这样的", "--- *** ---", "这个呢？"])
def test_stop_words_and_punctuation_alone_are_no_signal(text: str) -> None:
    assert is_empty(text)


def test_a_long_text_is_no_acknowledgement_whatever_its_words() -> None:
    assert not is_acknowledgement("ok " * 60)


@pytest.mark.parametrize("text", said(RECALLS))
def test_a_request_to_recall_is_recognised(text: str) -> None:
    assert asks_to_recall(text)


@pytest.mark.parametrize("text", said(NO_RECALLS))
def test_a_task_is_no_request_to_recall(text: str) -> None:
    assert not asks_to_recall(text)


@pytest.mark.parametrize("text", said(CORRECTIONS))
def test_a_correction_is_recognised(text: str) -> None:
    assert corrects(text)


@pytest.mark.parametrize("text", said(NO_CORRECTIONS))
def test_a_task_or_a_question_is_no_correction(text: str) -> None:
    assert not corrects(text)


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("ModuleNotFoundError: No module named 'foo'", ("modulenotfounderror", "no module named")),
        ("error TS2345: argument; E0308; ENOENT", ("ts2345", "e0308", "enoent")),
        ("bash: pnmp: command not found", ("command not found",)),
        ("3 passed in 0.1 s", ()),
    ],
)
def test_errors_are_named(text: str, classes: tuple[str, ...]) -> None:
    assert error_classes(text) == classes


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    assert is_empty(text) or not is_acknowledgement(text)
    assert isinstance((asks_to_recall(text), corrects(text), error_classes(text)), tuple)
