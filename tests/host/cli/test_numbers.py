"""Numbers as lines: a block a name, durations in milliseconds."""

from host.cli.numbers import lines

DURATIONS = {"gate": {"count": 100, "sum": 5_000, "buckets": [[100, 98], [250, 1], [500, 1], [None, 0]]}}


def test_a_number_is_a_line_and_what_is_counted_by_something_a_block() -> None:
    assert list(lines({"entries": 7, "passes": {"silence cooldown": 3}, "drops": {}})) == [
        "entries: 7",
        "passes:",
        "  silence cooldown: 3",
    ]


def test_what_is_nested_goes_by_its_whole_path() -> None:
    assert list(lines({"now": {"queued": {"passes": 1}, "sessions": {"": 2}}})) == [
        "now:",
        "  queued passes: 1",
        "  sessions: 2",
    ]


def test_durations_tell_the_mean_and_what_nearly_all_keep() -> None:
    assert list(lines({"latencyMicros": DURATIONS})) == [
        "latency:",
        "  gate: 100 times, 0.05 ms on average, 99 % within 0.25 ms",
    ]
    slow = {"recall": {"count": 1, "sum": 2_000_000, "buckets": [[100, 0], [None, 1]]}}
    assert list(lines({"latencyMicros": slow}))[1].endswith("99 % within more than a second")
    assert list(lines({"latencyMicros": {}})) == []
