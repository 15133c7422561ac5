"""Stopped anywhere, and stopped again while it goes on or back: in the end all of it is there, or nothing of it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from governance.formation.contracts import Fault
from governance.team.contracts.rows import Intent
from governance.team.disk import HOLD, NEW, beside
from governance.team.errors import Kind
from governance.team.resuming import astray
from tests.support.promoting import BEFORE, CHANGED, CHANGES, DELETED, FRESH, PLAN, Desk, Stopped, at, fails

HELD = beside(CHANGED, PLAN, HOLD)
Met = list[tuple[str, int]]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "desk")


def points(folder: Path, act: Callable[[Desk, Fault], object], prepare: Callable[[Desk], object]) -> Met:
    """Every point that is met, with how often it was by then."""
    met: Met = []
    desk = Desk(folder)
    prepare(desk)

    def fault(name: str) -> None:
        if name != "disk:read":  # it changes nothing
            met.append((name, 1 + sum(one == name for one, _ in met)))

    act(desk, fault)
    shutil.rmtree(folder)
    return met


def whole(desk: Desk) -> str:
    """Which of the two ends it is. Nothing in between is any."""
    if desk.tree == BEFORE and desk.plan.state in ("approved", "voided"):
        return "old"
    assert (desk.tree, desk.plan.state, desk.plan.cleanup) == (desk.wanted, "applied", "done")
    return "new"


def stopped(desk: Desk, point: tuple[str, int]) -> Desk:
    desk.stop(*point)
    return desk


def test_stopped_at_any_point_it_is_whole_after_the_next_start(tmp_path: Path) -> None:
    met = points(tmp_path / "look", lambda desk, fault: desk.promote(fault), lambda desk: None)
    ends = set()
    for number, point in enumerate(met):
        desk = stopped(Desk(tmp_path / str(number)), point)
        desk.resume()
        ends.add(whole(desk))
        assert desk.completed == int(desk.plan.state == "applied"), point
        assert desk.resume() is None, point
    assert (len(met) > 60, ends) == (True, {"old", "new"})


def test_stopped_again_while_it_goes_on_it_is_whole_after_the_second_start(tmp_path: Path) -> None:
    first = points(tmp_path / "look", lambda desk, fault: desk.promote(fault), lambda desk: None)
    for number, point in enumerate(first[::4]):
        again = points(
            tmp_path / "look", lambda desk, fault: desk.resume(fault), lambda desk, point=point: stopped(desk, point)
        )
        for second in again[:: max(1, len(again) // 5)]:
            desk = stopped(Desk(tmp_path / f"{number}-{second[0]}-{second[1]}"), point)
            desk.stop(*second, act=desk.resume)
            desk.resume()
            whole(desk)
            assert desk.completed == int(desk.plan.state == "applied"), (point, second)


def drifting(desk: Desk) -> Fault:
    """The file to be deleted is edited when the two others are applied."""
    return at("promote:4d:done", lambda: (desk.root / DELETED).write_bytes(b"an edited scene\n"), number=2)


def test_stopped_at_any_point_of_a_rollback_the_rollback_is_finished(tmp_path: Path) -> None:
    met = points(tmp_path / "look", lambda desk, fault: _both(desk, fault), lambda desk: None)
    began = next(place for place, (name, _) in enumerate(met) if name == "undo")
    for number, (point, times) in enumerate(met[began:]):
        desk = Desk(tmp_path / str(number))
        with pytest.raises(Stopped):
            _both(desk, _raising(point, times))
        desk.resume()
        assert (desk.tree, desk.plan.state) == ({**BEFORE, DELETED: b"an edited scene\n"}, "voided"), point
        assert desk.resume() is None
    assert len(met) - began > 20


def _both(desk: Desk, fault: Fault) -> None:
    drift = drifting(desk)

    def both(name: str) -> None:
        fault(name)
        drift(name)

    desk.promote(both)


def _raising(point: str, times: int) -> Fault:
    def stop() -> None:
        raise Stopped

    return at(point, stop, times)


def test_before_any_file_was_touched_the_plan_is_approved_again(desk: Desk) -> None:
    desk.stop("promote:3:file", 2)
    outcome = desk.resume()

    assert outcome is not None and (outcome.state, outcome.kind) == ("approved", Kind.IO_ERROR)
    assert desk.tree == BEFORE
    assert [(file.intent, file.old, file.originally_present) for file in desk.stored] == [
        (Intent.PENDING, None, False)
    ] * 3


def test_a_target_that_was_changed_while_it_stood_still_takes_all_of_it_back(desk: Desk) -> None:
    desk.stop("promote:4c:done", 1)
    (desk.root / DELETED).write_bytes(b"edited meanwhile\n")

    assert astray(desk.promotion()) == DELETED
    met: list[str] = []
    outcome = desk.resume(met.append)
    assert outcome is not None and outcome.state == "voided"
    assert not [point for point in met if point.startswith("promote:")]  # it went back at once
    assert desk.tree == {**BEFORE, DELETED: b"edited meanwhile\n"}


def test_an_applied_file_that_was_deleted_while_it_stood_still_is_not_made_again(desk: Desk) -> None:
    desk.stop("promote:4a", 3)
    (desk.root / CHANGED).unlink()
    outcome = desk.resume()

    assert outcome is not None and outcome.state == "voided"
    assert desk.tree == {path: data for path, data in BEFORE.items() if path != CHANGED}
    assert desk.aside == {CHANGED: BEFORE[CHANGED]}


@pytest.mark.parametrize("step", [HOLD, NEW])
def test_hidden_files_that_somebody_cleared_away_lose_nothing(desk: Desk, step: str) -> None:
    """As `git clean -x` does."""
    desk.stop("promote:4c", 1)
    (desk.root / beside(CHANGED, PLAN, step)).unlink()
    outcome = desk.resume()

    assert outcome is not None
    if outcome.state == "applied":
        assert desk.tree == desk.wanted
    else:  # the target was away, and nobody can tell who took it: its bytes are kept
        assert desk.aside == {CHANGED: BEFORE[CHANGED]}


def test_somebody_s_bytes_in_the_hold_and_in_the_target_are_both_kept_and_it_says_so(desk: Desk) -> None:
    def edit_and_rewrite(name: str) -> None:
        if name == "promote:4b" and not desk.hidden()[0].endswith(".hold"):
            (desk.root / CHANGED).write_bytes(b"first words of theirs\n")
        if name == "undo:stranger":
            (desk.root / CHANGED).write_bytes(b"second words of theirs\n")

    fault = fails(lambda: desk.promote(edit_and_rewrite))

    assert (fault.kind, desk.plan.state) == (Kind.ROLLBACK_REQUIRED, "applying")
    assert CHANGED in fault.problem and f"--plan {PLAN} --keep-files" in fault.next_step
    assert (desk.root / HELD).read_bytes() == b"first words of theirs\n"
    assert (desk.root / CHANGED).read_bytes() == b"second words of theirs\n"


def test_what_cannot_be_taken_back_is_closed_with_the_files_as_they_are(desk: Desk) -> None:
    test_somebody_s_bytes_in_the_hold_and_in_the_target_are_both_kept_and_it_says_so(desk)
    outcome = desk.close()

    assert (outcome.state, desk.plan.state, outcome.left) == ("voided", "voided", (HELD,))
    assert desk.tree == {**BEFORE, CHANGED: b"second words of theirs\n", HELD: b"first words of theirs\n"}
    assert desk.aside == {CHANGED: BEFORE[CHANGED]}


def test_what_could_not_be_taken_back_is_taken_back_once_the_way_is_free(desk: Desk) -> None:
    test_somebody_s_bytes_in_the_hold_and_in_the_target_are_both_kept_and_it_says_so(desk)
    (desk.root / CHANGED).unlink()
    outcome = desk.resume()

    assert outcome is not None and outcome.state == "voided"
    assert desk.tree == {**BEFORE, CHANGED: b"first words of theirs\n"}


def test_a_folder_that_became_a_link_is_not_followed_and_closed_where_it_stands(desk: Desk) -> None:
    outside = desk.folder / "outside"
    moved = (desk.root / CHANGED).parent
    desk.stop("promote:4c:done", 1)
    moved.rename(outside)
    moved.symlink_to(outside)
    there = {path.name: path.read_bytes() for path in outside.iterdir()}

    assert fails(desk.resume).kind is Kind.ROLLBACK_REQUIRED
    desk.close()
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == there
    assert desk.aside == {CHANGED: BEFORE[CHANGED]}


def test_a_closed_promotion_keeps_the_new_files_that_were_written(desk: Desk) -> None:
    desk.stop("promote:4e:done", 2)
    desk.close()

    assert desk.tree == {**BEFORE, CHANGED: CHANGES[CHANGED], FRESH: CHANGES[FRESH]}
    assert desk.aside == {CHANGED: BEFORE[CHANGED]}
