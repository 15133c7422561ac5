"""How an item is told: why it is there, what it says, who said it."""

from typing import Any

import pytest

from governance.review import EDITED, QUOTE, Citation, ItemFlag, ItemKind, QueueItem, State
from host.cli import review_words
from host.cli.review_answers import Decided, Reviewed
from tests.support.builders import a_memory
from tests.support.clock import START


def an_item(**fields: Any) -> QueueItem:
    given = {"item_id": "note_1", "kind": ItemKind.NOTE, "pipeline": "notes", "workspace_key": "w", "created_at": START}
    return QueueItem(**(given | fields))


def test_every_flag_and_kind_has_its_words() -> None:
    assert set(review_words.WHY) == set(review_words.LOOK_OUT) == set(ItemFlag)
    assert set(review_words.KINDS) == set(ItemKind)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "from a conversation"),
        ({"pipeline": "unheard-of"}, "proposed"),
        ({"updates": "mem_1"}, "would take the place of another"),
        ({"flags": (ItemFlag.QUARANTINED, ItemFlag.HIGH_RISK)}, "kept back by the screen, can do harm"),
        ({"kind": ItemKind.PROMOTION, "target": "semantic"}, "could become a fact"),
        ({"target": EDITED}, "to be put into other words, as an agent proposes"),
    ],
)
def test_why_it_is_there(fields: dict[str, Any], said: str) -> None:
    assert review_words.why(an_item(**fields)) == said


def test_what_it_says_is_its_own_words_or_the_memorys() -> None:
    record = a_memory("Use pnpm.", title="Packages")
    assert review_words.words(Reviewed(item=an_item(text="We ship.", title="Release"))) == "Release: We ship."
    assert review_words.words(Reviewed(item=an_item(text="old", record_id="m"), record=record)) == "Packages: Use pnpm."
    edited = an_item(text="Use npm.", target=EDITED, record_id="m")
    assert review_words.words(Reviewed(item=edited, record=record)) == "Use npm."
    assert review_words.words(Reviewed(item=an_item(record_id="m"))) == "the memory is gone"
    assert review_words.titled("Use pnpm", "Use pnpm, never npm.") == "Use pnpm, never npm."


def test_a_quote_says_who_when_and_where() -> None:
    quote = Citation(kind=QUOTE, ref="m1", quote="q", session="s-one", seq=17, role="user", at=START)
    assert review_words.said(quote) == f"you, {review_words.minute(START)}, s-one#17"
    assert review_words.said(Citation(kind=QUOTE, ref="m1", role="assistant")) == "the agent"


def test_a_decision_is_told_with_the_trust_it_gives(capsys: pytest.CaptureFixture[str]) -> None:
    kept = an_item(state=State.KEPT, record_id="mem_1")
    review_words.tell(Decided(item=kept, memory_id="mem_1", trust="reviewed"))
    assert capsys.readouterr().out == "Kept. Trust: reviewed.\n"
