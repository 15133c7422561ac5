"""M-03: two statements that cannot both hold wait for a person, from the moment that the second one is kept."""

from governance.facts import Standing, fact_of, judged
from governance.review import ItemFlag
from host.lifecycle import propose_memory
from host.neighbours import only
from host.parts import Parts
from recall.analyzer import distinct
from recall.canonical import short_id
from recall.contracts import MemoryRecord
from recall.errors import IndexFault

ASKED = 50  # memories nearest to it that are looked at


async def contest(parts: Parts, record: MemoryRecord) -> tuple[str, ...]:
    """The memories that say otherwise than one that was just kept; each of them, and this one, waits for a person."""
    fact, now = fact_of(record), parts.clock.now()
    if fact is None:
        return ()
    index = parts.library.snapshot(now)
    try:
        beside = await index.match(distinct(record.text), only(record.scope), ASKED)
        found = judged(fact, [other for one in beside if (other := fact_of(one)) is not None], now)
        if found.standing is not Standing.CONFLICT:
            return ()
        against = found.against
        cause = short_id("con_", sorted((record.memory_id, *against)))
        await propose_memory(parts, sorted((record.memory_id, *against)), ItemFlag.CONFLICT, cause)
    except IndexFault:  # it is kept, and found to be in conflict wherever it is handed over
        return ()
    return against
