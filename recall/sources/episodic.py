"""M-02: association by what happened. The last time that this error, this command or this file came up.

An episode speaks on an exact match alone, and only where something fails or is about to be done again: an error that
one project has is enough; a command or a file has to be met by more, the less it says by itself. What it gives is the
line of the failure in question, not the session. Of its own session nobody is told. A person's search finds episodes by
their words.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from recall.acts import file_of, is_edit, is_general, sorts_of_error
from recall.analyzer import distinct
from recall.contracts import Candidate, Cue, CuePart, Index, RuntimeScope, SegmentKind, Source, SourceName

LEAST = 3  # points that a failure has to have in common with an episode
ERROR, CODE, COMMAND, GENERAL, SORT, FILE, MENDED, REMEDY = 3, 2, 2, 1, 1, 1, 2, 1
SURE = 6  # points from which nothing is left to wish for
TOLD = 4  # episodes at most: one of them speaks, and what was told already is not told again
ALIKE = 32  # of those that tell of the same act, or of the same error, that are compared: the newest
SHARE = 0.5  # of a person's words that an episode has to hold
SCOPES = 8  # workspaces whose episodes are kept read
LAST_TIME = "Last time "
_LINE = re.compile(
    r"`(?P<act>[^`\n]+)` failed(?: with (?P<errors>[^:\n]+?))?(?:, (?P<times>\d+) times)?:"
    r" ended in (?P<ended>success|failure)(?: (?:after|despite) (?P<remedy>`[^\n]+`))?\."
)
_ACT = re.compile(r"`([^`\n]+)`")
_CHANGED = re.compile(r"^Changed: (?P<files>[^\n]+)\.$", re.MULTILINE)
_FAILING = re.compile(
    r"\b(?:fail\w*|error\w*|broke\w*|crash\w*|again|still)\b|失败|报错|出错|错误|崩溃|又", re.IGNORECASE
)
_CODE = re.compile(r"[a-z]{1,6}\d{3,5}")  # of a compiler or linter: other projects have it too
_PATH = re.compile(r"(?<![\w.@+/-])(?:[\w.@+-]*(?:/[\w.@+-]+)+|[\w@+-]+\.\w{1,8}(?![\w.]))", re.ASCII)


class _Failure(NamedTuple):
    """A line of an episode. `names`: terms of errors of one project; `sorts`: of every project's."""

    text: str
    act: str
    names: frozenset[str]
    sorts: frozenset[str]
    solved: bool
    mended: frozenset[str]  # files whose change ended it, those in a folder: a bare name is everybody's
    remedied: bool  # by something that is told, and would help again: an edit mends what only failed there and then


class _Read(NamedTuple):
    candidate: Candidate
    failures: tuple[_Failure, ...]
    files: frozenset[str]


class _Shelf(NamedTuple):
    """The episodes of a workspace, and those that tell of an error (as a term) or of an act."""

    all: tuple[_Read, ...]
    by_error: dict[str, list[_Read]]
    by_act: dict[str, list[_Read]]
    by_file: dict[str, list[_Read]]  # whose change ended a failure

    def like(self, need: "_Need") -> list[_Read]:
        """Those that can have enough in common with the need: a sort of error alone never is."""
        found = list(self.by_act.get(need.act, ()))[:ALIKE]
        found += [one for error in need.errors for one in self.by_error.get(error, ())[:ALIKE]]
        found += [one for file in need.files for one in self.by_file.get(file, ())[:ALIKE]]
        return list({one.candidate.memory_id: one for one in found}.values())


class _Need(NamedTuple):
    """What a cue says of something that fails, or that is done again."""

    errors: frozenset[str]
    sorts: frozenset[str]
    act: str
    files: frozenset[str]


def episodic_source(session_ref: Callable[[str], str]) -> Source:
    """The source. `session_ref`: the keyed name of a session, as episodes are tagged with."""
    kept: OrderedDict[tuple[str, str, str], _Shelf] = OrderedDict()

    async def read(index: Index, scope: RuntimeScope) -> _Shelf:
        key = (index.version, scope.workspace, scope.user)
        found = kept.get(key)
        if found is None:
            found = kept[key] = _shelf(await index.aside(scope))
            if len(kept) > SCOPES:
                kept.popitem(last=False)
        return found

    async def episodic(cue: Cue, index: Index) -> Sequence[Candidate]:
        """Episodes of other sessions that met the same, the closest and then the latest first."""
        need = _need(cue)
        asked = cue.segment_kind is None and bool(cue.terms)
        if need is None and not asked:
            return ()
        own = f"session:{session_ref(cue.scope.session_id)}" if cue.scope.session_id else ""
        shelf = await read(index, cue.scope)
        others = (one for one in (shelf.all if need is None else shelf.like(need)) if own not in one.candidate.tags)
        if need is None:
            found = [hit for one in others if (hit := _searched(one, cue)) is not None]
            return sorted(found, key=lambda one: (-one.score, -one.created_at, one.memory_id))[: cue.limit]
        met = [(points, one) for one in others if (points := _most(one, need)) >= LEAST]
        met.sort(key=lambda pair: (-pair[0], -pair[1].candidate.created_at, pair[1].candidate.memory_id))
        return [_met(one, need) for _, one in met[: min(TOLD, cue.limit)]]

    return episodic


