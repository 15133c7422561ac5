"""A promotion on a real file system that is full, or mounted read-only: refused, all as it was, and done later."""

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from governance.team.errors import Kind
from tests.support.promoting import tree
from tests.support.team_promoting import Promotions, promotions

ROOM = 256 * 1024
pytestmark = [pytest.mark.reliability, pytest.mark.promise("team-17")]


def mount(*arguments: str) -> bool:
    done = subprocess.run(["mount", *arguments], capture_output=True, check=False)
    return done.returncode == 0


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """A small file system of its own on that folder."""
    if not mount("-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder)):
        pytest.skip("only the superuser may mount, and not everywhere")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Promotions]:
    async with promotions(tmp_path / "work") as made:
        with mounted(made.root):
            yield made


async def test_a_full_disk_leaves_all_as_it_was_and_the_plan_approved(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    shop.memory.mkdir(parents=True)
    filler = shop.root / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            while True:
                file.write(os.urandom(4096))
    except OSError:
        pass
    before = tree(shop.root)

    fault = await shop.refused(plan)
    assert (fault.kind, (await shop.stored(plan)).state) == (Kind.IO_ERROR, "approved")
    assert "No space" in fault.problem
    assert tree(shop.root) == before
    filler.unlink()
    assert (await shop.promote(plan)).applied


async def test_a_file_system_that_is_mounted_read_only_leaves_all_as_it_was(shop: Promotions) -> None:
    plan = await shop.entry_plan()
    assert mount("-o", "remount,ro", str(shop.root))

    fault = await shop.refused(plan)
    assert (fault.kind, (await shop.stored(plan)).state) == (Kind.IO_ERROR, "approved")
    assert tree(shop.root) == {"./": b""}
    assert mount("-o", "remount,rw", str(shop.root))
    assert (await shop.promote(plan)).applied
