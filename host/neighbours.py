"""What is kept already beside a text that is about to be kept: the records next to it in the index, and what it is to
them. An index that cannot be asked has no neighbours.
"""

import os
from collections.abc import Sequence

from host.parts import Parts
from host.verbs import Clean
from host.views import only as only
from recall import survey
from recall.analyzer import distinct
from recall.compare import Comparison, compare, same
from recall.contracts import Candidate, MemoryLocator, Origin, RecordState, RuntimeScope, ScopeRef
from recall.errors import IndexFault
from recall.library import Root
from recall.lookup import View
from recall.rank import DropReason

NEIGHBOURS = 16
ASKED_TERMS = 512


class Neighbours:
    """The records of one scope that share the most telling words with a text."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def of(self, words: Clean, scope: ScopeRef) -> Sequence[Candidate]:
        """Records of that scope that hold now, the nearest first; those without a marker of their own are nobody's.

        The files are looked at once more: a record that was taken out by hand a moment ago says nothing any more.
        """
        terms = distinct(f"{words.text}\n{words.title or ''}")[:ASKED_TERMS]
        view = only(scope)
        try:
            found = await self._parts.library.snapshot(self._parts.clock.now()).match(terms, view, NEIGHBOURS)
        except IndexFault:
            return ()
        own = [one for one in found if one.state is RecordState.ANCHORED]
        now = await self._parts.library.verify([one.memory_id for one in own], view) if own else {}
        standing = [one for one in own if now.get(one.memory_id) == one.record_digest]
        return [*standing, *await self._quarantined(words, terms, view)] if words.poisoned else standing

    async def _quarantined(self, words: Clean, terms: Sequence[str], scope: RuntimeScope) -> Sequence[Candidate]:
        """Records in quarantine that say the same. They are never found, but the words need not be kept twice."""
        now = self._parts.clock.now()
        view = View(scope=scope, now=now)
        try:
            aside = await self._parts.library.survey(lambda connection: survey.left_out(connection, terms, view))
            ids = [one.memory_id for one in aside if one.reason is DropReason.QUARANTINED]
            held = await self._parts.library.snapshot(now).by_id(ids, scope) if ids else ()
        except IndexFault:
            return ()
        return [one for one in held if one.state is RecordState.ANCHORED and same(words.text, one.payload)]

    def compared(self, words: Clean, beside: Sequence[Candidate]) -> Comparison:
        """What a person's words are to their neighbours. They stand beside what was imported and says the same."""
        others = [one for one in beside if one.origin is not Origin.IMPORTED or not same(words.text, one.payload)]
        return compare(words.text, [(one.memory_id, one.payload) for one in others])

    def ours(self, locator: MemoryLocator, root: Root) -> bool:
        """Whether a record stands in that root of ours."""
        return root.writable and locator.source_file.startswith(os.path.realpath(root.path) + os.sep)
