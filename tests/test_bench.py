"""The bench programs: each figure that is promised has one, and the numbers are computed as they say."""

import importlib

import pytest

from tests.bench.__main__ import BENCHES, main
from tests.bench.bench_hook import _interval
from tests.bench.load import lesson, turn
from tests.bench.measure import of, percentile


@pytest.mark.promise("benches-exist")
@pytest.mark.parametrize("name", BENCHES)
def test_a_bench_states_what_was_promised_and_how_to_run_it(name: str) -> None:
    module = importlib.import_module(f"tests.bench.bench_{name}")
    assert callable(module.measure)
    assert f"python -m tests.bench.bench_{name} [--json]" in module.__doc__


def test_an_unknown_bench_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nonesuch"]) == 2
    assert "nonesuch" in capsys.readouterr().err


@pytest.mark.parametrize(("share", "expected"), [(0.5, 50), (0.99, 99), (1.0, 100), (0.001, 1)])
def test_a_percentile_is_the_smallest_value_that_covers_its_share(share: float, expected: int) -> None:
    assert percentile([float(n) for n in range(100, 0, -1)], share) == expected


def test_a_figure_of_many_runs_has_median_and_tail() -> None:
    figure = of("wait", "ms", [1.0, 2.0, 30.0])
    assert (figure.median, figure.p99, figure.count) == (2.0, 30.0, 3)


def test_an_interval_of_a_median_encloses_it() -> None:
    assert _interval([1.0, 2.0, 3.0]) == "1.00 … 3.00 (range)"
    assert _interval([5.0] * 8) == "5.00 … 5.00"


def test_the_load_is_the_same_at_every_run_and_every_lesson_differs() -> None:
    first, again = turn("s", 3, "/p"), turn("s", 3, "/p")
    assert first["payload"] == again["payload"]
    assert 600 < len(first["payload"]["text"]) < 900
    assert len({lesson(number) for number in range(200)}) == 200
