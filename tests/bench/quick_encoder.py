"""An encoder for the recall bench: texts of records get made-up vectors at once, a query gets the model's own.

To embed a hundred thousand records takes minutes and tells nothing of a search; the query's own embedding does.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

from recall.vectors.encoder import Floats, Identity, UseM3


class QuickEncoder:
    """One text at a time is a query; several are records."""

    identity = Identity(name="bench", version="1", dimension=UseM3.identity.dimension)
    alike = UseM3.alike

    def __init__(self) -> None:
        self._model = UseM3()

    def encode(self, texts: Sequence[str]) -> Floats:
        if len(texts) == 1:
            return self._model.encode(texts)
        seed = int.from_bytes(hashlib.sha256(texts[0].encode()).digest()[:8], "big")
        made = np.random.default_rng(seed).standard_normal((len(texts), self.identity.dimension), dtype=np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)
