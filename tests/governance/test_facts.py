"""Facts: what is read as a plain statement, and how two of the same stand to each other."""

from typing import Any

import pytest

from governance.facts import Fact, Judged, SourceKind, Standing, Statement, conflicts, fact_of, judged, stated
from recall.contracts import Flag, MemoryKind, Origin, Status
from tests.support.builders import a_candidate, a_memory, a_memory_id, a_user_scope
from tests.support.clock import START

STATED = [
    ("the staging port is 8443", "staging port", "8443"),
    ("The staging port is 8443.", "staging port", "8443"),
    ("Our staging port is `9443` because 8443 is taken.", "staging port", "9443"),
    ("staging port = 8443", "staging port", "8443"),
    ("staging port: 8443", "staging port", "8443"),
    ("We use pnpm", "package manager", "pnpm"),
    ("This repository uses npm.", "package manager", "npm"),
    ("We use yarn as package manager", "package manager", "yarn"),
    ("We use Poetry", "python package manager", "poetry"),
    ("The default branch is main.", "default branch", "main"),
    ("The release branch is called `stable`.", "release branch", "stable"),
    ("The API base URL is https://localhost/v2", "api base url", "https://localhost/v2"),
    ("Python version is 3.12", "python version", "3.12"),
    ("The primary database is PostgreSQL 15", "primary database", "postgresql 15"),
    ("Our CI timeout is 30 minutes", "ci timeout", "30 minutes"),
    ("The deploy host is web-01.internal. Ask Ana for access.", "deploy host", "web-01.internal"),
    ("测试数据库端口是 5433", "测试数据库端口", "5433"),
    ("测试数据库的端口是5433。", "测试数据库端口", "5433"),
    ("我们的默认分支是 main", "默认分支", "main"),
    ("我们用 pnpm", "package manager", "pnpm"),
    ("我们使用 npm 作为包管理器", "package manager", "npm"),
    ("包管理器：pnpm", "package manager", "pnpm"),
    ("负责人是王芳", "负责人", "王芳"),
]
NOT = [
    *("The staging server is slow", "The default branch is protected", "The staging port is taken", "We use pytest"),
    *("Is the staging port 8443?", "The port should be 8443", "If CI fails the port is 8443", "We used npm"),
    *(
        "The port is not 8443",
        "The port was 8443",
        "I think the port is 8443",
        "Use pnpm, never npm, in this repository.",
    ),
    *("Always run the tests before publishing.", "The main reason is performance", "Note: the tests are slow", ""),
    *(
        "The port is either 8443 or 9443",
        "The port is 8443 only on staging",
        "We use pnpm, but CI uses npm",
        "TODO: fix",
    ),
    *("When make seal fails, the stamp is old.", "We may use pnpm", "The port is going to be 8443", "x" * 5_000, ": ="),
    *(
        "发布前先跑测试",
        "这个端口是不是 8443",
        "端口可能是 8443",
        "他是医生",
        "默认分支是受保护的",
        "如果失败，端口是 8443",
        "以前端口是 80",
    ),
    *("我们用测试", "数据库很慢", "端口不是 8443", "目前端口是 8443"),
]


@pytest.mark.parametrize(("text", "subject", "value"), STATED)
def test_a_plain_statement_is_read(text: str, subject: str, value: str) -> None:
    assert stated(text) == Statement(subject=subject, predicate="is", object=value)


def test_what_a_thing_does_is_a_predicate_of_its_own() -> None:
    assert stated("The staging server listens on 8443") == Statement(
        subject="staging server", predicate="listens on", object="8443"
    )


@pytest.mark.parametrize("text", NOT)
def test_what_is_not_sure_or_not_one_value_is_not_read(text: str) -> None:
    assert stated(text) is None


def a_fact(text: str, number: int = 1, **fields: Any) -> Fact:
    fact = fact_of(a_memory(text, memory_id=a_memory_id(number), **fields))
    assert fact is not None
    return fact


EIGHT, NINE = "The staging port is 8443", "The staging port is 9443"


