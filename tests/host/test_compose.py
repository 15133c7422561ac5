"""The composition root: everything opens over a folder, closes again, and finds what it left."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog

from governance.contracts import AuditFilter
from governance.rules import CANDIDATE_RULES, PACKET_RULES
from host.clock import SetClock
from host.compose import UNHURRIED_SECONDS, Setup, build, open_parts, random_id
from host.config import Config, EvaluationSettings, Paths, RecallSettings, install_key, locate, make_folders
from host.connection import Methods
from host.errors import StoreFault
from host.namespace import env
from host.parts import Parts
from host.replay import counted_ids
from host.service import Service
from host.tasks import Tasks
from recall.contracts import EventType
from recall.sources import SOURCES
from tests.support.asking import Asking, Line, on_wire
from tests.support.builders import AGENT, SESSION, a_call, a_prompt, a_result, an_event
from tests.support.methods import FakeShell
from tests.support.world import FAILURE, LESSON

OWNER = {"sessionId": SESSION, "agentId": AGENT}


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    found = locate({env("data"): str(tmp_path / "data"), env("socket"): str(tmp_path / "s" / "d.sock")})
    make_folders(found)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "project").mkdir()
    return str(tmp_path / "project")


PLAIN = Config(recall=RecallSettings(engine=False))


class Built(Asking):
    """The daemon's service as `build` makes it, asked like any other."""

    def __init__(self, methods: Methods, shell: FakeShell) -> None:
        assert isinstance(methods, Service)
        self.service = methods
        self.shell = shell
        self.line = Line()

    @property
    def parts(self) -> Parts:
        return self.service._parts


@asynccontextmanager
async def built(paths: Paths) -> AsyncIterator[Built]:
    shell = FakeShell()
    async with build(PLAIN, paths, shell) as methods:
        yield Built(methods, shell)
    assert not shell.tasks.failed, shell.tasks.failed


async def test_the_share_that_the_user_set_is_held_out(paths: Paths) -> None:
    config = msgspec.structs.replace(PLAIN, evaluation=EvaluationSettings(holdout=0.25))
    async with build(config, paths, FakeShell()) as methods:
        answer = await Built(methods, FakeShell()).ask("audit.stats")

    assert answer["measured"]["share"] == 0.25


async def a_need(remora: Built, folder: str) -> None:
    call, result = a_call("make integration-test", workspace=folder), a_result(FAILURE, workspace=folder)
    await remora.append(call, result)


async def test_a_fresh_folder_becomes_a_whole_remora(paths: Paths, folder: str) -> None:
    async with built(paths) as remora:
        kept = await remora.ask("memory.remember", text=LESSON, workspace=folder)
        await a_need(remora, folder)
        claim = await remora.claim()

        assert [item["memoryId"] for item in claim["packet"]["items"]] == [kept["memoryId"]]
        health = await remora.ask("health")
        assert (health["ready"], health["parts"]) == (True, {"index": "ok", "log": "ok", "audit": "ok"})
        assert health["data"] == str(paths.data)
        assert Path(kept["file"]).is_relative_to(paths.data)
    assert paths.database.stat().st_mode & 0o077 == 0
    assert paths.key_file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("wanted", [True, False])
async def test_what_a_session_did_is_noted_when_it_ends_if_it_is_wanted(
    paths: Paths, folder: str, wanted: bool
) -> None:
    config = msgspec.structs.replace(PLAIN, recall=msgspec.structs.replace(PLAIN.recall, episodes=wanted))
    async with build(config, paths, FakeShell()) as methods:
        remora = Built(methods, FakeShell())
        await a_need(remora, folder)
        await remora.append(an_event(EventType.SESSION_END, {}, workspace=folder))

        async def noted() -> list[Any]:
            return (await remora.ask("memory.list", workspace=folder))["records"]

        async with asyncio.timeout(10):
            while wanted and not await noted():
                await asyncio.sleep(0)
        assert [record["tags"][0] for record in await noted()] == ["episode"] * wanted


async def test_every_source_and_every_rule_is_in_the_pass(paths: Paths) -> None:
    async with built(paths) as remora:
        host = remora.parts.host

        assert [arm.name for arm in host.arms] == [*(name for name, _ in SOURCES), "episodic", "semantic"]
        assert (host.rules.candidate, host.rules.packet) == (CANDIDATE_RULES, PACKET_RULES)


async def test_the_engine_is_an_arm_of_its_own_and_part_of_health(paths: Paths) -> None:
    """Its extra is installed wherever the tests run."""
    async with build(Config(), paths, FakeShell()) as methods:
        remora = Built(methods, FakeShell())

        assert [arm.name for arm in remora.parts.host.arms] == [
            *("lexical", "engine", "seed", "procedural", "episodic", "semantic"),
        ]
        assert "engine" in (await remora.ask("health"))["parts"]


async def test_leaving_ends_every_task_and_closes_the_stores(paths: Paths) -> None:
    shell = FakeShell()
    async with build(PLAIN, paths, shell) as methods:
        remora = Built(methods, shell)
        await remora.ask("audit.subscribe")
        await remora.append(a_prompt())

    async with asyncio.timeout(5):
        await shell.tasks.settled()
    with pytest.raises(StoreFault):
        await remora.ask("event.append", events=[on_wire(a_prompt())])


