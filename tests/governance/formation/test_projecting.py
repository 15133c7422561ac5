"""What the model is shown: the user's words, without secrets, cut at a sentence; and a hash of them as they came."""

import json

import pytest

from governance.formation.contracts import FailureClass
from governance.formation.ladder import RangeFault
from governance.formation.projecting import (
    LONGEST_ENTRY,
    LONGEST_HELP,
    LONGEST_RECORD,
    check,
    coverage_hash,
    evidence,
    plain,
    request_hash,
)
from tests.support.checkpoints import said

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def test_only_what_the_user_wrote_is_evidence() -> None:
    found = list(evidence([said("Deploys run at noon.", 1), said("Noted.", 2, role="assistant"), said("Good.", 3)]))
    assert [one.record.event_seq for one in found] == [1, 3]
    assert found[1].before == "Noted." and found[0].before == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "/compact",
        "!!! ...",
        "Boot routine: open START.md and do what it says.",
        "Heartbeat: look at PULSE.md if present.",
    ],
)
def test_a_text_that_says_nothing_or_that_a_machine_wrote_is_none(text: str) -> None:
    assert list(evidence([said(text, 1)])) == []


def test_a_secret_is_replaced_before_anything_is_shown() -> None:
    (one,) = evidence([said(f"The token is {SECRET} for now.", 1)])
    assert SECRET not in one.record.text and "[secret:" in one.record.text
    (two,) = evidence([said(f"Used {SECRET}.", 1, role="assistant"), said("Fine by me.", 2)])
    assert SECRET not in two.before


def test_a_secret_that_lies_across_the_cut_is_replaced_too() -> None:
    text = "word " * ((LONGEST_RECORD - 20) // 5) + SECRET + " and so on."
    (one,) = evidence([said(text, 1)])
    assert SECRET[:16] not in one.record.text


def test_a_long_record_is_cut_at_a_sentence_and_says_so() -> None:
    text = "One sentence of some length. " * 200
    (one,) = evidence([said(text, 1)])
    assert one.record.truncated and len(one.record.text) <= LONGEST_RECORD
    assert one.record.text.endswith("length.")
    assert one.row()["truncated"] is True
    (short,) = evidence([said("One sentence.", 1)])
    assert not short.record.truncated and "truncated" not in short.row()


def test_a_long_record_without_sentences_is_cut_at_a_word_or_wherever() -> None:
    (words,) = evidence([said("word " * 2000, 1)])
    assert words.record.text.endswith("word")
    (run,) = evidence([said("字" * 9000, 1)])
    assert len(run.record.text) == LONGEST_RECORD


def test_a_record_that_json_blows_up_fits_all_the_same() -> None:
    (one,) = evidence([said("ab\x01" * 3000, 1)])
    assert one.weight <= LONGEST_ENTRY + 1 and one.record.truncated
    assert len(json.dumps(one.row(), ensure_ascii=False)) <= LONGEST_ENTRY + 100


def test_half_a_character_is_neither_sent_nor_hashed() -> None:
    (one,) = evidence([said("An odd \ud800 text here.", 1)])
    one.record.text.encode("utf-8")
    assert coverage_hash([one])


def test_the_coverage_is_of_the_words_as_they_came() -> None:
    def covers(*texts: str) -> str:
        return coverage_hash(evidence([said(text, place) for place, text in enumerate(texts)]))

    long = "One sentence of some length. " * 300
    assert covers("A fact.") == covers("A fact.")
    assert (
        len({covers("A fact."), covers("A fact!"), covers("A fact.", "Another one."), covers(long), covers(long + "x")})
        == 5
    )
    assert request_hash(0, 1, "c") != request_hash(0, 2, "c") != request_hash(0, 2, "d")


def test_help_is_the_end_of_what_was_said() -> None:
    (one,) = evidence([said("begin " + "x" * 900 + " end", 1, role="assistant"), said("Good so.", 2)])
    assert one.before.endswith(" end") and len(one.before) <= LONGEST_HELP + 2


def test_what_the_agent_said_in_another_workspace_does_not_help() -> None:
    (one,) = evidence([said("Elsewhere.", 1, role="assistant", workspace_key="b"), said("Good so.", 2)])
    assert one.before == ""


def test_a_text_found_by_a_search_is_cut_shorter() -> None:
    assert len(plain(said("Some words here. " * 300, 1), 2000).text) <= 2000


@pytest.mark.parametrize(
    "records",
    [
        [said("Before the range.", 1)],
        [said("Behind the range.", 12)],
        [said("Second.", 7), said("First.", 5)],
        [said("Twice.", 5), said("Twice.", 6, ref="s-one#5")],
        [said("A name too long.", 5, ref="x" * 161)],
        [said("No name.", 5, ref="")],
    ],
)
def test_texts_that_break_the_bounds_of_a_range_are_a_fault_of_evidence(records) -> None:
    with pytest.raises(RangeFault) as caught:
        check(records, 1, 10)
    assert caught.value.class_ is FailureClass.EVIDENCE


def test_texts_within_a_range_are_none() -> None:
    check([said("One.", 2), said("Two.", 2, ref="other"), said("Three.", 10)], 1, 10)


def test_a_command_with_words_behind_its_name_is_what_the_user_wrote() -> None:
    (one,) = evidence([said("/remember releases go out on Thursdays", 1)])
    assert one.record.text == "/remember releases go out on Thursdays"
