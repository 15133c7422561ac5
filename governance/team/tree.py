"""The memory of a repository as it lies on disk, read so that nobody can lead us elsewhere (team.md 4, 11).

A repository is anybody's. Every folder is opened from the one above it, and no link is followed; a file is read when it
is a plain one with one name. Names that some system could take for one another, or for git's own, are reported and not
read. Everything is bounded. What a promotion has in the making is passed over. When the listing has changed by the time
that all was read, the tree is not complete: then nothing may be concluded from what is missing in it.
"""

import errno
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Protocol, TypeVar

from governance.team.errors import Kind, TeamFault
from governance.team.files import (
    DOCTRINE,
    ENTRIES,
    INDEX,
    MOST_ENTRIES,
    MOST_SKILLS,
    SCENES,
    SKILL_FILE,
    SKILLS,
    parse_doctrine,
    parse_scene,
    parse_skill,
)
from governance.team.folders import FOLDER, Seen, looked_at, names, opened, read, told, unreadable
from governance.team.paths import folded, in_the_making, is_git_name, unsafe_name
from governance.team.trees import DoctrineFile, EntryFile, SceneFile, SkillFile, Tree, TreeFault
from recall.canonical import bytes_digest
from recall.team_entry import Entry, parse
from recall.team_front import EntryFault

__all__ = ["DoctrineFile", "EntryFile", "SceneFile", "SkillFile", "Tree", "TreeFault", "read_tree"]

MOST_NAMES = 10_000  # seen in all folders together
MOST_SCENES = 256
MOST_BYTES = 32 * 1024 * 1024  # read of all files together

Parsed = TypeVar("Parsed", covariant=True)
REMEMBERED = 16_384  # bytes of a file whose entry is remembered
_known_entry = lru_cache(MOST_ENTRIES)(parse)  # the same few thousand are read at every operation


