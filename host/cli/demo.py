"""`demo`: a recorded coding session, played through a real daemon, on the screen."""

import time
from collections import Counter
from pathlib import Path

import click

from governance.explain import explain
from host.cli.answers import Explained
from host.cli.output import count_of, json_option, say, show_json
from host.cli.tables import one_line, print_panel
from host.clock import SystemClock
from host.demo.judging import Judged, Judgement
from host.demo.playing import Moment, play
from host.demo.recording import SHIPPED
from host.demo.report import SILENCE, Report, Summary
from host.demo.theatre import Theatre, theatre
from host.evaluation.sessions import Recorded, Recording, load
from recall.contracts import EventType

CARRIED = "carry-over"  # the trigger of a pass that only renews a waiting packet
SPEAKERS: dict[str, str] = {EventType.USER_MESSAGE: "the user", EventType.ASSISTANT_MESSAGE: "the agent"}
SAID = {
    Judgement.HIT: "right: the labels have it as needed here",
    Judgement.AGAIN: "needed here, and handed over before",
    Judgement.ACCEPTABLE: "useful here, though not needed",
    Judgement.OUTSIDE: "not what the labels ask for here",
    Judgement.NEVER: "WRONG: it must never be handed over",
}


@click.command()
@click.option(
    "--pace", type=click.FloatRange(0, 10), default=0.0, help="Seconds to wait after each event, to read along."
)
@click.option(
    "--recording",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=SHIPPED,
    help="Another recorded session: a folder with events.jsonl, memories.jsonl and labels.json.",
)
@json_option
def demo(pace: float, folder: Path, as_json: bool) -> None:
    """Play a recorded coding session and show what it would have been told.

    A real session is sent, event by event, to a real daemon on a temporary socket. The store holds what was known
    before, and much that is of no use: other workspaces, old versions, contradictions, texts that pose as orders.
    The screen shows the silences with their reasons, and every packet that would have entered the next request.
    Nothing is left behind, and no key or network is needed.

    \b
    Example:
      remora-pre demo
    """
    clock = SystemClock()
    begun = clock.micros()
    recording = load(folder)
    report, screen = Report(recording), Screen(quiet=as_json)
    with theatre(recording) as place:
        screen.opens(recording, place)
        for moment in play(recording, recording.labels.session, place.workspace, place.ask):
            report.add(moment)
            screen.shows(moment, report)
            time.sleep(pace)
        explained = _explained(report, place)
        screen.explains(explained, recording.events[-1].step)
    summary = report.summary((clock.micros() - begun) / 1_000_000)
    if as_json:
        show_json({"summary": summary, "deliveries": report.given, "judged": report.judged(), "explained": explained})
    else:
        screen.closes(summary)


def _explained(report: Report, place: Theatre) -> tuple[str, ...]:
    """The audit's own words on the first packet that was right, or on the first one, from the pass to the delivery."""
    right = next((each.seq for each in report.judged() if each.judgement is Judgement.HIT), None)
    chosen = next((given for given in report.given if right in (None, given.seq)), None)
    if chosen is None:
        return ()
    where = {"sessionId": report.labels.session, "step": chosen.step}
    entries = place.ask("audit.explain", where, Explained).entries
    return tuple(explain([entry for entry in entries if entry.packet is not None]))


class Screen:
    """Prints a playing. Silences are gathered and told once a stretch."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._silences: Counter[str] = Counter()
        self._events = 0
        self._from_step = 0
        self._judged = 0

    def opens(self, recording: Recording, place: Theatre) -> None:
        labels = recording.labels
        names = {memory.workspace for memory in recording.memories if memory.workspace}
        self._say(f"session  {labels.session}: {labels.topic}")
        self._say(f"store    {len(recording.memories)} memories of {len(names)} workspaces, in {place.files} files;")
        self._say(
            f"         {len(labels.gold)} of them are needed, {len(labels.never_reason)} must never be handed over"
        )
        self._say(f"daemon   on {place.paths.socket}")

    def shows(self, moment: Moment, report: Report) -> None:
        """One event: a prompt and a packet are shown, the rest is counted."""
        event = moment.event
        if event.type in (EventType.USER_MESSAGE, EventType.SESSION_COMPACT):
            self._stretch(event.step)
            self._say(f"\n{'prompt' if event.type == EventType.USER_MESSAGE else 'compaction'}: {one_line(event.text)}")
        self._events += 1
        self._silences.update(entry.reason for entry in moment.passes if entry.outcome == SILENCE)
        if moment.packet is None:
            return
        self._stretch(event.step)
        for cause in causes(moment, report.recording):
            self._say(f"event {cause.seq}, {said_by(cause)}: {one_line(cause.text)}")
        if not self._quiet:
            print_panel(f"handed over after step {event.step}, for the next request", moment.packet.rendered)
        fresh = report.judged()[self._judged :]
        self._judged += len(fresh)
        for each in fresh:
            self._say(f"  {each.memory_id}: {_verdict(each)}")

    def explains(self, lines: tuple[str, ...], last_step: int) -> None:
        self._stretch(last_step)
        if lines:
            self._say("\nThe audit on the first one that was right:")
            for line in lines:
                self._say(f"  {line}")

    def closes(self, summary: Summary) -> None:
        silent = sum(summary.silences.values())
        self._say(f"\n{summary.steps} steps, {summary.events} events, {summary.passes} passes: {silent} silent")
        self._say(f"{count_of(summary.delivered, 'packet')} handed over, {summary.bytes} bytes in all")
        met = "yes" if summary.hits else "no"
        self._say(f"  in a gold window  {met}: {summary.hits} of {summary.needs} needs met in time")
        self._say(f"  other             {summary.acceptable} useful, {summary.outside + summary.again} not asked for")
        self._say(f"  never-list hits   {summary.never}")
        self._say(f"  wall time         {summary.seconds:.1f} s; the daemon is stopped and its folder gone")

    def _stretch(self, step: int) -> None:
        """Tell the silences since the last stretch on one line."""
        if self._silences:
            reasons = ", ".join(f"{count} {reason}" for reason, count in self._silences.most_common())
            self._say(f"  steps {self._from_step} to {step}, {self._events} events, silent: {reasons}")
        self._silences.clear()
        self._events = 0
        self._from_step = step

    def _say(self, text: str) -> None:
        if not self._quiet:
            say(text)


def causes(moment: Moment, recording: Recording) -> list[Recorded]:
    """The events whose passes made the packet. The session is alone in its log, so its n-th event has eventSeq n."""
    made = [entry for entry in moment.passes if entry.outcome != SILENCE and entry.trigger != CARRIED]
    places = [entry.cursor.event_seq - 1 for entry in made if entry.cursor is not None]
    return [recording.events[place] for place in places if place < len(recording.events)]


def said_by(event: Recorded) -> str:
    """Who said it, for people."""
    if event.type == EventType.TOOL_RESULT:
        return f"{event.tool} {'failed' if event.ok is False else 'said'}"
    return SPEAKERS.get(event.type, event.type)


def _verdict(judged: Judged) -> str:
    said = SAID[judged.judgement]
    return f"{said} ({judged.why})" if judged.why else said
