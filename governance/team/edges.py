"""What a turn is tied to: commits, and paths of the repository (team.md 4). Pure.

Three things tie, and likeness is none of them: a tool's result that names a commit by its full hash; one that names it
by a short hash that is its alone; and a commit that changed a file that the turn edited, the first one to do so after
the edit. A path is tied by such a commit: what was edited and is in no commit is nobody's but the user's.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from posixpath import normpath

from governance.team.contracts.turns import Commit, Edge, Strength, TerminalState, TurnContent, TurnEvent
from recall.canonical import digest
from recall.contracts import Frozen, Millis

FOLLOWS_MS: Millis = 86_400_000  # after an edit; a later commit tells little of it
CLOCK_MS: Millis = 1_000  # git's times are whole seconds
MOST_COMMITS = 32  # of a turn
MOST_PATHS = 32
LONGEST_TEXT = 262_144  # characters of results that are looked through for hashes

_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_MOVED = re.compile(r"^\*\*\* Move to: (.+)$", re.MULTILINE)
_EDITING = frozenset(["edit", "write"])
_PATH_SIGN = r"\w./@+~-"


class Known(Frozen, frozen=True, kw_only=True):
    """What git says of a turn. `named`: commits that its results name in full; `abbreviated`: by a short hash;
    `around`: commits of the time from its first event on."""

    named: tuple[Commit, ...] = ()
    abbreviated: tuple[Commit, ...] = ()
    around: tuple[Commit, ...] = ()


class Edited(Frozen, frozen=True, kw_only=True):
    """A path that the turn edited, and when."""

    path: str
    at: Millis


def result_text(content: TurnContent) -> str:
    """What the tools of a turn answered: a commit that the user or the agent only speaks of is none of the turn's."""
    return "\n".join(event.text for event in content.events if event.kind == "tool-result")[:LONGEST_TEXT]


def span(content: TurnContent) -> tuple[Millis, Millis]:
    """The time in which a commit may hold what the turn edited."""
    times = [event.at for event in content.events] or [content.turn.at]
    return min(times) - CLOCK_MS, max(times) + FOLLOWS_MS


def edges(content: TurnContent, known: Known, root: str) -> tuple[Edge, ...]:
    """The turn's edges: commits by strength and then in order, then paths. `root`: the worktree's top. The turn itself
    is direct evidence without an edge."""
    commits: dict[str, Strength] = {commit.commit: Strength.DIRECT for commit in known.named}
    for commit in known.abbreviated:
        commits.setdefault(commit.commit, Strength.OBSERVED)
    edits = edited(content, root)
    holding = _following(edits, known.around)
    for commit in holding.values():
        commits.setdefault(commit.commit, Strength.OBSERVED)
    ours = [*known.named, *known.abbreviated, *holding.values()]
    touched = {edit.path for edit in edits} | _mentioned(content, root, ours)
    paths = sorted({path for commit in ours for path in commit.paths} & touched)
    strongest = sorted(commits.items(), key=lambda one: one[1] is not Strength.DIRECT)[:MOST_COMMITS]
    return (
        *(Edge(kind="commit", target=commit, strength=strength) for commit, strength in strongest),
        *(Edge(kind="path", target=path, strength=Strength.OBSERVED) for path in paths[:MOST_PATHS]),
    )


def edge_revision(found: Sequence[Edge]) -> str:
    """Of what a turn is tied to, and how."""
    return digest([[edge.kind, edge.target, edge.strength] for edge in found])


def edited(content: TurnContent, root: str) -> tuple[Edited, ...]:
    """Paths below `root` that the turn's tools edited and that went well, relative, in order."""
    times = {
        event.call_id: event.at
        for event in content.events
        if event.kind == "tool-result" and event.state is TerminalState.COMPLETED
    }
    where = place_of(content, root)
    found: list[Edited] = []
    for event in _went_well(content):
        at = times.get(event.call_id, event.at)
        found += [Edited(path=path, at=at) for path in _paths_of(event, where)]
    return tuple(found)


class Where(Frozen, frozen=True, kw_only=True):
    """How a turn spells the repository. `tops`: its top, as it is and as it was named by way of a link; `folder`: from
    which relative paths are meant."""

    tops: tuple[str, ...]
    folder: str


def place_of(content: TurnContent, root: str) -> Where:
    """The same of one turn, which happened in this repository whatever its folder looks like."""
    folder = PurePosixPath(content.folder or root)
    if not folder.is_absolute():
        folder = PurePosixPath(root)
    if folder.is_relative_to(root):
        return Where(tops=(root,), folder=str(folder))
    named = [str(top) for top in (folder, *folder.parents) if top.name == PurePosixPath(root).name]
    return Where(tops=(root, *named), folder=str(folder) if named else root)


def relative(path: str, where: Where) -> str | None:
    """A path as the repository names it; None when it lies outside, or is its top, or is git's own."""
    whole = PurePosixPath(normpath(PurePosixPath(where.folder, path.strip())))
    for top in where.tops:
        if whole.is_relative_to(top):
            named = whole.relative_to(top)
            return None if not named.parts or named.parts[0] == ".git" else str(named)
    return None


def _went_well(content: TurnContent) -> list[TurnEvent]:
    return [one for one in content.events if one.kind == "tool-call" and one.state is TerminalState.COMPLETED]


def _paths_of(call: TurnEvent, where: Where) -> list[str]:
    """What an editing call says that it edits: a patch names each file, other tools name theirs in the first line."""
    if call.name not in _EDITING:
        return []
    named = [*_PATCHED.findall(call.text), *_MOVED.findall(call.text)]
    if not named:
        named = [call.text.partition("\n")[0]]
    return [path for each in named if (path := relative(each, where)) is not None]


def _following(edits: Iterable[Edited], around: Iterable[Commit]) -> Mapping[str, Commit]:
    """For each edited path the first commit after the edit that changed it."""
    found: dict[str, Commit] = {}
    ordered = sorted(around, key=lambda one: (one.at, one.commit))
    for edit in edits:
        for commit in ordered:
            if edit.at - CLOCK_MS <= commit.at <= edit.at + FOLLOWS_MS and edit.path in commit.paths:
                found.setdefault(edit.path, commit)
                break
    return found


def _mentioned(content: TurnContent, root: str, commits: Sequence[Commit]) -> set[str]:
    """Paths of these commits that a command of the turn names, letter for letter: what it wrote by a shell."""
    said = "\n".join(one.text for one in _went_well(content) if one.name not in _EDITING)[:LONGEST_TEXT]
    where = place_of(content, root)
    return {path for commit in commits for path in commit.paths if _named(path, said, where)}


def _named(path: str, said: str, where: Where) -> bool:
    """Whether a command names a path: from the folder where it ran, or whole."""
    spelled = [str(PurePosixPath(top, path)) for top in where.tops]
    spelled += [one[len(where.folder) + 1 :] for one in spelled if one.startswith(f"{where.folder}/")]
    for one in spelled:
        ahead = rf"(?:(?<![{_PATH_SIGN}])|(?<=(?<![{_PATH_SIGN}])\./))"
        if one in said and re.search(rf"{ahead}{re.escape(one)}(?![{_PATH_SIGN}])", said):
            return True
    return False
