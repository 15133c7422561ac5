"""What came of one playing: collected while it goes on, judged at the end. Pure."""

from collections import Counter
from dataclasses import dataclass, field

from host.demo.judging import Judged, Judgement, judge
from host.demo.playing import Moment
from host.evaluation.sessions import Labels, Recording
from recall.contracts import Frozen

SILENCE = "silence"


class Given(Frozen, frozen=True, kw_only=True):
    """One packet handed over: after event `seq`, so that it entered the request that followed `step`."""

    seq: int
    step: int
    packet_id: str
    memories: tuple[str, ...]
    bytes: int
    rendered: str


class Summary(Frozen, frozen=True, kw_only=True):
    """The figures of a playing, held against the labels."""

    session: str
    events: int
    steps: int
    passes: int
    silences: dict[str, int]
    delivered: int
    needs: int  # gold labels of the session
    hits: int
    acceptable: int
    outside: int
    again: int
    never: int
    quiet: int
    bytes: int
    seconds: float


@dataclass(slots=True)
class Report:
    """Grows with each moment."""

    recording: Recording
    silences: Counter[str] = field(default_factory=Counter)
    passes: int = 0
    given: list[Given] = field(default_factory=list)

    def add(self, moment: Moment) -> None:
        """Count a moment's passes, and keep what it handed over."""
        self.passes += len(moment.passes)
        self.silences.update(entry.reason for entry in moment.passes if entry.outcome == SILENCE)
        if moment.packet is not None and moment.packet.items:
            self.given.append(
                Given(
                    seq=moment.event.seq,
                    step=moment.event.step,
                    packet_id=moment.packet.packet_id,
                    memories=tuple(item.memory_id for item in moment.packet.items),
                    bytes=len(moment.packet.rendered.encode("utf-8")),
                    rendered=moment.packet.rendered,
                )
            )

    def judged(self) -> tuple[Judged, ...]:
        """Every memory handed over, in order, with what the labels say."""
        return judge(self.labels, ((given.seq, given.memories) for given in self.given))

    @property
    def labels(self) -> Labels:
        return self.recording.labels

    def summary(self, seconds: float) -> Summary:
        """The figures; `seconds` is the wall time of the whole demo."""
        judged = self.judged()
        counts = Counter(each.judgement for each in judged)
        events = self.recording.events
        return Summary(
            session=self.labels.session,
            events=len(events),
            steps=events[-1].step if events else 0,
            passes=self.passes,
            silences=dict(self.silences.most_common()),
            delivered=len(self.given),
            needs=len(self.labels.gold),
            hits=counts[Judgement.HIT],
            acceptable=counts[Judgement.ACCEPTABLE],
            outside=counts[Judgement.OUTSIDE],
            again=counts[Judgement.AGAIN],
            never=counts[Judgement.NEVER],
            quiet=sum(each.quiet for each in judged),
            bytes=sum(given.bytes for given in self.given),
            seconds=seconds,
        )
