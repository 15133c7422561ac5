"""The port `Commits`: what git's object store says, read with dulwich. No program of git's runs, no configuration is
followed, nothing is written (invariant 14).

A repository may be somebody else's and mean harm: only plain files are opened, and of everything a bounded number.
"""

import asyncio
import heapq
import os
import re
import stat
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

from dulwich.diff_tree import tree_changes
from dulwich.errors import NotGitRepository
from dulwich.object_format import get_object_format
from dulwich.object_store import DiskObjectStore
from dulwich.objects import Commit as GitCommit
from dulwich.objects import ObjectID
from dulwich.refs import HEADREF, LOCAL_BRANCH_PREFIX, DiskRefsContainer, Ref

from governance.team.contracts.base import Bound
from governance.team.contracts.turns import Commit
from recall.contracts import Millis
from recall.workspace import common_directory

REPOSITORIES = 4  # that are held open
LOOKED_AT = 64  # hashes of one text
HEADS = 256
WALKED = 20_000  # commits of a history
REMEMBERED = 8_192  # commits whose paths are known
CHANGED = 2_048  # paths of one commit
LARGEST = 16 * 2**20  # bytes of one object
SLACK = 16  # commits out of their order in time
CONFIG_LIMIT = 65_536
POINTER_LIMIT = 4_096

_HASH = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,64}(?![0-9A-Za-z])")
_WHOLE = (40, 64)
_SHA256 = re.compile(rb"^[ \t]*objectformat[ \t]*=[ \t]*sha256[ \t]*$", re.MULTILINE | re.IGNORECASE)


