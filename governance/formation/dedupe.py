"""What is known already of what was found (formation.md 6.6): the tiers, and what happens when they fail.

Tier 0 asks no model: the record of the same claim, and whatever of the other tiers says the same. Then the nearest by
meaning, and the nearest by words. What neither can be asked for is stored: a double for a while is cheaper than a loss,
and the next run converges. Every question names its isolation key.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from governance.formation.claims import claim_of, near, same, shared_terms
from governance.formation.contracts import IsolationKey, KnownRecord, Likeness
from governance.formation.errors import StateFault
from governance.formation.store.memories import Memories
from recall.contracts import Frozen

TOP = 5  # of each tier
UNPROJECTED = 50  # records that wait for their files, and are looked at beside the index
ALIKE = 0.3  # share of terms in common from which such a one may say the same

Arm = Callable[[IsolationKey, str, int], Awaitable[Sequence[KnownRecord]]]


class Probe(Frozen, frozen=True, kw_only=True):
    """`known`: the record that says it already. `pool`: records that may, when none does."""

    known: str | None = None
    pool: tuple[KnownRecord, ...] = ()


class Probes(Frozen, frozen=True, kw_only=True):
    """One probe for each text, in their order. `shortfalls`: tiers that could not be asked, and why."""

    probes: tuple[Probe, ...]
    shortfalls: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Dedupe:
    """The tiers over what is stored."""

    likeness: Likeness
    memories: Memories

    async def probe(self, contents: Sequence[str], key: IsolationKey) -> Probes:
        """What is known of each of these. Raises StateFault for a store that cannot be read."""
        claims = [claim_of(content) for content in contents]
        exact = await self.memories.exact(key, claims)
        waiting = await self.memories.unprojected(key, UNPROJECTED)
        shortfalls: dict[str, str] = {}
        probes: list[Probe] = []
        for content, claim in zip(contents, claims, strict=True):
            if claim in exact:
                probes.append(Probe(known=exact[claim]))
            else:
                pool = await self._pool(content, key, waiting, shortfalls)
                probes.append(_met(content, pool))
        return Probes(probes=tuple(probes), shortfalls=tuple(f"{name}: {why}" for name, why in shortfalls.items()))

    async def _pool(
        self, content: str, key: IsolationKey, waiting: Sequence[KnownRecord], shortfalls: dict[str, str]
    ) -> tuple[KnownRecord, ...]:
        """The candidates of both tiers, each once, those by meaning first."""
        found: list[KnownRecord] = []
        for name, arm in (("vectors", self.likeness.by_meaning), ("full-text", self.likeness.by_words)):
            if name in shortfalls:
                continue
            try:
                found += await _top(arm, key, content)
            except StateFault as fault:
                shortfalls[name] = fault.code
                continue
            if name == "full-text":
                found += _alike(content, waiting)
        return tuple({one.memory_id: one for one in reversed(found)}.values())[::-1]


def _met(content: str, pool: Sequence[KnownRecord]) -> Probe:
    """Tier 0 among the candidates."""
    said = next((one for one in pool if same(content, one.text) or near(content, one.text)), None)
    return Probe(pool=tuple(pool)) if said is None else Probe(known=said.memory_id)


def _alike(content: str, waiting: Sequence[KnownRecord]) -> list[KnownRecord]:
    """The nearest of what was committed and is not in the index yet."""
    shares = [(shared_terms(content, one.text), one) for one in waiting]
    ranked = sorted((pair for pair in shares if pair[0] >= ALIKE), key=lambda pair: (-pair[0], pair[1].memory_id))
    return [one for _, one in ranked[:TOP]]


async def _top(arm: Arm, key: IsolationKey, content: str) -> list[KnownRecord]:
    return list(await arm(key, content, TOP))[:TOP]