def test_a_memory_that_a_person_kept_is_explicit_and_what_was_extracted_an_inference() -> None:
    said, thought = a_fact(EIGHT, created_at=5), a_fact(EIGHT, origin=Origin.EXTRACTED, expires_at=START + 9)

    assert (said.source_kind, said.confidence, said.confirmed_at, said.provenance) == (
        *(SourceKind.EXPLICIT, 1_000_000, 5, "user"),
    )
    assert (thought.source_kind, thought.confidence, thought.ttl) == (SourceKind.INFERENCE, 500_000, 9)
    assert a_fact(EIGHT, origin=Origin.REVIEWED).source_kind is SourceKind.EXPLICIT
    assert a_fact(EIGHT, origin=Origin.IMPORTED).source_kind is SourceKind.INFERENCE


def test_only_semantic_memories_that_state_something_are_facts() -> None:
    assert fact_of(a_memory(EIGHT, kind=MemoryKind.EPISODIC)) is None
    assert fact_of(a_memory("Always run the tests.")) is None
    assert fact_of(a_candidate(EIGHT)) is not None


@pytest.mark.promise("conflicts-as-such")
def test_the_same_with_another_object_is_a_conflict_whichever_is_newer() -> None:
    one, two = a_fact(EIGHT, 1, created_at=1), a_fact(NINE, 2, created_at=2)

    assert judged(one, [one, two], START) == Judged(standing=Standing.CONFLICT, against=(a_memory_id(2),))
    assert judged(two, [one, two], START) == Judged(standing=Standing.CONFLICT, against=(a_memory_id(1),))
    assert conflicts([two, one], START) == ((one, two),)


def test_the_same_again_and_another_matter_are_none() -> None:
    one, same, other = a_fact(EIGHT, 1), a_fact("Staging port: `8443`.", 2), a_fact("The prod port is 443", 3)

    assert judged(one, [same, other], START) == Judged(standing=Standing.STANDS)
    assert conflicts([one, same, other], START) == ()


@pytest.mark.promise("conflicts-as-such")
def test_what_was_inferred_never_stands_against_what_was_said() -> None:
    said, thought = a_fact(EIGHT, 1, created_at=1), a_fact(NINE, 2, origin=Origin.EXTRACTED, created_at=9)
    other = a_fact("The staging port is 7443", 3, origin=Origin.EXTRACTED)

    assert judged(said, [said, thought], START) == Judged(standing=Standing.STANDS)
    assert judged(thought, [said, thought], START) == Judged(standing=Standing.OVERRULED, against=(a_memory_id(1),))
    assert judged(thought, [other], START) == Judged(standing=Standing.CONFLICT, against=(a_memory_id(3),))
    assert conflicts([said, thought, other], START) == ()
    assert conflicts([thought, other], START) == ((thought, other),)


@pytest.mark.parametrize(
    "gone",
    [
        {"status": Status.SUPERSEDED, "superseded_by": a_memory_id(9)},
        {"status": Status.REVOKED},
        {"flags": (Flag.CORRECTED,)},
        {"flags": (Flag.QUARANTINED,)},
        {"expires_at": START},
    ],
)
def test_what_was_superseded_revoked_corrected_or_is_over_is_out_of_it(gone: dict[str, Any]) -> None:
    one, two = a_fact(EIGHT, 1), a_fact(NINE, 2, **gone)

    assert judged(one, [two], START) == Judged(standing=Standing.STANDS)
    assert judged(two, [one], START) == Judged(standing=Standing.REVOKED)
    assert conflicts([one, two], START) == ()


def test_another_scope_is_no_rival() -> None:
    assert judged(a_fact(EIGHT), [a_fact(NINE, 2, scope=a_user_scope())], START).standing is Standing.STANDS


@pytest.mark.parametrize(
    "text", ["the " * 70 + "port is 1", "a " * 149, "：" * 300, "= " * 150, "`" * 300, "x: " * 100]
)
def test_odd_texts_are_read_in_no_time(text: str) -> None:
    assert stated(text) is None
