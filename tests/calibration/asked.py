"""Prompts put to recall as a session's first event: observer, gate, association over a real index, rank, confidence.

A store is a workspace of its own in one library. Time limits are lifted, so that a busy machine changes nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from operator import ne
from pathlib import Path

import msgspec

from host.compose import Recall, open_recall
from host.contracts import Decision, Intent
from host.evaluation import store
from host.evaluation.datasets import Document
from host.gate import GatePolicy, decide
from host.runtime import MAIN_AGENT, USER_KEY, RuntimePolicy, SessionRuntime
from recall.associate import Arm, AssociationPolicy, associate
from recall.confidence import Bar, confident
from recall.contracts import Cue, Noise, Origin, Ranked, RuntimeScope, Scope, ScopeRef, Scored, SourceName
from recall.contracts import TermStatistics as Statistics
from recall.engine import EngineState
from recall.fallback import Breaker
from recall.library import Root
from recall.rank import RankPolicy, rank
from tests.support.builders import a_prompt
from tests.support.clock import START

UNHURRIED = 5.0


@dataclass(frozen=True)
class Seen:
    """What the confidence gate is given for one prompt: everything but its own policy."""

    cue: Cue
    ranked: Ranked
    noise: Noise
    statistics: Statistics

    def answer(self, bar: Bar) -> Scored | None:
        """The record that is handed over, if one is."""
        return next(iter(confident(self.ranked, self.cue, self.noise, self.statistics, bar).ranked), None)


@asynccontextmanager
async def stores(
    folder: Path, contents: Mapping[str, Sequence[str]], *, engine: bool
) -> AsyncIterator[tuple[Recall, dict[str, int]]]:
    """Recall over these workspaces: name -> texts. A text's record has the number that the returned places give its
    workspace, plus its place in it. With `engine`, every record has its vector when this begins."""
    places: dict[str, int] = {}
    first = 0
    async with open_recall(folder, engine=engine) as recall:
        for name, texts in contents.items():
            ref = ScopeRef(kind=Scope.WORKSPACE, key=name)
            root = Root(path=str(folder / "memory" / name), scope=ref, origin=Origin.USER)
            documents = [Document(number, text) for number, text in enumerate(texts)]
            await asyncio.to_thread(store.write, Path(root.path), documents, ref, first)
            await recall.library.adopt(root)
            await recall.library.refresh(root.path)
            places[name] = first
            first += len(texts)
        if recall.engine is not None:
            wanted = (await recall.library.status()).searchable
            recall.engine.start()
            status = recall.engine.status()
            while not (status.state is EngineState.READY and status.embedded >= wanted):
                assert status.state not in (EngineState.BROKEN, EngineState.STALE), status.problem
                status = await recall.engine.wait_until(partial(ne, status))
        yield recall, places


async def look(recall: Recall, prompt: str, workspace: str, arms: Sequence[str]) -> Seen | None:
    """What the gates see of a prompt that opens a session there; None when the need gate keeps silent."""
    scope = RuntimeScope(session_id="asked", agent_id=MAIN_AGENT, workspace=workspace, user=USER_KEY)
    runtime = SessionRuntime(scope, MAIN_AGENT, RuntimePolicy())
    envelope = msgspec.structs.replace(a_prompt(prompt), session_id="asked", agent_id=MAIN_AGENT, event_seq=1)
    segment = runtime.take(envelope)
    if segment is None:
        return None
    decided = decide(runtime.gate, runtime.window(START, True, segment), segment, GatePolicy()).answer
    if not isinstance(decided, Decision) or decided.intent is not Intent.RETRIEVE:
        return None
    index = recall.library.snapshot(START)
    policy = AssociationPolicy(budget_seconds=UNHURRIED)
    found = await associate(decided.cue, index, _unhurried(recall.arms, arms), policy, lambda: 0)
    short = [one for one in found.arms if one.shortfall]
    assert not short, short
    ranked = rank(found.candidates, runtime.visible(), RankPolicy(), START)
    return Seen(decided.cue, ranked, runtime.noise(), found.statistics)


def _unhurried(arms: Sequence[Arm], names: Sequence[str]) -> list[Arm]:
    chosen = [one for one in arms if one.name in names]
    return [replace(one, breaker=Breaker(), budget_seconds=UNHURRIED) for one in chosen]


LEXICAL = (SourceName.LEXICAL.value,)
SEMANTIC = (SourceName.LEXICAL.value, SourceName.ENGINE.value)
