"""What a tool is: its schemas come from its types, and arguments that do not fit are refused in words."""

from typing import Annotated, Literal

import pytest
from msgspec import Meta

from host.errors import RemoraError
from host.mcp.tool import Answer, Arguments, Caller, Document, Tool, schema


class Wanted(Arguments, frozen=True, kw_only=True):
    memory_id: Annotated[str, Meta(description="Which.", min_length=1)]
    kind: Literal["a", "b"] = "a"
    limit: Annotated[int, Meta(ge=1, le=20)] = 5


class Part(Document, frozen=True, kw_only=True):
    name: str


class Given(Document, frozen=True, kw_only=True):
    """What no client need read."""

    parts: tuple[Part, ...]
    most_of_all: bool = False


async def run(asked: Wanted, caller: Caller) -> Answer:
    return Answer(text=asked.memory_id)


ONE = Tool(part="one", title="One", description="One.", arguments=Wanted, document=Given, run=run)


def test_the_schema_of_arguments_is_an_object_of_its_fields_and_no_others() -> None:
    assert ONE.input_schema() == {
        "type": "object",
        "properties": {
            "memoryId": {"description": "Which.", "type": "string", "minLength": 1},
            "kind": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
        },
        "required": ["memoryId"],
        "additionalProperties": False,
    }


def test_the_schema_of_a_document_holds_its_parts_and_none_of_our_comments() -> None:
    found = ONE.output_schema() or {}

    assert found["type"] == "object"
    assert set(found["properties"]) == {"parts", "mostOfAll"}
    assert found["$defs"]["Part"]["properties"] == {"name": {"type": "string"}}
    assert "What no client" not in str(found)
    assert schema(Part)["required"] == ["name"]


def test_a_name_carries_the_mark_of_the_preview() -> None:
    assert ONE.name == "one_pre"


def test_arguments_are_taken_by_their_type_and_numbers_may_be_text() -> None:
    assert ONE.decode({"memoryId": "mem_1", "limit": "7"}) == Wanted(memory_id="mem_1", limit=7)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (None, "memoryId"),
        ({}, "memoryId"),
        ({"memoryId": ""}, "memoryId"),
        ({"memoryId": 7}, "memoryId"),
        ({"memoryId": "x", "limit": 0}, "limit"),
        ({"memoryId": "x", "kind": "c"}, "'c'"),
        ({"memoryId": "x", "memory": "y"}, "memory"),
    ],
)
def test_what_does_not_fit_is_named_with_what_is_taken(arguments: dict[str, object] | None, named: str) -> None:
    with pytest.raises(RemoraError) as fault:
        ONE.decode(arguments)

    assert fault.value.problem.startswith("one_pre cannot use these arguments: ")
    assert named in fault.value.problem
    assert fault.value.next_step == "It takes: memoryId, kind (optional), limit (optional)."
