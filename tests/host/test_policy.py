"""The policies of a pass: versioned constants, whose ids every audit entry carries."""

import ast
import hashlib
import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from importlib import resources
from types import ModuleType

import msgspec
import pytest

from host.policy import Policy
from host.runtime import RuntimePolicy
from recall import attention, background, confidence
from recall.analyzer import ANALYZER

POLICY_ID = re.compile(r"[a-z]+_pre_v[1-9]\d*")


def test_everything_that_shapes_a_decision_has_an_id_with_the_preview_mark() -> None:
    versions = Policy().versions("idx_7")

    assert list(versions) == ["gate", "lexical", "rank", "confidence", "broker", "index"]
    assert versions.pop("index") == "idx_7"
    assert versions["lexical"] == ANALYZER
    assert [one for one in versions.values() if not POLICY_ID.fullmatch(one)] == []


def test_a_changed_stage_is_another_version() -> None:
    policy = Policy()
    changed = msgspec.structs.replace(policy, rank=msgspec.structs.replace(policy.rank, id="rank_pre_v99"))

    assert changed.versions("idx_7") == policy.versions("idx_7") | {"rank": "rank_pre_v99"}


def test_the_bounds_of_a_session_are_the_designs() -> None:
    assert msgspec.to_builtins(RuntimePolicy()) == {
        "segments": 64,
        "segmentChars": 32_768,
        "working": 32,
        "workingTtl": 900_000,
        "deliveredDigests": 256,
        "terms": 50_000,
    }


def test_a_policy_cannot_be_changed_in_place() -> None:
    with pytest.raises(AttributeError):
        Policy().gate = Policy().gate  # type: ignore[misc]


# What an id answers for: fields of the policy, and modules whose constants shape the same decision.
COVERED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "gate": (
        ("gate", "runtime"),
        (
            *("host.gate", "host.gate_signals", "host.gate_words", "host.cue", "host.hesitation", "host.observer"),
            *("host.runtime", "host.steps"),
        ),
    ),
    "lexical": ((), ("recall.analyzer",)),
    "rank": (
        ("association", "rank"),
        (
            *("recall.rank", "recall.fusion", "recall.contradiction", "recall.lookup", "recall.tokens"),
            *("recall.sources.lexical", "recall.sources.engine", "recall.sources.seed", "recall.sources.episodic"),
            *("recall.sources.semantic", "recall.sources.procedural"),
            *("recall.came_up", "recall.acts"),
        ),
    ),
    "confidence": (
        ("confidence",),
        ("recall.confidence", "recall.answer", "recall.attention", "recall.background"),
    ),
    "broker": (
        ("broker", "inbox"),
        (
            "host.broker",
            "host.inbox",
            "host.levels",
            "host.checklist",
            "host.provenance",
            "host.render",
            "host.frame",
            "host.maintained",
            "host.projection",
            "recall.activation",
        ),
    ),
    "holdout": (("holdout",), ("host.holdout",)),
}
MEASUREMENTS = ("FIGURES", "MEASURED")  # of attention: what was found, which decides nothing

# The digest of all that an id answers for. Whoever changes a value gives the policy a new id, and writes both here.
FROZEN = {
    "gate_pre_v3": "c82e471fd94860ee",
    "lexical_pre_v1": "f085af5df332852f",
    "rank_pre_v3": "95051162be991941",
    "confidence_pre_v3": "de2d207dc0b88b6e",
    "broker_pre_v5": "fd87246740cb0d43",
    "holdout_pre_v1": "33f1ea329aa2180c",
}


def constants(module: ModuleType) -> Iterator[tuple[str, object]]:
    """The module's own constants, in their order. Private texts are left out: queries, and what patterns and sets are
    made of, which are here themselves."""
    for statement in ast.parse(inspect.getsource(module)).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
        for name in [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]:
            value = getattr(module, name) if name.isupper() and name not in MEASUREMENTS else None
            if value is not None and not (name.startswith("_") and isinstance(value, str)):
                yield name, value


def written(value: object) -> str:
    """A value as text, the same in every process."""
    match value:
        case re.Pattern():
            return f"{value.pattern!r} {value.flags}"
        case Enum():
            return str(value.value)
        case msgspec.Struct():
            return written(msgspec.structs.asdict(value))
        case Mapping():
            return "{" + ", ".join(sorted(f"{written(key)}: {written(one)}" for key, one in value.items())) + "}"
        case set() | frozenset():
            return "{" + ", ".join(sorted(map(written, value))) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(written, value)) + "]"
        case _ if callable(value):
            return getattr(value, "__qualname__", type(value).__name__)
        case _:
            return repr(value)


def frozen(policy: Policy, stage: str) -> str:
    """The digest of everything that the id of a stage answers for."""
    fields, modules = COVERED[stage]
    lines = [f"{name} {written(getattr(policy, name))}" for name in fields]
    for module in map(importlib.import_module, modules):
        lines += [f"{module.__name__}.{name} {written(value)}" for name, value in constants(module)]
    if stage == "confidence":
        lines.append(
            hashlib.sha256(resources.files("recall").joinpath("data", background.TABLE).read_bytes()).hexdigest()
        )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def ids(policy: Policy) -> dict[str, str]:
    return policy.versions("") | {"holdout": policy.holdout.id}


@pytest.mark.parametrize("stage", sorted(COVERED))
def test_no_value_changes_under_an_id_that_stays(stage: str) -> None:
    policy = Policy()
    assert {ids(policy)[stage]: frozen(policy, stage)}.items() <= FROZEN.items(), (
        "a value that this id answers for is another one: give the policy a new id and write both into FROZEN"
    )


def test_every_stage_of_the_policy_is_answered_for_by_an_id() -> None:
    named = [field for fields, _ in COVERED.values() for field in fields]
    assert sorted(named) == sorted(Policy.__struct_fields__)
    assert {*COVERED, "index"} == {*Policy().versions(""), "holdout"}


def test_a_changed_field_or_constant_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    before = frozen(Policy(), "confidence")
    bolder = msgspec.structs.replace(Policy().confidence, theta=1.0)
    assert frozen(Policy(confidence=bolder), "confidence") != before
    monkeypatch.setattr(confidence, "AGREE_DECAY", 0.5)
    decayed = frozen(Policy(), "confidence")
    monkeypatch.setattr(attention, "MORE", dict.fromkeys(attention.MORE, 0.0))
    assert len({before, decayed, frozen(Policy(), "confidence")}) == 3
