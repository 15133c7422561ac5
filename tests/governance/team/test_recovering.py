"""What had to give way is kept, once, for its owner alone."""

import stat
from pathlib import Path

from governance.team.recovering import keep, kept

PLAN, TARGET = "plan-1", ".remora-pre/memory/entries/one.md"


def test_bytes_are_kept_under_the_path_of_their_target(tmp_path: Path) -> None:
    where = Path(keep(tmp_path / "recovered", PLAN, TARGET, b"old\n"))

    assert where == tmp_path / "recovered" / PLAN / TARGET
    assert where.read_bytes() == b"old\n"
    assert stat.S_IMODE(where.stat().st_mode) == 0o600
    assert stat.S_IMODE(where.parent.stat().st_mode) == 0o700


def test_the_same_bytes_are_kept_once_and_others_beside_them(tmp_path: Path) -> None:
    kept_in = [keep(tmp_path, PLAN, TARGET, data) for data in (b"old\n", b"old\n", b"other\n", b"other\n", b"old\n")]

    assert [Path(one).name for one in kept_in] == ["one.md", "one.md", "one.md.2", "one.md.2", "one.md"]
    assert kept(tmp_path, PLAN) == (kept_in[0], kept_in[2])


def test_what_a_crash_left_half_written_is_written_again(tmp_path: Path) -> None:
    draft = tmp_path / PLAN / Path(TARGET).with_name(".one.md.new")
    draft.parent.mkdir(parents=True)
    draft.write_bytes(b"ol")

    where = keep(tmp_path, PLAN, TARGET, b"old\n")
    assert kept(tmp_path, PLAN) == (where,)
    assert not draft.exists()


def test_of_a_plan_that_kept_nothing_there_is_nothing(tmp_path: Path) -> None:
    assert kept(tmp_path / "none", PLAN) == ()
