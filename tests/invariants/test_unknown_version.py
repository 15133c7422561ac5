"""A host whose version the table does not have is watched only, through the whole host: nothing of it is handed over,
the audit says what would have been and why, a restart knows it, and its user can allow it."""

from pathlib import Path

import pytest

from governance.contracts import AuditKind
from governance.explain import explain
from host.contracts import Claimed, Reason, Rollout, Silence
from recall.contracts import EventEnvelope, EventType
from recall.workspace import workspace_key
from tests.support.builders import a_call, a_result, an_event
from tests.support.world import FAILURE, LESSON, World, a_world

pytestmark = pytest.mark.promise("unknown-version")
KNOWN, UNKNOWN = "0.171.0", "0.190.2"


def told(version: str, workspace: str) -> EventEnvelope:
    payload = {"version": version, "model": "gpt-5.5"}
    return an_event(EventType.SESSION_CLIENT, payload, workspace=workspace, event_id=f"client:{version}")


def a_need(workspace: str, call: str = "c1") -> tuple[EventEnvelope, ...]:
    return (
        a_call("make integration-test", call_id=call, workspace=workspace),
        a_result(FAILURE, call_id=call, workspace=workspace),
    )


async def needing(world: World, *versions: str) -> None:
    """A session of Codex that tells these versions and then meets a failure that the lesson is about."""
    folder = world.workspace()
    await world.remember(LESSON)
    await world.feed(*(told(version, folder) for version in versions), *a_need(folder), host="codex")


async def test_nothing_is_handed_over_and_the_audit_says_what_would_have_been(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        await needing(world, UNKNOWN)

        assert await world.claim() == Silence(reason=Reason.NONE_PENDING)
        (entry,) = await world.audit(outcome="would")

    assert (entry.reason, entry.versions["host"], entry.packet is None) == ("unknown-version", "codex/0.190.2", False)
    assert any("this version of the agent product is not known" in line for line in explain([entry]))


async def test_a_version_of_the_table_gets_it_and_is_not_named(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        await needing(world, KNOWN)

        assert isinstance(await world.claim(), Claimed)
        assert not [entry for entry in await world.audit(kind=AuditKind.PASS) if "host" in entry.versions]


async def test_a_user_can_allow_it(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", allowed=("codex 0.190",)) as world:
        await needing(world, UNKNOWN)

        assert isinstance(await world.claim(), Claimed)


async def test_the_version_is_known_after_a_restart(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        await needing(world, UNKNOWN)
        before = await world.audit(outcome="would")
    async with a_world(tmp_path / "data") as world:
        await world.feed(*a_need(world.workspace(), "c2"), host="codex")
        runtime = await world.parts.sessions.find("session-1", "main")

        assert (runtime.version, runtime.model) == (UNKNOWN, "gpt-5.5")
        assert await world.claim() == Silence(reason=Reason.NONE_PENDING)
        after = await world.audit(outcome="would")
        assert len(after) > len(before) and {entry.reason for entry in after} == {"unknown-version"}


async def test_what_waits_when_the_version_is_told_is_not_handed_over(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        await needing(world)  # no version yet: the ordinary row
        await world.feed(told(UNKNOWN, world.workspace()), host="codex")

        assert await world.claim() == Silence(reason=Reason.UNKNOWN_VERSION)
        assert [entry.reason for entry in await world.audit(kind=AuditKind.DROP)] == ["unknown-version"]


async def test_an_update_in_the_middle_of_a_session_counts_from_there(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        await needing(world, UNKNOWN, KNOWN)

        assert isinstance(await world.claim(), Claimed)


@pytest.mark.parametrize(
    ("level", "outcomes"),
    [(Rollout.SHADOW, [("would", "shadow")]), (Rollout.ACTIVE, [("would", "unknown-version")]), (Rollout.OFF, [])],
)
async def test_the_lower_of_the_workspace_and_the_host_holds(
    tmp_path: Path, level: Rollout, outcomes: list[tuple[str, str]]
) -> None:
    async with a_world(tmp_path / "data") as world:
        await world.parts.rollouts.set(workspace_key(world.workspace()), level)
        await needing(world, UNKNOWN)

        passes = [entry for entry in await world.audit(kind=AuditKind.PASS) if entry.packet is not None]
        assert [(entry.outcome, entry.reason) for entry in passes] == outcomes
        assert isinstance(await world.claim(), Silence)
