"""The daemon's answers about the review queue, as the command line reads them."""

from governance.contracts import Stage
from governance.review import Citation, QueueItem
from recall.contracts import Frozen, MemoryLocator, MemoryRecord, Millis


class Beside(Frozen, frozen=True, kw_only=True):
    """A memory that stands beside a proposal."""

    memory_id: str
    text: str
    trust: str
    created_at: Millis
    title: str | None = None


class PutAway(Frozen, frozen=True, kw_only=True):
    """An item that was said no to."""

    item_id: str
    text: str
    reason: str
    at: Millis


class Others(Frozen, frozen=True, kw_only=True):
    """What stands beside a proposal: see `host/beside.py`."""

    replaces: tuple[Beside, ...] = ()
    repeats: tuple[Beside, ...] = ()
    otherwise: tuple[Beside, ...] = ()
    put_away: tuple[PutAway, ...] = ()


class Reviewed(Frozen, frozen=True, kw_only=True):
    """An item, the memory that it is about, and what stands beside it."""

    item: QueueItem
    record: MemoryRecord | None = None
    locator: MemoryLocator | None = None
    stage: Stage | None = None
    stale: bool = False
    others: Others | None = None
    said: tuple[Citation, ...] = ()


class ReviewPage(Frozen, frozen=True, kw_only=True):
    """`total`: how many fit, on all pages."""

    items: tuple[Reviewed, ...]
    next: str | None = None
    total: int = 0


class Decided(Frozen, frozen=True, kw_only=True):
    """What a decision did, and the item after it. `trust`: how the memory is held now."""

    item: QueueItem
    memory_id: str | None = None
    stage: Stage | None = None
    redacted: tuple[str, ...] = ()
    trust: str | None = None


class Added(Frozen, frozen=True, kw_only=True):
    """`added`: false when the same is there already, or was said no to."""

    item_id: str
    added: bool
