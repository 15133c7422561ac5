"""What the reference and the architecture page say of the code is what the code has: names, order, defaults.

`tests/test_docs.py` asks for a heading for each name. Here the sentences under the headings are held against the code.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import click
import msgspec
import pytest

from governance.contracts import AuditEntry
from governance.rules import CANDIDATE_RULES, PACKET_RULES
from governance.screen import SCREEN
from host.adapters import claude_code
from host.cli.main import main
from host.config import Config
from host.contracts import Reason
from host.gate import OWNER_RULES, PLACE_RULES, SEGMENT_RULES
from host.hooks import HookParams
from host.inbox import ladder
from host.maintained import RULES_BYTES
from host.mcp.hosts import FIELDS, FORWARDED
from host.mcp.link import HOOK_SECONDS
from host.mcp.memory_tools import MOST_FOUND
from host.mcp.registry import TOOLS
from host.mcp.resources import PAGE
from host.mcp.wording import TEXT_BYTES, Memory
from host.policy import Policy
from host.service import Service
from host.setup.claude_code import TOLD
from recall import markers
from recall.lint import RULES
from recall.rank import DropReason
from tests.promises import PROMISES

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
ELSEWHERE: dict[str, type[msgspec.Struct]] = {"hook": HookParams}  # decoded behind the method, not in it


def _sections(page: str, level: str = "###") -> dict[str, str]:
    """Heading -> the text under it, in the order of the page."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    found = re.finditer(rf"^{level} (.+)\n+((?:(?!^#).*\n?)*)", text, re.MULTILINE)
    return {match[1].strip(): match[2] for match in found}


def _column(page: Path, heading: str) -> list[str]:
    """The names in the first column of the table whose head begins so."""
    lines = page.read_text(encoding="utf-8").splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith(heading)) + 2
    rows = lines[begin : begin + next((n for n, line in enumerate(lines[begin:]) if not line.startswith("|")), None)]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


# ------------------------------------------------------------------------------------------------------------ methods


class _Anything:
    """Stands for collaborators that a table is made of and nobody calls here."""

    def __getattr__(self, name: str) -> Self:
        return self


def _methods() -> dict[str, Any]:
    anything: Any = _Anything()
    table = Service(anything, anything)._table
    return {name: inspect.getclosurevars(one).nonlocals.get("handler", one) for name, one in table.items()}


METHODS = _methods()


def _params(handler: Any) -> type[msgspec.Struct] | None:
    """The struct that a handler decodes its parameters to."""
    found = re.search(r"(?:decode_params|read_events)\(request, (\w+)\)", inspect.getsource(handler))
    kind: type[msgspec.Struct] | None = getattr(sys.modules[handler.__module__], found[1]) if found else None
    return kind


def _names(shape: str) -> dict[str, bool]:
    """`{a, b?: {c}, d[{e}]}` -> the outer names, and whether each may be left out."""
    outer, depth = "", 0
    for letter in shape:
        depth -= letter in "}]"
        outer += letter if depth == 1 and letter not in "}]" else ""
        depth += letter in "{["
    return {match[1]: bool(match[2]) for match in re.finditer(r"(\w+)(\??)", outer)}


def _shapes(section: str) -> tuple[list[str], str]:
    """What a method takes, in all its forms, and what it answers, as printed."""
    given, _, answer = section.replace("\n", " ").partition("→")
    answered = re.match(r"\s*`(\{.*?\})`", answer)
    return re.findall(r"`(\{.*?\})`", given), answered[1] if answered else ""


def _fields(kind: type[msgspec.Struct]) -> dict[str, bool]:
    return {one.encode_name: not one.required for one in msgspec.structs.fields(kind)}


def test_the_shapes_are_read() -> None:
    assert _names("{a, b?: {c}, d[{e}], f[1..2]{g}?, h[]}") == {"a": False, "b": True, "d": False, "f": False} | {
        "h": False
    }


@pytest.mark.parametrize("method", METHODS)
def test_a_methods_parameters_are_those_it_reads(method: str) -> None:
    kind = ELSEWHERE.get(method, _params(METHODS[method]))
    known = {} if kind is None else _fields(kind)
    shapes = _shapes(_sections("protocol.md")[method])[0]
    assert shapes, "no parameters are shown"
    for shape in shapes:
        names = _names(shape)
        assert not names.keys() - known.keys(), "are not read"
        assert not [name for name, optional in names.items() if optional and not known[name]], "cannot be left out"
    required = {name for name, optional in known.items() if not optional}
    assert all(required <= _names(shape).keys() for shape in shapes), "must be given"


def test_every_parameter_is_shown_somewhere() -> None:
    """A struct that several methods share: what none of them shows, nobody learns of."""
    shown: dict[type[msgspec.Struct], set[str]] = {}
    for method, handler in METHODS.items():
        kind = _params(handler)
        if kind is not None:
            for shape in _shapes(_sections("protocol.md")[method])[0]:
                shown.setdefault(kind, set()).update(_names(shape))
    hidden = {kind.__name__: _fields(kind).keys() - names for kind, names in shown.items()}
    assert not {kind: names for kind, names in hidden.items() if names}


@pytest.mark.parametrize("method", METHODS)
def test_a_methods_answer_has_the_fields_that_are_shown(method: str) -> None:
    kind = inspect.signature(METHODS[method]).return_annotation
    shape = _shapes(_sections("protocol.md")[method])[1]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and shape:
        assert _names(shape).keys() == _fields(kind).keys()


# --------------------------------------------------------------------------------------------------- tables and lists


def test_every_field_of_an_audit_entry_is_told() -> None:
    assert set(_column(REFERENCE / "audit.md", "| field |")) == {
        one.encode_name for one in msgspec.structs.fields(AuditEntry)
    }


def _settings(settings: msgspec.Struct, path: str = "") -> Iterator[tuple[str, object]]:
    """Every setting by its name, with its value."""
    for field in msgspec.structs.fields(settings):
        value = getattr(settings, field.name)
        if isinstance(value, msgspec.Struct):
            yield from _settings(value, f"{path}{field.name}.")
        else:
            yield f"{path}{field.name}", value


def test_the_default_of_every_setting_is_the_one_that_holds() -> None:
    told = {name: re.match(r"Default `([^`]+)`", text) for name, text in _sections("configuration.md").items()}
    held = {name: str(value) and msgspec.json.encode(value).decode().strip('"') for name, value in _settings(Config())}
    assert {name: match and match[1] for name, match in told.items()} == {
        name: default.removesuffix(".0") or '""' for name, default in held.items()
    }


def test_every_reason_under_a_heading_exists() -> None:
    assert _sections("reasons.md").keys() == {str(reason) for reason in Reason}


def _in_order(names: list[str]) -> None:
    """They stand in the page in this order, whatever stands between them."""
    assert [name for name in _sections("reasons.md") if name in names] == names


def test_the_reasons_of_the_need_gate_stand_in_the_order_in_which_they_are_tried() -> None:
    rules = (*OWNER_RULES, (Reason.NO_SEGMENT, None), *SEGMENT_RULES, *PLACE_RULES)
    names = [str(reason) for reason, _ in rules]
    _in_order(list(dict.fromkeys([*names, Reason.BELOW_THRESHOLD, Reason.COOLDOWN, Reason.SUPERSEDED])))


def test_the_reasons_of_a_claim_stand_in_the_order_of_its_ladder() -> None:
    rungs = [Reason[name] for name in re.findall(r"return Reason\.(\w+)", inspect.getsource(ladder))]
    assert len(rungs) > 7
    _in_order([str(reason) for reason in rungs if reason is not Reason.COOLDOWN])  # which the gate has told


def test_every_reason_to_leave_a_memory_out_is_told() -> None:
    assert set(_column(REFERENCE / "reasons.md", "| reason | the memory")) == {str(reason) for reason in DropReason}


def test_the_rules_of_safety_stand_in_their_order() -> None:
    assert list(_sections("rules.md")) == [name for name, _ in (*CANDIDATE_RULES, *PACKET_RULES)]


def test_every_lint_rule_says_how_grave_it_is() -> None:
    told = {name: text.split(".")[0].lower() for name, text in _sections("lint.md").items()}
    assert told == {name: str(rule.severity) for name, rule in RULES.items()}


def test_every_attribute_of_a_marker_is_told() -> None:
    known = {one.encode_name for one in msgspec.structs.fields(markers._Attributes)}
    assert set(_column(REFERENCE / "memory-files.md", "| attribute |")) == known


def test_every_hook_of_claude_code_is_told_and_handled() -> None:
    told = _column(REFERENCE / "adapters.md", "| hook |")
    assert set(told) == set(TOLD)
    assert set(told) <= claude_code._TELLERS.keys()


# ----------------------------------------------------------------------------------------------------------- commands


def _commands(text: str) -> Iterator[list[str]]:
    """`remora-pre …` as it stands in code: the words after the name, up to what ends a command."""
    for code in re.findall(r"`remora-pre ([^`\n]+)`|^(?:\$ |.*/)?remora-pre (.+)$", text, re.MULTILINE):
        bare = re.sub(r"\"[^\"]*\"|'[^']*'", "TEXT", code[0] or code[1])  # an argument
        yield re.split(r"[|#;<>&]", bare)[0].split()


def _unknown(words: list[str]) -> str | None:
    """What of a command line does not exist. Words behind the last known command are arguments."""
    command: click.Command = main
    options: set[str] = set()
    for word in words:
        options |= {name for one in command.params for name in (*one.opts, *one.secondary_opts)} | {"--help"}
        if word.startswith("--") and word.split("=")[0] not in options:
            return f"{command.name} {word}"
        if isinstance(command, click.Group) and not word.startswith("-") and not word.isupper():
            child = command.get_command(click.Context(command), word)
            if child is None:
                return word
            command = child
    return None


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda page: page.name)
def test_every_command_of_a_page_exists(page: Path) -> None:
    lines = _commands(page.read_text(encoding="utf-8"))
    assert not [(" ".join(words), wrong) for words in lines if words and (wrong := _unknown(words))]


# -------------------------------------------------------------------------------------------------- architecture page


ARCHITECTURE = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("package", ["recall", "governance", "host"])
def test_the_code_map_has_every_module(package: str) -> None:
    section = re.split(r"^##", ARCHITECTURE.split(f"### `{package}/`")[1], flags=re.MULTILINE)[0]
    named = {name.removesuffix(".py").removesuffix("/") for name in re.findall(r"`([\w*./]+)`", section)}
    patterns = [name.replace("*", r"\w+") for name in named]
    there = {one.stem for one in (ROOT / package).iterdir() if one.suffix == ".py" or (one / "__init__.py").exists()}
    missing = [one for one in there if not one.startswith("__") and not any(re.fullmatch(p, one) for p in patterns)]
    assert not missing
    assert not [
        name for name in named if "*" not in name and name not in there and not (ROOT / package / name).exists()
    ]


def _invariants() -> dict[str, str]:
    """Number -> what the page says of it, on one line."""
    return {
        match[1]: match[2].replace("\n", " ")
        for match in re.finditer(r"\*\*Invariant (\d+): (.+?)(?=\n\n)", ARCHITECTURE, re.DOTALL)
    }


@pytest.mark.parametrize("number", _invariants())
def test_an_invariant_is_stated_where_the_page_says_it_is_kept(number: str) -> None:
    text = _invariants()[number]
    modules = [ROOT / name for name in re.findall(r"`((?:host|recall|governance)/[\w/]+\.py)`", text)]
    for module in modules:
        said = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
        assert re.search(rf"[Ii]nvariants?\b[^.]*?\b{number}\b|\b{number} \(", said), f"{module} does not state it"


@pytest.mark.parametrize("number", _invariants())
def test_the_tests_that_an_invariant_names_are_promises(number: str) -> None:
    made = {one.id for one in PROMISES}
    named = re.findall(r"`([\w-]+)`", _invariants()[number].split("Tests:")[1])
    assert named
    assert not [name for name in named if not any(one == name or one.startswith(name) for one in made)]


def test_the_policies_that_pages_name_are_or_were_ours() -> None:
    """Of each stage the newest that is named is the one in use, and no page names one that is to come. Decisions are of
    their day."""
    used = set(Policy().versions("idx").values()) | {SCREEN}
    pages = [page for page in DOCS.rglob("*.md") if page.parent.name != "decisions"]
    named = {match for page in pages for match in re.findall(r"\b[a-z]+_pre_v\d+", page.read_text(encoding="utf-8"))}
    newest = {
        stage: max(one for one in named if one.startswith(stage)) for stage in {one.split("_")[0] for one in named}
    }
    assert set(newest.values()) <= used, named


# ---------------------------------------------------------------------------------------------------------------- MCP


def test_every_mcp_tool_is_shown_with_its_arguments_and_its_answer() -> None:
    sections = _sections("mcp.md")
    assert list(sections) == [one.name for one in TOOLS]
    for one in TOOLS:
        text = sections[one.name]
        arguments = text.split("\n\n")[0]
        assert re.findall(r"^\| `(\w+)` \|", arguments, re.MULTILINE) == list(one.input_schema()["properties"]), (
            one.name
        )
        shown = re.search(r"`(\{note.*?\})`", text.replace("\n", " "))
        if shown is not None:
            assert set(_names(shown[1])) == set((one.output_schema() or {})["properties"]), one.name
    memory = re.search(r"A memory is\s`(\{.*?\})`", sections["memory_search_pre"].replace("\n", " "))
    assert memory is not None and set(_names(memory[1])) == set(_fields(Memory))


def test_the_fields_that_hooks_by_a_tool_ask_for_are_shown() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| `(\w+)` \| (.+) \|$", _sections("mcp.md")["hook_pre"], re.MULTILINE)
    shown = {(host, event): tuple(re.findall(r"`(\w+)`", fields)) for host, event, fields in rows}
    assert shown == {(host, event): fields for host, events in FIELDS.items() for event, fields in events.items()}


def test_the_numbers_of_the_mcp_page_are_those_of_the_code() -> None:
    page = (REFERENCE / "mcp.md").read_text(encoding="utf-8")
    said = {
        f"cut to {TEXT_BYTES:,} bytes".replace(",", " "),
        f"1 to {MOST_FOUND}, 5 by default",
        f"newest first, {PAGE} a page",
        f"within {HOOK_SECONDS} s",
        f"in at most {RULES_BYTES} bytes",
        *(f"`{name}`" for name in FORWARDED),
    }
    assert not [words for words in said if words not in " ".join(page.split())]
