"""Scenes, personas, doctrines and skills on disk, below the memory folder of their workspace: read and written without
following a symlink, each file under the digest of what was read (M-06's write transaction).
"""

import asyncio
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from governance.formation.applying import file_digest
from governance.formation.contracts import DocumentKind, FileStep
from governance.formation.docform import ALONE, SCENES, SKILLS, kind_of
from governance.formation.doctexts import RESOURCE_BYTES
from governance.formation.errors import FormationFault, ParameterFault
from recall.contracts import Frozen
from recall.documents import Document, Documents, read
from recall.files import Refused

MOST = 256  # scenes, skills, and files beside one skill, that are looked at
DEEPEST = 4
NOTHING = file_digest("")
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


class NotWritten(FormationFault):
    """A file is no longer what it was, or cannot be written."""


class Texts(Frozen, frozen=True, kw_only=True):
    """Files by their path below the memory folder. `unreadable`: those that are not read, and why."""

    said: Mapping[str, str]
    unreadable: Mapping[str, str] = {}


class DocumentFiles:
    """The files of every workspace. `data`: the data folder."""

    def __init__(self, data: Path, documents: Documents) -> None:
        self._memory = data / "memory"
        self._documents = documents

    def folder(self, workspace_key: str) -> str:
        """The real path of a workspace's memory folder. Raises ParameterFault for what is no workspace key."""
        if not _KEY.fullmatch(workspace_key):
            raise ParameterFault("bad-workspace", "That is no key of a workspace.", "Name the folder of the workspace.")
        return os.path.realpath(self._memory / workspace_key)

    async def texts(self, workspace_key: str) -> Texts:
        """All documents of a workspace, as they stand."""
        return await asyncio.to_thread(_texts, self.folder(workspace_key))

    async def take(self, workspace_key: str, step: FileStep) -> None:
        """Have a file say what it is to say after a step; one that says so already is left. Raises NotWritten."""
        base = self.folder(workspace_key)
        found = await asyncio.to_thread(read, base, step.file)
        now = found.data.decode("utf-8", "replace") if isinstance(found, Document) else None
        if now == step.after and (now is not None or step.before is None):
            return
        expected = NOTHING if step.before is None else file_digest(step.before)
        if step.after is None:
            refused = await self._documents.remove(base, step.file, expected)
        else:
            data = step.after.encode()
            done = await self._documents.transact(base, step.file, lambda _: data, expected)
            refused = done if isinstance(done, Refused) else None
        if refused is not None:
            raise NotWritten(f"{step.file}: {refused.problem}", "Look at the file, and decide again.")


def _texts(base: str) -> Texts:
    said: dict[str, str] = {}
    unreadable: dict[str, str] = {}
    for relative, reason in _candidates(base):
        if kind_of(relative) is None and not reason:
            continue
        found = None if reason else read(base, relative)
        if not isinstance(found, Document):
            unreadable[relative] = reason or (found.reason if found is not None else "")
        elif kind_of(relative) is DocumentKind.RESOURCE and len(found.data) > RESOURCE_BYTES:
            unreadable[relative] = "too-large"
        else:
            try:
                said[relative] = found.data.decode("utf-8")
            except UnicodeDecodeError:
                unreadable[relative] = "not-utf-8"
    return Texts(said=said, unreadable={name: why for name, why in unreadable.items() if why != "gone"})


def _candidates(base: str) -> Iterator[tuple[str, str]]:
    """Every path where a document may lie, with the reason why it is not read, if there is one."""
    for name in ALONE.values():
        if os.path.lexists(os.path.join(base, name)):
            yield name, ""
    for name, mode in _listed(base, SCENES):
        if name.endswith(".md"):
            yield f"{SCENES}/{name}", "link" if stat.S_ISLNK(mode) else ""
    for name, mode in _listed(base, SKILLS):
        if stat.S_ISLNK(mode):
            yield f"{SKILLS}/{name}", "link"
        elif stat.S_ISDIR(mode):
            yield from _below(base, f"{SKILLS}/{name}", DEEPEST)


def _below(base: str, folder: str, depth: int) -> Iterator[tuple[str, str]]:
    for name, mode in _listed(base, folder):
        relative = f"{folder}/{name}"
        if stat.S_ISLNK(mode):
            yield relative, "link"
        elif stat.S_ISREG(mode):
            yield relative, ""
        elif stat.S_ISDIR(mode) and depth > 1:
            yield from _below(base, relative, depth - 1)


def _listed(base: str, folder: str) -> list[tuple[str, int]]:
    """The entries of a folder that is no link, by name, with their modes; hidden ones left out."""
    path = os.path.join(base, folder)
    try:
        if stat.S_ISLNK(os.lstat(path).st_mode):
            return []
        with os.scandir(path) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith("."))[:MOST]
        return [(name, os.lstat(os.path.join(path, name)).st_mode) for name in names]
    except OSError:
        return []
