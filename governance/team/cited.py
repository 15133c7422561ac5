"""What an entry says publicly of the turns that it cites: days, commits, paths (team.md 11). Pure.

Nothing of a session, a turn or this machine is in it. What is only like it, in text or time, is left out; so is the
path of a file whose name hides something, or says what the screen holds back.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from governance.team.contracts.rows import EvidenceRow
from governance.team.contracts.turns import Edge, Strength, Turn
from governance.team.sanitising import blocked, sanitised_line
from governance.team.times import day
from recall.contracts import Frozen, Millis

MOST = 32  # of commits, and of paths
LONGEST_PATH = 1_024  # characters
FIRM = (Strength.DIRECT, Strength.OBSERVED)
T = TypeVar("T")


class Public(Frozen, frozen=True, kw_only=True):
    """`occurred`: UTC dates of the turns; `commits`: full hashes; `paths`: relative to the repository. All sorted, each
    once."""

    occurred: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class _Turn(Frozen, frozen=True, kw_only=True):
    at: Millis


class _Commit(Frozen, frozen=True, kw_only=True):
    hash: str


class _Path(Frozen, frozen=True, kw_only=True):
    path: str


def public(turns: Iterable[Turn], edges: Iterable[Edge]) -> Public:
    """Of turns and all that they are tied to."""
    firm = [edge for edge in edges if edge.strength in FIRM]
    return _public(
        [turn.at for turn in turns],
        [edge.target for edge in firm if edge.kind == "commit"],
        [edge.target for edge in firm if edge.kind == "path"],
    )


def public_of(rows: Sequence[EvidenceRow], cited: Iterable[str]) -> Public:
    """The same of a task's catalogue. `cited`: ids of evidence; who cites a turn cites what it is tied to, and who
    cites a commit or a path cites its turn."""
    wanted = set(cited)
    keys = {row.turn_key for row in rows if row.evidence_id in wanted and row.turn_key}
    told = [row for row in rows if row.evidence_id in wanted or row.turn_key in keys]
    firm = [row for row in told if row.strength in FIRM]
    return _public(
        [_pointed(row, _Turn).at for row in told if row.kind == "turn"],
        [_pointed(row, _Commit).hash for row in firm if row.kind == "commit"],
        [_pointed(row, _Path).path for row in firm if row.kind == "path"],
    )


def _pointed(row: EvidenceRow, kind: type[T]) -> T:
    return msgspec.json.decode(row.pointer, type=kind)


def _public(times: Iterable[Millis], commits: Iterable[str], paths: Iterable[str]) -> Public:
    return Public(
        occurred=tuple(sorted({day(at) for at in times})),
        commits=tuple(sorted(set(commits))[:MOST]),
        paths=tuple(sorted({path for path in paths if _plain(path)})[:MOST]),
    )


def _plain(path: str) -> bool:
    """Whether a path can stand in an entry: whoever names files in the repository names them as they like, and an entry
    must not come to nothing by the name of a file that it happens to be about."""
    return path.isprintable() and 0 < len(path) <= LONGEST_PATH and path == sanitised_line(path) and not blocked(path)
