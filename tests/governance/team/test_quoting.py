"""The words of a turn that a statement rests on."""

from governance.team.quoting import LONGEST, SENTENCES, quote, sentences
from tests.support.team_review import a_turn


def test_the_sentence_with_most_of_the_terms_is_quoted() -> None:
    turn = a_turn(("user", "Hello there. It failed because we published from main! Thanks."), ("assistant", "I see."))
    assert quote(sentences(turn), "Publish only from the release branch; never from main.") == (
        "It failed because we published from main!"
    )


def test_of_two_that_fit_as_well_the_user_s_words_are_quoted() -> None:
    turn = a_turn(("assistant", "Run make release."), ("tool-result", "make release"), ("user", "Use make release."))
    assert quote(sentences(turn), "The release is made by make release.") == "Use make release."


def test_chinese_is_quoted_by_the_sentence() -> None:
    turn = a_turn(("user", "今天天气不错。发布之前必须跑测试。谢谢！"))
    assert quote(sentences(turn), "发布前先跑测试") == "发布之前必须跑测试。"


def test_a_turn_that_shares_nothing_is_not_quoted() -> None:
    assert quote(sentences(a_turn(("user", "Hello there."))), "Publish from the branch.") is None


def test_a_long_line_is_cut_and_is_one_line() -> None:
    found = quote(sentences(a_turn(("tool-result", "publish " * 100))), "Publish.")
    assert found is not None and len(found) <= LONGEST and found.endswith("…") and "\n" not in found


def test_the_user_s_words_are_looked_at_first_where_there_are_too_many() -> None:
    turn = a_turn(("tool-result", "Nothing.\n" * SENTENCES), ("user", "Publish it."))
    found = sentences(turn)
    assert len(found) == SENTENCES and quote(found, "Publish.") == "Publish it."