def _need(cue: Cue) -> _Need | None:
    """What the cue needs, if it is a need: a result is asked about when it failed, a call when it is made again."""
    if not cue.parts:
        return None
    text = cue.parts[0].text
    match cue.segment_kind:
        case SegmentKind.RESULT:
            return _Need(frozenset(cue.errors), _terms(sorts_of_error(text)), cue.call, _files(cue.parts[0], cue.call))
        case SegmentKind.CALL:
            return _Need(frozenset(), frozenset(), cue.call, frozenset()) if cue.call else None
        case SegmentKind.PROMPT if cue.question or _FAILING.search(text):
            return _Need(frozenset(cue.focus), frozenset(), "", frozenset())
        case _:
            return None


def _most(one: _Read, need: _Need) -> int:
    """How much the closest failure of an episode has in common with the need."""
    return max((_points(failure, one.files, need) for failure in one.failures), default=0)


def _met(one: _Read, need: _Need) -> Candidate:
    """The episode as it answers the need: its failures that are like it, the closest first."""
    points = [(_points(failure, one.files, need), failure) for failure in one.failures]
    told = sorted([pair for pair in points if pair[0] >= LEAST], key=lambda pair: -pair[0])
    most = told[0][0]
    text = "\n".join(f"{LAST_TIME}{failure.text}" for _, failure in told)
    return msgspec.structs.replace(
        one.candidate,
        score=float(most),
        confidence=min(1.0, most / SURE),
        payload=text,
        terms=distinct(text),
        reasons=("episode",),
    )


def _points(failure: _Failure, files: frozenset[str], need: _Need) -> int:
    """How much a failure has in common with a need."""
    met = failure.names & need.errors
    points = max((CODE if _CODE.fullmatch(name) else ERROR for name in met), default=0)
    points += 0 if failure.sorts.isdisjoint(need.sorts) else SORT
    if not failure.mended.isdisjoint(need.files):
        points += MENDED
    elif points and not files.isdisjoint(need.files):
        points += FILE
    if failure.act == need.act and (failure.solved or not is_general(failure.act)):
        points += GENERAL if is_general(failure.act) else COMMAND
        points += REMEDY if failure.remedied else 0
    return points


def _searched(one: _Read, cue: Cue) -> Candidate | None:
    """The episode as a person's words find it."""
    held = sum(term in one.candidate.terms for term in cue.terms)
    share = held / len(cue.terms)
    if share < SHARE:
        return None
    return msgspec.structs.replace(one.candidate, score=share, confidence=share)


def _shelf(candidates: Sequence[Candidate]) -> _Shelf:
    shelf = _Shelf(tuple(map(_read, candidates)), {}, {}, {})
    for one in shelf.all:
        for failure in one.failures:
            shelf.by_act.setdefault(failure.act, []).append(one)
            for file in failure.mended:
                shelf.by_file.setdefault(file, []).append(one)
            for name in failure.names:
                shelf.by_error.setdefault(name, []).append(one)
    return shelf


def _read(candidate: Candidate) -> _Read:
    candidate = msgspec.structs.replace(
        candidate, id=f"{SourceName.EPISODIC}:{candidate.memory_id}", source=SourceName.EPISODIC
    )
    named = _CHANGED.search(candidate.payload)
    files = frozenset(map(_end_of, named["files"].split(", "))) if named else frozenset[str]()
    return _Read(candidate, tuple(_failure(found) for found in _LINE.finditer(candidate.payload)), files)


def _failure(found: re.Match[str]) -> _Failure:
    errors = (found["errors"] or "").split(", ") if found["errors"] else []
    sorts = [error.partition(" ")[2] for error in errors if error.startswith(("a ", "an "))]
    names = [error for error in errors if " " not in error]
    return _Failure(
        text=found[0],
        act=found["act"],
        names=_terms(names),
        sorts=_terms(sorts),
        solved=found["ended"] == "success",
        mended=frozenset(_changed(found["remedy"] or "")) if found["ended"] == "success" else frozenset(),
        remedied=found["ended"] == "success" and _helps_again(found["act"], found["remedy"] or ""),
    )


def _changed(remedy: str) -> Iterator[str]:
    for done in _ACT.findall(remedy):
        tool, _, path = done.partition(" ")
        if tool in ("edit", "write") and "/" in path:
            yield _end_of(path)


def _helps_again(act: str, remedy: str) -> bool:
    """Whether what helped an act would help it another time: an edit mends one cause of a test run's many."""
    done = _ACT.findall(remedy)
    return any(not is_edit(one) for one in done) if is_general(act) else bool(done)


def _terms(names: Sequence[str]) -> frozenset[str]:
    """Names of errors as terms, whole."""
    return frozenset(whole for name in names for whole in distinct(name)[:1])


def _files(part: CuePart, call: str) -> frozenset[str]:
    """The files that a failing result and its call name."""
    return frozenset(_end_of(path) for path in (*_PATH.findall(part.text), *_PATH.findall(call)))


def _end_of(path: str) -> str:
    """What two ways of writing a path have in common."""
    return "/".join(file_of(path).split("/")[-2:])
