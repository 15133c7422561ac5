"""One at a time in a repository, and the lock goes with whoever held it."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from governance.team.errors import Kind, TeamFault
from governance.team.locking import holding, locked

KEY = "a" * 64


async def test_a_second_one_is_turned_away(tmp_path: Path) -> None:
    async with locked(tmp_path / "locks", KEY):
        with pytest.raises(TeamFault) as refused:
            async with locked(tmp_path / "locks", KEY, wait_seconds=0):
                raise AssertionError("two hold it")
    assert refused.value.kind is Kind.LOCK_BUSY

    async with locked(tmp_path / "locks", KEY, wait_seconds=0):
        pass


async def test_a_second_one_waits_until_the_first_is_done(tmp_path: Path) -> None:
    order: list[str] = []
    inside, go = asyncio.Event(), asyncio.Event()

    async def first() -> None:
        async with locked(tmp_path, KEY):
            inside.set()
            await go.wait()
            order.append("first")

    async def second() -> None:
        await inside.wait()
        go.set()
        async with locked(tmp_path, KEY):
            order.append("second")

    async with asyncio.timeout(30):
        await asyncio.gather(first(), second())
    assert order == ["first", "second"]


async def test_another_repository_is_another_lock(tmp_path: Path) -> None:
    async with locked(tmp_path, KEY), locked(tmp_path, "b" * 64, wait_seconds=0):
        assert sorted(path.name for path in tmp_path.iterdir()) == [f"{KEY}.lock", f"{'b' * 64}.lock"]


async def test_the_lock_is_given_back_after_a_fault(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        async with locked(tmp_path, KEY):
            raise RuntimeError
    async with locked(tmp_path, KEY, wait_seconds=0):
        pass


async def test_the_lock_is_its_owner_s_alone(tmp_path: Path) -> None:
    async with locked(tmp_path / "locks", KEY):
        modes = [os.stat(path).st_mode & 0o777 for path in (tmp_path / "locks", tmp_path / "locks" / f"{KEY}.lock")]
    assert modes == [0o700, 0o600]


async def test_a_lock_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "locks").write_bytes(b"")
    with pytest.raises(TeamFault) as refused:
        async with locked(tmp_path / "locks", KEY):
            raise AssertionError("there is none")
    assert refused.value.kind is Kind.IO_ERROR


async def test_work_that_goes_on_in_a_thread_holds_the_lock_until_it_is_done(tmp_path: Path) -> None:
    begun, go = threading.Event(), threading.Event()

    def work(said: str) -> str:
        begun.set()
        go.wait(30)
        return said

    async with locked(tmp_path, KEY) as lock:
        going_on = asyncio.ensure_future(asyncio.to_thread(holding(lock, work), "done"))
        await asyncio.to_thread(begun.wait, 30)
    with pytest.raises(TeamFault):
        async with locked(tmp_path, KEY, wait_seconds=0):
            raise AssertionError("two hold it")
    go.set()
    assert await going_on == "done"
    async with locked(tmp_path, KEY, wait_seconds=0):
        pass
