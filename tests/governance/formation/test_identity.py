"""A gap is the same fact only when it was shown, is open, and the words are tied to it."""

from governance.formation.contracts import Gap, GapState, KnownRecord
from governance.formation.identity import gap_id_of, gap_of, otherwise, said_by
from tests.support.builders import WORKSPACE

FACT = "Releases go out on Thursdays."
PARAPHRASE = "Releases are only on Thursdays."


def a_gap(content: str = FACT, gap_id: str = "gap_1") -> Gap:
    return Gap(
        gap_id=gap_id,
        workspace_key=WORKSPACE,
        content=content,
        state=GapState.OPEN,
        opened_at=1,
        changed_at=1,
    )


def known(text: str, **fields: object) -> KnownRecord:
    return KnownRecord(memory_id="mem_1", text=text, guarded=False, **fields)  # type: ignore[arg-type]


def test_the_same_words_are_the_same_gap_in_a_workspace_and_another_elsewhere() -> None:
    assert gap_id_of("w", FACT) == gap_id_of("w", "  releases go out on\nThursdays ")
    assert gap_id_of("w", FACT) != gap_id_of("v", FACT)
    assert len(gap_id_of("w", FACT)) == len("gap_") + 24


def test_a_paraphrase_is_the_gap_that_was_shown_and_named() -> None:
    assert gap_of(PARAPHRASE, "gap_1", {"gap_1"}, [a_gap()]) == a_gap()


def test_a_named_gap_that_was_not_shown_or_is_not_open_does_not_help() -> None:
    assert gap_of(PARAPHRASE, "gap_1", set(), [a_gap()]) is None
    assert gap_of(PARAPHRASE, "gap_1", {"gap_1"}, []) is None
    assert gap_of(PARAPHRASE, "gap_9", {"gap_1"}, [a_gap()]) is None


def test_a_named_gap_of_another_matter_does_not_help() -> None:
    assert gap_of("Backups run at night.", "gap_1", {"gap_1"}, [a_gap()]) is None


def test_a_named_gap_with_another_day_or_number_is_another_fact() -> None:
    assert gap_of("Releases go out on Fridays.", "gap_1", {"gap_1"}, [a_gap()]) is None
    limit = a_gap("The retry limit is 10.")
    assert gap_of("The retry limit is 20.", "gap_1", {"gap_1"}, [limit]) is None
    assert gap_of("Releases do not go out on Thursdays.", "gap_1", {"gap_1"}, [a_gap()]) is None


def test_an_open_gap_that_says_the_same_is_found_without_its_name() -> None:
    assert gap_of("releases go out on thursdays", None, set(), [a_gap()]) == a_gap()


def test_a_record_says_it_already_or_says_otherwise_or_speaks_of_something_else() -> None:
    assert said_by(FACT, [known("Backups run at night."), known("Releases go out on Thursdays")]) is not None
    assert said_by(FACT, [known("Releases go out on Fridays.")]) is None
    assert otherwise("The retry limit is 20.", [known("The retry limit is 10.")]) is not None
    assert otherwise("The retry limit is 20.", [known("Backups run at night.")]) is None
    assert otherwise(FACT, [known("Whatever.", otherwise=True)]) is not None
