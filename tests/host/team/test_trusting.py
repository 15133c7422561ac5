"""A person's answer holds at once, everywhere, and nobody else's does."""

import shutil
from pathlib import Path

import pytest

from governance.contracts import AuditKind
from governance.team.errors import Kind, TeamFault
from host.contracts import Claimed, Reason, Silence
from host.namespace import REPOSITORY_FOLDER
from host.team.trusting import trusting_of
from tests.support.checkouts import a_checkout, a_worktree
from tests.support.team_entries import an_entry, write_entry
from tests.support.team_trust import a_call, adopted, bound_in, needed, origins, trusts
from tests.support.world import LESSON, World


@pytest.mark.promise("team-26")
async def test_the_answer_holds_at_once_in_all_worktrees(world: World, tmp_path: Path) -> None:
    top, tree = a_checkout(tmp_path / "main"), tmp_path / "tree"
    a_worktree(top, tree)
    write_entry(top, an_entry(number=1))
    write_entry(tree, an_entry("The heron gateway is theirs.", number=2))
    await adopted(world, top, tree)
    assert await origins(world, top) == ["imported", "imported"]

    await trusts(world, tree)
    assert await origins(world, top) == ["reviewed", "reviewed"]
    await trusts(world, top, trusted=False)
    assert await origins(world, tree) == ["imported", "imported"]


@pytest.mark.promise("team-26")
@pytest.mark.parametrize("principal", ["agent", "runner", "policy"])
async def test_nobody_but_the_user_answers(world: World, tmp_path: Path, principal: str) -> None:
    bound = await bound_in(world, a_checkout(tmp_path / "top"))

    with pytest.raises(TeamFault) as refused:
        await trusting_of(world.parts).set(bound, a_call(principal), True)

    assert refused.value.kind is Kind.REVIEWER_KIND and refused.value.next_step
    assert world.parts.trust.said(bound.workspace_key) is None


async def test_the_answer_is_in_the_audit_without_a_path(world: World, tmp_path: Path) -> None:
    top = a_checkout(tmp_path / "top")
    await trusts(world, top)
    await trusts(world, top, trusted=False)

    entries = await world.audit(kind=AuditKind.POLICY)
    assert [(one.outcome, one.reason) for one in entries] == [
        ("repository trusted", "trust"),
        ("repository not trusted", "trust"),
    ]
    assert all(str(tmp_path) not in repr(one) for one in entries)


async def test_an_answer_that_was_lost_is_followed_at_the_next_start(world: World, tmp_path: Path) -> None:
    """The index would go on saying what nobody says any more."""
    top = a_checkout(tmp_path / "top")
    write_entry(top, an_entry())
    await adopted(world, top)
    await trusts(world, top)
    await world.parts.kept.write(lambda connection: connection.execute("DELETE FROM team_trust"))
    await world.parts.trust.read()

    await trusting_of(world.parts).settle()

    assert await origins(world, top) == ["imported"]


async def test_repositories_with_memory_of_which_nobody_was_asked_are_named(world: World, tmp_path: Path) -> None:
    top, empty, answered = (a_checkout(tmp_path / name) for name in ("top", "empty", "answered"))
    for folder, number in ((top, 1), (answered, 2)):
        write_entry(folder, an_entry(number=number))
    (empty / REPOSITORY_FOLDER / "memory").mkdir(parents=True)
    gone, plain = a_checkout(tmp_path / "gone"), tmp_path / "plain"
    for folder, number in ((gone, 3), (plain, 4)):
        write_entry(folder, an_entry(number=number))
    await adopted(world, top, empty, answered, gone, plain)
    shutil.rmtree(gone)
    await trusts(world, answered, trusted=False)

    assert await trusting_of(world.parts).untold() == {str(top): 1}


@pytest.mark.promise("team-26")
async def test_a_packet_that_waits_is_taken_back_with_the_trust(world: World, tmp_path: Path) -> None:
    """It would show more of the memory than a stranger's word may."""
    top = a_checkout(tmp_path / "top")
    write_entry(top, an_entry(LESSON))
    await trusts(world, top)
    await needed(world, top, "session-1")
    shown = await world.claim(session="session-1")
    assert isinstance(shown, Claimed) and shown.packet.items[0].level == "excerpt"
    await needed(world, top, "session-2")

    await trusts(world, top, trusted=False)

    assert await world.claim(session="session-2") == Silence(reason=Reason.NONE_PENDING)
    await needed(world, top, "session-3")
    shown = await world.claim(session="session-3")
    assert isinstance(shown, Claimed) and shown.packet.items[0].level == "hint"
