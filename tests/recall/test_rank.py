"""C-05: filter, score, duplicates, budget; every drop has a reason."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.analyzer import distinct
from recall.contracts import Candidate, Flag, Origin, Ranked, Scope, ScopeRef, Shown, SourceName, Status
from recall.rank import DropReason, RankPolicy, rank, say_the_same
from tests.support.builders import a_candidate, a_memory_id, a_scope, a_workspace_scope
from tests.support.clock import START

TEXTS = [
    "Use pnpm, never npm, in this repository.",
    "The flaky login test needs a frozen clock.",
    "Feature flags live in flags.toml.",
    "部署前必须先备份数据库。",
    "Invoice totals are rounded half-even.",
]


def one(number: int, text: str = "", **fields: Any) -> Candidate:
    return a_candidate(text or TEXTS[number % len(TEXTS)], memory_id=a_memory_id(number), **fields)


def run(candidates: Iterable[Candidate], shown: Shown | None = None, **policy: Any) -> Ranked:
    return rank(list(candidates), shown or Shown(), RankPolicy(**policy), START)


def kept(ranked: Ranked) -> list[str]:
    return [scored.candidate.memory_id for scored in ranked.ranked]


def reasons(ranked: Ranked) -> dict[str, str]:
    return {drop.id: drop.reason for drop in ranked.dropped}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"status": Status.SUPERSEDED}, DropReason.NOT_ACTIVE),
        ({"superseded_by": a_memory_id(9)}, DropReason.NOT_ACTIVE),
        ({"expires_at": START}, DropReason.EXPIRED),
        ({"valid_from": START + 1}, DropReason.NOT_YET_VALID),
        ({"flags": (Flag.QUARANTINED,)}, DropReason.QUARANTINED),
        ({"flags": (Flag.CORRECTED,)}, DropReason.CORRECTED),
        ({"flags": (Flag.MUTED,)}, DropReason.MUTED),
    ],
)
def test_a_record_that_may_not_be_given_is_dropped_with_its_reason(fields: dict[str, Any], reason: str) -> None:
    ranked = run([one(1, **fields)])
    assert kept(ranked) == []
    assert reasons(ranked) == {a_memory_id(1): reason}


@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        (Shown(records=frozenset({a_memory_id(1)})), DropReason.ALREADY_SHOWN),
        (Shown(held_out=frozenset({a_memory_id(1)})), DropReason.HELD_OUT),
        (Shown(read={a_memory_id(1): one(1).record_digest}), DropReason.ALREADY_READ),
        (Shown(texts=((a_memory_id(7), "The flaky login test needs a frozen clock"),)), DropReason.SHOWN_ALIKE),
        (Shown(muted=frozenset({a_memory_id(1)})), DropReason.MUTED),
        (Shown(muted_kinds=frozenset({one(1).kind})), DropReason.MUTED),
        (Shown(corrected=frozenset({a_memory_id(1)})), DropReason.CORRECTED),
        (Shown(quarantined=frozenset({a_memory_id(1)})), DropReason.QUARANTINED),
    ],
)
def test_what_the_window_holds_already_is_not_given_again(shown: Shown, reason: str) -> None:
    assert reasons(run([one(1)], shown)) == {a_memory_id(1): reason}


def test_a_record_read_at_an_older_version_may_be_given() -> None:
    assert kept(run([one(1)], Shown(read={a_memory_id(1): "0" * 64}))) == [a_memory_id(1)]


LOADED = ("*", "claude-code", "opencode")


@pytest.mark.parametrize("host", ["claude-code", "opencode", "socket", "a-new-product"])
def test_what_the_agents_product_loads_by_itself_is_not_given(host: str) -> None:
    ranked = run([one(1, loaded_by=LOADED), one(2)], Shown(host=host))

    assert kept(ranked) == [a_memory_id(2)]
    assert reasons(ranked) == {a_memory_id(1): DropReason.ALREADY_IN_CONTEXT}


@pytest.mark.parametrize("host", ["codex", "gemini-cli", ""])
def test_what_another_product_loads_may_be_given_and_a_person_finds_all(host: str) -> None:
    assert kept(run([one(1, loaded_by=LOADED)], Shown(host=host))) == [a_memory_id(1)]


SECTION = """Rules of this repository:

- Use pnpm, never npm, in this repository.
- The flaky login test needs a frozen clock.
1. Invoice totals are rounded half-even.
"""


@pytest.mark.parametrize(
    ("text", "dropped"),
    [
        ("Use pnpm, never npm, in this repository!", True),
        ("Invoice totals are rounded half-even", True),
        (SECTION, True),
        ("Feature flags live in flags.toml.", False),
        ("Use npm, never pnpm, in this repository.", False),  # the opposite, not the same
        ("Use pnpm 9, never npm, in this repository.", False),
    ],
)
def test_a_record_that_says_what_is_in_context_is_dropped_as_alike(text: str, dropped: bool) -> None:
    file = one(1, SECTION, loaded_by=LOADED, created_at=0, score=9.0)

    ranked = run([file, one(2, text, record_digest="2" * 64)], Shown(host="claude-code"))

    assert reasons(ranked).get(a_memory_id(2)) == (DropReason.SHOWN_ALIKE if dropped else None)
    assert kept(run([file, one(2, text, record_digest="2" * 64)], Shown(host="codex")))[0] == a_memory_id(1)


def test_a_copy_that_was_imported_from_a_file_in_context_is_dropped_whatever_its_tag_adds_to_its_terms() -> None:
    text = "Use the gradle wrapper for every zephyr build."
    terms = distinct(text)
    file = one(1, text, loaded_by=LOADED, terms=terms)
    copy = one(2, text, tags=("from:notes/CLAUDE.md",), terms=(*terms, *distinct("from:notes/CLAUDE.md")))

    ranked = run([file, copy], Shown(host="claude-code"))

    assert reasons(ranked) == {
        a_memory_id(1): DropReason.ALREADY_IN_CONTEXT,
        a_memory_id(2): DropReason.SHOWN_ALIKE,
    }


def test_a_newer_record_takes_back_what_a_loaded_file_says() -> None:
    file = one(1, "Gradle needs JDK 17.", loaded_by=LOADED, created_at=0)
    newer = one(2, "Gradle needs JDK 21.", created_at=START - 1)

    ranked = run([file, newer], Shown(host="claude-code"))

    assert kept(ranked) == [a_memory_id(2)]
    assert reasons(ranked) == {a_memory_id(1): DropReason.CONTRADICTED}


@pytest.mark.parametrize(
    ("newer", "older", "dropped"),
    [
        (Origin.IMPORTED, Origin.USER, False),
        (Origin.EXTRACTED, Origin.USER, False),
        (Origin.EXTRACTED, Origin.REVIEWED, False),
        (Origin.REVIEWED, Origin.USER, True),
        (Origin.USER, Origin.IMPORTED, True),
        (Origin.IMPORTED, Origin.EXTRACTED, True),
    ],
)
def test_what_nobody_said_does_not_take_back_what_a_person_said(newer: Origin, older: Origin, *, dropped: bool) -> None:
    said = one(1, "Gradle needs JDK 17.", origin=older, created_at=0)
    later = one(2, "Gradle needs JDK 21.", origin=newer, created_at=START - 1)

    assert reasons(run([said, later])).get(a_memory_id(1)) == (DropReason.CONTRADICTED if dropped else None)


def test_what_is_in_context_is_no_evidence_that_was_told() -> None:
    """A long file holds most words of its project: they must go on counting as evidence for other records."""
    assert run([one(1, loaded_by=LOADED)], Shown(host="claude-code")).told == frozenset()


def test_a_record_of_another_workspace_is_dropped_though_an_arm_proposes_it() -> None:
    elsewhere = one(1, scope=a_workspace_scope("ws_other"))

    assert reasons(run([elsewhere, one(2)], Shown(scope=a_scope()))) == {a_memory_id(1): DropReason.OUT_OF_SCOPE}
    assert len(kept(run([elsewhere], Shown()))) == 1  # whoever asked has filtered


def test_what_may_not_be_given_moves_no_score() -> None:
    """Filters come first: a muted record that matches far better must not make the others look alike."""
    both = [one(1, score=10.0), one(2, score=4.0)]
    with_muted = run([*both, one(3, score=500.0)], Shown(muted=frozenset({a_memory_id(3)})))

    assert [scored.score for scored in with_muted.ranked] == [scored.score for scored in run(both).ranked]


def test_what_one_arm_says_against_a_memory_holds_for_all() -> None:
    both = [one(1), one(1, source=SourceName.ENGINE, flags=(Flag.CORRECTED,), status=Status.REVOKED)]

    assert reasons(run(both)) == {a_memory_id(1): DropReason.NOT_ACTIVE}
    assert run(both) == run(both[::-1])


def test_of_equally_relevant_records_the_one_that_says_more_news_is_first() -> None:
    told = Shown(texts=((a_memory_id(9), "login clock pipeline"),))
    same = {"created_at": START, "score": 1.0}

    ranked = run([one(1, "The flaky login test needs a frozen clock.", **same), one(2, TEXTS[4], **same)], told)

    assert kept(ranked) == [a_memory_id(2), a_memory_id(1)]


def test_importance_priority_age_scope_and_confidence_order_what_is_equally_relevant() -> None:
    def first(**fields: Any) -> str:
        return kept(run([one(1), one(2, **fields)]))[0]

    better: list[dict[str, Any]] = [
        {"importance": 90},
        {"priority": 90},
        {"scope": ScopeRef(kind=Scope.SESSION, key="s")},
    ]
    worse: list[dict[str, Any]] = [
        {"importance": 10},
        {"priority": 0},
        {"created_at": START - 10**10},
        {"scope": ScopeRef(kind=Scope.USER, key="user")},
        {"confidence": 0.2},
    ]
    assert {first(**fields) for fields in better} == {a_memory_id(2)}
    assert {first(**fields) for fields in worse} == {a_memory_id(1)}


def test_what_has_helped_comes_first_among_what_is_equally_relevant_and_only_there() -> None:
    plain = [one(1), one(2)]
    assert kept(run(plain)) == [a_memory_id(1), a_memory_id(2)]
    assert kept(run(plain, Shown(used={a_memory_id(2): 0.3}))) == [a_memory_id(2), a_memory_id(1)]
    assert RankPolicy().usage < RankPolicy().relevance


def test_the_priority_that_is_first_among_equals_is_no_low_one() -> None:
    assert run([one(1, priority=-1)]).ranked[0].score == run([one(1)]).ranked[0].score


def test_raw_confidences_of_the_arms_reach_the_gate() -> None:
    (scored,) = run([one(1, confidence=0.4), one(1, source=SourceName.ENGINE, confidence=0.61)]).ranked

    assert scored.confidences == {"lexical": 0.4, "engine": 0.61}


def test_what_the_engine_takes_for_a_paraphrase_is_dropped() -> None:
    texts = ["Nightly builds are signed by hand.", "Jede Nacht wird der Build von Hand signiert."]
    ranked = run([one(1, texts[0], score=2.0), one(2, texts[1], alike=(a_memory_id(1),))])

    assert kept(ranked) == [a_memory_id(1)]
    assert reasons(ranked) == {a_memory_id(2): DropReason.PARAPHRASE}


@pytest.mark.parametrize(
    "texts",
    [
        ("Requests time out after 30 seconds.", "A request times out when 60 seconds are over."),
        ("Migrations run at start.", "Migrations do not run at start."),
    ],
)
def test_vectors_do_not_see_a_number_or_a_not(texts: tuple[str, str]) -> None:
    ranked = run([one(1, texts[0], created_at=START), one(2, texts[1], created_at=START, alike=(a_memory_id(1),))])

    assert DropReason.PARAPHRASE not in reasons(ranked).values()


def test_the_terms_of_shown_texts_go_on_to_the_confidence_gate() -> None:
    assert run([one(1)], Shown(texts=(("x", "frozen clock"),))).told == {"frozen", "clock"}


def test_one_id_with_two_digests_fails_closed() -> None:
    ranked = run([one(1), one(1, record_digest="f" * 64, source=SourceName.SEMANTIC), one(2)])
    assert kept(ranked) == [a_memory_id(2)]
    assert reasons(ranked) == {a_memory_id(1): DropReason.INDEX_CONFLICT}


def test_a_record_found_by_two_arms_counts_once_and_higher() -> None:
    both = [one(1, score=2.0), one(1, source=SourceName.SEMANTIC, score=2.0), one(2, score=2.0)]
    ranked = run([*both, one(3, score=1.0), one(4, source=SourceName.SEMANTIC, score=1.0)])
    assert kept(ranked)[0] == a_memory_id(1)
    assert len(kept(ranked)) == 4


def test_the_same_content_twice_is_a_duplicate() -> None:
    ranked = run([one(1, TEXTS[0], score=2.0), one(2, TEXTS[0])])
    assert reasons(ranked) == {a_memory_id(2): DropReason.DUPLICATE_CONTENT}


def test_a_near_duplicate_in_another_scope_is_dropped() -> None:
    user = ScopeRef(kind=Scope.USER, key="user")
    ranked = run([one(1, "Commit messages are in English."), one(2, "commit messages are in english", scope=user)])
    assert kept(ranked) == [a_memory_id(1)]
    assert reasons(ranked) == {a_memory_id(2): DropReason.NEAR_DUPLICATE}


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("Use uv for Python installs.", "use UV for python installs", True),
        ("Deploy window is Tuesday 14:00 UTC.", "Deploy window is Thursday 14:00 UTC.", False),
        ("Requests time out after 30 seconds.", "Requests time out after 60 seconds.", False),
        ("Migrations run at start.", "Migrations do not run at start.", False),
        ("部署前必须先备份数据库。", "部署前必须先备份数据库！", True),
        ("Docs build with mkdocs.", "The mailer runs on port 2525.", False),
        ("Build with Node 8 here.", "Build with Node 9 here.", False),
        ("The client needs TLS 1.2 on port 443.", "The client needs TLS 1.3 on port 443.", False),
        ("Use pnpm, never npm, in this repository.", "Use npm, never pnpm, in this repository.", False),
        ("Never use npm here; use pnpm.", "Never use npm here. Use pnpm!", True),
    ],
)
def test_an_update_is_not_a_duplicate(first: str, second: str, same: bool) -> None:
    assert say_the_same(first, second, RankPolicy()) is same


def test_of_two_contradicting_records_the_older_is_dropped_whatever_its_score() -> None:
    older = one(1, "The API returns snake_case.", score=9.0, created_at=START - 2)
    newer = one(2, "The API returns camelCase since v3.", created_at=START - 1)
    ranked = run([older, newer])
    assert kept(ranked) == [a_memory_id(2)]
    assert reasons(ranked) == {a_memory_id(1): DropReason.CONTRADICTED}


def test_the_older_stays_dropped_when_the_newer_was_shown_already() -> None:
    older = one(1, "Gradle needs JDK 17.", created_at=START - 2)
    newer = one(2, "Gradle needs JDK 21.", created_at=START - 1)
    assert kept(run([older, newer], Shown(records=frozenset({a_memory_id(2)})))) == []


def test_a_record_that_was_withdrawn_takes_nothing_back() -> None:
    older = one(1, "Gradle needs JDK 17.", created_at=START - 2)
    newer = one(2, "Gradle needs JDK 21.", created_at=START - 1, status=Status.REVOKED)
    assert kept(run([older, newer])) == [a_memory_id(1)]


def test_records_of_different_scopes_do_not_contradict() -> None:
    user = ScopeRef(kind=Scope.USER, key="user")
    older = one(1, "Indent with tabs in Makefiles.", created_at=START - 2)
    newer = one(2, "Indent with spaces in Makefiles.", created_at=START - 1, scope=user)
    assert len(kept(run([older, newer]))) == 2


def test_restatements_of_one_fact_are_limited() -> None:
    endings = ["clock", "seed", "zone", "port", "user", "mail"]
    fact = "The flaky login test in the nightly suite needs a frozen"
    ranked = run([one(number, f"{fact} {end}.") for number, end in enumerate(endings)], alike=100.0)
    assert len(kept(ranked)) == 3
    assert set(reasons(ranked).values()) == {DropReason.SAME_TOPIC}


def test_bytes_tokens_and_items_bound_the_list_and_what_is_too_large_is_passed_over() -> None:
    large = one(1, "word " * 400, score=9.0)
    small = [one(number, score=1.0) for number in (2, 3)]
    by_bytes = run([large, *small], text_bytes=300)
    assert kept(by_bytes) == [a_memory_id(2), a_memory_id(3)]
    assert reasons(by_bytes) == {a_memory_id(1): DropReason.OVER_BUDGET}
    assert kept(run([large, *small], tokens=64)) == [a_memory_id(2), a_memory_id(3)]
    assert len(kept(run(small, items=1))) == 1


def test_ties_are_broken_by_id() -> None:
    assert kept(run([one(3), one(1), one(2)])) == [a_memory_id(1), a_memory_id(2), a_memory_id(3)]


@given(st.permutations(list(range(12))), st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=12, max_size=12))
def test_ranking_ignores_the_order_of_its_input(order: list[int], scores: list[float]) -> None:
    loaded = [("*", "codex") if number % 4 == 0 else () for number in range(12)]
    candidates = [
        one(
            number % 9, created_at=START - number % 9, score=score, loaded_by=files, source=list(SourceName)[number % 2]
        )
        for number, (score, files) in enumerate(zip(scores, loaded, strict=True))
    ]
    shown = Shown(host="codex", scope=a_scope())
    assert run([candidates[place] for place in order], shown) == run(candidates, shown)


@given(st.lists(st.integers(0, 9), max_size=20))
def test_every_candidate_is_kept_or_dropped_with_a_reason(numbers: list[int]) -> None:
    ranked = run([one(number, status=Status.ACTIVE if number % 3 else Status.ARCHIVED) for number in numbers])
    assert set(kept(ranked)) | set(reasons(ranked)) == {a_memory_id(number) for number in numbers}
    assert not set(kept(ranked)) & set(reasons(ranked))
