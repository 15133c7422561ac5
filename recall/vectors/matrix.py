"""The vectors of all searchable records in memory, and the search over them (M-07). Pure: no file, no clock.

Up to EXACT records in scope every cosine is computed over the int8 codes. Above that the sign bits, stored word by
word, are scanned first (Hamming distance, 64 dimensions at a time) and the best twentieth is computed. Scopes are
filtered before anything is ranked; ties go to the smaller row. The arrays come in blocks: growing copies nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recall.vectors.encoder import Floats

BLOCK = 65_536  # slots
CHUNK = 4_096  # rows that are widened to float at a time
EXACT = 20_000
RESCORED, MOST_RESCORED, SHARE_RESCORED = 2_000, 10_000, 20  # at least, at most, and one in so many
FREE = -1  # scope of a slot whose record is gone
PRECISION = 6  # decimals of a cosine: what is left of it does not depend on where a row stands

Codes = NDArray[np.int8]
Mask = NDArray[np.bool_]


class Rows(NamedTuple):
    """Records with their vectors: row and scope of the index, scale and codes of the vector."""

    rows: NDArray[np.int64]
    scopes: NDArray[np.int32]
    scales: Floats
    codes: Codes


class Nearest(NamedTuple):
    """Records, best first. `places`: where their vectors stand, until the next change."""

    rows: tuple[int, ...]
    cosines: tuple[float, ...]
    places: tuple[int, ...]


class _Block:
    """A fixed number of slots, filled from the front."""

    def __init__(self, dimension: int, size: int) -> None:
        words = -(-dimension // 64)
        self.used = 0
        self.rows = np.zeros(size, np.int64)
        self.scopes = np.full(size, FREE, np.int32)
        self.scales = np.zeros(size, np.float32)
        self.codes = np.zeros((size, dimension), np.int8)
        self.bits = np.zeros((words, size), np.uint64)

    def fill(self, new: Rows) -> None:
        place = slice(self.used, self.used + len(new.rows))
        self.rows[place], self.scopes[place], self.scales[place] = new.rows, new.scopes, new.scales
        self.codes[place] = new.codes
        self.bits[:, place] = _signs(new.codes).T
        self.used = place.stop

    def held(self) -> Rows:
        """What lives in it."""
        alive = np.flatnonzero(self.scopes[: self.used] != FREE)
        return Rows(self.rows[alive], self.scopes[alive], self.scales[alive], self.codes[alive])


class Matrix:
    """Rows in and out, the nearest ones of some scopes."""

    def __init__(self, dimension: int, block: int = BLOCK, exact: int = EXACT, rescored: int = RESCORED) -> None:
        self._dimension = dimension
        self._size = block
        self._exact = exact
        self._rescored = rescored
        self._blocks: list[_Block] = []
        self._free = 0
        self._highest = 0
        self.alive = 0

    def add(self, new: Rows) -> None:
        """Take records in; those that are there already are replaced."""
        if not len(new.rows):
            return
        if new.rows.min() <= self._highest:
            self.remove(new.rows)
        self._highest = max(self._highest, int(new.rows.max()))
        start = 0
        while start < len(new.rows):
            if not self._blocks or self._blocks[-1].used == self._size:
                self._blocks.append(_Block(self._dimension, self._size))
            last = self._blocks[-1]
            end = start + self._size - last.used
            last.fill(Rows(new.rows[start:end], new.scopes[start:end], new.scales[start:end], new.codes[start:end]))
            start = end
        self.alive += len(new.rows)

    def remove(self, rows: Iterable[int] | NDArray[np.int64]) -> None:
        """Let records go; unknown ones are none."""
        gone = np.asarray(list(rows) if not isinstance(rows, np.ndarray) else rows, np.int64)
        if not len(gone):
            return
        for block in self._blocks:
            hit = np.isin(block.rows[: block.used], gone) & (block.scopes[: block.used] != FREE)
            count = int(np.count_nonzero(hit))
            if count:
                block.scopes[: block.used][hit] = FREE
                self._free += count
                self.alive -= count
        if self._free > self.alive + CHUNK:
            self._compact()

    def clear(self) -> None:
        self._blocks.clear()
        self._free = self._highest = self.alive = 0

    def count(self, scopes: Sequence[int]) -> int:
        """How many records of these scopes there are."""
        return sum(int(np.count_nonzero(_within(block, scopes))) for block in self._blocks)

    def nearest(self, vector: Floats, scopes: Sequence[int], limit: int) -> Nearest:
        """The records of these scopes with the largest positive cosine to `vector`, best first."""
        within = [_within(block, scopes) for block in self._blocks]
        total = sum(int(np.count_nonzero(mask)) for mask in within)
        few = max(self._rescored, min(MOST_RESCORED, total // SHARE_RESCORED))
        if total > max(self._exact, few):
            within = self._closest(vector, within, few)
        rows, places, cosines = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
        for number, (block, mask) in enumerate(zip(self._blocks, within, strict=True)):
            for slots in _chunks(np.flatnonzero(mask)):
                rows.append(block.rows[slots])
                places.append(slots + number * self._size)
                cosines.append((block.codes[slots].astype(np.float32) @ vector) * block.scales[slots])
        every, rounded = np.concatenate(rows), _rounded(np.concatenate(cosines))
        best = _best(every, rounded, limit)
        where = np.concatenate(places)[best]
        return Nearest(tuple(every[best].tolist()), tuple(rounded[best].tolist()), tuple(where.tolist()))

    def alike(self, places: Sequence[int], least: float) -> tuple[tuple[int, int], ...]:
        """Pairs of positions in `places` whose vectors have at least this cosine to one another."""
        if len(places) < 2:
            return ()
        codes = [self._blocks[place // self._size].codes[place % self._size] for place in places]
        vectors = np.stack(codes).astype(np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, 1)
        near = np.argwhere(np.triu(_rounded(vectors @ vectors.T) >= least, 1))
        return tuple((int(one), int(other)) for one, other in near)

    def _closest(self, vector: Floats, within: Sequence[Mask], few: int) -> list[Mask]:
        """Of the masks, the slots whose sign bits are closest: so many in all, at the edge the smaller rows."""
        asked = _signs(vector[None, :])[0]
        far = self._dimension + 1
        distances = []
        for block, mask in zip(self._blocks, within, strict=True):
            distance = _hamming(block.bits[:, : block.used], asked)
            distance[~mask] = far
            distances.append(distance)
        counts = sum(np.bincount(distance, minlength=far + 1) for distance in distances)
        edge = int(np.searchsorted(np.cumsum(counts), few))
        closer = [distance < edge for distance in distances]
        left = few - sum(int(np.count_nonzero(mask)) for mask in closer)
        at_edge = [np.flatnonzero(distance == edge) for distance in distances]
        rows = np.concatenate([block.rows[slots] for block, slots in zip(self._blocks, at_edge, strict=True)])
        last = np.partition(rows, left - 1)[left - 1]
        for block, mask, slots in zip(self._blocks, closer, at_edge, strict=True):
            mask[slots[block.rows[slots] <= last]] = True
        return closer

    def _compact(self) -> None:
        """Give back the slots of records that are gone, block by block."""
        old, self._blocks = self._blocks, []
        self._free = self._highest = self.alive = 0
        while old:
            self.add(old.pop(0).held())


def _within(block: _Block, scopes: Sequence[int]) -> Mask:
    used = block.scopes[: block.used]
    mask = np.zeros(len(used), np.bool_)
    for scope in scopes:
        mask |= used == scope
    return mask


def _signs(vectors: Floats | Codes) -> NDArray[np.uint64]:
    """One bit a dimension, packed into words; dimensions that are missing in the last word are 0 everywhere."""
    packed = np.packbits(vectors > 0, axis=1)
    padded = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def _hamming(bits: NDArray[np.uint64], asked: NDArray[np.uint64]) -> NDArray[np.uint16]:
    distance = np.zeros(bits.shape[1], np.uint16)
    differing, counted = np.empty(bits.shape[1], np.uint64), np.empty(bits.shape[1], np.uint8)
    some = np.zeros(bits.shape[1], np.uint8)  # of three words: 192 bits at most, and one widening for the three
    for place, (word, wanted) in enumerate(zip(bits, asked, strict=True), start=1):
        np.bitwise_xor(word, wanted, out=differing)
        np.bitwise_count(differing, out=counted)
        some += counted
        if place % 3 == 0 or place == len(bits):
            distance += some
            some.fill(0)
    return distance


def _chunks(slots: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(slots), CHUNK):
        yield slots[start : start + CHUNK]


def _rounded(cosines: Floats) -> NDArray[np.float64]:
    return np.asarray(np.round(cosines.astype(np.float64), PRECISION), np.float64)


def _best(rows: NDArray[np.int64], rounded: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Positions of the largest cosines above 0, best first."""
    likely = np.flatnonzero(rounded > 0)
    if len(likely) > limit:
        least = np.partition(rounded[likely], -limit)[-limit]
        likely = likely[rounded[likely] >= least]
    return likely[np.lexsort((rows[likely], -rounded[likely]))][:limit]
