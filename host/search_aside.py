"""What a search finds aside when a person asks for all: records that are handed to nobody, each with why, and what
waits in the review queue and has no record yet.
"""

from collections.abc import Sequence

from governance.formation.queue import QueueFilter
from governance.review import QueueItem, State
from host.parts import Parts
from recall import survey
from recall.analyzer import distinct
from recall.contracts import Frozen, MemoryRecord, RuntimeScope
from recall.errors import IndexFault
from recall.lookup import View

SHARE = 0.5  # of the terms that are asked for
MOST_READ = 2_000  # items that are looked through, the newest
PAGE = 500
ASIDE = (State.PENDING, State.DEFERRED, State.STAGED, State.ARCHIVED)


class Aside(Frozen, frozen=True, kw_only=True):
    """`id`: of a memory, or of an item of the review queue. `reason`: why it is handed to nobody."""

    id: str
    reason: str
    text: str
    title: str | None = None


async def aside(parts: Parts, terms: Sequence[str], scope: RuntimeScope, limit: int) -> tuple[Aside, ...]:
    """At most `limit` of each sort, the best fitting records and the newest items."""
    records = await _records(parts, terms, scope)
    return (*records[:limit], *(await _items(parts, terms, scope))[:limit])


async def _records(parts: Parts, terms: Sequence[str], scope: RuntimeScope) -> list[Aside]:
    view = View(scope=scope, now=parts.clock.now())
    try:
        left = await parts.library.survey(lambda connection: survey.left_out(connection, terms, view))
    except IndexFault:
        left = ()
    reasons = {one.memory_id: str(one.reason) for one in left}
    marks = parts.marks
    for memory_id, reason in (
        *((one, "corrected") for one in marks.corrected),
        *((one, "quarantined") for one in marks.quarantined),
    ):
        reasons.setdefault(memory_id, reason)
    found = [(reason, await parts.library.get(memory_id, scope)) for memory_id, reason in reasons.items()]
    records = [(reason, one[0]) for reason, one in found if one is not None]
    return [_of_record(record, reason) for reason, record in records if _fits(terms, record.title, record.text)]


async def _items(parts: Parts, terms: Sequence[str], scope: RuntimeScope) -> list[Aside]:
    workspaces = (scope.workspace, "") if scope.workspace else ("",)
    wanted = QueueFilter(states=ASIDE, workspaces=workspaces, limit=PAGE)
    found: list[Aside] = []
    for _ in range(MOST_READ // PAGE):
        page = await parts.queue.list(wanted)
        found += [_of_item(one) for one in page.items if one.record_id is None and _fits(terms, one.title, one.text)]
        if page.next is None:
            break
        wanted = QueueFilter(states=ASIDE, workspaces=workspaces, limit=PAGE, after=page.next)
    return found


def _fits(terms: Sequence[str], title: str | None, text: str) -> bool:
    """Whether it holds half of the terms or more."""
    asked = frozenset(terms)
    return len(asked.intersection(distinct(f"{title or ''}\n{text}"))) >= SHARE * len(asked)


def _of_record(record: MemoryRecord, reason: str) -> Aside:
    return Aside(id=record.memory_id, reason=reason, text=record.text, title=record.title)


def _of_item(item: QueueItem) -> Aside:
    return Aside(id=item.item_id, reason=str(item.state), text=item.text, title=item.title or None)
