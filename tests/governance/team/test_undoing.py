"""A promotion is taken back file by file: what is ours goes, what was there returns, what is others' stays."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from governance.team.contracts.rows import Intent
from governance.team.disk import HOLD, beside
from governance.team.undoing import undo
from tests.support.promoting import BEFORE, CHANGED, CHANGES, DELETED, FRESH, PLAN, Desk, at


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """All three files are applied; T3 is not committed."""
    made = Desk(tmp_path)
    made.stop("promote:5")
    return made


def test_applied_files_are_taken_back_in_reverse(desk: Desk) -> None:
    met: list[str] = []
    undone = undo(desk.promotion(lambda point: met.append(point)), desk.recovered)

    assert desk.tree == BEFORE
    assert [file.intent for file in desk.stored] == [Intent.ROLLED_BACK] * 3
    assert (undone.stuck, undone.left, undone.recovered) == ((), (), ())
    assert [name for name in met if name in ("undo:away", "undo:back")] == [
        *("undo:back",),  # the deleted one is last, and comes first
        *("undo:away",),  # the new one
        *("undo:away", "undo:back"),  # the changed one
    ]


def test_a_file_gets_its_old_self_back_with_its_mode(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (desk.root / CHANGED).chmod(0o640)
    was = (desk.root / CHANGED).stat()
    desk.stop("promote:5")
    undo(desk.promotion(), desk.recovered)

    now = (desk.root / CHANGED).stat()
    assert (now.st_ino, now.st_mode, now.st_mtime_ns) == (was.st_ino, was.st_mode, was.st_mtime_ns)


@pytest.mark.parametrize("path", [CHANGED, FRESH])
def test_what_somebody_changed_since_stays_and_the_old_bytes_are_kept(desk: Desk, path: str) -> None:
    (desk.root / path).write_bytes(b"edited\n")
    undo(desk.promotion(), desk.recovered)

    assert desk.tree == {**BEFORE, path: b"edited\n"}
    assert desk.aside == ({CHANGED: BEFORE[CHANGED]} if path == CHANGED else {})


def test_what_is_changed_between_the_look_and_the_move_goes_back(desk: Desk) -> None:
    edit = at("undo:away", lambda: (desk.root / FRESH).write_bytes(b"just now\n"))
    undone = undo(desk.promotion(edit), desk.recovered)

    assert desk.tree == {**BEFORE, FRESH: b"just now\n"}
    assert (undone.stuck, undone.left) == ((), ())


def test_a_place_that_is_taken_again_is_left_to_whoever_took_it(desk: Desk) -> None:
    take = at("undo:back", lambda: (desk.root / DELETED).write_bytes(b"just now\n"))
    undo(desk.promotion(take), desk.recovered)

    assert desk.tree == {**BEFORE, DELETED: b"just now\n"}
    assert desk.aside == {DELETED: BEFORE[DELETED]}


def test_a_deleted_file_whose_hold_was_cleared_away_comes_from_the_journal(desk: Desk) -> None:
    (desk.root / beside(DELETED, PLAN, HOLD)).unlink()
    undo(desk.promotion(), desk.recovered)

    assert desk.tree == BEFORE


def test_a_target_that_became_a_link_stays_one_and_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_bytes(b"outside\n")
    (desk.root / CHANGED).unlink()
    (desk.root / CHANGED).symlink_to(outside)
    undo(desk.promotion(), desk.recovered)

    assert desk.tree == {**BEFORE, CHANGED: str(outside)}
    assert outside.read_bytes() == b"outside\n"
    assert desk.aside == {CHANGED: BEFORE[CHANGED]}


def test_what_cannot_be_reached_is_told_and_the_others_are_back(desk: Desk) -> None:
    def fail(point: str) -> None:
        if point == "undo:away":
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    undone = undo(desk.promotion(fail), desk.recovered)
    assert undone.stuck == (FRESH, CHANGED)
    assert (desk.root / DELETED).read_bytes() == BEFORE[DELETED]

    assert undo(desk.promotion(), desk.recovered).stuck == ()
    assert desk.tree == BEFORE


def test_a_folder_with_something_of_others_in_it_stays(desk: Desk) -> None:
    theirs = (desk.root / FRESH).with_name("notes.txt")
    theirs.write_bytes(b"theirs\n")
    undo(desk.promotion(), desk.recovered)

    assert desk.tree == {**BEFORE, theirs.relative_to(desk.root).as_posix(): b"theirs\n"}


def test_files_that_were_checked_out_anew_meanwhile_are_taken_for_old_ones(desk: Desk) -> None:
    """As `git checkout .` and `git clean` do: all is as it was, whoever did it."""
    for path in (".remora-pre",):
        shutil.rmtree(desk.root / path)
    for path, data in BEFORE.items():
        (desk.root / path).parent.mkdir(parents=True, exist_ok=True)
        (desk.root / path).write_bytes(data)
    undone = undo(desk.promotion(), desk.recovered)

    assert desk.tree == BEFORE
    assert undone.stuck == ()


def test_a_rollback_is_the_same_without_links_in_the_file_system(tmp_path: Path) -> None:
    def no_links(point: str) -> None:
        if point == "disk:link":
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    desk = Desk(tmp_path)
    outcome = desk.promote(_both(no_links, at("promote:5", lambda: (desk.root / FRESH).write_bytes(b"edited\n"))))

    assert outcome.state == "voided"
    assert desk.tree == {**BEFORE, FRESH: b"edited\n"}
    assert CHANGES[FRESH] not in desk.tree.values()


def _both(*faults: object) -> object:
    def fault(point: str) -> None:
        for one in faults:
            one(point)  # type: ignore[operator]

    return fault


def test_a_stranger_s_file_under_a_hidden_name_of_ours_stays_there(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    theirs = beside(FRESH, PLAN, HOLD)

    def strangers() -> None:
        (desk.root / theirs).write_bytes(b"theirs\n")
        (desk.root / FRESH).write_bytes(b"theirs, too\n")

    outcome = desk.promote(at("promote:4c", strangers, number=2))
    assert desk.tree == {**BEFORE, theirs: b"theirs\n", FRESH: b"theirs, too\n"}
    assert outcome.left == (theirs,)
