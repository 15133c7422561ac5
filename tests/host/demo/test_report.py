"""The figures of a playing are those of its moments, held against the labels."""

from governance.contracts import AuditEntry, AuditKind
from host.demo.playing import Moment
from host.demo.report import Report
from host.evaluation.sessions import Gold, Labels, Recorded, Recording
from recall.contracts import SourceKind
from tests.support.builders import a_packet, an_item

LABELS = Labels(
    session="s",
    workspace="w",
    topic="",
    gold=(Gold(memory="m1", window=(2, 3), why="it fails"), Gold(memory="m2", window=(9, 9), why="")),
    acceptable=(),
    duplicates=(),
    never_reason={"m9": "superseded"},
    quiet=((1, 1),),
)
EVENTS = tuple(
    Recorded(seq=seq, ts="", source=SourceKind.TOOL, type="tool/result", turn=1, step=seq * 2, text="")
    for seq in (1, 2, 3)
)


def a_silence(reason: str) -> AuditEntry:
    return AuditEntry(
        audit_id=reason,
        at=0,
        session_ref="",
        agent_ref="",
        cursor=None,
        kind=AuditKind.PASS,
        outcome="silence",
        reason=reason,
    )


def test_the_summary_counts_silences_deliveries_and_judgements() -> None:
    report = Report(Recording(events=EVENTS, memories=(), labels=LABELS))
    right, wrong = (a_packet(items=(an_item(memory_id=memory_id),), rendered="é") for memory_id in ("m1", "m9"))

    report.add(Moment(event=EVENTS[0], passes=(a_silence("expired"),), packet=wrong))
    report.add(Moment(event=EVENTS[1], passes=(a_silence("expired"), a_silence("late")), packet=right))
    report.add(Moment(event=EVENTS[2]))

    summary = report.summary(seconds=1.5)
    assert (summary.events, summary.steps, summary.passes, summary.delivered) == (3, 6, 3, 2)
    assert summary.silences == {"expired": 2, "late": 1}
    assert (summary.needs, summary.hits, summary.never, summary.quiet, summary.outside) == (2, 1, 1, 1, 0)
    assert summary.bytes == 4
    assert [(given.seq, given.step, given.memories) for given in report.given] == [(1, 2, ("m9",)), (2, 4, ("m1",))]
