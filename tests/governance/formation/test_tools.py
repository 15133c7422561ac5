"""Tools as a model is told of them: closed arguments, read as typed."""

import pytest

from governance.formation.errors import AnswerFault
from governance.formation.tools import LIST, SEARCH, TEXT, arguments, looking, tool
from recall.contracts import Frozen


class _Args(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str


def test_a_tool_takes_the_arguments_that_it_names_and_no_others() -> None:
    made = tool("x", "Does x.", {"a": TEXT}, {"b": TEXT})

    assert made.schema == {
        "type": "object",
        "properties": {"a": TEXT, "b": TEXT},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert [one.name for one in looking("scenes")] == [LIST, SEARCH]


@pytest.mark.parametrize("given", [{}, {"name": 1}, {"name": None}, {"name": "x", "more": 1}])
def test_arguments_that_do_not_fit_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(AnswerFault) as refused:
        arguments(given, _Args)

    assert refused.value.code == "schema" and arguments({"name": "x"}, _Args).name == "x"
