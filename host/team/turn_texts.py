"""Turns whole, their terms, and what they are tied to: made once for as long as their payload is the same."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import msgspec

from governance.team.contracts.base import Bound
from governance.team.contracts.ports import Commits
from governance.team.contracts.turns import Edge, TurnContent
from governance.team.linking import linked
from governance.team.matching import Wanted
from governance.team.store import turns as store
from governance.team.turns import Recorded, payload_digest
from governance.team.vocabulary import Vocabulary
from host.team.cutting import Cutter
from recall.analyzer import ANALYZER
from recall.contracts import Database

REMEMBERED = 256  # turns whose texts are kept for the moment
REMEMBERED_CHARACTERS = 16_000_000
AT_ONCE = 32  # turns whose terms are made before others have their turn


class TurnTexts:
    """`database`: governance.db, which keeps terms."""

    def __init__(self, cutter: Cutter, database: Database, commits: Commits) -> None:
        self._cutter = cutter
        self._database = database
        self._commits = commits
        self._contents: OrderedDict[tuple[str, str], TurnContent] = OrderedDict()
        self._size = 0  # characters
        self._vocabulary, self._making = Vocabulary(), asyncio.Lock()

    async def of(self, turns: Sequence[Recorded]) -> dict[str, TurnContent]:
        """Turns of one session whole, by their keys. Those that were read a moment ago, with the same payload, are not
        read again."""
        found: dict[str, TurnContent] = {}
        for one in turns:
            key = one.turn.turn_key, one.turn.payload_digest
            if key in self._contents:
                self._contents.move_to_end(key)
                found[one.turn.turn_key] = msgspec.structs.replace(self._contents[key], turn=one.turn)
        new = await self._cutter.contents([one for one in turns if one.turn.turn_key not in found])
        for content in new.values():
            self._remember((content.turn.turn_key, payload_digest(content.events)), content)
        return found | new

    async def edges(self, bound: Bound, turns: Sequence[Recorded]) -> list[Edge]:
        """What turns of one session are tied to, of all of them together."""
        texts = await self.of(turns)
        return [edge for content in texts.values() for edge in await linked(bound, content, self._commits)]

    async def holding(self, turns: Mapping[str, Sequence[Recorded]], query: Wanted) -> frozenset[str]:
        """The keys of those of these turns that hold enough of a query. `turns`: by session."""
        await self.learn(turns)
        keys = _keys(turns)
        found = await self._database.read(lambda c: store.holding(c, keys, ANALYZER, query))
        return frozenset(key for key, holds in found.items() if holds)

    async def learn(self, turns: Mapping[str, Sequence[Recorded]]) -> None:
        """Make the terms of those of these turns that have none so far."""
        keys = _keys(turns)
        known = await self._database.read(lambda c: store.with_terms(c, keys, ANALYZER))
        for each in turns.values():
            missing = [one for one in each if one.turn.turn_key not in known]
            for begin in range(0, len(missing), AT_ONCE):
                await self._keep(await self._made(missing[begin : begin + AT_ONCE]))

    async def _made(self, turns: Sequence[Recorded]) -> dict[str, frozenset[str]]:
        texts = await self.of(turns)

        def work() -> dict[str, frozenset[str]]:
            spoken = {key: "\n".join(event.text for event in one.events) for key, one in texts.items()}
            return {key: self._vocabulary.terms(text) for key, text in spoken.items()}

        async with self._making:  # the words that were met are one thread's at a time
            return await asyncio.to_thread(work)

    async def _keep(self, made: Mapping[str, frozenset[str]]) -> None:
        await self._database.write(lambda c: store.put_terms(c, made, ANALYZER))

    def _remember(self, key: tuple[str, str], content: TurnContent) -> None:
        before = self._contents.pop(key, None)
        self._size += _size(content) - (0 if before is None else _size(before))
        self._contents[key] = content
        while self._contents and (len(self._contents) > REMEMBERED or self._size > REMEMBERED_CHARACTERS):
            self._size -= _size(self._contents.popitem(last=False)[1])


def _keys(turns: Mapping[str, Sequence[Recorded]]) -> list[str]:
    return [one.turn.turn_key for each in turns.values() for one in each]


def _size(content: TurnContent) -> int:
    return sum(len(event.text) for event in content.events)
