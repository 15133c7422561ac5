"""Small models for the engine's process: words in, the same vector always, and whatever can go wrong on demand.

A test names one to the process as `tests.support.encoders:Tiny`.
"""

import hashlib
import os
import signal
from collections.abc import Sequence

import numpy as np

from recall.vectors.encoder import Floats, Identity


class Tiny:
    """Each word is a direction of its own; a text is the sum of its words. Some words do harm."""

    identity = Identity(name="tiny", version="1", dimension=256)
    alike = 0.88

    def encode(self, texts: Sequence[str]) -> Floats:
        return np.stack([self._one(text) for text in texts])

    def _one(self, text: str) -> Floats:
        total = np.zeros(self.identity.dimension, np.float32)
        for word in text.lower().split():
            match word:
                case "hang!":
                    signal.pause()
                case "die!":
                    os._exit(3)
                case "odd!":
                    raise ValueError(text)
                case "print!":
                    print("a stray line")
                case "nan!":
                    total += np.nan
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
            total += np.random.default_rng(seed).standard_normal(self.identity.dimension, np.float32)
        length = float(np.linalg.norm(total))
        return total / length if length > 0 else total


class Larger(Tiny):
    """The same with another dimension: another model."""

    identity = Identity(name="larger", version="1", dimension=384)


class Broken(Tiny):
    """Cannot be loaded."""

    def __init__(self) -> None:
        raise OSError("the weights are missing")
