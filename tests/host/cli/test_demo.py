"""What the demo's screen tells: silences in stretches, packets whole, figures at the end."""

from pathlib import Path

import msgspec
import pytest

from governance.contracts import AuditEntry, AuditKind
from host.cli.demo import Screen
from host.config import locate
from host.demo.playing import Moment
from host.demo.report import Report
from host.demo.theatre import Theatre
from host.evaluation.sessions import Gold, Labels, Recorded, Recording
from tests.support.builders import a_cursor, a_packet, an_item

LABELS = Labels(
    session="d00",
    workspace="shop",
    topic="a shop",
    gold=(Gold(memory="m1", window=(3, 4), why="the build fails"),),
    acceptable=(),
    duplicates=(),
    never_reason={"m9": "superseded"},
    quiet=(),
)
RECORDING = Recording(events=(), memories=(), labels=LABELS)


def a_moment(seq: int, type_: str, *reasons: str, **fields: object) -> Moment:
    event = {"seq": seq, "ts": "", "source": "tool", "type": type_, "turn": 1, "step": seq, "text": f"text {seq}"}
    passes = tuple(
        AuditEntry(
            audit_id=f"{seq}{reason}",
            at=0,
            session_ref="",
            agent_ref="",
            cursor=None,
            kind=AuditKind.PASS,
            outcome="silence",
            reason=reason,
        )
        for reason in reasons
    )
    return Moment(event=msgspec.convert(event | fields, Recorded), passes=passes)


def told(
    capsys: pytest.CaptureFixture[str], *moments: Moment, quiet: bool = False, events: tuple[Recorded, ...] = ()
) -> str:
    report, screen = Report(msgspec.structs.replace(RECORDING, events=events)), Screen(quiet=quiet)
    for moment in moments:
        report.add(moment)
        screen.shows(moment, report)
    screen.explains(("It was quiet.",) if report.given else (), 9)
    screen.closes(report.summary(1.25))
    return capsys.readouterr().out


def test_silences_are_counted_by_reason_until_something_is_to_tell(capsys: pytest.CaptureFixture[str]) -> None:
    text = told(
        capsys,
        a_moment(1, "tool/result", "unsupported-trigger", "unsupported-trigger", "no-confident-hit"),
        a_moment(2, "user/message", "empty-signal", text="go\non"),
        a_moment(3, "tool/result", "no-confident-hit"),
    )

    stretch, prompt = text.index("2 unsupported-trigger, 1 no-confident-hit"), text.index("prompt: go on")
    assert stretch < prompt < text.index("2 events, silent: 1 empty-signal, 1 no-confident-hit")


def test_a_packet_is_shown_whole_with_its_trigger_and_what_the_labels_say(capsys: pytest.CaptureFixture[str]) -> None:
    packet = a_packet(items=(an_item(memory_id="m1"),), rendered="first line\nsecond \x1b[31mline")
    cause = a_moment(3, "tool/result", "tool-failure", tool="shell", ok=False)
    spoken = msgspec.structs.replace(cause.passes[0], outcome="packet", cursor=a_cursor(event_seq=1))

    text = told(capsys, msgspec.structs.replace(cause, passes=(spoken,), packet=packet), events=(cause.event,))

    assert "event 3, shell failed: text 3" in text
    assert "first line" in text and "second " in text and "\x1b" not in text
    assert "m1: right: the labels have it as needed here (the build fails)" in text
    assert "It was quiet." in text


def test_a_forbidden_memory_is_said_to_be_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    packet = a_packet(items=(an_item(memory_id="m9"),))

    text = told(capsys, msgspec.structs.replace(a_moment(3, "user/message"), packet=packet))

    assert "WRONG" in text and "never-list hits   1" in text


def test_the_figures_close_the_show(capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, a_moment(3, "tool/result", "late"))

    assert "1 passes: 1 silent" in text
    assert "in a gold window  no: 0 of 1 needs met in time" in text
    assert "1.2 s" in text


def test_nothing_is_said_beside_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, a_moment(3, "user/message", "late"), quiet=True) == ""


def test_the_opening_names_session_store_and_socket(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    place = Theatre(paths=locate({"HOME": str(tmp_path)}), workspace=tmp_path, files=3)

    Screen(quiet=False).opens(RECORDING, place)

    text = capsys.readouterr().out
    assert "d00: a shop" in text and "3 files" in text and "1 must never be handed over" in text
