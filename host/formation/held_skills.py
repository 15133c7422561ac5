"""The skills that a run may look at: those of the workspace, and those elsewhere, which are not ours to change."""

import asyncio
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from governance.formation import doctexts
from governance.formation.applying import Standing
from governance.formation.contracts import Document, DocumentKind
from governance.formation.docform import document_id, read_document
from governance.formation.doctexts import SKILL_FILE
from governance.formation.errors import AnswerFault
from governance.formation.shelf import Shelf
from recall.documents import Document as File
from recall.documents import read

MOST_ELSEWHERE = 256


class HeldSkills:
    """A `Skills` over what stood in the files when it was made."""

    def __init__(self, standing: Standing, elsewhere: Iterable[Document] = ()) -> None:
        own = standing.of(DocumentKind.SKILL)
        names = {skill.name for skill in own}
        self._skills = (*own, *(one for one in elsewhere if one.name not in names))
        self._every = {one.id: one for one in (*self._skills, *standing.of(DocumentKind.RESOURCE))}

    async def list(self) -> tuple[Document, ...]:
        return self._skills

    async def search(self, query: str) -> tuple[Document, ...]:
        return tuple(self._every[str(line["id"])] for line in Shelf(self._skills).found(query))

    async def get(self, document_id: str) -> Document | None:
        return self._every.get(document_id)


async def elsewhere(folders: Sequence[Path]) -> tuple[Document, ...]:
    """Skills in these folders (`<folder>/<name>/SKILL.md`), as far as they can be read. None of them is ours."""
    return await asyncio.to_thread(_elsewhere, folders)


def _elsewhere(folders: Sequence[Path]) -> tuple[Document, ...]:
    found: list[Document] = []
    for folder in folders:
        base = os.path.realpath(folder)
        for name in _names(base):
            file = read(base, f"{name}/{SKILL_FILE}", alone=True)
            if isinstance(file, File) and len(file.data) <= doctexts.SKILL_BODY:
                blank = Document(
                    id=document_id(base, DocumentKind.SKILL, name),
                    kind=DocumentKind.SKILL,
                    name=name,
                    version=1,
                    content="",
                    writable=False,
                )
                try:
                    found.append(read_document(file.data.decode(), blank))
                except (AnswerFault, UnicodeDecodeError):
                    continue  # a file that is none of ours, and no skill
    return tuple(found)


def _names(base: str) -> list[str]:
    try:
        with os.scandir(base) as entries:
            names = sorted(one.name for one in entries if one.is_dir(follow_symlinks=False))
    except OSError:
        return []
    sound: list[str] = []
    for name in names[:MOST_ELSEWHERE]:
        try:
            sound.append(doctexts.skill_name(name))
        except AnswerFault:
            continue
    return sound
