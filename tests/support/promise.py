"""What a promise is."""

from typing import NamedTuple


class Promise(NamedTuple):
    id: str
    source: str
    sentence: str
