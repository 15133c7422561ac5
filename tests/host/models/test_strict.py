"""The narrower dialect of schemas, and the way back from it."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

from governance import formation
from governance.formation.contracts import ToolSpec
from host.models.strict import strict, without_nulls

Json = dict[str, object]

ITEM: Json = {
    "type": "object",
    "properties": {
        "content": {"type": "string", "maxLength": 2_000, "description": "One sentence."},
        "gapId": {"type": "string"},
        "until": {"type": ["string", "null"]},
    },
    "required": ["content"],
    "additionalProperties": False,
}
WHOLE: Json = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": ITEM, "maxItems": 20}},
    "required": ["items"],
}


def test_every_object_is_closed_and_every_property_required() -> None:
    narrow = strict(WHOLE)

    assert narrow is not None and narrow["additionalProperties"] is False
    assert narrow["properties"] == {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "content": {"type": "string", "description": "One sentence."},
                    "gapId": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    "until": {"type": ["string", "null"]},
                },
                "required": ["content", "gapId", "until"],
                "additionalProperties": False,
            },
        }
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {}, "additionalProperties": True},
        {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"a": {"type": "object"}}},
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {"a": True}},
        {"type": "object", "properties": {"a": {"$ref": "#/x"}}},
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}}}},
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "object"}]}}},
    ],
)
def test_what_is_open_has_no_strict_form(schema: Json) -> None:
    assert strict(schema) is None


def _tools() -> Iterator[tuple[str, ToolSpec]]:
    """Every tool that a pipeline offers to a model."""
    for found in pkgutil.iter_modules(formation.__path__):
        module = importlib.import_module(f"{formation.__name__}.{found.name}")
        for value in vars(module).values():
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, ToolSpec):
                    yield f"{found.name}.{one.name}", one


def test_every_tool_of_the_pipelines_has_a_strict_form() -> None:
    tools = list(_tools())

    assert len(tools) > 10
    assert [name for name, tool in tools if strict(tool.schema) is None] == []


def test_choices_are_kept() -> None:
    one_of = {"anyOf": [{"type": "string"}, {"type": "null"}], "title": "x"}
    narrow = strict({"type": "object", "properties": {"a": one_of, "b": {"enum": ["x", "y"]}}})

    assert narrow is not None
    assert narrow["properties"] == {
        "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},  # it may be null already
        "b": {"anyOf": [{"enum": ["x", "y"]}, {"type": "null"}]},
    }


def test_the_schema_itself_is_left_as_it_was() -> None:
    strict(WHOLE)

    assert WHOLE["required"] == ["items"] and ITEM["required"] == ["content"]


def test_nulls_that_only_strictness_made_are_left_out_again() -> None:
    answer = {"items": [{"content": "x", "gapId": None, "until": None}, {"content": None, "gapId": "g"}], "other": None}

    assert without_nulls(answer, WHOLE) == {
        "items": [{"content": "x", "until": None}, {"content": None, "gapId": "g"}],
        "other": None,
    }
