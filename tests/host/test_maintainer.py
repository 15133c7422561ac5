"""What is in view in a session: read from the index, judged, and known until something changes."""

import dataclasses
from collections.abc import Sequence

import msgspec
import pytest

from governance.contracts import Stage
from governance.lives import Life
from host.maintained import NOTHING, Maintained
from host.maintainer import MINUTE, Maintainer
from host.runtime import SessionRuntime
from recall.contracts import Candidate, MemoryKind, Millis, Risk, Scope
from recall.errors import IndexFault
from recall.snapshot import Snapshot
from tests.support.builders import a_start
from tests.support.pins import changed, set_pin
from tests.support.world import World

BRITISH = "Answer in British English."


async def a_session(world: World, host: str = "socket") -> tuple[Maintainer, SessionRuntime]:
    runtime = await world.feed(a_start(workspace=world.workspace()), host=host)
    return world.parts.host.stage._maintainer, runtime


async def titles(world: World, host: str = "socket") -> list[str]:
    maintainer, runtime = await a_session(world, host)
    return said(await maintainer.of(runtime, world.clock.now()))


def said(now: Maintained | None) -> list[str]:
    assert now is not None
    return [line.title for line in now.lines]


async def test_pinned_records_of_what_the_session_sees_in_the_users_order(world: World) -> None:
    await world.remember("the third", pinned=True, priority=5)
    await world.remember("the second", pinned=True, priority=70, scope=Scope.USER)
    await world.remember("the first", pinned=True, priority=-1)
    await world.remember("not pinned")
    await world.remember("of another place", pinned=True, workspace=world.workspace("other"))

    assert await titles(world) == ["the first", "the second", "the third"]


async def test_an_answer_is_kept_until_something_changes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    memory_id = await world.remember(BRITISH, pinned=True)
    maintainer, runtime = await a_session(world)
    looks: list[int] = []
    pinned = Snapshot.pinned

    async def counted(self: Snapshot, *args: object) -> Sequence[Candidate]:
        looks.append(1)
        return await pinned(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Snapshot, "pinned", counted)
    now = world.clock.now() // MINUTE * MINUTE + MINUTE
    for later in (0, 1, MINUTE - 1):
        assert said(await maintainer.of(runtime, now + later)) == [BRITISH]
    assert len(looks) == 1
    await maintainer.of(runtime, now + MINUTE)
    assert len(looks) == 2
    await set_pin(world, memory_id, pinned=False)
    assert await maintainer.of(runtime, now + MINUTE) == NOTHING
    assert len(looks) == 3


async def test_what_expires_is_out_of_view_at_once_and_what_begins_within_a_minute(world: World) -> None:
    now = world.clock.now() // MINUTE * MINUTE + MINUTE
    await world.remember("until then", pinned=True, expires_at=now + 1_500)
    await world.remember("from then on", pinned=True, valid_from=now + 1_500)
    maintainer, runtime = await a_session(world)

    async def at(time: Millis) -> list[str]:
        return said(await maintainer.of(runtime, time))

    assert (await at(now), await at(now + 1_499), await at(now + 1_500)) == (["until then"], ["until then"], [])
    assert await at(now + MINUTE) == ["from then on"]


async def test_a_procedure_is_in_view_while_it_is_active_and_allowed(world: World) -> None:
    fields = {"kind": MemoryKind.PROCEDURAL, "risk_level": Risk.HIGH, "title": "Wipe the cache"}
    memory_id = await world.remember("Run make wipe.", **fields)
    await world.parts.lives.move(memory_id, Life(stage=Stage.ACTIVE, since=1, reason="kept"))
    assert await titles(world) == []

    digest = (await world.parts.library.digests([memory_id]))[memory_id]
    await world.parts.marks.approve(memory_id, digest, world.clock.now())
    assert await titles(world) == ["Wipe the cache"]

    await world.parts.lives.move(memory_id, Life(stage=Stage.DEPRECATED, since=2, reason="unused"))
    assert await titles(world) == []


@pytest.mark.parametrize("mark", ["correct", "quarantine", "mute"])
async def test_what_a_person_took_out_of_recall_is_out_of_view(world: World, mark: str) -> None:
    memory_id = await world.remember(BRITISH, pinned=True)
    assert await titles(world) == [BRITISH]

    await getattr(world.parts.marks, mark)(memory_id, world.clock.now())

    assert await titles(world) == []


