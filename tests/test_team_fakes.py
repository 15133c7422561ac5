"""One suite over the ports of the team workflow and their fakes: what a test of recall believes of a history in memory
holds for the real one."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from governance.team.contracts.base import Bound
from governance.team.contracts.ports import Commits, History
from governance.team.contracts.recalling import ExtractionRequest
from governance.team.contracts.turns import Commit, Turn
from governance.team.errors import Kind, TeamFault
from host.team.commits import DulwichCommits
from recall.canonical import bytes_digest
from recall.contracts import Millis
from tests.support.clock import START
from tests.support.team_history import HOUR, a_bound, a_history, a_repository, a_request, commit
from tests.support.team_recall import FakeCommits, FakeHistory, a_turn, an_event
from tests.support.team_recall import a_bound as a_fake_bound

TEXTS = ("release the harbour", "release again", "paint the lighthouse")


@dataclass(kw_only=True)
class Told:
    """A history that holds one session of the three TEXTS. `change`: has the answer of turn 1 be another."""

    history: History
    bound: Bound
    times: tuple[Millis, ...]
    change: Callable[[], Any]

    async def turns(self, request: ExtractionRequest | None = None, limit: int = 200) -> list[Turn]:
        found = await self.history.select(self.bound, request or a_request(), limit)
        assert found.matched == sum(len(one.turns) for one in found.sessions)
        return [turn for session in found.sessions for turn in session.turns]


@asynccontextmanager
async def _real(folder: Path) -> AsyncIterator[Told]:
    async with a_history(folder) as past:
        talk = past.talk()
        events = [talk.begin()]
        for number, text in enumerate(TEXTS):
            events += [talk.prompt(number, text), talk.reply(number, "Done.")]
        await past.log([*events, talk.prompt(3, "And now?")])

        async def change() -> None:
            payload = b'{"text":"Not done."}'
            statement = "UPDATE event SET payload = ?, payload_digest = ? WHERE event_id LIKE 'reply:%:1:9'"
            values = (payload, bytes_digest(payload))
            assert await past.world.parts.main.write(lambda c: c.execute(statement, values).rowcount) == 1

        times = tuple(talk.at(number) for number in range(3))
        yield Told(history=past.history, bound=past.bound, times=times, change=change)


@asynccontextmanager
async def _fake(_: Path) -> AsyncIterator[Told]:
    times = tuple(START + number * 60_000 for number in range(3))

    def a_told(number: int, answer: str = "Done.", revision: int = 1) -> Any:
        said = an_event("user", TEXTS[number], number * 10, at=times[number])
        answered = an_event("assistant", answer, number * 10 + 1, at=times[number])
        return a_turn(number, said, answered, at=times[number], revision=revision)

    history = FakeHistory(*(a_told(number) for number in range(3)))

    async def change() -> None:
        history.put(a_told(1, "Not done.", 2))

    yield Told(history=history, bound=a_fake_bound(), times=times, change=change)


Opened = Callable[[Path], AbstractAsyncContextManager[Told]]
histories = pytest.mark.parametrize("opened", [_real, _fake], ids=["event-log", "fake"])


@histories
async def test_turns_come_in_order_with_what_was_said(opened: Opened, tmp_path: Path) -> None:
    async with opened(tmp_path) as told:
        turns = await told.turns()
        assert [(turn.place, turn.at, turn.revision, turn.recallable) for turn in turns] == [
            (place, told.times[place], 1, True) for place in range(3)
        ]
        contents = [await told.history.content(turn) for turn in turns]
        assert [[event.text for event in one.events] for one in contents] == [[text, "Done."] for text in TEXTS]
        assert [[event.kind for event in one.events] for one in contents] == [["user", "assistant"]] * 3
        assert [one.turn.payload_digest for one in contents] == [turn.payload_digest for turn in turns]


@histories
async def test_a_window_is_half_open(opened: Opened, tmp_path: Path) -> None:
    async with opened(tmp_path) as told:
        assert [one.place for one in await told.turns(a_request(told.times[1], told.times[2]))] == [1]
        assert [one.place for one in await told.turns(a_request(told.times[1] + 1, told.times[2] + 1))] == [2]


@histories
async def test_a_query_matches_what_holds_half_of_its_words_rounded_up(opened: Opened, tmp_path: Path) -> None:
    async with opened(tmp_path) as told:
        assert [one.place for one in await told.turns(a_request(query="release"))] == [0, 1]
        assert [one.place for one in await told.turns(a_request(query="release harbour lighthouse"))] == [0]
        assert [one.place for one in await told.turns(a_request(query="release lighthouse"))] == [0, 1, 2]
        assert await told.turns(a_request(query="xylophone")) == []


@histories
async def test_more_than_the_limit_is_refused_and_not_cut(opened: Opened, tmp_path: Path) -> None:
    async with opened(tmp_path) as told:
        assert len(await told.turns(limit=3)) == 3
        with pytest.raises(TeamFault) as found:
            await told.turns(limit=2)
        assert found.value.kind is Kind.QUERY_TOO_BROAD


@histories
async def test_a_session_is_asked_for_by_its_key(opened: Opened, tmp_path: Path) -> None:
    async with opened(tmp_path) as told:
        key = (await told.turns())[0].session_key
        assert len(await told.turns(a_request(session_keys=(key,)))) == 3
        assert await told.turns(a_request(session_keys=("another",))) == []


@histories
async def test_a_turn_that_changed_is_told_once_and_then_has_the_next_revision(opened: Opened, tmp_path: Path) -> None:
    async with opened(tmp_path) as told:
        before = await told.turns()
        await told.change()
        with pytest.raises(TeamFault) as found:
            await told.history.content(before[1])
        assert found.value.kind is Kind.PAYLOAD_CHANGED
        after = await told.turns()
        assert [one.revision for one in after] == [1, 2, 1]
        assert after[1].turn_key == before[1].turn_key
        assert after[1].payload_digest != before[1].payload_digest
        assert (await told.history.content(after[1])).events[1].text == "Not done."


@histories
async def test_turns_are_found_by_their_keys_as_they_are_now(opened: Opened, tmp_path: Path) -> None:
    async with opened(tmp_path) as told:
        turns = await told.turns()
        found = await told.history.current([turns[2].turn_key, "gone", turns[0].turn_key])
        assert [one.place for one in found] == [2, 0]
        await told.change()
        (now,) = await told.history.current([turns[1].turn_key])
        assert now.payload_digest != turns[1].payload_digest


@dataclass(kw_only=True)
class Repository:
    commits: Commits
    bound: Bound
    hashes: tuple[str, ...]


@asynccontextmanager
async def _git(folder: Path) -> AsyncIterator[Repository]:
    root = a_repository(folder / "project")
    made = tuple(commit(root, {f"{name}.txt": "x\n"}, name, START + at) for at, name in ((0, "one"), (HOUR, "two")))
    commits = DulwichCommits()
    try:
        yield Repository(commits=commits, bound=a_bound(root), hashes=made)
    finally:
        await commits.close()


@asynccontextmanager
async def _in_memory(_: Path) -> AsyncIterator[Repository]:
    hashes = ("1" * 40, "2" * 40)
    one = Commit(commit=hashes[0], at=START, paths=("one.txt",))
    two = Commit(commit=hashes[1], at=START + HOUR, paths=("two.txt",))
    yield Repository(commits=FakeCommits(two, one), bound=a_fake_bound(), hashes=hashes)


@pytest.mark.parametrize("opened", [_git, _in_memory], ids=["git", "fake"])
async def test_commits_are_found_by_name_by_short_name_and_by_time(  # type: ignore[no-untyped-def]
    opened, tmp_path: Path
) -> None:
    async with opened(tmp_path) as there:
        first, second = there.hashes
        named = await there.commits.named(there.bound, f"[main {second}] two, and {'f' * 40}")
        assert [(one.commit, one.paths, one.at) for one in named] == [(second, ("two.txt",), START + HOUR)]
        assert not await there.commits.named(there.bound, f"[main {second[:8]}] two")
        short = await there.commits.abbreviated(there.bound, f"[main {first[:8]}] one")
        assert [one.commit for one in short] == [first]
        within = await there.commits.between(there.bound, START, START + HOUR, 10)
        assert [one.commit for one in within] == [second, first]
        assert [one.commit for one in await there.commits.between(there.bound, START, START + HOUR, 1)] == [second]
