"""The reference of the team workflow, made of its types: `python -m tests.support.team_reference` writes both pages.

What a page says of an operation or a field is what the code has; `tests/test_team_reference.py` holds them together.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from governance.team.contracts import base, consolidating, promoting, recalling, results, staging
from governance.team.contracts.base import Document
from governance.team.errors import Kind
from governance.team.registry import OPERATIONS, Capability, Operation
from host.namespace import SCRIPT, tool
from host.team.formats import FORMATS

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS_PAGE = ROOT / "docs" / "reference" / "team-operations.md"
DOCUMENTS_PAGE = ROOT / "docs" / "reference" / "team-documents.md"
MODULES = (base, recalling, staging, promoting, consolidating, results)
ELSEWHERE = {"search": "memory.search", "lint": "memory.lint", "decide": "review.decide", "evidence": "evidence.get"}
ELSEWHERE |= {"extract": "extract.run", "checkpoint": "checkpoint.run"}


def method(one: Operation) -> str:
    """The wire method of an operation."""
    return ELSEWHERE.get(one.id, one.id if one.id.startswith("team.") else f"team.{one.id}")


def parts() -> dict[str, type[Document]]:
    """The documents that have a `format`, by the part of it, in the order of their modules."""
    found = {}
    for module in MODULES:
        for kind in vars(module).values():
            if not (inspect.isclass(kind) and issubclass(kind, Document) and kind.__module__ == module.__name__):
                continue
            named = re.match(r"`([a-z-]+)`", kind.__doc__ or "")
            if named is not None and "format" in kind.__struct_fields__:
                found[named[1]] = kind
    return found


def operations_page() -> str:
    """`docs/reference/team-operations.md`."""
    lines = [
        "# Operations of the team workflow",
        "",
        "Made of the code by `python -m tests.support.team_reference`. How they go together: "
        "[the first promoted memory](../how-to/promote-a-memory.md). What they take and give: "
        "[documents](team-documents.md).",
        "",
        "An operation gives the same document on the command line (`--json`) and over MCP. `approval` tells an agent "
        "product what to ask its user for; `canonical-write` is bound by a digest of what the user was shown.",
        "",
    ]
    for one in OPERATIONS:
        lines += [f"## {one.id}", "", "| | |", "|---|---|", *_rows(one), ""]
    lines += ["## Errors", "", "A refusal is `{kind, problem, next}`: what and why, and what to do.", ""]
    lines += [f"`{kind}`" + ("," if kind is not list(Kind)[-1] else "") for kind in Kind]
    return "\n".join(lines) + "\n"


def documents_page() -> str:
    """`docs/reference/team-documents.md`."""
    lines = [
        "# Documents of the team workflow",
        "",
        "Made of the code by `python -m tests.support.team_reference`. A field that is not named here is refused. "
        "Times are UTC with milliseconds and `Z`; digests are SHA-256 in hex.",
        "",
    ]
    for part, kind in parts().items():
        lines += [f"## {FORMATS.document(part)}", "", *_told(kind), *_fields(kind), ""]
    lines += ["# Their parts", ""]
    for kind in _inner():
        lines += [f"## {kind.__name__}", "", *_told(kind), *_fields(kind), ""]
    return "\n".join(lines)


def _rows(one: Operation) -> Iterator[str]:
    does = " ".join(sorted(one.capabilities - {Capability.CLI, Capability.MCP}))
    yield f"| version | {one.version}, {one.stability} |"
    if one.takes:
        yield f"| takes | {', '.join(_link(part) for part in one.takes)} |"
    if one.gives:
        yield f"| gives | {', '.join(_link(part) for part in one.gives)} |"
    yield f"| changes | {', '.join(one.effects)} |"
    yield f"| can | {does} |"
    yield f"| approval | {one.approval} |"
    if Capability.CLI in one.capabilities:
        yield f"| command | `{SCRIPT} {' '.join(one.command)}` |"
    if Capability.MCP in one.capabilities:
        yield f"| tool | `{tool(one.tool)}` |"
    yield f"| wire | `{method(one)}` |"


def _link(part: str) -> str:
    if part not in parts():
        return f"`{part}`"
    name = FORMATS.document(part)
    return f"[`{name}`](team-documents.md#{name.replace('@', '')})"


def _told(kind: type[Document]) -> list[str]:
    said = " ".join((inspect.getdoc(kind) or "").split())
    said = re.sub(r"^`[a-z-]+`(?:\.|: ?)\s*", "", said)
    wire = {one.name: one.encode_name for one in msgspec.structs.fields(kind)}
    said = re.sub(r"`(\w+)`", lambda match: f"`{wire.get(match[1], match[1])}`", said)
    return [said[:1].upper() + said[1:], ""] if said else []


def _fields(kind: type[Document]) -> Iterator[str]:
    yield "| field | type | |"
    yield "|---|---|---|"
    for one in msgspec.structs.fields(kind):
        optional = "" if one.required else "optional"
        yield f"| `{one.encode_name}` | {_type(one.type)} | {optional} |"


def _type(kind: Any) -> str:
    return _written(msgspec.inspect.type_info(kind)).replace("|", "\\|")


def _written(info: msgspec.inspect.Type) -> str:
    match info:
        case msgspec.inspect.UnionType(types=types):
            return " | ".join(_written(one) for one in types)
        case msgspec.inspect.StructType(cls=cls):
            part = next((part for part, kind in parts().items() if kind is cls), None)
            name = cls.__name__ if part is None else FORMATS.document(part)
            return f"[{name}](#{name.lower().replace('@', '')})"
        case msgspec.inspect.VarTupleType(item_type=item):
            return f"list of {_written(item)}"
        case msgspec.inspect.TupleType(item_types=items):
            return f"[{', '.join(_written(one) for one in items)}]"
        case msgspec.inspect.DictType(value_type=value):
            return f"map of {_written(value)}"
        case msgspec.inspect.LiteralType(values=values):
            return " | ".join(f"`{one}`" for one in values)
        case msgspec.inspect.EnumType(cls=cls):
            return " | ".join(f"`{one.value}`" for one in cls)
        case msgspec.inspect.IntType(ge=least, le=most):
            return "integer" if least is None else f"integer, {least} to {most}"
        case msgspec.inspect.NoneType():
            return "null"
        case msgspec.inspect.BoolType():
            return "boolean"
        case _:
            return "text"


def _inner() -> list[type[Document]]:
    """The structs that documents are made of, in the order in which they are met."""
    found: dict[type[Document], None] = {}
    waiting = list(parts().values())
    for kind in waiting:
        for one in msgspec.structs.fields(kind):
            for inner in _structs(msgspec.inspect.type_info(one.type)):
                if inner not in found and inner not in parts().values():
                    found[inner] = None
                    waiting.append(inner)
    return list(found)


def _structs(info: msgspec.inspect.Type) -> Iterator[type[Any]]:
    match info:
        case msgspec.inspect.StructType(cls=cls):
            yield cls
        case msgspec.inspect.UnionType(types=types) | msgspec.inspect.TupleType(item_types=types):
            for one in types:
                yield from _structs(one)
        case msgspec.inspect.VarTupleType(item_type=item):
            yield from _structs(item)
        case msgspec.inspect.DictType(value_type=value):
            yield from _structs(value)
        case _:
            return


if __name__ == "__main__":
    OPERATIONS_PAGE.write_text(operations_page(), encoding="utf-8")
    DOCUMENTS_PAGE.write_text(documents_page(), encoding="utf-8")
