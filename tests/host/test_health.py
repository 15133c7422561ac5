"""`health`: every part, the memory files, the index and the engine, and what makes the daemon less than ready."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from host.health import PROBLEMS_TOLD
from host.service import Service
from recall.contracts import EventEnvelope, EventType
from recall.frames import EngineState, EngineStatus
from recall.workspace import workspace_key
from tests.support.asking import Asking
from tests.support.builders import a_prompt, an_event
from tests.support.checkouts import a_checkout
from tests.support.engines import StillEngine
from tests.support.methods import FakeShell
from tests.support.team_entries import an_entry, write_entry
from tests.support.team_trust import adopted, trusts
from tests.support.world import LESSON, a_world


class ShellWithParts(FakeShell):
    def __init__(self, **states: str) -> None:
        super().__init__()
        self._states = states

    def parts(self) -> dict[str, str]:
        return self._states


@pytest.mark.parametrize(("http", "ready"), [("ok", True), ("off: the port is taken", True), ("broken", False)])
async def test_health_is_that_of_every_part_and_what_is_off_is_no_illness(
    tmp_path: Path, http: str, ready: bool
) -> None:
    async with a_world(tmp_path / "data") as world:
        remora = Asking(world)
        remora.service = Service(world.parts, ShellWithParts(socket="ok", http=http))

        health = await remora.ask("health")

    assert health["ready"] is ready
    assert health["parts"] == {"socket": "ok", "http": http, "index": "ok", "log": "ok", "audit": "ok"}


async def test_health_says_whose_data_the_daemon_keeps(remora: Asking) -> None:
    health = await remora.ask("health")

    assert (health["data"], health["pid"]) == (str(remora.world.folder), os.getpid())


async def test_health_names_the_places_in_memory_files_that_are_not_used(remora: Asking) -> None:
    await remora.world.remember(LESSON)
    user = Path(remora.world.parts.roots.user().path)
    user.mkdir(parents=True)
    (user / "bad.md").write_text("<!-- memory:mem_12 -->\nText.\n" * 30, "utf-8")
    await remora.ask("memory.list", workspace=remora.world.workspace())

    health = await remora.ask("health")

    memory = health["memory"]
    assert health["ready"] is True  # a person's slip of the pen is no illness of the daemon
    assert (memory["files"], memory["records"], memory["missing"]) == (2, 1, [])
    assert (memory["problemCount"], len(memory["problems"])) == (30, PROBLEMS_TOLD)
    first = memory["problems"][0]
    assert (first["file"], first["line"], first["state"]) == (str(user / "bad.md"), 1, "malformed-anchor")
    assert first["problem"]


async def test_old_entries_that_cannot_be_let_go_are_said_and_keep_nobody_waiting(remora: Asking) -> None:
    remora.world.parts.retention.problem = "entry 2: the entry was changed"

    health = await remora.ask("health")

    assert health["parts"]["retention"] == "entry 2: the entry was changed"
    assert health["ready"] is True


async def test_health_names_the_memory_folders_that_are_missing(remora: Asking) -> None:
    await remora.world.remember(LESSON)
    private = Path(remora.world.parts.roots.private(workspace_key(remora.world.workspace())).path)
    private.rename(private.with_name("elsewhere"))
    await remora.world.parts.library.refresh(str(private))

    memory = (await remora.ask("health"))["memory"]

    assert (memory["records"], memory["missing"]) == (1, [str(private)])


@pytest.mark.promise("team-26")
async def test_health_names_the_repositories_whose_memory_nobody_was_asked_about(remora: Asking) -> None:
    top = a_checkout(remora.world.folder / "shop")
    write_entry(top, an_entry())
    await adopted(remora.world, top)

    assert (await remora.ask("health"))["memory"]["unasked"] == [{"repository": str(top), "records": 1}]
    await trusts(remora.world, top, trusted=False)
    assert (await remora.ask("health"))["memory"]["unasked"] == []


async def test_a_task_that_failed_shows_in_health(remora: Asking) -> None:
    async def breaks() -> None:
        raise RuntimeError

    tasks = remora.world.parts.tasks
    await asyncio.wait([tasks.spawn(breaks(), name="follow")])

    health = await remora.ask("health")

    assert (health["ready"], health["parts"]["tasks"]) == (False, "follow failed 1 times")
    tasks.failed.clear()


async def test_a_damaged_index_shows_in_health(remora: Asking) -> None:
    await remora.world.parts.library._database.write(lambda connection: connection.execute("DROP TABLE record"))

    health = await remora.ask("health")

    assert (health["ready"], health["parts"]["index"]) == (False, "damaged")


async def test_health_says_how_the_index_gets_on(remora: Asking) -> None:
    assert (await remora.ask("health"))["index"] == {"stage": "idle", "done": 0, "total": 0}


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (EngineStatus(state=EngineState.OFF), "ok"),
        (EngineStatus(state=EngineState.READY, records=3, embedded=3), "ok"),
        (EngineStatus(state=EngineState.EMBEDDING, records=3, embedded=1), "embedding"),
        (
            EngineStatus(state=EngineState.STALE, problem="Dimension 512, not 256: reindex."),
            "stale: Dimension 512, not 256: reindex.",
        ),
        (EngineStatus(state=EngineState.BROKEN, problem="It ended."), "broken: It ended."),
    ],
)
async def test_the_engine_is_told_of_and_makes_nobody_wait(remora: Asking, status: EngineStatus, said: str) -> None:
    remora.service = Service(replace(remora.world.parts, engine=StillEngine(status)), remora.shell)

    health = await remora.ask("health")

    assert (health["ready"], health["parts"]["engine"]) == (True, said)
    assert health["index"]["engine"]["state"] == status.state


async def test_an_index_that_cannot_be_written_says_why(remora: Asking) -> None:
    remora.world.parts.library._catalogue.health.problem = "The database is locked."

    health = await remora.ask("health")

    assert (health["ready"], health["parts"]["index"]) == (False, "degraded: The database is locked.")


async def test_health_names_who_speaks_and_whose_version_is_only_watched(tmp_path: Path) -> None:
    def told(version: str, session: str) -> EventEnvelope:
        return an_event(EventType.SESSION_CLIENT, {"version": version, "model": "m"}, session_id=session)

    async with a_world(tmp_path / "data", allowed=("codex 0.190",)) as world:
        for number, version in enumerate(["0.171.0", "0.171.0", "0.190.3", "7.1.0 (beta)"]):
            await world.feed(told(version, f"session-{number}"), host="codex")
        await world.feed(a_prompt(session_id="other"), host="claude-code")

        hosts = (await Asking(world).ask("health"))["hosts"]

    watched = "7.1.0 is not in the table, which has 0.171 to before 0.180"
    assert [(one["host"], one["version"], one["sessions"], one["watched"]) for one in hosts] == [
        ("claude-code", "", 1, ""),
        ("codex", "0.171.0", 2, ""),
        ("codex", "0.190.3", 1, ""),
        ("codex", "7.1.0", 1, watched),
    ]


async def test_health_names_who_is_watched_after_the_session_is_over(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        told = an_event(EventType.SESSION_CLIENT, {"version": "7.1.0"})
        await world.feed(told, a_prompt("Where are the flags?"), an_event(EventType.SESSION_END, {}), host="codex")

        (one,) = (await Asking(world).ask("health"))["hosts"]

    assert (one["host"], one["version"], one["sessions"], bool(one["watched"])) == ("codex", "7.1.0", 0, True)
