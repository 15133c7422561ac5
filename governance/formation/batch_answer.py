"""What a model found in a window, judged memory by memory (formation.md 6.4). Pure.

The answer is a list of segments, each with a scene and its memories. One that cannot be taken is rejected alone. A
memory names the messages that it rests on; what it says in numbers, versions, paths and names must stand in one of
them. The engine drops nothing by priority, but no window gives more than ten.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, tzinfo

from governance.formation.batch_types import STANDING, Metadata, metadata_of, priority_of, type_of
from governance.formation.batch_windows import Window
from governance.formation.claims import near, same
from governance.formation.contracts import MemoryType, RejectionCode
from governance.formation.dates import day, relative_in, resolved
from governance.formation.quality import USER
from governance.formation.support import unsupported
from governance.review import ItemFlag
from governance.screen import is_instruction_like, secrets
from recall.contracts import Frozen, Millis

MOST = 10  # memories of a window
MOST_JUDGED = 40  # of an answer; more of them are none that somebody chose
LONGEST, LONGEST_SCENE = 2_000, 120  # characters
UNNAMED = "unnamed"
_MEMBER = re.compile(r"[a-z]{2,20}(?:_[a-z]{2,20}){0,3}")
COLLAPSED = "collapsed"  # equal to another one of the window


class Proposed(Frozen, frozen=True, kw_only=True):
    """A memory that may be stored. `sources`: messages by name, in the order of the window. `flags`: why it needs a
    person. `start`, `end`: of an activity."""

    content: str
    type: MemoryType
    priority: int
    scene: str
    sources: tuple[str, ...]
    flags: tuple[ItemFlag, ...] = ()
    metadata: dict[str, str] = {}
    start: Millis | None = None
    end: Millis | None = None


class Read(Frozen, frozen=True, kw_only=True):
    """What became of an answer. `rejected`: how many, by code. `logged`: what else was not taken as it was said, and no
    words of the material. `scene`: the last one, for the next window. `covered`: messages by name that a whole segment
    speaks of."""

    proposed: tuple[Proposed, ...] = ()
    rejected: dict[str, int] = {}
    logged: tuple[str, ...] = ()
    scene: str = ""
    covered: frozenset[str] = frozenset()


def read(segments: Iterable[object], window: Window, zone: tzinfo = UTC) -> Read:
    """Judge an answer. `zone`: of whoever wrote the messages."""
    reader = _Reader(window, zone)
    for segment in segments:
        reader.segment(segment)
    return reader.result()


def collapsed(proposed: Sequence[Proposed], order: Sequence[str]) -> tuple[Proposed, ...]:
    """Those that say the same as one: the first one's words, the sources of all. `order`: of messages by name."""
    kept: list[Proposed] = []
    for one in proposed:
        for place, other in enumerate(kept):
            if same(one.content, other.content) or near(one.content, other.content):
                kept[place] = _both(other, one, order)
                break
        else:
            kept.append(one)
    return tuple(kept)


