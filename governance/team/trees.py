"""What was read of a repository's memory: its files, and why others are not used. Pure."""

from collections.abc import Mapping

from governance.team.files import Doctrine, Scene, Skill
from recall.canonical import bytes_digest
from recall.contracts import Frozen
from recall.team_entry import Entry


class EntryFile(Frozen, frozen=True, kw_only=True):
    """`path`: relative to the worktree's top; `digest`: SHA-256 of the bytes. So are those of the other files."""

    path: str
    data: bytes
    digest: str
    entry: Entry


class SceneFile(Frozen, frozen=True, kw_only=True):
    path: str
    data: bytes
    digest: str
    scene: Scene


class DoctrineFile(Frozen, frozen=True, kw_only=True):
    path: str
    data: bytes
    digest: str
    doctrine: Doctrine


class SkillFile(Frozen, frozen=True, kw_only=True):
    path: str
    data: bytes
    digest: str
    skill: Skill


class TreeFault(Frozen, frozen=True, kw_only=True):
    """Something that is not used. `code`: as of an EntryFault, or symlink | hard-link | not-a-file | no-access |
    bad-name | look-alike | git-look-alike | duplicate-id | not-read | too-many-names | too-many-entries |
    too-many-scenes | too-many-skills | too-many-bytes | changed. `data`, `digest`: the bytes, where they were read."""

    path: str
    code: str
    problem: str
    line: int = 0
    digest: str | None = None
    data: bytes | None = None


class Tree(Frozen, frozen=True, kw_only=True):
    """`folder`: the memory root, relative to the worktree's top. `index`: the bytes of its index.json. `tree_digest`:
    over paths and bytes of all files that were read, and `files`: how many. `complete`: False: see `problem`; what is
    not here may be there all the same."""

    folder: str
    entries: tuple[EntryFile, ...] = ()
    scenes: tuple[SceneFile, ...] = ()
    doctrine: DoctrineFile | None = None
    skills: tuple[SkillFile, ...] = ()
    index: bytes | None = None
    faults: tuple[TreeFault, ...] = ()
    tree_digest: str = bytes_digest(b"")
    complete: bool = True
    problem: str = ""
    files: int = 0

    def bytes_of(self, path: str) -> bytes | None:
        """The bytes of a file that was read, also of one with a fault; None: there is none, or it may not be read."""
        whole = (*self.entries, *self.scenes, *self.skills, *((self.doctrine,) if self.doctrine else ()), *self.faults)
        return next((one.data for one in whole if one.path == path and one.data is not None), None)

    def ids(self) -> Mapping[str, EntryFile]:
        """The entries by their ids."""
        return {one.entry.id: one for one in self.entries}

    def entry(self, memory_id: str) -> EntryFile | None:
        return next((one for one in self.entries if one.entry.id == memory_id), None)

    def scene(self, name: str) -> SceneFile | None:
        return next((one for one in self.scenes if one.scene.name == name), None)

    def skill(self, name: str) -> SkillFile | None:
        return next((one for one in self.skills if one.skill.name == name), None)
