"""The bench programs: each figure that is promised has one, and the numbers are computed as they say."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from host.namespace import INDEX_FILE
from tests.bench import corpus, recorded
from tests.bench.__main__ import BENCHES, main, parted
from tests.bench.bench_recall import sizes
from tests.bench.load import lesson, turn
from tests.bench.measure import interval, of, percentile
from tests.bench.quick_encoder import QuickEncoder
from tests.bench.recall_index import building, looking_up, opening, refreshing


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
    assert interval([1.0, 2.0, 3.0]) == "1.00 … 3.00 (range)"
    assert interval([5.0] * 8) == "5.00 … 5.00"


def test_the_load_is_the_same_at_every_run_and_every_lesson_differs() -> None:
    first, again = turn("s", 3, "/p"), turn("s", 3, "/p")
    assert first["payload"] == again["payload"]
    assert 600 < len(first["payload"]["text"]) < 900
    assert len({lesson(number) for number in range(200)}) == 200


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ([], [])),
        (["--json", "pass", "idle"], (["pass", "idle"], ["--json"])),
        (["recall", "--records", "1000,5", "--json"], (["recall"], ["--records", "1000,5", "--json"])),
        (["--records=7", "recall"], (["recall"], ["--records=7"])),
    ],
)
def test_an_option_of_a_bench_keeps_its_value(arguments: list[str], expected: tuple[list[str], list[str]]) -> None:
    assert parted(arguments) == expected


def test_sizes_are_given_as_numbers_with_commas() -> None:
    assert sizes("1000,100000") == [1000, 100000]
    assert sizes("") == []


def test_the_made_up_store_is_the_same_at_every_run_and_no_record_is_another(tmp_path: Path) -> None:
    texts = list(corpus.texts(60))
    corpus.write(tmp_path / "m", 60, per_file=25)

    assert texts == list(corpus.texts(60)) and len(set(texts)) == 60
    assert sum(path.read_text().count("<!-- memory:") for path in (tmp_path / "m").rglob("*.md")) == 60
    assert texts[30] in corpus.file_of(tmp_path / "m", 30, per_file=25).read_text()


def test_a_needle_event_holds_some_words_of_its_record_and_is_long() -> None:
    text = next(corpus.texts(1))
    event = corpus.needle(text, 1)

    hidden = [word for word in text.split() if word in event.split()]
    assert 0.2 < len(hidden) / len(text.split()) < 0.9 and 1_500 < len(event) < 4_500
    assert event == corpus.needle(text, 1) != corpus.needle(text, 2)


def test_recorded_events_are_real_and_long() -> None:
    events = recorded.long_events()

    assert len(events) > 30 and len(set(events)) == len(events)
    assert all(recorded.LEAST <= len(text) <= recorded.MOST for _, text in events)
    assert "error" in recorded.words()[:200] and "the" not in recorded.words()


def test_made_up_vectors_have_length_one_and_a_query_has_the_models_own() -> None:
    encoder = QuickEncoder()

    made, again = encoder.encode(["a", "b"]), encoder.encode(["a", "b"])
    asked, near = encoder.encode(["the build fails"]), encoder.encode(["a failing build"])

    assert made.shape == (2, 512) and np.allclose(np.linalg.norm(made, axis=1), 1) and np.array_equal(made, again)
    assert float(asked[0] @ near[0]) > 0.5


async def test_the_recall_bench_builds_opens_asks_and_edits_a_small_store(tmp_path: Path) -> None:
    data, memory = tmp_path / "data", tmp_path / "data" / "memory" / "user"
    corpus.write(memory, 60)

    build = await building(data, memory, 60)
    opened = await opening(data, memory, 60)
    asked = await looking_up(data, memory, 60, events=6)
    edit = await refreshing(data, memory, 60)

    assert (build.count, build.unit) == (60, "records/s") and (data / INDEX_FILE).exists()
    assert opened.bound == "< 50"
    assert [figure.count for figure in asked] == [
        3 * (6 + len(recorded.long_events())),
        18,
        3 * len(recorded.long_events()),
    ]
    assert asked[1].notes["needle among the first ten"] == "1.00 of 6"
    assert edit.count == 20
