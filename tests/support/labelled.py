"""Builders of labelled sessions: small ones by hand, and their folders on disk."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from host.evaluation.sessions import EVENTS, LABELS, MEMORIES, Acceptable, Gold, Labels, Recorded, Recording, Stored
from recall.contracts import MemoryKind, Scope, SourceKind, Status
from tests.support.world import FAILURE, LESSON

LESSON_ID, OTHER_ID = f"mem_{1:032x}", f"mem_{2:032x}"
SOURCES = {"user": SourceKind.USER, "assistant": SourceKind.AGENT, "tool": SourceKind.TOOL}


def an_event(seq: int, type_: str, text: str = "", **fields: Any) -> Recorded:
    """`seq` seconds after noon; a call is the agent's, its result the tool's."""
    source = SourceKind.AGENT if type_ == "tool/call" else SOURCES.get(type_.split("/")[0], SourceKind.LIFECYCLE)
    given = {"turn": 1, "step": 1} | fields
    ts = f"2026-01-06T12:{seq // 60:02}:{seq % 60:02}Z"
    return Recorded(seq=seq, ts=ts, source=source, type=type_, text=text, **given)


def a_stored(memory_id: str, text: str, **fields: Any) -> Stored:
    given = {
        "kind": MemoryKind.SEMANTIC,
        "scope": Scope.WORKSPACE,
        "workspace": "shop",
        "created": "2025-11-30T12:00:00Z",
        "status": Status.ACTIVE,
    } | fields
    return Stored(id=memory_id, text=text, **given)


def some_labels(*gold: Gold, **fields: Any) -> Labels:
    empty: dict[str, Any] = {"acceptable": (), "duplicates": (), "never_reason": {}, "quiet": ()}
    return Labels(session="made", workspace="shop", gold=gold, **(empty | fields))


def a_recording(
    events: Sequence[Recorded], memories: Sequence[Stored] = (), labels: Labels | None = None, name: str = "made"
) -> Recording:
    return Recording(events=tuple(events), memories=tuple(memories), labels=labels or some_labels(), name=name)


def a_failure() -> Recording:
    """A command fails in the way that one of the memories tells of; the others are of no use, or must not be given."""
    events = [
        an_event(1, "session/start", step=0, turn=0, path="/w/shop"),
        an_event(2, "user/message", "Please have a look at the weekly report.", step=0),
        an_event(3, "assistant/message", "I will look."),
        an_event(4, "tool/call", "make integration-test", tool="shell", call_id="c1"),
        an_event(5, "tool/result", FAILURE, tool="shell", ok=False, call_id="c1"),
        an_event(6, "assistant/message", "They fail.", step=2),
        an_event(7, "tool/call", "ls reports", tool="shell", call_id="c2", step=2),
        an_event(8, "tool/result", "weekly.md", tool="shell", ok=True, call_id="c2", step=2),
        an_event(9, "assistant/message", "There it is.", step=3),
    ]
    memories = [
        a_stored(LESSON_ID, LESSON),
        a_stored(OTHER_ID, LESSON.replace("pg-fixture", "pg-old"), status=Status.SUPERSEDED),
        a_stored(f"mem_{3:032x}", LESSON.replace("pg-fixture", "redis"), workspace="blog"),
        a_stored(f"mem_{4:032x}", "The user likes short answers.", scope=Scope.USER, workspace=None),
    ]
    labels = some_labels(
        Gold(memory=LESSON_ID, window=(5, 8), why="the container is down"),
        acceptable=(Acceptable(memory=f"mem_{4:032x}", window=(2, 2)),),
        never_reason={OTHER_ID: "superseded", f"mem_{3:032x}": "other-workspace"},
        quiet=((9, 9),),
    )
    return a_recording(events, memories, labels)


def a_folder(recording: Recording, parent: Path) -> Path:
    """The recording's three files in a folder of its name."""
    folder = parent / recording.name
    folder.mkdir(parents=True)
    (folder / EVENTS).write_bytes(_lines(recording.events))
    (folder / MEMORIES).write_bytes(_lines(recording.memories))
    (folder / LABELS).write_bytes(msgspec.json.encode(recording.labels))
    return folder


def _lines(values: Sequence[object]) -> bytes:
    return b"".join(msgspec.json.encode(value) + b"\n" for value in values)