async def test_a_muted_kind_is_out_of_view(world: World) -> None:
    await world.remember(BRITISH, pinned=True)
    maintainer, runtime = await a_session(world)
    now, mutes = world.clock.now(), world.parts.marks.workspaces
    await mutes.mute(runtime.scope.workspace, MemoryKind.SEMANTIC, now, now + 1)

    assert said(await maintainer.of(runtime, now)) == []
    world.clock.set(now + 1)
    assert said(await maintainer.of(runtime, now + 1)) == [BRITISH]


async def test_an_index_that_cannot_be_read_leaves_it_unknown(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.remember(BRITISH, pinned=True)
    maintainer, runtime = await a_session(world)

    async def broken(*_: object) -> Sequence[object]:
        raise IndexFault("The index cannot be read.")

    with monkeypatch.context() as patched:
        patched.setattr(Snapshot, "pinned", broken)
        assert await maintainer.of(runtime, world.clock.now() + MINUTE) is None
    assert said(await maintainer.of(runtime, world.clock.now() + MINUTE)) == [BRITISH]


async def test_while_files_are_read_for_the_first_time_it_is_unknown(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.remember(BRITISH, pinned=True)
    maintainer, runtime = await a_session(world)
    with monkeypatch.context() as patched:
        patched.setattr(Snapshot, "partial", lambda *_: True)
        assert await maintainer.of(runtime, world.clock.now() + MINUTE) is None
    assert said(await maintainer.of(runtime, world.clock.now() + MINUTE)) == [BRITISH]


async def test_an_index_that_moves_on_meanwhile_leaves_it_unknown(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_id = await world.remember(BRITISH, pinned=True)
    maintainer, runtime = await a_session(world)
    pinned = Snapshot.pinned

    async def overtaken(self: Snapshot, *args: object) -> Sequence[Candidate]:
        found = await pinned(self, *args)  # type: ignore[arg-type]
        await changed(world, memory_id, text="Answer in English.")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(Snapshot, "pinned", overtaken)
        assert await maintainer.of(runtime, world.clock.now() + MINUTE) is None
    assert said(await maintainer.of(runtime, world.clock.now() + MINUTE)) == ["Answer in English."]


async def test_what_the_product_loads_by_itself_is_in_view_already(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.remember(BRITISH, pinned=True)
    maintainer, runtime = await a_session(world, "claude-code")
    pinned = Snapshot.pinned

    async def loaded(self: Snapshot, *args: object) -> Sequence[Candidate]:
        found = await pinned(self, *args)  # type: ignore[arg-type]
        return [msgspec.structs.replace(one, loaded_by=("claude-code",)) for one in found]

    monkeypatch.setattr(Snapshot, "pinned", loaded)
    later = world.clock.now() + MINUTE  # what was read before is not asked for
    assert said(await maintainer.of(runtime, later)) == []
    runtime.host = "codex"
    assert said(await maintainer.of(runtime, later)) == [BRITISH]


class Counted:
    """How many ranges wait, as the daemon counts them."""

    def __init__(self) -> None:
        self.waiting = 0

    def __call__(self, workspace_key: str, session_id: str) -> int:
        assert workspace_key and session_id
        return self.waiting


@pytest.fixture
def counted(world: World) -> Counted:
    made = Counted()
    maintainer = world.parts.host.stage._maintainer
    maintainer._props = dataclasses.replace(maintainer._props, waits=made)
    return made


async def test_checkpoints_that_wait_when_a_session_begins_are_in_view(world: World, counted: Counted) -> None:
    counted.waiting = 2
    (line,) = await titles(world)
    assert line.startswith("2 checkpoints wait")
    await world.remember(BRITISH, pinned=True)
    assert [one[:13] for one in await titles(world)] == ["2 checkpoints", BRITISH[:13]]


async def test_that_some_wait_later_is_no_news_to_a_session(world: World, counted: Counted) -> None:
    assert await titles(world) == []
    counted.waiting = 2
    assert await titles(world) == []


async def test_that_more_wait_is_no_news_to_a_session_and_that_none_does_is(world: World, counted: Counted) -> None:
    counted.waiting = 1
    (first,) = await titles(world)
    counted.waiting = 3
    assert await titles(world) == [first]
    counted.waiting = 0
    assert await titles(world) == []


async def test_a_conversation_that_goes_on_is_told_of_none(world: World, counted: Counted) -> None:
    counted.waiting = 2
    await world.feed(a_start("resume"))
    assert await titles(world) == []
