"""Each memory handed over gets the first verdict that fits, and the figures are those worked out by hand."""

import msgspec
import pytest

from host.evaluation.scoring import Judge, Row, Scored, Verdict, f_half, figures, of_set
from host.evaluation.sessions import Acceptable, Gold, Overlap, Recording
from tests.support.labelled import a_recording, a_stored, an_event, some_labels

ONE, AGAIN, TWO, FINE, NEVER, IDLE = (f"mem_{number:032x}" for number in range(1, 7))
STORE = tuple(a_stored(one, f"text of {one}") for one in (ONE, AGAIN, TWO, FINE, NEVER, IDLE))
GOLD = (
    Gold(memory=ONE, window=(5, 8), also=((12, 14),), weight=2.0, overlap=Overlap.HIGH, why="the port"),
    Gold(memory=TWO, window=(9, 16), weight=0.5, overlap=Overlap.LOW, lang="zh"),
)
LABELS = some_labels(
    *GOLD,
    acceptable=(Acceptable(memory=FINE, window=(3, 4)),),
    duplicates=((ONE, AGAIN),),
    never_reason={NEVER: "superseded"},
    quiet=((17, 20),),
)


def a_session(*, compacted: int = 0, name: str = "made") -> Recording:
    """Twenty events, one step each."""
    kinds = {compacted: "session/compact"}
    events = [an_event(seq, kinds.get(seq, "assistant/message"), "said", step=seq) for seq in range(1, 21)]
    return a_recording(events, STORE, LABELS, name)


def judged(*given: tuple[int, str], compacted: int = 0) -> Scored:
    rows = [Row(session="made", seq=seq, memories=(memory,), bytes=100) for seq, memory in given]
    return Judge(a_session(compacted=compacted)).judge(rows)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([(5, ONE)], [Verdict.HIT]),
        ([(8, AGAIN)], [Verdict.HIT]),  # its paraphrase will do
        ([(13, ONE)], [Verdict.HIT]),  # in a further window
        ([(4, ONE)], [Verdict.OUTSIDE]),  # too early
        ([(4, ONE), (6, ONE)], [Verdict.OUTSIDE, Verdict.HIT]),
        ([(5, ONE), (6, AGAIN)], [Verdict.HIT, Verdict.DUPLICATE]),
        ([(1, IDLE), (2, IDLE)], [Verdict.OUTSIDE, Verdict.DUPLICATE]),
        ([(3, FINE)], [Verdict.NEUTRAL]),
        ([(5, FINE)], [Verdict.OUTSIDE]),
        ([(3, FINE), (4, FINE)], [Verdict.NEUTRAL, Verdict.DUPLICATE]),
        ([(5, NEVER), (6, NEVER)], [Verdict.NEVER, Verdict.NEVER]),
        ([(5, "mem_elsewhere")], [Verdict.UNKNOWN]),
    ],
)
def test_the_first_verdict_that_fits_is_given(given: list[tuple[int, str]], expected: list[Verdict]) -> None:
    assert [one.verdict for one in judged(*given).judged] == expected


@pytest.mark.parametrize(("seq", "expected"), [(7, Verdict.NEUTRAL), (10, Verdict.OUTSIDE)])
def test_after_a_compaction_a_met_need_may_be_met_again(seq: int, expected: Verdict) -> None:
    assert [one.verdict for one in judged((5, ONE), (seq, ONE), compacted=6).judged] == [Verdict.HIT, expected]


def test_rows_are_taken_in_the_order_of_the_events() -> None:
    assert [one.verdict for one in judged((6, AGAIN), (5, ONE)).judged] == [Verdict.HIT, Verdict.DUPLICATE]


def test_the_lead_of_a_hit_is_what_the_session_still_took() -> None:
    """Until the end of the window that was hit, or of the main one, if that is later."""
    (main,), (further,) = judged((6, ONE)).judged, judged((13, ONE)).judged

    assert (main.lead, main.possible, main.why) == (2, 3, "the port")
    assert (further.lead, further.possible) == (1, 2)


def test_a_row_after_no_event_is_an_error() -> None:
    with pytest.raises(ValueError, match="made: no event 21"):
        judged((21, ONE))


def test_the_figures_are_those_worked_out_by_hand() -> None:
    found = figures([judged((3, FINE), (4, ONE), (6, ONE), (7, NEVER), (18, IDLE))])

    assert (found.hits, found.labels, found.neutral, found.injections) == (1, 2, 1, 5)
    assert found.false == {"never": 1, "outside": 2} and found.never_by_reason == {"superseded": 1}
    assert (found.precision, found.recall) == (0.25, 0.8)
    assert found.f_half == round(1.25 * 0.25 * 0.8 / (0.25 * 0.25 + 0.8), 3)
    assert found.recall_by_class == {"high": 1.0, "medium": None, "low": 0.0, "zh": 0.0}
    assert (found.mean_lead_steps, found.lead_share) == (2.0, round(2 / 3, 3))
    assert (found.false_per_100_steps, found.quiet_violations, found.duplicates) == (15.0, 1, 0)
    assert (found.bytes_per_session, found.sessions, found.steps) == (500, 1, 20)


def test_a_set_is_judged_as_one_and_by_the_mean_of_its_sessions() -> None:
    good, silent = judged((6, ONE), (9, TWO)), judged()

    found = of_set([good, silent])

    assert (found.f_half, found.f_half_macro) == (round(f_half(1.0, 0.5), 3), 0.5)
    assert (found.recall, found.sessions, found.bytes_per_session) == (0.5, 2, 100)


def test_silence_has_no_precision_and_no_score() -> None:
    found = figures([judged()])

    assert (found.f_half, found.precision, found.mean_lead_steps, found.lead_share) == (0.0, None, None, 0.0)


def test_the_names_are_those_of_the_format() -> None:
    written = msgspec.json.decode(msgspec.json.encode(of_set([judged((6, ONE))])))

    assert {"f0.5", "f0.5_macro", "false_per_100_steps", "recall_by_class", "never_by_reason"} <= set(written)
    assert "f0.5_macro" not in msgspec.json.decode(msgspec.json.encode(figures([judged()])))
