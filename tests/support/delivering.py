"""What the delivery scenarios share: a remora with one packet that waits, and what may happen to it."""

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from host.broker import BrokerPolicy
from host.clock import SetClock
from host.contracts import Claim, Claimed, InboxState, MemoryPacket, Reason, Silence
from host.namespace import env
from host.policy import Policy
from recall.contracts import Status
from tests.support.asking import Asking
from tests.support.builders import AGENT, SESSION, a_call, a_result
from tests.support.clock import START
from tests.support.world import FAILURE, LESSON, World, a_world

HOOK = Path(__file__).resolve().parents[2] / "host" / "hook.py"
CALLED = '{"hook_event_name":"PostToolUse","session_id":"s1","tool_name":"Bash"}'


class AnyClock(SetClock):
    """A clock that somebody may put back, as a machine's may be."""

    def set(self, now: int) -> None:
        self._now = now


def policy_of(said: dict[str, Any]) -> Policy:
    """Packets that last as long as the scenario's."""
    return Policy(broker=BrokerPolicy(ttl=(said["expires"] - said["created"]) * 1000))


@asynccontextmanager
async def waiting(folder: Path, policy: Policy | None = None) -> AsyncIterator[tuple[World, MemoryPacket]]:
    """A remora with a packet that waits, made at START; the lesson of the world stands in it."""
    async with a_world(folder, policy, clock=AnyClock(START)) as world:
        await world.remember(LESSON)
        yield world, await needed(world)


async def needed(world: World, call: str = "c1") -> MemoryPacket:
    folder = world.workspace()
    await world.feed(
        a_call("make integration-test", call_id=call, workspace=folder),
        a_result(FAILURE, call_id=call, workspace=folder),
    )
    slot, _ = await world.parts.inbox.slot(SESSION, AGENT)
    assert slot is not None
    return slot.packet


async def state_of(world: World, packet: MemoryPacket) -> InboxState:
    slot = await world.parts.inbox.find(packet.packet_id)
    assert slot is not None
    return slot.state


async def reason_of(world: World, **fields: Any) -> Reason:
    claim = await world.claim(**fields)
    assert isinstance(claim, Silence), claim
    return claim.reason


def at(seconds: int) -> int:
    return START + seconds * 1000


def same(claim: Claim, packet: MemoryPacket) -> bool:
    return isinstance(claim, Claimed) and claim.packet.packet_id == packet.packet_id


async def rewrite(world: World, packet: MemoryPacket) -> None:
    """Somebody writes into our database."""
    row = (msgspec.json.encode(packet), packet.packet_id)
    await world.parts.main.write(
        lambda connection: connection.execute("UPDATE packet SET body = ? WHERE packet_id = ?", row)
    )


async def forgotten(world: World, memory_id: str) -> None:
    await Asking(world).ask("memory.forget", memoryId=memory_id, workspace=world.workspace())


async def corrected(world: World, memory_id: str) -> None:
    await Asking(world).ask("memory.feedback", memoryId=memory_id, workspace=world.workspace(), opinion="wrong")


async def revoked(world: World, memory_id: str) -> None:
    """By an edit of its file: nobody tells the daemon."""
    (file,) = (path for path in world.folder.rglob("*.md") if memory_id in path.read_text("utf-8"))
    text = file.read_text("utf-8")
    assert "status" not in text
    file.write_text(text.replace(memory_id, f'{memory_id} status="{Status.REVOKED}"', 1), "utf-8")


def called(run_dir: Path) -> "subprocess.CompletedProcess[bytes]":
    """The client as an agent starts it, with a tool's result."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK), "claude-code"],
        input=CALLED.encode(),
        env={env("socket"): str(run_dir / "d.sock")},
        capture_output=True,
        timeout=20,
        check=False,
    )
