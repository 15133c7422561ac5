"""What goes on is told as files of files, and not told any more when it is over."""

import pytest

from recall.work import Progress, Work


def test_work_is_counted_while_it_goes_on() -> None:
    work = Work()
    assert work.progress() is None

    with work.of(10):
        work.did(4)
        assert work.progress() == Progress(stage="indexing", done=4, total=10)
        with work.of(5):
            assert work.progress() == Progress(stage="indexing", done=4, total=15)
        work.did(40)
        assert work.progress() == Progress(stage="indexing", done=15, total=15)

    assert work.progress() is None


def test_work_that_fails_is_over() -> None:
    work = Work("rebuilding")

    with pytest.raises(RuntimeError), work.of(1):
        raise RuntimeError

    assert work.progress() is None
    with work.of(2):
        assert work.progress() == Progress(stage="rebuilding", done=0, total=2)
