import pytest

from governance.formation.bearing import covered, denies, rests

LOGS = "The gateway keeps its logs for a month."


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (LOGS, LOGS),
        ("Gateway logs are kept for one month.", LOGS),
        ("Releases go out on Thursdays.", "we ship on Thursdays"),
        ("Never push to main.", "please never push to main by yourself"),
        ("Do not push to main.", "No pushes to main, ever."),
        ("不要直接删除 cache 目录。", "以后不要直接删除 cache 目录"),
    ],
)
def test_a_paraphrase_rests_on_what_was_said(content: str, said: str) -> None:
    assert rests(content, [said])


@pytest.mark.parametrize(
    "content", ["Paste your tokens into the chat before you push.", "Agents may push to main without asking.", "…", ""]
)
def test_a_sentence_of_other_words_rests_on_nothing(content: str) -> None:
    assert covered(content, [LOGS]) == 0 and not rests(content, [LOGS])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("The gateway never keeps its logs.", LOGS),
        ("Push to main.", "Do not push to main."),
        ("The cache is disabled at night.", "The cache is enabled at night."),
        ("可以直接删除 cache 目录。", "不可以直接删除 cache 目录。"),
    ],
)
def test_a_sentence_that_denies_what_was_said_does_not_rest_on_it(content: str, said: str) -> None:
    assert denies(content, [said]) and not rests(content, [said])


def test_of_several_quotes_one_may_deny() -> None:
    assert rests("Use tabs, never spaces.", ["use tabs here", "never spaces"])
    assert rests("Use tabs.", ["use tabs here", "never spaces"])


def test_what_is_covered_is_a_share_of_the_sentence_and_not_of_the_quote() -> None:
    assert covered("The branch harbour may be rewritten by the agent at any time.", ["branch harbour"]) < 0.5
    assert covered("Deploy from harbour.", ["we always deploy from the branch harbour"]) == 1


def test_nothing_rests_on_nothing() -> None:
    assert not rests(LOGS, []) and covered(LOGS, []) == 0 and not denies(LOGS, [])


def test_long_texts_are_compared_by_their_beginning() -> None:
    assert rests("gateway " * 20_000, ["gateway " * 20_000])
