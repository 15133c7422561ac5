"""Kill -9 before every statement that brings the main database up to date: it is of the old version or of the new one,
whole, and the next start goes on from there."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from host.database import open_database
from host.main_tables import main_schema
from host.marks import load_marks
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.daemon import ROOT

pytestmark = [pytest.mark.reliability, pytest.mark.promise("kill-nine")]

MUTED = "INSERT INTO mark (memory_id, muted_at, sightings, seen_at) VALUES (?, ?, 3, ?)"
NOW = len(main_schema())


async def of_version(path: Path, version: int) -> Path:
    """A database as that version of the schema left it, with a mute if there was such a thing."""
    if version == 0:
        path.touch()
        return path
    async with open_database(path, main_schema()[:version]) as database:
        if version > 1:
            await database.write(lambda connection: connection.execute(MUTED, (a_memory_id(1), START, START)))
    return path


def killed_everywhere(source: Path, folder: Path) -> int:
    """How often it was killed. What each time was left lies in the folder."""
    folder.mkdir()
    command = [sys.executable, "-m", "tests.reliability.migrating", str(source), str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


@pytest.mark.parametrize("version", range(NOW))
async def test_wherever_a_migration_is_killed_the_next_start_finishes_it(tmp_path: Path, version: int) -> None:
    source = await of_version(tmp_path / "source.db", version)

    times = killed_everywhere(source, tmp_path / "killed")

    left = set[int]()
    for number in range(1, times + 1):
        path = tmp_path / "killed" / f"{number}.db"
        left.add(version_of(path))
        async with open_database(path, main_schema()) as database:
            muted = (await load_marks(database)).muted(START)
        assert muted == ({a_memory_id(1)} if version > 1 else set())
        assert version_of(path) == NOW
    assert times > 8 and left - {NOW} == set(range(version, NOW))  # what follows the last step is killed too
