"""The rows of a promotion, one by one, and whoever writes between two of them."""

import errno
import os
import stat
from pathlib import Path

import pytest

from governance.team.contracts.rows import Intent
from governance.team.disk import HOLD, beside
from tests.support.promoting import (
    BEFORE,
    CHANGED,
    CHANGES,
    DELETED,
    FRESH,
    PLAN,
    Desk,
    at,
)

HELD = beside(CHANGED, PLAN, HOLD)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_all_files_are_written_and_deleted_and_nothing_else_is_left(desk: Desk) -> None:
    outcome = desk.promote()

    assert outcome.state == "applied"
    assert desk.tree == desk.wanted
    assert (desk.plan.state, desk.plan.phase, desk.plan.cleanup) == ("applied", "done", "done")
    assert [(file.intent, file.old) for file in desk.stored] == [(Intent.APPLIED, None)] * 3
    assert (desk.completed, outcome.left, outcome.recovered) == (1, (), ())


def test_a_file_keeps_its_mode_and_a_new_one_is_for_all_to_read(desk: Desk) -> None:
    (desk.root / CHANGED).chmod(0o600)
    old = os.umask(0o077)
    try:
        desk.promote()
    finally:
        os.umask(old)

    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    assert [mode(desk.root / path) for path in (CHANGED, FRESH)] == [0o600, 0o644]
    assert mode((desk.root / FRESH).parent) == 0o755


def test_the_rows_come_in_their_order(desk: Desk) -> None:
    met: list[str] = []
    desk.promote(met.append)

    rows = [name.removeprefix("promote:") for name in met if name.startswith("promote:") and not name.endswith(":done")]
    replaced, created, deleted = ["4a", "4b", "4c", "4d", "4e"], ["4a", "4c", "4d", "4e"], ["4a", "4b", "4d"]
    assert rows == [
        *("2", "3", "3:file", "3:file", "3:file", "4"),
        *(*replaced, *created, *deleted),
        *("5", "6", "6:file", "6:file", "6:file", "6c"),
    ]


def test_the_intent_is_written_down_before_a_target_is_touched(desk: Desk) -> None:
    seen: list[list[Intent]] = []
    desk.promote(at("promote:4b", lambda: seen.append([file.intent for file in desk.stored])))

    assert seen == [[Intent.INTENT, Intent.PENDING, Intent.PENDING]]


def test_the_old_bytes_are_safe_before_a_target_is_touched(desk: Desk) -> None:
    seen: list[list[bytes | None]] = []
    desk.promote(at("promote:4b", lambda: seen.append([file.old for file in desk.stored])))

    assert seen == [[BEFORE[CHANGED], None, BEFORE[DELETED]]]


def test_what_was_changed_before_it_was_taken_away_is_back_and_the_plan_is_voided(desk: Desk) -> None:
    outcome = desk.promote(at("promote:4b", lambda: (desk.root / CHANGED).write_bytes(b"an editor's words\n")))

    assert (outcome.state, outcome.kind) == ("voided", "target-drift")
    assert desk.tree == {**BEFORE, CHANGED: b"an editor's words\n"}
    assert [file.intent for file in desk.stored] == [Intent.ROLLED_BACK, Intent.PENDING, Intent.PENDING]


def test_what_was_put_in_the_place_stays_and_the_old_bytes_are_kept_aside(desk: Desk) -> None:
    outcome = desk.promote(at("promote:4b:done", lambda: (desk.root / CHANGED).write_bytes(b"a stranger's words\n")))

    assert (outcome.state, outcome.kind) == ("voided", "target-drift")
    assert desk.tree == {**BEFORE, CHANGED: b"a stranger's words\n"}
    assert desk.aside == {CHANGED: BEFORE[CHANGED]}
    assert desk.stored[0].intent is Intent.FOREIGN
    assert outcome.recovered == (str(desk.recovered / PLAN / CHANGED),)


def test_a_new_file_whose_name_was_taken_takes_all_of_it_back(desk: Desk) -> None:
    outcome = desk.promote(at("promote:4c", lambda: (desk.root / FRESH).write_bytes(b"a stranger's skill\n"), number=2))

    assert outcome.state == "voided"
    assert desk.tree == {**BEFORE, FRESH: b"a stranger's skill\n"}
    assert [file.intent for file in desk.stored] == [Intent.ROLLED_BACK, Intent.FOREIGN, Intent.PENDING]


