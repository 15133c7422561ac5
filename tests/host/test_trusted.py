"""What is trusted is held in memory, and a database that cannot be read trusts nobody."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from governance.formation.errors import StateFault
from host.trusted import load_trust
from recall.canonical import bytes_digest
from tests.support.checkouts import a_checkout
from tests.support.fakes import FakeDatabase
from tests.support.team_entries import an_entry, write_entry
from tests.support.team_trust import bound_in, receive, trusts
from tests.support.world import World

T = TypeVar("T")


async def test_what_is_written_down_is_known_once_it_is_read(world: World, tmp_path: Path) -> None:
    top, trust = a_checkout(tmp_path / "top"), world.parts.trust
    bound = await bound_in(world, top)
    file = write_entry(top, an_entry())
    digest = bytes_digest(file.read_bytes())
    assert (trust.said(bound.workspace_key), trust.vouches(bound.workspace_key, digest)) == (None, False)

    await receive(world, bound, file)
    await trusts(world, top)

    assert trust.said(bound.workspace_key) is True and trust.trusts(bound.workspace_key)
    assert trust.vouches(bound.workspace_key, digest) and not trust.vouches("ws_other", digest)
    assert (await load_trust(world.parts.kept)).trusts(bound.workspace_key)
    await trusts(world, top, trusted=False)
    assert trust.said(bound.workspace_key) is False and not trust.trusts(bound.workspace_key)


async def test_a_database_that_cannot_be_read_trusts_nobody(world: World, tmp_path: Path) -> None:
    class Gone(FakeDatabase):
        async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
            raise StateFault("state-failed", "governance.db is missing.", "")

    trust = await load_trust(Gone())

    assert trust.said("ws_1") is None and not trust.trusts("ws_1") and not trust.vouches("ws_1", "d")


async def test_an_answer_is_about_the_repository_that_was_there_and_not_about_its_place(
    world: World, tmp_path: Path
) -> None:
    """Whoever clones another one to where it was, was not asked about that one."""
    top, trust = a_checkout(tmp_path / "top"), world.parts.trust
    bound = await bound_in(world, top)
    await trusts(world, top)
    assert trust.trusts(bound.workspace_key, str(top))

    (tmp_path / "top").rename(tmp_path / "kept aside")
    a_checkout(tmp_path / "top")

    assert trust.trusts(bound.workspace_key) and not trust.trusts(bound.workspace_key, str(top))
    assert not trust.trusts(bound.workspace_key, str(tmp_path / "nowhere"))
