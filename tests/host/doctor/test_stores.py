"""The install key, the databases and the index: damaged, missing, foreign, newer, locked or open to others."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from governance.migrations import queue_steps
from host.compose import main_schema
from host.config import Paths
from host.doctor import stores
from host.doctor.scene import Index, Scene
from recall.tables import SCHEMA
from tests.support.patients import Patient, a_database

ALL = (stores.key, stores.databases, stores.index)


@pytest.fixture
async def paths(patient: Patient) -> Paths:
    """After a first run: key and databases are there."""
    found = patient.settle()
    await a_database(found.database, main_schema())
    await a_database(found.governance, queue_steps())
    await a_database(found.index, tuple(SCHEMA))
    return found


def test_what_a_run_leaves_is_well(patient: Patient, paths: Paths) -> None:
    assert patient.states(*ALL) == []


def test_before_the_first_run_there_is_nothing_to_mend(patient: Patient) -> None:
    assert patient.states(*ALL) == []


def test_beside_a_running_daemon_too(running: Patient) -> None:
    assert running.states(*ALL) == []


# --------------------------------------------------------------------------------------------------------------- key


def test_a_missing_key_is_told_until_it_is_back(patient: Patient, paths: Paths) -> None:
    key = paths.key_file.read_bytes()
    paths.key_file.unlink()

    assert patient.the(stores.key).state == "key-missing"
    paths.key_file.write_bytes(key)
    assert patient.states(stores.key) == []


def test_a_damaged_key_is_told_and_never_shown(patient: Patient, paths: Paths) -> None:
    paths.key_file.write_bytes(b"short key")

    one = patient.the(stores.key)

    assert one.state == "key-damaged" and "9 bytes" in one.what and "short key" not in repr(one)


@pytest.mark.reliability
def test_a_database_that_is_gone_is_told_until_a_start_makes_a_new_one(patient: Patient, paths: Paths) -> None:
    paths.database.unlink()

    assert patient.the(stores.key).state == "database-missing"
    with patient.daemon:
        assert patient.states(stores.key) == []


# ---------------------------------------------------------------------------------------------------------- databases


def _torn(path: Path) -> None:
    """A page in the middle is lost, as after a fault of the disk."""
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)


def _other_bytes(path: Path) -> None:
    path.write_bytes(b"This is no database at all.\n" * 200)


@pytest.mark.parametrize("harm", [_torn, _other_bytes])
@pytest.mark.parametrize("name", ["database", "governance"])
def test_a_damaged_database_is_told_until_it_is_moved_away(
    patient: Patient, paths: Paths, name: str, harm: Callable[[Path], None]
) -> None:
    path: Path = getattr(paths, name)
    harm(path)

    one = patient.the(stores.databases)

    assert (one.state, one.where) == ("database-damaged", str(path))
    path.rename(path.with_name("away"))
    assert patient.states(stores.databases) == []


@pytest.mark.reliability
@pytest.mark.parametrize("harm", [_torn, _other_bytes])
def test_a_damaged_index_is_told_until_it_is_made_anew(
    patient: Patient, paths: Paths, harm: Callable[[Path], None]
) -> None:
    harm(paths.index)

    assert patient.the(stores.databases).state == "index-damaged"
    with patient.daemon:
        assert patient.run("reindex").returncode == 0
        assert patient.states(stores.databases, stores.index) == []


@pytest.mark.reliability
def test_a_database_of_a_newer_version_is_told(patient: Patient, paths: Paths) -> None:
    with closing(sqlite3.connect(paths.database)) as connection:
        connection.execute(f"PRAGMA user_version = {len(main_schema()) + 1}")

    one = patient.the(stores.databases)

    assert one.state == "database-newer" and f"schema {len(main_schema()) + 1}" in one.what
    with pytest.raises(RuntimeError, match="newer than this version"):  # so says the daemon, too
        patient.daemon.start()


def test_a_database_of_another_program_is_told(patient: Patient, paths: Paths) -> None:
    paths.governance.unlink()
    with closing(sqlite3.connect(paths.governance)) as connection:
        connection.execute("CREATE TABLE bookmark (address TEXT)")
    paths.governance.chmod(0o600)

    one = patient.the(stores.databases)

    assert one.state == "database-foreign" and "`queue`" in one.what
    paths.governance.rename(paths.governance.with_name("theirs.db"))
    assert patient.states(stores.databases) == []


def test_an_empty_database_is_one_that_is_to_be_made(patient: Patient, paths: Paths) -> None:
    paths.governance.write_bytes(b"")

    assert patient.states(stores.databases) == []


def test_a_database_that_another_program_holds_is_told(
    patient: Patient, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "WAIT_SECONDS", 0.05)
    with closing(sqlite3.connect(paths.database, isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")

        assert patient.the(stores.databases).state == "database-locked"
        holder.execute("COMMIT")
    assert patient.states(stores.databases) == []


@pytest.mark.parametrize("name", ["database", "governance", "index"])
def test_a_database_that_others_can_read_is_told(patient: Patient, paths: Paths, name: str) -> None:
    path: Path = getattr(paths, name)
    path.chmod(0o640)

    one = patient.the(stores.databases)

    assert (one.state, one.todo) == ("database-readable", f"chmod 600 {path}")
    path.chmod(0o600)
    assert patient.states(stores.databases) == []


# ------------------------------------------------------------------------------------------------------- what is read


def _saying(patient: Patient, **parts: str) -> Scene:
    """A daemon that says this of its parts: what breaks them is shown by its own tests."""
    scene = patient.scene()
    assert scene.said is not None
    scene.said.parts.update(parts)
    return scene


@pytest.mark.parametrize("state", ["damaged", "degraded: no room"])
def test_an_index_that_is_not_well_is_told(running: Patient, state: str) -> None:
    (one,) = stores.index(_saying(running, index=state))

    assert one.state == "index-damaged" and state in one.what and "reindex" in one.todo


def test_an_index_at_work_is_told_with_its_share(running: Patient) -> None:
    scene = running.scene()
    assert scene.said is not None
    busy = msgspec.structs.replace(scene.said, index=Index(stage="indexing", done=3, total=10))

    (one,) = stores.index(replace(scene, said=busy))

    assert one.state == "index-working" and "indexing, 30 %" in one.what


def test_without_the_extra_it_is_said_that_words_alone_are_searched(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recall.engine.EXTRA", ("an_extra_that_nobody_has",))

    assert patient.the(stores.engine).state == "engine-absent"
    patient.configure("[recall]\nengine = false\n")
    assert patient.states(stores.engine) == []


def test_an_engine_that_broke_is_told(running: Patient) -> None:
    scene = _saying(running, engine="broken: its model cannot be read")

    (one,) = stores.engine(replace(scene, config=None))  # by default it is wanted

    assert one.state == "engine-broken" and "its model cannot be read" in one.what


@pytest.mark.parametrize(("safe", "states"), [((99, 0, 0), ["sqlite-old"]), ((3, 0, 0), [])])
def test_an_old_sqlite_is_worth_knowing(
    patient: Patient, monkeypatch: pytest.MonkeyPatch, safe: tuple[int, int, int], states: list[str]
) -> None:
    monkeypatch.setattr(stores, "SAFE_SQLITE", safe)

    assert patient.states(stores.sqlite) == states
