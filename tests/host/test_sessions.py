"""A restart folds the past in again: later decisions are the ones that an uninterrupted run would have made."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from governance.contracts import AuditKind
from host.contracts import Claimed
from host.errors import ProtocolFault
from host.runtime import SESSION_SET, RuntimePolicy
from host.sessions import History, Sessions, Stores
from recall.contracts import EventEnvelope, EventType
from recall.workspace import workspace_key
from tests.support.builders import SESSION, a_call, a_prompt, a_reply, a_result, a_start, an_event
from tests.support.clock import START
from tests.support.world import FAILURE, LESSON, World, a_world


def script(folder: str) -> list[EventEnvelope]:
    return [
        a_start(workspace=folder),
        a_prompt("Run the integration tests and tell me what breaks.", workspace=folder),
        a_reply("I will run make integration-test.", workspace=folder),
        a_call("make integration-test", call_id="c1", workspace=folder),
        a_result(FAILURE, call_id="c1", workspace=folder),
        a_reply("The pg-fixture container is not there; I will look at docker compose.", workspace=folder),
        a_call("docker compose ps", call_id="c2", workspace=folder),
        a_result("no such service", ok=False, call_id="c2", workspace=folder),
        a_prompt("不对，应该用 pnpm", workspace=folder),
        a_call("make integration-test", call_id="c3", workspace=folder),
        a_result(FAILURE, call_id="c3", workspace=folder),
    ]


async def play(world: World, envelopes: list[EventEnvelope]) -> None:
    for envelope in envelopes:
        world.clock.set(world.clock.now() + 1000)
        await world.feed(envelope)
        claim = await world.claim()
        if isinstance(claim, Claimed):
            await world.deliver(claim)


async def digests(world: World) -> list[tuple[str, str, str]]:
    return [(entry.trigger, entry.reason, entry.decision_digest) for entry in await world.audit(kind=AuditKind.PASS)]


async def prepared(world: World) -> str:
    await world.remember(LESSON)
    await world.remember("In this repository we use pnpm and never npm; package-lock.json must not come back.")
    return world.workspace()


@pytest.mark.promise("deterministic")
@pytest.mark.parametrize("cut", [1, 3, 5, 6, 8, 10])
async def test_a_restart_in_mid_session_changes_no_later_decision(tmp_path: Path, cut: int) -> None:
    folder = tmp_path / "shared"
    async with a_world(folder) as world:
        envelopes = script(await prepared(world))
        await play(world, envelopes)
        whole = await digests(world)
    for file in folder.glob("log.db*"):
        file.unlink()

    async with a_world(folder) as world:
        await world.parts.roots.adopt("", "")
        await play(world, envelopes[:cut])
        stopped_at = world.clock.now()
    async with a_world(folder, start=stopped_at) as world:
        await play(world, envelopes[cut:])
        restarted = await digests(world)

    assert restarted == whole


async def test_events_acknowledged_but_not_decided_get_their_pass_after_the_restart(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with a_world(folder) as world:
        envelopes = script(await prepared(world))
        await world.feed(*envelopes[:3])
        appended = await world.parts.eventlog.append(envelopes[3:5], world.clock.now())
        assert appended.accepted == 2
    async with a_world(folder) as world:
        runtime = await world.parts.sessions.find(SESSION, "main")
        world.parts.workers.wake(runtime)
        await world.settled(runtime)

        assert isinstance(await world.claim(), Claimed)


async def test_two_who_ask_at_once_get_one_runtime(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with a_world(folder) as world:
        await world.feed(*script(world.workspace())[:3])
    async with a_world(folder, start=START) as world:
        first, second = await asyncio.gather(
            world.parts.sessions.find(SESSION, "main"), world.parts.sessions.find(SESSION, "main")
        )

        assert first is second
        assert first.context_version == 2


async def test_a_session_that_the_log_does_not_know_is_refused(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        await world.feed(a_prompt())
        for session, agent in (("unheard-of", "main"), (SESSION, "unheard-of")):
            with pytest.raises(ProtocolFault) as caught:
                await world.parts.sessions.find(session, agent)
            assert caught.value.kind == "unknown-session"

        assert [runtime.scope.agent_id for runtime in world.parts.sessions.agents(SESSION)] == ["main"]


@pytest.mark.parametrize("chunk", [1, 2, 3, 256])
async def test_a_past_is_folded_in_whole_however_it_is_read(
    tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.sessions.CHUNK", chunk)
    folder = tmp_path / "data"
    async with a_world(folder) as world:
        envelopes = script(await prepared(world))
        await play(world, envelopes[:7])
        before = world.parts.sessions.known(SESSION, "main")
        assert before is not None
        await world.parts.eventlog.append(envelopes[7:], world.clock.now())
    async with a_world(folder) as world:
        runtime = await world.parts.sessions.find(SESSION, "main")
        await world.settled(runtime)

        assert (runtime.event_seq, runtime.context_version) == (len(envelopes), len(envelopes) - 1)
        assert runtime.behind is False
        assert [entry.cursor.event_seq for entry in await world.audit(kind=AuditKind.PASS) if entry.cursor] == list(
            range(1, len(envelopes) + 1)
        )


async def test_the_workspace_follows_the_agent_and_is_named_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.sessions.QUEUE_MAX", 1)  # of as many folders the keys are kept
    async with a_world(tmp_path / "data") as world:
        one, two = world.workspace("one"), world.workspace("two")
        keys = []
        for folder in (one, two, "", two, one):
            runtime = await world.feed(a_prompt(f"now in {folder}", workspace=folder))
            keys.append(runtime.scope.workspace)
        resumed = await world.feed(a_start("resume", workspace=""))  # an event that names no folder stays where it is

        assert keys == [workspace_key(one), *[workspace_key(two)] * 3, workspace_key(one)]
        assert resumed.scope.workspace == workspace_key(one)


async def test_a_folder_that_became_a_repository_is_named_anew_when_a_session_starts(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        top = Path(world.workspace("top"))
        (top / "sub").mkdir()
        before = (await world.feed(a_prompt(workspace=str(top / "sub")))).scope.workspace
        for part in ("objects", "refs"):
            (top / ".git" / part).mkdir(parents=True)
        (top / ".git" / "HEAD").write_text("ref: refs/heads/main\n")

        after = (await world.feed(a_start("resume", workspace=str(top / "sub")))).scope.workspace

        assert before != after
        assert after == workspace_key(str(top))


async def test_a_past_that_cannot_be_read_is_everybodys_error_and_the_next_try_starts_over() -> None:
    asked: list[str] = []
    go = asyncio.Event()

    async def replay(session: str, agent: str, after: int, limit: int) -> list[EventEnvelope]:
        return [a_prompt()][:limit]

    async def history(session: str, agent: str) -> History:
        asked.append(session)
        await go.wait()
        if len(asked) == 1:
            raise OSError("the disk")
        return History(root_agent="main", entries=(), packets={}, evidence={})

    async def adopt(path: str, key: str) -> None:
        return None

    sessions = Sessions(Stores(replay, history, adopt, lambda runtime: None), RuntimePolicy(), "user")
    both = [asyncio.create_task(sessions.find(SESSION, "main")) for _ in range(2)]
    await asyncio.sleep(0)
    go.set()

    assert [type(error) for error in await asyncio.gather(*both, return_exceptions=True)] == [OSError, OSError]
    assert (await sessions.find(SESSION, "main")).scope.session_id == SESSION
    assert asked == [SESSION, SESSION]


async def test_only_a_session_with_nothing_to_hear_is_let_go(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        sessions = world.parts.sessions
        runtime = await world.feed(a_prompt())
        idle = [sessions.idle_since(START), sessions.idle_since(START + 1)]
        async with runtime.lock:  # a claim is at it
            idle.append(sessions.idle_since(START + 1))
        runtime.behind = True
        sessions.let_go(runtime)
        kept = sessions.all()
        runtime.behind = False
        sessions.let_go(runtime)

        assert idle == [[], [runtime], []]
        assert (kept, sessions.all()) == ([runtime], [])


# ------------------------------------------------------------------------------- what lies behind the last pass


SILENT = [
    a_start("resume"),
    an_event(EventType.TURN_END, {}),
    an_event("step/end", {}),
    an_event("somebody/else", {}),
    an_event(SESSION_SET, {"muted": False}),
]


@pytest.mark.promise("deterministic", "kill-nine")
@pytest.mark.parametrize("silent", SILENT, ids=[event.event_type for event in SILENT])
@pytest.mark.parametrize("settled", [False, True])
async def test_what_was_taken_after_an_event_without_a_pass_is_not_shown_again(
    tmp_path: Path, silent: EventEnvelope, settled: bool
) -> None:
    folder = tmp_path / "data"
    async with a_world(folder) as world:
        envelopes = script(await prepared(world))
        where = {"workspace": world.workspace()}
        await world.feed(*envelopes[:5], msgspec.structs.replace(silent, **where))
        claim = await world.claim()
        assert isinstance(claim, Claimed)
        if settled:
            await world.deliver(claim)
    async with a_world(folder) as world:
        runtime = await world.parts.sessions.find(SESSION, "main")
        await world.settled(runtime)
        held = {item.memory_id for item in claim.packet.items}
        assert runtime.visible().records == held
        assert runtime.boundary == claim.packet.packet_id
        await world.feed(
            a_call("make integration-test", call_id="c9", **where), a_result(FAILURE, call_id="c9", **where)
        )
        again = await world.claim()

        assert not isinstance(again, Claimed) or held.isdisjoint(item.memory_id for item in again.packet.items)


@pytest.mark.promise("acknowledged-is-kept")
async def test_a_new_window_whose_start_was_only_half_written_down_is_seeded_after_the_restart(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with a_world(folder) as world:
        await world.remember("Answer in British English.", pinned=True)
        envelopes = script(await prepared(world))
        await world.feed(*envelopes[:5])
        stop = "CREATE TRIGGER killed BEFORE INSERT ON audit WHEN NEW.kind = 'pass' BEGIN SELECT RAISE(FAIL, ''); END"
        database = world.parts.inbox._database
        await database.write(lambda connection: connection.execute(stop))
        await world.parts.host.on_event([a_start("clear", workspace=world.workspace())])
        await world.parts.tasks.settled()
        assert (await world.audit())[-1].reason == "context-reset"
        world.parts.tasks.failed.clear()
        await database.write(lambda connection: connection.execute("DROP TRIGGER killed"))
    async with a_world(folder) as world:
        await world.settled(await world.parts.sessions.find(SESSION, "main"))
        claim = await world.claim()

        assert (await world.audit(kind=AuditKind.PASS))[-1].trigger == "seed"
        assert isinstance(claim, Claimed) and "British" in claim.packet.rendered


async def test_a_session_that_is_being_restored_is_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with a_world(folder) as world:
        await world.feed(*script(world.workspace())[:3])
    async with a_world(folder) as world:
        sessions = world.parts.sessions
        absent = await sessions.present(SESSION, "main")
        opening = asyncio.create_task(sessions.open(SESSION, "main"))
        await asyncio.sleep(0)
        waited = await sessions.present(SESSION, "main")

        assert absent is None
        assert waited is await opening is await sessions.present(SESSION, "main")