class DulwichCommits:
    """Reads one repository at a time, on a thread. One that cannot be read has no commits."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, _Repository] = OrderedDict()
        self._lock = asyncio.Lock()

    async def named(self, bound: Bound, text: str) -> Sequence[Commit]:
        """As the port says."""
        wanted = [one for one in _hashes(text) if len(one) in _WHOLE][:LOOKED_AT]
        return await self._asked(bound, lambda repository: repository.named(wanted)) if wanted else ()

    async def abbreviated(self, bound: Bound, text: str) -> Sequence[Commit]:
        """As the port says."""
        wanted = [one for one in _hashes(text) if len(one) < min(_WHOLE)][:LOOKED_AT]
        return await self._asked(bound, lambda repository: repository.abbreviated(wanted)) if wanted else ()

    async def between(self, bound: Bound, since: Millis, until: Millis, limit: int) -> Sequence[Commit]:
        """As the port says; of local branches, too: another branch may be checked out by now."""
        return await self._asked(bound, lambda repository: repository.between(since, until, limit))

    async def close(self) -> None:
        """Let go of all files."""
        async with self._lock:
            while self._open:
                self._open.popitem()[1].close()

    async def _asked(self, bound: Bound, work: "Callable[[_Repository], tuple[Commit, ...]]") -> tuple[Commit, ...]:
        async with self._lock:
            return await asyncio.to_thread(self._worked, bound.root, work)

    def _worked(self, root: str, work: "Callable[[_Repository], tuple[Commit, ...]]") -> tuple[Commit, ...]:
        for _ in range(2):  # a pack that was open may be gone: then it is opened anew
            try:
                return work(self._repository(root))
            except Exception:  # noqa: BLE001  (boundary: a repository may be broken in any way)
                if (broken := self._open.pop(root, None)) is None:
                    break
                broken.close()
        return ()

    def _repository(self, root: str) -> "_Repository":
        if root not in self._open:
            common = common_directory(root)
            if common is None:
                raise NotGitRepository(root)
            self._open[root] = _Repository(Path(root), common)
        self._open.move_to_end(root)
        while len(self._open) > REPOSITORIES:
            self._open.popitem(last=False)[1].close()
        return self._open[root]


class _Store(DiskObjectStore):
    """Only plain files are objects: of a pipe nobody would ever come back."""

    def _get_shafile_path(self, sha: ObjectID) -> str:
        path = super()._get_shafile_path(sha)
        if not _is_plain(path):
            raise FileNotFoundError(path)
        return path


class _Repository:
    """Blocks on the disk. Raises whatever a broken repository makes dulwich raise."""

    def __init__(self, root: Path, common: Path) -> None:
        _check(common)
        sha256 = _SHA256.search(_start_of(common / "config", CONFIG_LIMIT)) is not None
        self._store = _Store(
            common / "objects",
            object_format=get_object_format("sha256" if sha256 else "sha1"),
            loose_object_size_limit=LARGEST,
        )
        self._common = common
        self._refs = DiskRefsContainer(common, worktree_path=_own_directory(root, common))
        self._paths: OrderedDict[ObjectID, Commit] = OrderedDict()
        self._walk = _Walk(self._store, ())

    def close(self) -> None:
        self._store.close()

    def named(self, hashes: Iterable[str]) -> tuple[Commit, ...]:
        found = (self._commit(ObjectID(one.encode())) for one in hashes)
        return tuple(one for one in found if one is not None)

    def abbreviated(self, hashes: Iterable[str]) -> tuple[Commit, ...]:
        found: dict[str, Commit] = {}
        for short in hashes:
            every = list(islice(self._store.iter_prefix(short.encode()), 2))
            commit = self._commit(every[0]) if len(every) == 1 else None
            if commit is not None:
                found[commit.commit] = commit
        return tuple(found.values())

    def between(self, since: Millis, until: Millis, limit: int) -> tuple[Commit, ...]:
        heads = tuple(self._heads())
        if heads != self._walk.heads:
            self._walk = _Walk(self._store, heads)
        timely = (sha for at, sha in self._walk.since(since // 1000) if since <= at * 1000 <= until)
        found = (self._commit(sha) for sha in islice(timely, limit))
        return tuple(one for one in found if one is not None)

    def _heads(self) -> Iterator[ObjectID]:
        """What is checked out, and the local branches, in an order of their own."""
        _check(self._common)
        branches = sorted(name for name in self._refs.allkeys() if name.startswith(LOCAL_BRANCH_PREFIX))
        for name in (HEADREF, *branches[:HEADS]):
            try:
                yield self._refs[Ref(name)]
            except KeyError:
                continue

    def _commit(self, sha: ObjectID) -> Commit | None:
        """A commit with what it changed against its first parent; a merge changed nothing itself. None: it is none."""
        if sha in self._paths:
            self._paths.move_to_end(sha)
            return self._paths[sha]
        commit = _read(self._store, sha)
        if commit is None:
            return None
        parent = _read(self._store, commit.parents[0]) if len(commit.parents) == 1 else None
        whole = not commit.parents or parent is not None
        before = None if parent is None else parent.tree
        changes = islice(tree_changes(self._store, before, commit.tree), CHANGED) if whole else ()
        sides = (side for change in changes for side in (change.old, change.new))
        paths = {side.path.decode("utf-8", "replace") for side in sides if side is not None and side.path}
        told = Commit(commit=sha.decode(), at=commit.commit_time * 1000, paths=tuple(sorted(paths)))
        self._paths[sha] = told
        while len(self._paths) > REMEMBERED:
            self._paths.popitem(last=False)
        return told


class _Walk:
    """A history, newest first, read as far as it was asked for."""

    def __init__(self, store: DiskObjectStore, heads: tuple[ObjectID, ...]) -> None:
        self.heads = heads
        self._store = store
        self._met: set[ObjectID] = set()
        self._next: list[tuple[int, ObjectID, tuple[ObjectID, ...]]] = []
        self._read: list[tuple[int, ObjectID]] = []
        self._add(heads)

    def since(self, at: int) -> list[tuple[int, ObjectID]]:
        """The commits from that time on (epoch seconds), newest first."""
        late = 0
        while self._next and len(self._read) < WALKED and late < SLACK:
            when = -self._next[0][0]
            late = late + 1 if when < at else 0
            _, sha, parents = heapq.heappop(self._next)
            self._read.append((when, sha))
            self._add(parents)
        return sorted((one for one in self._read if one[0] >= at), reverse=True)

    def _add(self, shas: Iterable[ObjectID]) -> None:
        for sha in shas:
            if sha not in self._met:
                self._met.add(sha)
                commit = _read(self._store, sha)
                if commit is not None:
                    heapq.heappush(self._next, (-commit.commit_time, sha, tuple(commit.parents)))


def _read(store: DiskObjectStore, sha: ObjectID) -> GitCommit | None:
    """A commit; None: it is not there, as in a shallow clone, or it is something else."""
    try:
        found = store[sha]
    except KeyError:
        return None
    return found if isinstance(found, GitCommit) else None


@lru_cache(maxsize=256)  # each text is asked for twice, and a turn more than once
def _hashes(text: str) -> tuple[str, ...]:
    """What may be hashes in a text, each once, in order."""
    return tuple(dict.fromkeys(_HASH.findall(text)))


def _own_directory(root: Path, common: Path) -> Path:
    """Git's directory of this worktree: where its HEAD is. A pointer counts where the repository holds it."""
    git = root / ".git"
    if git.is_dir():
        return common
    named = _start_of(git, POINTER_LIMIT).decode("utf-8", "replace").removeprefix("gitdir:").strip()
    own = Path(os.path.realpath(root / named)) if named else common
    return own if own.parent == common / "worktrees" else common


def _check(common: Path) -> None:
    """Raises OSError when something that is opened without another look is no plain file."""
    fixed = ["HEAD", "packed-refs", "objects/info/alternates", "objects/info/commit-graph"]
    loose: list[str] = []
    for folder, _, files in os.walk(common / "refs" / "heads"):
        loose += [str(Path(folder, name)) for name in files]
        if len(loose) > HEADS * 4:
            break
    packs = common / "objects" / "pack"
    packed = [str(packs / name) for name in os.listdir(packs)] if packs.is_dir() else []
    for path in (*(str(common / name) for name in fixed), *loose, *packed):
        if os.path.lexists(path) and not _is_plain(path):
            raise OSError(f"{path} is no plain file")


def _is_plain(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def _start_of(file: Path, most: int) -> bytes:
    if not _is_plain(str(file)):
        return b""
    with open(file, "rb") as opened:
        return opened.read(most)