class _Reader:
    """One answer, as far as it was read."""

    def __init__(self, window: Window, zone: tzinfo) -> None:
        self._shown = window.shown
        self._new = frozenset(one.name for one in window.new)
        self._zone = zone
        self._days: dict[str, frozenset[str]] = {}
        self._proposed: list[Proposed] = []
        self._rejected: list[RejectionCode] = []
        self._logged: list[str] = []
        self._covered: set[str] = set()
        self._scene = ""
        self._count = 0

    def segment(self, said: object) -> None:
        """A segment, or a memory that stands without one."""
        if not isinstance(said, Mapping):
            self._reject(RejectionCode.SCHEMA)
            return
        self._scene = _line(said.get("scene_name"), LONGEST_SCENE) or UNNAMED
        around = self._known(said.get("message_ids"))
        self._covered.update(around)
        memories = said.get("memories")
        if memories is None and "content" in said:
            memories = [said]
        if not isinstance(memories, list):
            if memories is not None:
                self._reject(RejectionCode.SCHEMA)
            return
        for memory in memories:
            self._memory(memory, around)

    def result(self) -> Read:
        """Everything that was read, the ten that matter most."""
        kept = collapsed(self._proposed, tuple(self._shown))
        if len(kept) < len(self._proposed):
            self._logged.append(f"{COLLAPSED} {len(self._proposed) - len(kept)}")
        ranked = sorted(range(len(kept)), key=lambda place: (-_weight(kept[place]), place))[:MOST]
        for place in range(len(kept)):
            if place not in ranked:
                self._reject(RejectionCode.OVER_CAP)
        codes = sorted(set(self._rejected))
        return Read(
            proposed=tuple(kept[place] for place in sorted(ranked)),
            rejected={str(code): self._rejected.count(code) for code in codes},
            logged=tuple(self._logged),
            scene=self._scene,
            covered=frozenset(self._covered),
        )

    def _memory(self, said: object, around: Sequence[str]) -> None:
        self._count += 1
        if self._count > MOST_JUDGED:
            self._reject(RejectionCode.OVER_CAP)
            return
        content = said.get("content") if isinstance(said, Mapping) else None
        text = _sound(content).strip() if isinstance(content, str) else ""
        if not isinstance(said, Mapping) or not 0 < len(text) <= LONGEST:
            self._reject(RejectionCode.SCHEMA)
            return
        type_ = type_of(said.get("type"))
        if type_ is None:
            self._reject(RejectionCode.UNKNOWN_TYPE)
            return
        named = said.get("source_message_ids")
        sources = self._known(named) if named else tuple(around)
        self._covered.update(sources)
        refused = self._refused(text, sources)
        if refused is not None:
            self._reject(refused)
            return
        metadata = metadata_of(said.get("metadata"), type_, self._zone)
        self._log(metadata.dropped)
        self._propose(text, type_, priority_of(said.get("priority"), type_), (sources, metadata))

    def _propose(self, text: str, type_: MemoryType, priority: int, rest: tuple[tuple[str, ...], Metadata]) -> None:
        sources, metadata = rest
        whole = "\n".join((text, self._scene, *metadata.values.values()))
        if secrets(whole):
            self._reject(RejectionCode.SECRET)
            return
        cited = self._completed(text, sources)
        if cited is None:
            self._reject(RejectionCode.UNSUPPORTED_TOKEN)
            return
        self._proposed.append(
            Proposed(
                content=text,
                type=type_,
                priority=priority,
                scene=self._scene,
                sources=cited,
                flags=self._flags(whole, cited),
                metadata={name: _sound(value) for name, value in metadata.values.items()},
                start=metadata.start,
                end=metadata.end,
            )
        )

    def _refused(self, text: str, sources: Sequence[str]) -> RejectionCode | None:
        if not sources:
            return RejectionCode.UNKNOWN_MESSAGE
        if not self._new.intersection(sources):
            return RejectionCode.BACKGROUND_ONLY
        return RejectionCode.RELATIVE_DATE if relative_in(text) else None

    def _completed(self, text: str, sources: tuple[str, ...]) -> tuple[str, ...] | None:
        """The sources, and those messages that hold a number or a name of the text that these do not; None: nobody
        said it."""
        cited = list(sources)
        missing = self._missing(text, cited)
        if missing and self._missing(text, list(self._shown)):
            return None
        for name in self._shown:
            if not missing:
                break
            if name not in cited and len(less := self._missing(text, [*cited, name])) < len(missing):
                cited.append(name)
                missing = less
        return None if missing else self._in_order(cited)

    def _missing(self, text: str, names: Sequence[str]) -> tuple[str, ...]:
        dates = [date for name in names for date in self._dates(name)]
        return unsupported(text, [self._shown[name].record.text for name in names], dates)

    def _dates(self, name: str) -> frozenset[str]:
        """The days that a message means, and on which it was written: the model is told that."""
        known = self._days.get(name)
        if known is None:
            record = self._shown[name].record
            written = (day(record.at, zone).split()[0] for zone in (UTC, self._zone))
            known = self._days[name] = resolved(record.text, record.at, self._zone).union(written)
        return known

    def _flags(self, whole: str, cited: Sequence[str]) -> tuple[ItemFlag, ...]:
        messages = [self._shown[name] for name in cited]
        flags = {
            ItemFlag.QUARANTINED: is_instruction_like(whole) or any(one.suspect for one in messages),
            ItemFlag.TRUNCATED_EVIDENCE: any(one.record.truncated for one in messages),
            ItemFlag.DERIVED: all(one.record.role != USER for one in messages),
        }
        return tuple(flag for flag, holds in flags.items() if holds)

    def _known(self, names: object) -> tuple[str, ...]:
        """The messages of the window among these names, in its order."""
        said = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
        return self._in_order(said)

    def _in_order(self, names: Iterable[str]) -> tuple[str, ...]:
        wanted = frozenset(names)
        return tuple(name for name in self._shown if name in wanted)

    def _log(self, dropped: Iterable[str]) -> None:
        names = [name if _MEMBER.fullmatch(name) else "?" for name in dropped]  # a model may put anything there
        self._logged += [f"dropped-metadata {self._count - 1} {name}" for name in names]

    def _reject(self, code: RejectionCode) -> None:
        self._rejected.append(code)


def _both(one: Proposed, other: Proposed, order: Sequence[str]) -> Proposed:
    sources = frozenset((*one.sources, *other.sources))
    more_telling = one if _weight(one) >= _weight(other) else other
    return Proposed(
        content=one.content,
        type=one.type,
        priority=more_telling.priority if one.type is other.type else one.priority,
        scene=one.scene,
        sources=tuple(name for name in order if name in sources),
        flags=tuple(dict.fromkeys((*one.flags, *other.flags))),
        metadata={**other.metadata, **one.metadata} if one.type is other.type else one.metadata,
        start=min((at for at in (one.start, other.start) if at is not None), default=None),
        end=max((at for at in (one.end, other.end) if at is not None), default=None),
    )


def _weight(one: Proposed) -> int:
    """What it counts when there are too many: a standing order most."""
    return 101 if one.priority == STANDING else one.priority


def _line(said: object, longest: int) -> str:
    return " ".join(_sound(said).split())[:longest].strip() if isinstance(said, str) else ""


def _sound(text: str) -> str:
    """The text without halves of characters: they can be neither stored nor hashed."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
