"""All arms are asked at once; what is late or broken is a shortfall, and only its own."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from recall.associate import Arm, AssociationPolicy, associate, resting
from recall.contracts import Candidate, Cue, Found, Index, RuntimeScope, Source, TermStatistics
from recall.fallback import FAILURES, Breaker
from tests.support.builders import a_candidate, a_cue, a_memory_id
from tests.support.fakes import FakeIndex

AT_ONCE = AssociationPolicy(budget_seconds=0)
PATIENT = AssociationPolicy(budget_seconds=5)
HELD = a_candidate("Use pnpm, never npm.", memory_id=a_memory_id(9))


def gives(*numbers: int) -> Source:
    async def source(cue: Cue, index: Index) -> Sequence[Candidate]:
        return [a_candidate(memory_id=a_memory_id(number)) for number in numbers]

    return source


async def never(cue: Cue, index: Index) -> Sequence[Candidate]:
    await asyncio.Event().wait()
    raise AssertionError("unreachable")


async def broken(cue: Cue, index: Index) -> Sequence[Candidate]:
    raise RuntimeError("the tables are gone")


async def ask(
    *arms: Arm,
    policy: AssociationPolicy = PATIENT,
    cue: Cue | None = None,
    index: Index | None = None,
    clock: Callable[[], int] = lambda: 0,
) -> Found:
    async with asyncio.timeout(10):
        return await associate(cue or a_cue("pnpm"), index or FakeIndex([HELD]), arms, policy, clock)


def arm(name: str, source: Source) -> Arm:
    return Arm(name, source, Breaker())


def shortfalls(found: Found) -> dict[str, str | None]:
    return {report.name: report.shortfall for report in found.arms}


async def test_answers_of_all_arms_come_in_the_order_of_the_arms() -> None:
    found = await ask(arm("lexical", gives(1, 2)), arm("engine", gives(3)))

    assert [one.memory_id for one in found.candidates] == [a_memory_id(number) for number in (1, 2, 3)]
    assert [(report.name, report.hits, report.shortfall) for report in found.arms] == [
        ("lexical", 2, None),
        ("engine", 1, None),
    ]
    assert found.statistics == TermStatistics(total=1, counts={"pnpm": 1})
    assert (found.index_version, found.degraded) == ("idx_1", False)


async def test_arms_run_at_the_same_time() -> None:
    met = asyncio.Barrier(2)

    async def waits_for_the_other(cue: Cue, index: Index) -> Sequence[Candidate]:
        await met.wait()  # one alone would wait for ever
        return []

    found = await ask(arm("lexical", waits_for_the_other), arm("engine", waits_for_the_other))

    assert shortfalls(found) == {"lexical": None, "engine": None}


@pytest.mark.parametrize(("source", "policy", "reason"), [(never, AT_ONCE, "late"), (broken, PATIENT, "broken")])
async def test_a_late_or_broken_arm_costs_its_own_answer(
    source: Source, policy: AssociationPolicy, reason: str
) -> None:
    found = await ask(arm("lexical", gives(1)), arm("engine", source), policy=policy)

    assert shortfalls(found)["engine"] == reason
    assert [one.memory_id for one in found.candidates if one.memory_id == a_memory_id(1)]


@pytest.mark.parametrize(("source", "policy"), [(never, AT_ONCE), (broken, PATIENT)])
async def test_without_the_lexical_arm_memory_answers_and_says_so(source: Source, policy: AssociationPolicy) -> None:
    found = await ask(arm("lexical", source), arm("engine", gives()), policy=policy)

    assert [one.memory_id for one in found.candidates] == [HELD.memory_id]
    assert found.degraded and shortfalls(found)["fallback"] == "degraded"
    assert found.statistics.counts == {"pnpm": 1}


async def test_an_open_breaker_spares_the_arm_and_closes_after_a_good_try() -> None:
    calls: list[str] = []
    now = [0]

    async def sometimes(cue: Cue, index: Index) -> Sequence[Candidate]:
        calls.append("asked")
        if len(calls) <= FAILURES:
            raise OSError
        return []

    lexical = arm("lexical", sometimes)
    seen = [shortfalls(await ask(lexical, clock=lambda: now[0]))["lexical"] for _ in range(FAILURES + 1)]
    assert seen == ["broken"] * FAILURES + ["open-breaker"] and len(calls) == FAILURES

    now[0] = 30_000_000
    assert [shortfalls(await ask(lexical, clock=lambda: now[0]))["lexical"] for _ in range(2)] == [None, None]


async def test_a_source_that_rests_is_named_with_its_breaker() -> None:
    lexical, engine = arm("lexical", broken), arm("engine", gives())
    assert resting((lexical, engine), 0) == {}

    for _ in range(FAILURES):
        await ask(lexical, engine)

    assert resting((lexical, engine), 1) == {"source lexical": "degraded, its breaker is open"}
    assert resting((lexical, engine), 30_000_000) == {"source lexical": "degraded, its breaker is half-open"}


async def test_counts_that_cannot_be_had_are_taken_from_memory() -> None:
    class NoCounts(FakeIndex):
        async def statistics(self, terms: object, scope: object) -> TermStatistics:
            raise RuntimeError

    found = await ask(arm("lexical", gives(1)), index=NoCounts([HELD]))

    assert found.degraded and found.statistics.counts == {"pnpm": 1}


async def test_counting_has_only_what_the_arms_left_of_the_budget() -> None:
    class NeverCounts(FakeIndex):
        async def statistics(self, terms: object, scope: object) -> TermStatistics:
            await asyncio.Event().wait()
            raise AssertionError("unreachable")

    policy = AssociationPolicy(budget_seconds=0.05)

    found = await ask(arm("lexical", never), index=NeverCounts([HELD]), policy=policy)

    assert found.degraded and shortfalls(found) == {"lexical": "late", "fallback": "degraded"}


async def test_a_cue_without_terms_asks_for_no_counts() -> None:
    index = FakeIndex([HELD])

    found = await ask(arm("lexical", gives()), cue=a_cue(""), index=index)

    assert index.asked == 0 and found.statistics.total == 0 and not found.degraded


async def test_cancelling_a_pass_is_neither_a_failure_nor_swallowed() -> None:
    lexical = arm("lexical", never)
    asked = asyncio.create_task(ask(lexical))
    for _ in range(5):
        await asyncio.sleep(0)

    asked.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asked
    assert lexical.breaker.allows(0)


async def test_an_index_that_is_still_being_filled_is_told_and_the_answer_degraded() -> None:
    class Filling(FakeIndex):
        def partial(self, scope: RuntimeScope) -> bool:
            return scope.workspace == a_cue("pnpm").scope.workspace

    found = await ask(arm("lexical", gives(1)), index=Filling([HELD]))

    assert [hit.memory_id for hit in found.candidates] == [a_memory_id(1)] and found.degraded
    assert [(report.name, report.shortfall) for report in found.arms] == [("lexical", None), ("index", "indexing")]
