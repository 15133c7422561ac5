"""One item on a terminal: words, quotes, what it would replace or repeat, and what to look out for."""

from typing import Any

import pytest

from governance.review import (
    EDITED,
    QUOTE,
    REASON,
    Act,
    Citation,
    Decision,
    ItemFlag,
    ItemKind,
    Principal,
    QueueItem,
)
from host.cli.review_answers import Beside, Others, PutAway, Reviewed
from host.cli.review_card import SHOWN, lines, show
from host.cli.review_words import LOOK_OUT, minute
from tests.support.builders import a_memory
from tests.support.clock import START

QUOTED = Citation(kind=QUOTE, ref="m1", quote="we ship on Thursdays", session="s-one", seq=17, role="user", at=START)


def an_item(**fields: Any) -> QueueItem:
    given = {
        "item_id": "note_1",
        "kind": ItemKind.NOTE,
        "pipeline": "notes",
        "workspace_key": "w",
        "created_at": START,
        "title": "Release day",
        "text": "Releases go out on Thursdays.",
    } | fields
    return QueueItem(**given)


def told(found: Reviewed) -> str:
    return "\n".join(" " * indent + line.plain for indent, line in lines(found))


def test_a_note_with_its_quotes() -> None:
    card = told(Reviewed(item=an_item(citations=(QUOTED,))))
    assert card.startswith(f"note · from a conversation · {minute(START)} · note_1\n")
    assert "   Release day\n   Releases go out on Thursdays.\n" in card
    assert f"Said\n   you, {minute(START)}, s-one#17:\n   “we ship on Thursdays”\n" in card


@pytest.mark.parametrize("flag", list(ItemFlag))
def test_each_flag_is_said_in_words(flag: ItemFlag) -> None:
    assert f"! {LOOK_OUT[flag]}" in told(Reviewed(item=an_item(flags=(flag,))))


def test_what_it_would_replace_or_repeat_and_what_was_put_away_before() -> None:
    one = Beside(memory_id="mem_1", text="Releases go out on Tuesdays.", trust="reviewed", created_at=START)
    gone = PutAway(item_id="note_0", text="Ship daily.", reason="not true", at=START)
    card = told(
        Reviewed(item=an_item(), others=Others(replaces=(one,), repeats=(one,), otherwise=(one,), put_away=(gone,)))
    )
    for heading in (
        "Keeping it puts this away:",
        "This says the same already:",
        "This says otherwise about the same matter:",
    ):
        assert f"{heading}\n   Releases go out on Tuesdays.\n   mem_1, reviewed, {minute(START)}" in card
    assert f"Much like this was put away before:\n   Ship daily.\n   {minute(START)}: not true" in card


def test_other_words_stand_beside_those_that_the_memory_has() -> None:
    item = an_item(target=EDITED, record_id="mem_1", citations=(Citation(kind=REASON, ref="It\nmoved."),))
    card = told(Reviewed(item=item, record=a_memory("It is 1."), stale=True))
    assert "It says:\n   It is 1.\n" in card
    assert "It would say:\n   Release day: Releases go out on Thursdays.\n" in card
    assert "The reason it gave:\n   It\\nmoved." in card
    assert "changed since this was proposed" in card


def test_a_promotion_says_what_it_could_become_and_what_was_counted() -> None:
    item = an_item(
        kind=ItemKind.PROMOTION, target="procedural", evidence={"sessions": 3, "success": 2}, title="", text=""
    )
    decided = Decision(actor=Principal.HUMAN, kind=Act.ARCHIVE, at=START, expected_revision=1, reason="not yet")
    card = told(Reviewed(item=an_item(**{}), record=None))
    assert "could become" not in card
    item = QueueItem(**{name: getattr(item, name) for name in item.__struct_fields__} | {"decisions": (decided,)})
    card = told(Reviewed(item=item, record=a_memory("Run make seal.")))
    assert card.startswith("could become a procedure · ")
    assert "Used in 3 sessions; ended well 2 times; corrected 0 times." in card
    assert "archived by a person: not yet" in card


def test_a_document_says_what_would_become_of_it_and_a_long_text_is_cut() -> None:
    card = told(Reviewed(item=an_item(kind=ItemKind.SCENE, target="update", text="x" * (SHOWN + 7))))
    assert card.startswith("scene, update · ")
    assert "(7 more characters: they are seen whole with `e`)" in card


def test_a_memory_that_is_gone_is_said_to_be() -> None:
    assert "The memory is gone." in told(Reviewed(item=an_item(title="", text="", record_id="mem_1")))


def test_nothing_acts_upon_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    poison = "\x1b[2J\x1b]0;owned\x07 text"
    quote = Citation(kind=QUOTE, ref="m1", quote=poison, session=poison, seq=1, role=poison)
    show(Reviewed(item=an_item(title=poison, text=poison, citations=(quote,))), 1, 2)
    printed = capsys.readouterr().out
    assert "1 of 2" in printed
    assert "\x1b" not in printed and "\x07" not in printed
