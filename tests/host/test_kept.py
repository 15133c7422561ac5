"""governance.db that is missing, locked, damaged or newer says so to whoever asks, and is never taken for empty."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from governance.formation.errors import StateFault
from host.kept import Kept, KeptDatabase, open_kept
from tests.support.checkouts import a_checkout
from tests.support.team_trust import bound_in, trusts
from tests.support.world import World

STEPS = ("CREATE TABLE note (words TEXT) STRICT;",)


async def put(kept: KeptDatabase, words: str) -> None:
    await kept.write(lambda connection: connection.execute("INSERT INTO note VALUES (?)", (words,)))


async def words(kept: KeptDatabase) -> list[str]:
    rows = await kept.read(lambda connection: connection.execute("SELECT words FROM note").fetchall())
    return [row[0] for row in rows]


async def made(path: Path) -> None:
    async with open_kept(path, STEPS, expected=False) as kept:
        await put(kept, "kept")


async def refused(kept: KeptDatabase) -> StateFault:
    for asked in (words(kept), put(kept, "more")):
        with pytest.raises(StateFault) as raised:
            await asked
        assert isinstance(raised.value, sqlite3.Error), "those who can do without it do so already"
    return raised.value


async def test_a_file_that_is_well_is_a_database(tmp_path: Path) -> None:
    await made(tmp_path / "g.db")

    async with open_kept(tmp_path / "g.db", STEPS, expected=True) as kept:
        assert kept.problem == ""
        assert await words(kept) == ["kept"]


async def test_a_file_that_was_there_is_not_made_anew(tmp_path: Path) -> None:
    async with open_kept(tmp_path / "g.db", STEPS, expected=True) as kept:
        fault = await refused(kept)

    assert fault.code == "state-failed"
    assert "missing" in kept.problem and "--recover" in str(fault)
    assert not (tmp_path / "g.db").exists()


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 400])
async def test_a_damaged_file_is_said_to_be_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "g.db"
    await made(path)
    whole = path.read_bytes()
    path.write_bytes(content or whole[:100] + bytes(len(whole) - 100))
    before = path.read_bytes()

    async with open_kept(path, STEPS, expected=True) as kept:
        assert (await refused(kept)).code == "state-failed"

    assert path.read_bytes() == before


async def test_a_newer_file_is_refused_and_never_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    async with open_kept(path, (*STEPS, "CREATE TABLE later (x) "), expected=False):
        pass

    async with open_kept(path, STEPS, expected=True) as kept:
        assert "newer" in str(await refused(kept))
        with pytest.raises(StateFault, match="newer"):
            await kept.anew()

    assert path.exists() and not list(tmp_path.glob("*.aside*"))


async def test_one_that_another_program_holds_is_refused_and_well_again_when_it_lets_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.database.BUSY_MS", 50)
    path = tmp_path / "g.db"
    await made(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        async with open_kept(path, STEPS, expected=True) as kept:
            assert "locked" in str(await refused(kept))
            with pytest.raises(StateFault, match="locked"):
                await kept.anew()
            other.execute("ROLLBACK")
            assert await kept.anew() == ""
            assert await words(kept) == ["kept"]


async def test_one_that_is_taken_away_in_use_takes_nothing_more(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    await made(path)

    async with open_kept(path, STEPS, expected=True) as kept:
        path.unlink()
        assert "taken away" in str(await refused(kept))


async def test_one_that_comes_back_is_used_again(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    await made(path)
    async with open_kept(path, STEPS, expected=True) as kept:
        path.rename(tmp_path / "away.db")
        assert not await kept.again() and kept.problem
        (tmp_path / "away.db").rename(path)

        assert await kept.again() and await words(kept) == ["kept"]
        assert await kept.again()


async def test_anew_puts_aside_what_is_there_and_begins_empty(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    path.write_bytes(b"not a database at all" * 400)

    async with open_kept(path, STEPS, expected=True) as kept:
        aside = await kept.anew()
        assert await words(kept) == []
        await put(kept, "new")

    assert (tmp_path / aside).read_bytes().startswith(b"not a database")
    assert await asyncio.to_thread(path.exists)


async def test_damage_in_use_is_a_state_that_stays_until_it_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "g.db"
    await made(path)
    async with open_kept(path, STEPS, expected=True) as kept:
        for name in ("g.db", "g.db-wal"):
            if (tmp_path / name).exists():
                (tmp_path / name).write_bytes(b"\xff" * 8192)
        for connection in (*kept._database._readers, kept._database._writer):  # type: ignore[union-attr]  # opened above
            await connection.execute("PRAGMA shrink_memory")

        with pytest.raises(StateFault):
            await words(kept)
            await put(kept, "more")
            await words(kept)
        assert kept.problem

        assert await kept.anew()
        assert kept.problem == "" and await words(kept) == []


async def test_a_wrong_statement_is_its_callers_fault_and_not_the_files(tmp_path: Path) -> None:
    async with open_kept(tmp_path / "g.db", STEPS, expected=False) as kept:
        with pytest.raises(sqlite3.OperationalError, match="no such table") as raised:
            await kept.read(lambda connection: connection.execute("SELECT * FROM nowhere"))
        assert not isinstance(raised.value, StateFault)
        assert kept.problem == ""


async def test_what_is_held_in_memory_is_read_again(world: World, tmp_path: Path) -> None:
    """After the file was made anew, or is back: nobody is trusted by what it said before."""
    top = a_checkout(tmp_path / "shop")
    bound = await bound_in(world, top)
    await trusts(world, top)
    kept = Kept(database=world.parts.kept, queue=world.parts.queue, lives=world.parts.lives, trust=world.parts.trust)
    await world.parts.kept.write(lambda connection: connection.execute("DELETE FROM team_trust"))
    assert world.parts.trust.trusts(bound.workspace_key)

    await kept.reload()

    assert not world.parts.trust.trusts(bound.workspace_key)
