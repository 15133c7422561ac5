"""C-04: ask every arm at once, within one budget; what is late or broken costs only its own answer.

When the lexical arm has no answer, the records held in memory are scanned instead (`fallback`) and the whole is marked
degraded; so it is while files that can be seen are still being taken in for the first time. `except Exception` stands
around a source and around the counting of the cue's terms: both may break without ending the pass.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from recall.contracts import ArmReport, Candidate, Cue, Found, Frozen, Index, Source, SourceName, TermStatistics
from recall.errors import ArmUnavailable
from recall.fallback import Breaker, BreakerState, hot_scan, hot_statistics

FALLBACK = "fallback"
INDEX = "index"  # names what is no arm: that not all files have been taken in yet


class AssociationPolicy(Frozen, frozen=True, kw_only=True):
    """How long all arms together may take."""

    budget_seconds: Annotated[float, Meta(ge=0, le=5)] = 0.5


@dataclass(frozen=True, slots=True)
class Arm:
    """A source by name, with the breaker that guards it, and its own time limit where it is shorter than the pass's."""

    name: str
    source: Source
    breaker: Breaker
    budget_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class _Answer:
    report: ArmReport
    candidates: Sequence[Candidate] = ()


async def associate(
    cue: Cue, index: Index, arms: Sequence[Arm], policy: AssociationPolicy, clock_micros: Callable[[], int]
) -> Found:
    """Candidates of all arms in the order of `arms`, each arm's report, and the statistics that confidence needs."""
    deadline = asyncio.get_running_loop().time() + policy.budget_seconds
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(_ask(arm, cue, index, policy, clock_micros)) for arm in arms]
    answers = [task.result() for task in asked]
    statistics = await _count(cue, index, deadline)  # afterwards: a search has counted its terms already
    if any(answer.report.name == SourceName.LEXICAL and answer.report.shortfall for answer in answers):
        answers.append(_from_memory(cue, index, clock_micros))
    if index.partial(cue.scope):
        answers.append(_Answer(ArmReport(name=INDEX, hits=0, micros=0, shortfall="indexing")))
    return Found(
        candidates=tuple(candidate for answer in answers for candidate in answer.candidates),
        arms=tuple(answer.report for answer in answers),
        statistics=statistics or hot_statistics(cue, index),
        index_version=index.version,
        degraded=statistics is None or len(answers) > len(arms),
    )


def resting(arms: Sequence[Arm], now: int) -> dict[str, str]:
    """What to say of each source that is not simply asked, by name. `now`: as the breakers count."""
    states = {arm.name: arm.breaker.state(now) for arm in arms}
    return {
        f"source {name}": f"degraded, its breaker is {state}"
        for name, state in states.items()
        if state is not BreakerState.CLOSED
    }


async def _ask(arm: Arm, cue: Cue, index: Index, policy: AssociationPolicy, clock_micros: Callable[[], int]) -> _Answer:
    started = clock_micros()
    if not arm.breaker.allows(started):
        return _Answer(ArmReport(name=arm.name, hits=0, micros=0, shortfall="open-breaker"))
    try:
        async with asyncio.timeout(min(policy.budget_seconds, arm.budget_seconds)):
            candidates = await arm.source(cue, index)
    except ArmUnavailable as away:
        arm.breaker.abandoned()  # it is not broken: asked again at the next cue
        return _Answer(ArmReport(name=arm.name, hits=0, micros=clock_micros() - started, shortfall=away.shortfall))
    except TimeoutError:
        return _short(arm, started, clock_micros(), "late")
    except asyncio.CancelledError:
        arm.breaker.abandoned()
        raise
    except Exception:  # noqa: BLE001  (boundary: a source that breaks is a shortfall, the other arms count)
        return _short(arm, started, clock_micros(), "broken")
    arm.breaker.succeeded()
    return _Answer(ArmReport(name=arm.name, hits=len(candidates), micros=clock_micros() - started), candidates)


def _short(arm: Arm, started: int, now: int, shortfall: str) -> _Answer:
    arm.breaker.failed(now)
    return _Answer(ArmReport(name=arm.name, hits=0, micros=now - started, shortfall=shortfall))


async def _count(cue: Cue, index: Index, deadline: float) -> TermStatistics | None:
    """Document counts of the cue's terms; None when the tables do not give them in what is left of the budget."""
    if not cue.terms:
        return TermStatistics(total=0, counts={})
    try:
        async with asyncio.timeout_at(deadline):
            return await index.statistics(cue.terms, cue.scope)
    except Exception:  # noqa: BLE001  (boundary: like a source; the pass goes on with what is held in memory)
        return None


def _from_memory(cue: Cue, index: Index, clock_micros: Callable[[], int]) -> _Answer:
    started = clock_micros()
    candidates = hot_scan(cue, index)
    micros = clock_micros() - started
    return _Answer(ArmReport(name=FALLBACK, hits=len(candidates), micros=micros, shortfall="degraded"), candidates)
