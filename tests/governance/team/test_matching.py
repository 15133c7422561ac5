"""Half of a query's terms, rounded up; filters that are all to be passed."""

import msgspec
import pytest

from governance.team.contracts.recalling import Filters
from governance.team.contracts.turns import ResultEvidence, TerminalState
from governance.team.matching import Wanted, fits, holds, provided, told, wanted
from recall.analyzer import distinct
from tests.governance.team.test_scoring import a_record, a_use


@pytest.mark.parametrize(
    ("query", "text", "held"),
    [
        ("release failure", "the release", True),
        ("release failure importer", "the release", False),
        ("release failure importer", "release of the importer", True),
        ("release release release failure gateway", "release", False),
        ("发布 测试", "发布之前", True),
        ("releases failing", "It failed to release.", True),
    ],
)
def test_a_text_holds_a_query_with_half_of_its_distinct_terms(query: str, text: str, held: bool) -> None:
    assert holds(told(distinct(text)), wanted(query)) is held


def test_no_query_is_held_by_all_and_one_without_terms_by_none() -> None:
    assert wanted(None) == wanted("") == wanted("  ") == Wanted()
    assert holds(told([]), wanted(None)) and not holds(told(["x"]), wanted("!?"))


def test_a_product_is_named_whole_or_by_its_first_word() -> None:
    assert provided("codex", ()) and provided("codex", ("claude", "codex")) and provided("claude-code", ("claude",))
    assert not provided("claude-code", ("claud",)) and not provided("unknown", ("codex",))


def test_filters_are_all_to_be_passed() -> None:
    record = a_record(a_use(TerminalState.FAILED, tool="edit"), a_use(TerminalState.COMPLETED))
    turn = msgspec.structs.replace(record.turn, tools=("edit", "shell"))
    record = msgspec.structs.replace(record, turn=turn, skills=("release",))

    assert (
        fits(record, None)
        and fits(record, Filters(tool_keys=("edit",)))
        and fits(record, Filters(skill_keys=("release", "x")))
    )
    assert not fits(record, Filters(tool_keys=("web",))) and not fits(record, Filters(skill_keys=("x",)))
    assert fits(record, Filters(result_evidence=(ResultEvidence.UNKNOWN,)))
    assert not fits(record, Filters(result_evidence=(ResultEvidence.ABANDONED,)))
    assert fits(record, Filters(tool_keys=("edit",), terminal_states=(TerminalState.FAILED,)))
    assert not fits(record, Filters(tool_keys=("edit",), terminal_states=(TerminalState.COMPLETED,)))


def test_a_term_is_held_whole_and_not_as_a_part_of_another() -> None:
    assert told(["b", "a", "b"]) == " a b "
    assert not holds(told(["releases-page"]), wanted("page")) and holds(told(["page"]), wanted("page"))