def test_a_stranger_who_writes_the_very_same_bytes_loses_nothing(desk: Desk) -> None:
    theirs = desk.root / FRESH
    outcome = desk.promote(at("promote:4c", lambda: theirs.write_bytes(CHANGES[FRESH] or b""), number=2))

    assert outcome.state == "voided"
    assert theirs.read_bytes() == CHANGES[FRESH]


def test_a_file_that_is_not_as_it_was_linked_is_not_taken_for_applied(desk: Desk) -> None:
    outcome = desk.promote(at("promote:4d", lambda: (desk.root / CHANGED).write_bytes(b"just now\n")))

    assert outcome.state == "voided"
    assert desk.tree == {**BEFORE, CHANGED: b"just now\n"}
    assert [file.intent for file in desk.stored] == [Intent.FOREIGN, Intent.PENDING, Intent.PENDING]


def test_an_applied_file_that_was_deleted_is_not_made_again(desk: Desk) -> None:
    outcome = desk.promote(at("promote:5", lambda: (desk.root / CHANGED).unlink()))

    assert (outcome.state, desk.completed) == ("voided", 0)
    assert desk.tree == {path: data for path, data in BEFORE.items() if path != CHANGED}
    assert desk.aside == {CHANGED: BEFORE[CHANGED]}


def test_a_file_that_was_changed_after_it_was_read_is_a_drift_and_nothing_happened(desk: Desk) -> None:
    outcome = desk.promote(at("promote:3:done", lambda: (desk.root / DELETED).unlink()))

    assert outcome.state == "voided"
    assert desk.tree == {path: data for path, data in BEFORE.items() if path != DELETED}


def test_an_editor_that_writes_into_the_file_that_is_held_loses_nothing(desk: Desk) -> None:
    with (desk.root / CHANGED).open("r+b") as editor:

        def write() -> None:
            editor.write(b"typed meanwhile")
            editor.flush()

        outcome = desk.promote(at("promote:5:done", write))

    assert (outcome.state, outcome.left) == ("applied", (HELD,))
    assert (desk.root / HELD).read_bytes().startswith(b"typed meanwhile"[:14])


@pytest.mark.parametrize("point", ["disk:create", "disk:write", "disk:fsync", "disk:mkdir", "disk:fsync-folder"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_disk_that_fails_before_a_target_was_touched_leaves_all_as_it_was(desk: Desk, point: str, code: int) -> None:
    def fail() -> None:
        raise OSError(code, os.strerror(code))

    outcome = desk.promote(at(point, fail, number=1))

    assert (outcome.state, outcome.kind) == ("approved", "io-error")
    assert os.strerror(code) in outcome.problem
    assert desk.tree == BEFORE
    assert desk.promote().state == "applied"
    assert desk.tree == desk.wanted


@pytest.mark.parametrize("point", ["disk:rename", "disk:link", "disk:unlink", "disk:fsync-folder", "disk:read"])
@pytest.mark.parametrize("number", range(1, 8))
def test_a_disk_that_fails_amid_the_files_takes_all_of_it_back(desk: Desk, point: str, number: int) -> None:
    armed = [False]
    count = [0]

    def fault(name: str) -> None:
        armed[0] = armed[0] or name == "promote:4"
        count[0] += armed[0] and name == point
        if armed[0] and name == point and count[0] == number:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    outcome = desk.promote(fault)

    if outcome.state == "applied":  # it failed while it cleaned up, or was not met so often
        desk.resume()
        assert desk.tree == desk.wanted
    else:
        assert (outcome.state, outcome.kind, desk.tree) == ("approved", "io-error", BEFORE)
        assert desk.promote().state == "applied"


def test_what_the_database_refuses_takes_all_of_it_back(desk: Desk) -> None:
    def refuse() -> None:
        desk.connection.execute("DELETE FROM team_plan_file WHERE place = 1")

    outcome = desk.promote(at("promote:4e", refuse))

    assert (outcome.state, outcome.kind) == ("voided", "plan-state-invalid")
    assert desk.tree == BEFORE
