"""What the engine's process knows and does: follow the index, embed what has no vector, answer searches (M-07).

Everything happens in small steps between requests, so that a search waits for one small batch at most. A scope of which
much has no vector yet is `loading`: otherwise what happens to be embedded would win. While the stored vectors are
another model's, all is `stale-vectors`: they are never compared, and made anew once nobody has asked for a while.
"""

import sqlite3
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from recall.frames import (
    Answer,
    Away,
    Done,
    EngineHits,
    EngineState,
    EngineStatus,
    Failed,
    Forget,
    Found,
    Hello,
    Reembed,
    Request,
    Search,
    Sync,
)
from recall.vectors.encoder import Encoder, Floats, quantised
from recall.vectors.follow import Follower, Listed
from recall.vectors.matrix import Matrix, Rows
from recall.vectors.store import Vector, VectorStore

BATCH = 8  # texts that are embedded between two looks at the pipe
SPARSE = 0.1  # share of a scope that may be without vectors
COMPARED = 64  # hits that are looked at for saying the same
REMEMBERED = 256  # vectors of queries
SPARE = 100_000  # vectors of texts that are gone, kept for a branch that comes back


class Worker:
    """One model over one index and one file of vectors."""

    def __init__(self, index: Path, vectors: Path, encoder: Encoder, remembered: int = REMEMBERED) -> None:
        self._encoder = encoder
        self._remembered = remembered
        self._follower = Follower(index)
        self._store = VectorStore(vectors, encoder.identity)
        self._matrix = Matrix(encoder.identity.dimension)
        self._pending: dict[int, int] = {}  # row -> scope, of records without a vector
        self._waiting: Counter[int] = Counter()  # scope -> how many of them
        self._asked: OrderedDict[str, Floats] = OrderedDict()
        self._stale = self._store.other is not None
        self._allowed = not self._stale  # to embed
        self._stuck = False  # the index could not be read for the next batch
        self._swept = False

    # ----------------------------------------------------------------------------------------------------- requests

    def answer(self, request: Request) -> Answer:
        """What to say; a request that breaks is a fault of its own, and the process goes on."""
        try:
            match request:
                case Search():
                    return self._search(request)
                case Reembed():
                    self._reembed()
                case Forget():
                    self._store.forget(request.digests)
                case Sync():
                    self._sync()
                case Hello():
                    pass
            return Done(number=request.number)
        except Exception as error:  # noqa: BLE001  (boundary: a request; the message is not passed on, it may hold text)
            return Failed(number=request.number, problem=type(error).__name__)

    def status(self) -> EngineStatus:
        identity = self._encoder.identity
        return EngineStatus(
            state=self._state(),
            model=f"{identity.name} {identity.version}",
            dimension=identity.dimension,
            records=self._matrix.alive + len(self._pending),
            embedded=self._matrix.alive,
            problem=self._staleness() or self._store.problem or self._follower.problem,
        )

    # -------------------------------------------------------------------------------------------- between requests

    @property
    def busy(self) -> bool:
        """Whether there is a step to take now."""
        return self._follower.more or self._embeds or self._retires

    @property
    def waits_for_rest(self) -> bool:
        """Whether vectors are to be made anew as soon as nobody asks."""
        return bool(self._pending) and not self._allowed

    def step(self) -> None:
        """Do a small piece of what is to be done."""
        if self._follower.more:
            self._sync()
        elif self._embeds:
            self._embed()
        elif self._retires:
            self._store.retire()

    def rested(self) -> None:
        """Nobody asked for a while: look at the index, make stale vectors anew, tidy up."""
        if self.waits_for_rest:
            self._allowed = True
            return
        told = self._sync()
        if not (told or self.busy or self._swept):
            self._swept = True
            if self._store.count() > 2 * self._matrix.alive + SPARE:
                self._store.keep(self._follower.all_digests())

    def close(self) -> None:
        self._follower.close()
        self._store.close()

    @property
    def _embeds(self) -> bool:
        return bool(self._pending) and self._allowed and not self._stuck

    @property
    def _retires(self) -> bool:
        return self._store.other is not None and not self._stale

    def _state(self) -> EngineState:
        if self._stale and not self._allowed:
            return EngineState.STALE
        if self._follower.behind:
            return EngineState.LOADING
        return EngineState.EMBEDDING if self._pending or self._stale else EngineState.READY

    def _staleness(self) -> str:
        if not self._stale:
            return ""
        return (
            f"The stored vectors were made by {self._store.other}, the model in use is {self._encoder.identity}."
            " They are made anew in the background; `reindex --vectors` begins at once."
        )

    # ------------------------------------------------------------------------------------------------------- search

    def _search(self, request: Search) -> Answer:
        self._sync()
        if self._stale:
            return Away(number=request.number, shortfall="stale-vectors", detail=self._staleness())
        if self._follower.problem:
            return Failed(number=request.number, problem=self._follower.problem)
        if self._embeds and len(self._pending) <= BATCH:  # a record that was kept a moment ago is found at once
            self._embed()
        scopes = self._follower.scopes(request.scopes)
        waiting = sum(self._waiting[scope] for scope in scopes)
        if self._follower.behind or waiting > SPARSE * (waiting + self._matrix.count(scopes)):
            return Away(number=request.number, shortfall="loading", detail=f"{waiting} texts have no vector yet.")
        near = self._matrix.nearest(self._vector(request.text), scopes, request.limit)
        digests = self._follower.digests(near.rows)
        found = [one for one in zip(near.rows, near.cosines, near.places, strict=True) if one[0] in digests]
        hits = EngineHits(
            epoch=self._follower.epoch,
            rows=tuple(row for row, _, _ in found),
            digests=tuple(digests[row] for row, _, _ in found),
            cosines=tuple(cosine for _, cosine, _ in found),
            alike=self._matrix.alike([place for _, _, place in found[:COMPARED]], self._encoder.alike),
        )
        return Found(number=request.number, hits=hits)

    def _vector(self, text: str) -> Floats:
        """The vector of a query; the latest ones are remembered."""
        known = self._asked.pop(text, None)
        if known is None:
            known = np.nan_to_num(self._encoder.encode([text])[0])
        self._asked[text] = known
        if len(self._asked) > self._remembered:
            self._asked.popitem(last=False)
        return known

    # -------------------------------------------------------------------------------------------- following the index

    def _sync(self) -> bool:
        """Take in what changed in the index; whether anything did."""
        self._stuck = False
        news = self._follower.news()
        if news.anew:
            self._matrix.clear()
            self._pending.clear()
            self._waiting.clear()
        if news.gone:
            self._matrix.remove(news.gone)
            self._settle(news.gone)
        if news.listed:
            self._take(news.listed, self._store.fetch({one.digest for one in news.listed}))
        self._look_whether_complete()
        return news.anew or bool(news.listed or news.gone)

    def _take(self, listed: Sequence[Listed], vectors: Mapping[str, Vector]) -> None:
        """Records whose vectors are there go into the matrix, the others wait for theirs."""
        size = self._encoder.identity.dimension
        vectors = {digest: one for digest, one in vectors.items() if len(one.codes) == size}
        self._settle([one.row for one in listed])
        ready = [one for one in listed if one.digest in vectors]
        if ready:
            self._matrix.add(_rows(ready, vectors))
        bare = [one for one in listed if one.digest not in vectors]
        self._matrix.remove([one.row for one in bare])
        for one in bare:
            self._pending[one.row] = one.scope
            self._waiting[one.scope] += 1

    def _settle(self, rows: Sequence[int]) -> None:
        for row in rows:
            scope = self._pending.pop(row, None)
            if scope is not None:
                self._waiting[scope] -= 1

    def _look_whether_complete(self) -> None:
        """When every searchable record has its vector, what another model made is of no use any more."""
        if self._pending or self._follower.behind or self._follower.more:
            return
        self._store.commit()
        self._stale, self._allowed = False, True

    # ---------------------------------------------------------------------------------------------------- embedding

    def _embed(self) -> None:
        """Give the next few records their vectors."""
        rows = list(islice(self._pending, BATCH))
        try:
            texts = self._follower.texts(rows)
        except sqlite3.DatabaseError:
            self._stuck = True  # until the next look at the index
            return
        self._settle([row for row in rows if row not in texts])  # gone: the journal says so too
        listed = [one for one, _ in texts.values()]
        vectors = self._store.fetch({one.digest for one in listed})
        new = {one.digest: text for one, text in texts.values() if one.digest not in vectors}
        if new:
            made = self._made(new)
            self._store.add(made)
            vectors |= made
        self._take(listed, vectors)
        self._look_whether_complete()

    def _made(self, texts: Mapping[str, str]) -> dict[str, Vector]:
        """The vectors of texts by their digests; a text that the model cannot read gets one that is near to nothing."""
        try:
            vectors = self._encoder.encode(list(texts.values()))
        except Exception as error:  # noqa: BLE001  (boundary: one odd text must not keep the others from their vectors)
            if len(texts) > 1:
                return {digest: one for key in texts for digest, one in self._made({key: texts[key]}).items()}
            vectors = np.zeros((1, self._encoder.identity.dimension), np.float32)
            self._store.problem = f"A text cannot be embedded: {type(error).__name__}."
        codes, scales = quantised(vectors)
        return {
            digest: Vector(float(scale), row.tobytes()) for digest, row, scale in zip(texts, codes, scales, strict=True)
        }

    def _reembed(self) -> None:
        """Make every vector anew, from now on; vectors of the model in use that are there count when it was stale."""
        if not self._stale:
            self._store.clear()
            self._follower.close()  # the next look lists every record again
            self._sync()
        self._allowed = True


def _rows(listed: Sequence[Listed], vectors: Mapping[str, Vector]) -> Rows:
    held = [vectors[one.digest] for one in listed]
    codes = np.frombuffer(b"".join(one.codes for one in held), np.int8).reshape(len(held), -1)
    return Rows(
        np.array([one.row for one in listed], np.int64),
        np.array([one.scope for one in listed], np.int32),
        np.array([one.scale for one in held], np.float32),
        codes,
    )
