"""The review queue as its users meet it: proposals, decisions and forgetting in any order."""

import asyncio
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from governance.formation.queue import OPEN, Queue, QueueFilter
from governance.migrations import queue_steps
from governance.review import Act, Decision, ItemKind, Principal, QueueItem, Refusal, State, after
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.fakes import FakeDatabase

KEY = b"k" * 32
WORDS = ("heron", "otter", "gannet")
NUMBERS = st.integers(0, 5)
TARGETS = st.sampled_from(["", "semantic", "validated"])


class QueueMachine(RuleBasedStateMachine):
    """What is expected of each item is kept beside the store: its state, its revision, and the words that are gone."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = Queue(FakeDatabase(queue_steps()), KEY)
        self.expected: dict[str, tuple[State, int]] = {}
        self.gone: set[str] = set()
        self.at = START

    def with_queue(self, act: Any) -> Any:
        self.at += 1
        return asyncio.run(act(self.queue))

    async def _now(self, queue: Queue) -> dict[str, QueueItem]:
        return {item.item_id: item for item in (await queue.list(QueueFilter(limit=500))).items}

    @rule(number=NUMBERS, word=st.sampled_from(WORDS), aim=TARGETS, about=st.booleans())
    def propose(self, number: int, word: str, aim: str, about: bool) -> None:
        item = QueueItem(
            item_id=f"rev_{number}_{aim}",
            kind=ItemKind.NOTE,
            pipeline="notes",
            workspace_key="ws",
            created_at=self.at,
            text="" if about else f"The {word} number {number}.",
            record_id=a_memory_id(number % 2) if about else None,
            target=aim,
        )
        known = item.item_id in self.expected
        buried = item.text in self.gone
        new = self.with_queue(lambda queue: queue.propose(item))
        assert new == (not known and not buried)
        if new:
            self.expected[item.item_id] = (State.PENDING, 1)
            self._refresh(superseding=item)

    def _refresh(self, superseding: QueueItem) -> None:
        """A newer item about the same memory took the place of those that waited."""
        now = self.with_queue(self._now)
        for item_id, (state, revision) in self.expected.items():
            other = now[item_id]
            if other.state is not state:
                assert (state in OPEN, other.state) == (True, State.SUPERSEDED)
                assert (other.record_id, other.target) == (superseding.record_id, superseding.target)
                assert superseding.record_id is not None
                self.expected[item_id] = (State.SUPERSEDED, revision + 1)

    @rule(
        number=NUMBERS,
        aim=TARGETS,
        act=st.sampled_from([Act.KEEP, Act.EDIT_AND_KEEP, Act.ARCHIVE, Act.APPLY]),
        actor=st.sampled_from([Principal.HUMAN, Principal.AGENT]),
        late=st.integers(0, 1),
    )
    def decide(self, number: int, aim: str, act: Act, actor: Principal, late: int) -> None:
        item_id = f"rev_{number}_{aim}"
        state, revision = self.expected.get(item_id, (None, 1))
        decision = Decision(actor=actor, kind=act, at=self.at, expected_revision=revision + late, reason="x")
        before = self.with_queue(lambda queue: queue.get(item_id))
        done = self.with_queue(lambda queue: queue.decide(item_id, decision))
        wanted = after(state, act, actor)
        if state is None or late or isinstance(wanted, Refusal):
            assert isinstance(done, Refusal)
            return
        assert isinstance(done, QueueItem)
        assert done.state is wanted
        self.expected[item_id] = (wanted, revision + 1)
        if before.text and wanted is State.ARCHIVED:
            self.gone.add(before.text)
        elif before.text and state is State.ARCHIVED:
            self.gone.discard(before.text)

    @rule(number=st.integers(0, 1))
    def forget(self, number: int) -> None:
        self.with_queue(lambda queue: queue.forget(a_memory_id(number), "ws", f"the secret of {number}", self.at))
        for item_id, item in self.with_queue(self._now).items():
            state, revision = self.expected[item_id]
            if item.record_id == a_memory_id(number) and item.state is not state:
                assert item.state is State.SUPERSEDED
                self.expected[item_id] = (State.SUPERSEDED, revision + 1)

    @invariant()
    def every_item_is_where_it_should_be_and_tells_how_it_came_there(self) -> None:
        found = self.with_queue(self._now)
        assert {item_id: (item.state, item.revision) for item_id, item in found.items()} == self.expected
        for item_id in found:
            item = self.with_queue(lambda queue, item_id=item_id: queue.get(item_id))
            assert len(item.decisions) == item.revision - 1
            assert [one.expected_revision for one in item.decisions] == list(range(1, item.revision))
            if item.state in (State.KEPT, State.ARCHIVED):
                assert item.decisions[-1].actor is Principal.HUMAN


QueueMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)
TestQueueMachine = QueueMachine.TestCase
