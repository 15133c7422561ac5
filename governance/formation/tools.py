"""The tools that a model works on documents with, as it is told of them; and their arguments, read. Pure."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from governance.formation.contracts import ToolSpec
from governance.formation.errors import AnswerFault

T = TypeVar("T")
Schema = dict[str, object]

TEXT: Schema = {"type": "string"}
IDS: Schema = {"type": "array", "items": TEXT}
LIST, SEARCH, READ = "list", "search", "read"
CREATE, UPDATE, MERGE, RETIRE, SUBMIT = "create", "update", "merge", "retire", "submit"


def tool(
    name: str, description: str, needed: Mapping[str, Schema], other: Mapping[str, Schema] | None = None
) -> ToolSpec:
    """A tool with named arguments, of which `needed` must be there, and no further ones."""
    schema: Schema = {
        "type": "object",
        "properties": {**needed, **(other or {})},
        "required": list(needed),
        "additionalProperties": False,
    }
    return ToolSpec(name=name, description=description, schema=schema)


def looking(what: str) -> tuple[ToolSpec, ...]:
    """`list`, `search` and `read` of documents of one sort."""
    return (
        tool(LIST, f"The {what} that there are: id, name and summary.", {}),
        tool(SEARCH, f"The {what} that share most words with the query.", {"query": TEXT}),
    )


def arguments(given: Mapping[str, object], kind: type[T]) -> T:
    """The arguments of a call, typed. Raises AnswerFault `schema`."""
    try:
        return msgspec.convert(dict(given), kind)
    except msgspec.ValidationError as error:
        raise AnswerFault("schema", f"The arguments do not fit: {error}.") from error
