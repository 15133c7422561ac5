"""Records held in memory for the fallback scan, when the tables cannot be asked (G-05): pinned ones and the newest.

Rows are made candidates when somebody needs them: a fallback is rare. A record that is taken out of the index is taken
out here at once; what is new comes at once too, and all of it is read again from time to time.
"""

from collections.abc import Collection, Mapping, Sequence

from recall import lookup
from recall.contracts import Candidate

HOT = 2000  # records held
SLACK = 256  # more of them before all is read again


class Hot:
    """A set of records by row. Never changed: another takes its place."""

    def __init__(self, rows: Sequence[lookup.Row] = ()) -> None:
        self._rows: Mapping[int, lookup.Row] = {row[0]: row for row in rows}
        self._made: tuple[Candidate, ...] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def candidates(self) -> tuple[Candidate, ...]:
        if self._made is None:
            self._made = tuple(lookup.of_kind(row) for row in self._rows.values())
        return self._made

    def placed(self) -> list[tuple[str, Candidate]]:
        """Each with the path of its file."""
        files = [f"{row[lookup.FOLDER]}/{row[lookup.RELATIVE]}" for row in self._rows.values()]
        return list(zip(files, self.candidates(), strict=True))

    def changed(self, gone: Collection[int], new: Sequence[lookup.Row]) -> "Hot":
        """Without the rows that are gone, and with new ones while there is room."""
        if not new and self._rows.keys().isdisjoint(gone):
            return self
        left = {row: held for row, held in self._rows.items() if row not in gone}
        return Hot([*new, *left.values()][: HOT + SLACK])
