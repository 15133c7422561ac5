"""What an agent's product loads by itself is found by a search and never handed over; to the others it is a hint."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.contracts import AuditKind
from host.capability import Capabilities, Evidence, Row
from host.contracts import Claimed, Reason, Surface
from host.homes import Homes
from recall.contracts import ActivationLevel, EventEnvelope, RuntimeScope
from recall.providers import slug
from recall.rank import DropReason
from recall.workspace import workspace_key
from tests.support.builders import a_call, a_capability, a_prompt, a_result, a_start
from tests.support.checkouts import homes_at, write
from tests.support.library import found
from tests.support.world import FAILURE, LESSON, World, a_world

RULES = f"# Testing\n\n{LESSON}\n\n# Style\n\nFour spaces, no tabs.\n"
pytestmark = pytest.mark.promise("in-context")


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    return homes_at(tmp_path / "home")


@pytest.fixture
async def world(tmp_path: Path, homes: Homes) -> AsyncIterator[World]:
    """With hosts that could take a packet anywhere, one of them new."""
    hosts = ("claude-code", "codex", "gemini-cli", "opencode", "socket", "a-new-product")
    rows = [Row(capability=a_capability(host=host), evidence=Evidence.RUN, lands="anywhere") for host in hosts]
    async with a_world(tmp_path / "data", homes=homes) as opened:
        opened.parts.rollouts.capabilities = Capabilities(rows=rows)
        yield opened


def a_need(world: World, session: str = "session-1", call_id: str = "c1") -> tuple[EventEnvelope, EventEnvelope]:
    """A failure that LESSON helps with."""
    given = {"workspace": world.workspace(), "session_id": session, "call_id": call_id}
    return a_call("make integration-test", **given), a_result(FAILURE, **given)


async def handed(world: World, host: str, session: str = "session-1") -> list[tuple[ActivationLevel, str]]:
    """(level, text) of what a new session of that host is handed in its need."""
    session = f"{session}-{host}"
    await world.feed(*a_need(world, session), host=host)
    claim = await world.claim(session=session)
    return [(item.level, item.text) for item in claim.packet.items] if isinstance(claim, Claimed) else []


async def searched(world: World) -> list[str]:
    """What a person finds from the workspace."""
    folder = world.workspace()
    await world.parts.roots.adopt(folder, workspace_key(folder))
    scope = RuntimeScope(session_id="", agent_id="", workspace=workspace_key(folder), user="user")
    return await found(world.parts.library, "ECONNREFUSED port 5433 pg-fixture", scope)


@pytest.mark.parametrize("host", ["claude-code", "opencode", "socket", "a-new-product"])
async def test_a_section_that_the_product_loads_is_found_and_never_handed_over(world: World, host: str) -> None:
    write(Path(world.workspace()) / "CLAUDE.md", RULES)

    assert await handed(world, host) == []
    assert len(await searched(world)) == 1
    last = [entry for entry in await world.audit(kind=AuditKind.PASS) if entry.candidates][-1]
    assert last.reason == Reason.ALREADY_VISIBLE
    assert [trace.drop_reason for trace in last.candidates] == [DropReason.ALREADY_IN_CONTEXT]


async def test_a_product_that_does_not_load_it_gets_a_hint(world: World) -> None:
    write(Path(world.workspace()) / "CLAUDE.md", RULES)

    ((level, text),) = await handed(world, "codex")

    assert level is ActivationLevel.HINT
    assert len(text.encode()) <= 240 and "ECONNREFUSED" in text


@pytest.mark.parametrize(
    ("file", "loads", "gets"),
    [
        ("AGENTS.md", "codex", "claude-code"),
        ("GEMINI.md", "gemini-cli", "codex"),
        (".claude/rules/testing.md", "claude-code", "codex"),
        (".claude/CLAUDE.md", "claude-code", "gemini-cli"),
    ],
)
async def test_each_product_is_known_by_the_files_it_loads(world: World, file: str, loads: str, gets: str) -> None:
    write(Path(world.workspace()) / file, RULES)

    assert await handed(world, loads) == []
    assert [level for level, _ in await handed(world, gets)] == [ActivationLevel.HINT]


async def test_a_rule_for_some_files_only_is_not_in_every_context(world: World) -> None:
    write(Path(world.workspace()) / ".claude/rules/testing.md", f"---\npaths: tests/**\n---\n{RULES}")

    assert [level for level, _ in await handed(world, "claude-code")] == [ActivationLevel.HINT]


async def test_what_a_claude_file_takes_in_is_loaded_with_it(world: World) -> None:
    write(Path(world.workspace()) / "AGENTS.md", RULES)
    write(Path(world.workspace()) / "CLAUDE.md", "@AGENTS.md\n")

    assert await handed(world, "claude-code") == []
    assert len(await searched(world)) == 1


async def test_of_claude_codes_own_memory_the_start_is_in_context_and_the_rest_a_hint(
    world: World, homes: Homes
) -> None:
    folder = homes.claude / "projects" / slug(world.workspace()) / "memory"
    write(folder / "MEMORY.md", RULES)
    assert await handed(world, "claude-code") == []

    write(folder / "MEMORY.md", "# Index\n" + "- an entry\n" * 200 + RULES)
    await world.parts.library.refresh(str(folder / "MEMORY.md"))

    assert [level for level, _ in await handed(world, "claude-code", "session-2")] == [ActivationLevel.HINT]


async def test_a_topic_of_claude_codes_memory_is_a_hint_for_it_and_the_users_own_file_is_in_context(
    world: World, homes: Homes
) -> None:
    folder = homes.claude / "projects" / slug(world.workspace()) / "memory"
    write(folder / "testing.md", f"---\nname: integration tests\ntype: project\n---\n{LESSON}\n")
    ((level, _),) = await handed(world, "claude-code")

    write(homes.claude / "CLAUDE.md", RULES)

    assert level is ActivationLevel.HINT
    assert await handed(world, "claude-code", "session-2") == []
    assert len(await searched(world)) == 2


async def test_a_record_of_ours_that_says_what_is_in_context_is_not_handed_over_either(world: World) -> None:
    write(Path(world.workspace()) / "CLAUDE.md", f"# Testing\n\n- Four spaces, no tabs.\n- {LESSON}\n")
    await world.remember(LESSON.replace("ECONNREFUSED", "ECONNREFUSED,"))
    for number, word in enumerate(
        ["heron", "otter", "lynx", "badger", "ibis", "stoat", "raven", "newt", "vole", "kite"]
    ):
        await world.remember(f"The {word} service listens on port {8000 + number} and logs to {word}.log.")

    assert await handed(world, "claude-code") == []
    drops = {trace.drop_reason for entry in await world.audit(kind=AuditKind.PASS) for trace in entry.candidates}
    assert {DropReason.ALREADY_IN_CONTEXT, DropReason.SHOWN_ALIKE} <= drops
    assert [level for level, _ in await handed(world, "codex")] == [ActivationLevel.EXCERPT]


async def test_a_packet_is_not_carried_over_to_a_product_that_loads_what_it_says(world: World) -> None:
    write(Path(world.workspace()) / "CLAUDE.md", RULES)
    await world.feed(*a_need(world), host="codex")

    await world.feed(a_prompt("Go on, please.", workspace=world.workspace()), host="claude-code")

    assert not isinstance(await world.claim(), Claimed)


async def test_a_section_never_begins_a_window(world: World) -> None:
    """Not as a pinned record, whatever it says of itself, and not because it was shown before a compaction."""
    write(Path(world.workspace()) / "CLAUDE.md", f"<!-- memory:mem_{'a' * 32} pinned=true -->\n{LESSON}\n")
    await world.feed(*a_need(world), host="codex")
    await world.deliver(await world.claim())

    await world.feed(a_start("compact", workspace=world.workspace()), host="codex")

    assert not isinstance(await world.claim(Surface.SESSION_START), Claimed)


async def test_it_holds_after_a_restart(tmp_path: Path, world: World, homes: Homes) -> None:
    write(Path(world.workspace()) / "CLAUDE.md", RULES)
    await handed(world, "claude-code")

    async with a_world(tmp_path / "data" / "again", homes=homes) as other:
        write(Path(other.workspace()) / "CLAUDE.md", RULES)
        assert await handed(other, "claude-code") == []


@pytest.mark.promise("no-leak")
async def test_another_workspaces_rules_are_not_seen(world: World) -> None:
    write(Path(world.workspace("other")) / "CLAUDE.md", RULES)
    await world.parts.roots.adopt(world.workspace("other"), workspace_key(world.workspace("other")))

    assert await handed(world, "codex") == []
    assert await searched(world) == []