def read_tree(root: str, folder: str, *, entries: bool = True) -> Tree:
    """The memory below `folder` of a worktree with that real top. None there: an empty one. Without `entries` their
    folder is passed over: nothing is said of it.

    Blocking. Raises TeamFault: `target-path-invalid` when a link, or no folder, is on the way; `io-error`.
    """
    reader = _Reader(folder, entries)
    try:
        with opened(root, folder) as (handle, identity):
            reader.read(handle)
            _same_place(root, folder, identity, reader)
            return reader.tree()
    except FileNotFoundError:
        return Tree(folder=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            problem = f"A link, or something that is no folder, is on the way to {folder}."
            raise TeamFault(Kind.TARGET_PATH_INVALID, problem, f"Make {folder} a real folder.") from error
        problem = f"{folder} cannot be read: {error.strerror or error}."
        raise TeamFault(Kind.IO_ERROR, problem, "Look at its permissions, and try again.") from error


def _entry(data: bytes) -> Entry | EntryFault:
    return _known_entry(data) if len(data) <= REMEMBERED else parse(data)


class _File(Protocol[Parsed]):
    def __call__(self, path: str, data: bytes) -> Parsed | EntryFault: ...


class _Reader:
    """One reading of a memory."""

    def __init__(self, folder: str, entries: bool) -> None:
        self._folder = folder
        self._passed_over = "" if entries else ENTRIES
        self._names = 0
        self._bytes = 0
        self._files: list[tuple[str, str]] = []
        self._faults: list[TreeFault] = []
        self._problem = ""
        self._entries: list[EntryFile] = []
        self._scenes: list[SceneFile] = []
        self._skills: list[SkillFile] = []
        self._doctrine: DoctrineFile | None = None
        self._index: bytes | None = None

    def read(self, memory: int) -> None:
        """Read all below an open folder."""
        top = self._listing(memory, "")
        self._strangers(top)
        for name, how in ((ENTRIES, self._read_entries), (SCENES, self._read_scenes), (SKILLS, self._read_skills)):
            if name != self._passed_over and any(seen.name == name for seen in top):
                self._inside(memory, name, how)
        for path, data, digest in self._texts(
            memory, "", [seen for seen in top if seen.name in (DOCTRINE, INDEX)], top
        ):
            if path.endswith(INDEX):
                self._index = data
                continue
            doctrine = self._parsed(path, data, digest, lambda _, data: parse_doctrine(data))
            if doctrine is not None:
                self._doctrine = DoctrineFile(path=path, data=data, digest=digest, doctrine=doctrine)
        self._unchanged(memory, "", top)

    def tree(self) -> Tree:
        """What was read. An id that is there twice is out of it in both files."""
        times = Counter(one.entry.id for one in self._entries)
        for one in self._entries:
            if times[one.entry.id] > 1:
                self._faults.append(
                    TreeFault(
                        path=one.path,
                        code="duplicate-id",
                        problem="The same id in another file.",
                        digest=one.digest,
                        data=one.data,
                    )
                )
        listed = "".join(f"{digest} {path}\n" for path, digest in sorted(self._files))
        return Tree(
            folder=self._folder,
            entries=tuple(one for one in self._entries if times[one.entry.id] == 1),
            scenes=tuple(self._scenes),
            doctrine=self._doctrine,
            skills=tuple(self._skills),
            index=self._index,
            faults=tuple(sorted(self._faults, key=lambda fault: (fault.path, fault.line, fault.code))),
            tree_digest=bytes_digest(listed.encode()),
            complete=not self._problem,
            problem=self._problem,
            files=len(self._files),
        )

    def partial(self, path: str, code: str, problem: str) -> None:
        """Report what keeps the tree from being complete."""
        self._fault(path, code, problem)
        self._problem = self._problem or problem

    # -- folders

    def _inside(self, parent: int, below: str, how: Callable[[int, str], None]) -> None:
        name = below.rpartition("/")[2]
        try:
            handle = os.open(name, FOLDER, dir_fd=parent)
        except FileNotFoundError:
            return
        except OSError as error:
            link = error.errno in (errno.ELOOP, errno.ENOTDIR)
            problem = f"{name} is a link, or no folder." if link else f"{name} cannot be read: {error.strerror}."
            tell = self.partial if below == name else self._fault  # of a skill, that one alone is missing
            tell(below, "symlink" if link else "no-access", problem)
            return
        try:
            how(handle, below)
        finally:
            os.close(handle)

    def _listing(self, folder: int, below: str) -> list[Seen]:
        """The names in a folder, sorted, without what a promotion has in the making."""
        left = MOST_NAMES - self._names
        found = names(folder, left + 1)
        if len(found) > left:
            found = found[:left]
            self.partial(below, "too-many-names", f"There are more than {MOST_NAMES} names.")
        self._names += len(found)
        return looked_at(folder, sorted(found))

    def _unchanged(self, folder: int, below: str, before: Sequence[Seen]) -> None:
        """Look once more: the tree is complete when all is as it was."""
        if self._problem:
            return
        found = names(folder, MOST_NAMES + 1)
        if told(looked_at(folder, sorted(found))) != told(before):
            self.partial(below, "changed", "The folder changed while it was read.")

    def _strangers(self, top: Sequence[Seen]) -> None:
        """Names beside ours that pass for them, or for git's."""
        ours = {folded(name): name for name in (ENTRIES, SCENES, SKILLS, DOCTRINE, INDEX)}
        for seen in top:
            like = ours.get(folded(seen.name))
            if is_git_name(seen.name):
                self._fault(seen.name, "git-look-alike", "The name passes for one that git keeps for itself.")
            elif like is not None and like != seen.name:
                self._fault(seen.name, "look-alike", f"The name passes for {like}.")

    def _read_entries(self, folder: int, below: str) -> None:
        for path, data, digest in self._all_texts(folder, below, MOST_ENTRIES, "entries"):
            entry = self._parsed(path, data, digest, lambda _, data: _entry(data))
            if entry is not None:
                self._entries.append(EntryFile(path=path, data=data, digest=digest, entry=entry))

    def _read_scenes(self, folder: int, below: str) -> None:
        for path, data, digest in self._all_texts(folder, below, MOST_SCENES, "scenes"):
            scene = self._parsed(path, data, digest, parse_scene)
            if scene is not None:
                self._scenes.append(SceneFile(path=path, data=data, digest=digest, scene=scene))

    def _read_skills(self, folder: int, below: str) -> None:
        listing = self._listing(folder, below)
        found = [seen for seen in self._safe(listing, below) if stat.S_ISDIR(seen.mode) or stat.S_ISLNK(seen.mode)]
        if len(found) > MOST_SKILLS:
            self.partial(below, "too-many-skills", f"There are more than {MOST_SKILLS} skills.")
        for seen in found[:MOST_SKILLS]:
            self._inside(folder, f"{below}/{seen.name}", self._read_skill)
        self._unchanged(folder, below, listing)

    def _read_skill(self, folder: int, below: str) -> None:
        listing = self._listing(folder, below)
        safe = self._safe(listing, below)
        for seen in safe:
            if seen.name != SKILL_FILE:
                self._fault(f"{below}/{seen.name}", "not-read", f"Of a skill only {SKILL_FILE} is read.")
        for path, data, digest in self._texts(folder, below, [one for one in safe if one.name == SKILL_FILE], listing):
            skill = self._parsed(path, data, digest, parse_skill)
            if skill is not None:
                self._skills.append(SkillFile(path=path, data=data, digest=digest, skill=skill))
        self._unchanged(folder, below, listing)

    # -- files

    def _all_texts(self, folder: int, below: str, most: int, what: str) -> Iterator[tuple[str, bytes, str]]:
        listing = self._listing(folder, below)
        found: list[Seen] = []
        for seen in self._safe(listing, below):
            if folded(seen.name).endswith(".md"):
                found.append(seen)
            elif stat.S_ISDIR(seen.mode):
                self._fault(f"{below}/{seen.name}", "not-read", f"Folders in {below} are not looked into.")
        if len(found) > most:
            self.partial(below, f"too-many-{what}", f"There are more than {most} {what}.")
        yield from self._texts(folder, below, found[:most], listing)
        self._unchanged(folder, below, listing)

    def _safe(self, listing: Sequence[Seen], below: str) -> list[Seen]:
        """The names that may be used: each is safe, and none passes for another. Other hidden ones are nobody's."""
        times = Counter(folded(seen.name) for seen in listing)
        kept: list[Seen] = []
        for seen in listing:
            path = f"{below}/{seen.name}"
            if is_git_name(seen.name):
                self._fault(path, "git-look-alike", "The name passes for one that git keeps for itself.")
            elif in_the_making(seen.name) or seen.name.startswith("."):
                continue
            elif times[folded(seen.name)] > 1:
                self._fault(path, "look-alike", "Some systems take this name and another one here for the same.")
            elif problem := unsafe_name(seen.name):
                self._fault(path, "bad-name", problem)
            else:
                kept.append(seen)
        return kept

    def _texts(
        self, folder: int, below: str, found: Sequence[Seen], listing: Sequence[Seen]
    ) -> Iterator[tuple[str, bytes, str]]:
        """Path, bytes and digest of each file that may be read."""
        making = Counter(one.identity for one in listing if in_the_making(one.name))
        for seen in found:
            name = f"{below}/{seen.name}" if below else seen.name
            problem = unreadable(seen, making[seen.identity])
            if problem is not None:
                self._fault(name, *problem)
            elif self._bytes + seen.size > MOST_BYTES:
                self.partial(name, "too-many-bytes", f"The files have more than {MOST_BYTES} bytes.")
                return
            elif isinstance(data := read(folder, seen), bytes):
                self._bytes += len(data)
                digest = bytes_digest(data)
                self._files.append((self._path(name), digest))
                yield self._path(name), data, digest
            else:
                self._fault(name, *data)

    def _parsed(self, path: str, data: bytes, digest: str, how: _File[Parsed]) -> Parsed | None:
        made = how(path, data)
        if isinstance(made, EntryFault):
            fault = TreeFault(path=path, code=made.code, problem=made.problem, line=made.line, digest=digest, data=data)
            self._faults.append(fault)
            return None
        return made

    def _fault(self, name: str, code: str, problem: str) -> None:
        self._faults.append(TreeFault(path=self._path(name), code=code, problem=problem))

    def _path(self, name: str) -> str:
        shown = name.encode("utf-8", "backslashreplace").decode()
        return f"{self._folder}/{shown}" if shown else self._folder


def _same_place(root: str, folder: str, identity: tuple[int, int], reader: _Reader) -> None:
    """Whether the way still leads where it led."""
    try:
        with opened(root, folder) as (_, now):
            moved = now != identity
    except OSError:
        moved = True
    if moved:
        reader.partial("", "changed", "The memory folder was replaced while it was read.")