async def test_the_next_start_finds_what_the_last_one_left(paths: Paths, folder: str) -> None:
    async with built(paths) as remora:
        kept = await remora.ask("memory.remember", text=LESSON, workspace=folder)
        await a_need(remora, folder)
        claim = await remora.claim()
        before = (await remora.ask("audit.query"))["entries"]
    async with built(paths) as remora:
        settled = {"packetId": claim["packet"]["packetId"], "claimId": claim["claimId"]}

        assert (await remora.ask("audit.query"))["entries"] == before  # the same key: the same references
        assert await remora.ask("inbox.delivered", **OWNER, **settled) == {"settled": True, "reason": None}
        assert (await remora.ask("audit.verify"))["ok"] is True
        assert (await remora.ask("memory.get", memoryId=kept["memoryId"], workspace=folder))["record"]["text"] == LESSON


@pytest.mark.promise("acknowledged-is-kept")
async def test_what_was_acknowledged_but_not_decided_is_decided_after_the_start(paths: Paths, folder: str) -> None:
    async with built(paths) as remora:
        await remora.ask("memory.remember", text=LESSON, workspace=folder)
        events = [a_call("make integration-test", workspace=folder), a_result(FAILURE, workspace=folder)]
        now = remora.parts.clock.now()
        assert (await remora.parts.eventlog.append(events, now)).accepted == 2  # and no pass: the process ends here
    async with built(paths) as remora:
        assert (await remora.claim())["packet"] is not None


@pytest.mark.parametrize(
    "damage", [b"not a database at all, just some text\n" * 200, b"SQLite format 3\0" + b"\xff" * 4096]
)
async def test_a_damaged_index_is_made_anew_from_the_files(paths: Paths, folder: str, damage: bytes) -> None:
    async with built(paths) as remora:
        kept = await remora.ask("memory.remember", text=LESSON, workspace=folder)
    discard(paths.index)
    paths.index.write_bytes(damage)

    async with built(paths) as remora:
        hits = (await remora.ask("memory.search", query="pg-fixture", workspace=folder))["hits"]

        assert [hit["memoryId"] for hit in hits] == [kept["memoryId"]]
        assert (await remora.ask("health"))["parts"]["index"] == "ok"


async def test_an_index_with_broken_pages_is_made_anew_too(paths: Paths, folder: str) -> None:
    async with built(paths) as remora:
        kept = await remora.ask("memory.remember", text=LESSON, workspace=folder)
    discard(paths.index)
    pages = bytearray(paths.index.read_bytes())
    pages[3 * 4096 : 7 * 4096] = b"\xa5" * (4 * 4096)  # the header and the schema are whole
    paths.index.write_bytes(pages)

    async with built(paths) as remora:
        hits = (await remora.ask("memory.search", query="pg-fixture", workspace=folder))["hits"]

        assert [hit["memoryId"] for hit in hits] == [kept["memoryId"]]


def discard(database: Path) -> None:
    for file in database.parent.glob(f"{database.name}-*"):
        file.unlink()


async def test_a_damaged_main_database_is_left_as_it_is_and_the_start_refused(paths: Paths) -> None:
    """It holds what was acknowledged: nobody but its owner may throw it away."""
    install_key(paths)
    paths.database.write_bytes(b"not a database at all, just some text\n" * 200)
    before = paths.database.read_bytes()

    with pytest.raises(StoreFault) as refused:
        async with built(paths):
            pass

    assert paths.database.name in refused.value.problem
    assert paths.database.read_bytes() == before


async def test_a_database_of_a_newer_version_is_not_touched(paths: Paths) -> None:
    async with built(paths):
        pass
    with sqlite3.connect(paths.database) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()

    with pytest.raises(StoreFault, match="newer"):
        async with built(paths):
            pass


async def test_what_breaks_inside_the_block_still_closes_everything(paths: Paths) -> None:
    shell = FakeShell()
    with pytest.raises(KeyError):
        async with build(Config(), paths, shell):
            raise KeyError

    async with asyncio.timeout(5):
        await shell.tasks.settled()
    async with built(paths) as remora:
        assert await remora.parts.audit.query(AuditFilter()) == ()


def test_an_id_is_its_prefix_and_thirty_two_digits_never_the_same() -> None:
    made = {random_id("mem_") for _ in range(1000)}

    assert len(made) == 1000
    assert {(len(one), one[:4]) for one in made} == {(36, "mem_")}
    assert all(int(one[4:], 16) >= 0 for one in made)


@pytest.mark.parametrize(("patient", "most"), [(False, 5.0), (True, UNHURRIED_SECONDS)])
async def test_where_nobody_waits_no_arm_is_cut_short(tmp_path: Path, patient: bool, most: float) -> None:
    log = structlog.wrap_logger(structlog.testing.CapturingLogger(), processors=[])
    setup = Setup(
        data=tmp_path, database=tmp_path / "log.db", index=tmp_path / "index.db", key=bytes(32), patient=patient
    )

    async with open_parts(setup, SetClock(), counted_ids(), Tasks(log), log) as parts:
        assert {arm.budget_seconds for arm in parts.host.arms} == {most}
        assert (parts.host.policy.association.budget_seconds == most) is patient
