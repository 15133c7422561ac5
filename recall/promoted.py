"""An entry that a repository keeps, as a record (team.md 11). Pure.

What its front matter says for readers of the file stays there: recall needs what it is, whether it stands, and when it
was. In a repository that nobody trusts its priority is a stranger's wish, and left out.
"""

from datetime import UTC, datetime

from recall.contracts import MemoryRecord, Millis, Origin, Period, Status
from recall.markers import FileHome
from recall.team_entry import KINDS, Entry


def record_of(entry: Entry, home: FileHome) -> MemoryRecord:
    """The record that an entry is, its text still empty."""
    days = [_start_of(day) for day in entry.occurred]
    return MemoryRecord(
        memory_id=entry.id,
        anchor_id=f"memory:{entry.id}",
        kind=KINDS[entry.type],
        scope=home.scope,
        text="",
        created_at=days[-1] if days else 0,
        tags=(entry.scene,) if entry.scene else (),
        status=Status.ACTIVE if entry.status == "approved" else Status.DEPRECATED,
        superseded_by=entry.superseded_by,
        origin=home.origin,
        priority=entry.priority if home.origin is Origin.REVIEWED else None,
        occurred=Period(start=days[0], end=days[-1] if len(days) > 1 else None) if days else None,
        promoted=True,
    )


def _start_of(day: str) -> Millis:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 1000
