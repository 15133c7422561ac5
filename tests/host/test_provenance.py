"""Why a record is shown, and when it happened, in words."""

import msgspec
import pytest

from host.provenance import LAST_DAY, TRIGGERS, when, why
from recall.contracts import Origin, Period, RecordState
from tests.support.builders import a_candidate, a_scored
from tests.support.clock import START

DAY = 86_400_000


@pytest.mark.parametrize(("trigger", "said"), [*TRIGGERS.items(), ("something-new", "fits the current step")])
def test_each_trigger_is_said_in_words(trigger: str, said: str) -> None:
    assert why(a_scored(origin=Origin.USER), trigger) == said


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"origin": Origin.EXTRACTED}, "noted automatically, not reviewed; "),
        ({"origin": Origin.IMPORTED}, "imported, not reviewed; "),
        ({"origin": Origin.USER, "state": RecordState.LEGACY}, "imported, not reviewed; "),
        ({"origin": Origin.REVIEWED}, ""),
    ],
)
def test_what_nobody_reviewed_says_so_first(fields: dict[str, object], said: str) -> None:
    assert why(a_scored(**fields), "prompt") == f"{said}fits the request"


def test_what_ranking_found_comes_last() -> None:
    scored = a_scored(origin=Origin.USER)
    found = msgspec.structs.replace(scored, reasons=("evidence", "answer", "in conflict with mem_2"))
    assert why(found, "prompt") == "fits the request; it answers the question; in conflict with mem_2"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"created_at": 0}, "undated"),
        ({"created_at": LAST_DAY + DAY}, "9999-12-31"),
        ({"occurred": Period(start=START, end=START + 1)}, "2026-05-28"),
        ({"occurred": Period(start=START, end=None)}, "2026-05-28"),
        ({"occurred": Period(start=START, end=START + 2 * DAY)}, "2026-05-28 to 2026-05-30"),
    ],
)
def test_a_record_says_its_days(fields: dict[str, object], said: str) -> None:
    assert when(a_candidate(**fields)) == said
