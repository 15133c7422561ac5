"""The documents of a workspace as they stand: what their files say, beside what was kept of them (formation.md 7.2).
Pure.

A file is the truth of a document's words. One that a person changed is its next version, and one that a person put
there is a document. A file that is missing takes nothing away: it is told, and its document is not used.
"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

import msgspec

from governance.formation import doctexts
from governance.formation.applying import Held, Standing, file_digest
from governance.formation.contracts import Document, DocumentKind, DocumentMeta, DocumentState, KeptDocument
from governance.formation.docform import SKILLS, document_id, kind_of, read_document
from governance.formation.errors import AnswerFault
from recall.contracts import Frozen, Millis

_BAD_NAME, _BAD_FRONT = "bad-name", "bad-front-matter"
_SPACES = re.compile(r"[-_]+")


class Looked(Frozen, frozen=True, kw_only=True):
    """`news`: what is to be written down: versions and documents that a person made in the files."""

    standing: Standing
    news: tuple[KeptDocument, ...] = ()


def looked(
    workspace_key: str,
    texts: Mapping[str, str],
    unreadable: Mapping[str, str],
    kept: tuple[KeptDocument, ...],
    at: Millis,
) -> Looked:
    """What stands in these files (path below the memory folder -> words), with what was kept. `at`: now, epoch ms."""
    return _Look(workspace_key, kept, at).through(texts, unreadable)


class _Look:
    def __init__(self, workspace_key: str, kept: tuple[KeptDocument, ...], at: Millis) -> None:
        self._workspace_key = workspace_key
        self._at = at
        self._rows = {row.document_id: row for row in kept}
        # Of two rows of one file the live one counts.
        by_state = sorted(kept, key=lambda row: (row.state is DocumentState.LIVE, row.version))
        self._by_file = {row.file: row for row in by_state}
        self._held: dict[str, Held] = {}
        self._news: list[KeptDocument] = []

    def through(self, texts: Mapping[str, str], unreadable: Mapping[str, str]) -> Looked:
        broken = dict(unreadable)
        for file, text in sorted(texts.items()):
            try:
                self._take(file, text)
            except AnswerFault as fault:
                broken[file] = _BAD_NAME if fault.code == "schema" else _BAD_FRONT
        missing = [
            row.file
            for row in self._rows.values()
            if row.state is DocumentState.LIVE and row.file not in texts and row.file not in broken
        ]
        standing = Standing(
            held=self._with_resources(), rows=self._rows, missing=tuple(sorted(missing)), unreadable=broken
        )
        return Looked(standing=standing, news=tuple(self._news))

    def _take(self, file: str, text: str) -> None:
        kind = kind_of(file)
        if kind is None:
            return
        row = self._by_file.get(file)
        if row is None or row.state is DocumentState.GONE:
            row = self._adopted(file, text, kind, row)
        elif row.digest != file_digest(text):
            row = self._edited(text, row)
        self._held[row.document_id] = Held(document=_document(text, row), kept=row, text=text)

    def _edited(self, text: str, row: KeptDocument) -> KeptDocument:
        """A person changed the file: its next version."""
        said = _document(text, row)
        meta = msgspec.structs.replace(said.meta, updated=self._at)
        return self._write(
            msgspec.structs.replace(
                row,
                version=row.version + 1,
                digest=file_digest(text),
                name=said.name,
                meta=meta,
                item_id="",
                updated_at=self._at,
            )
        )

    def _adopted(self, file: str, text: str, kind: DocumentKind, gone: KeptDocument | None) -> KeptDocument:
        """A person put the file there, or put it back."""
        name = _name(file, kind)
        blank = Document(id="", kind=kind, name=name, version=1, content="", meta=DocumentMeta())
        said = read_document(text, blank)
        own = document_id(self._workspace_key, kind, said.name)
        if own in self._rows:  # of another file
            own = document_id(self._workspace_key, kind, f"{said.name}\n{file}")
        meta = msgspec.structs.replace(said.meta, created=said.meta.created or self._at, updated=self._at)
        return self._write(
            KeptDocument(
                document_id=own if gone is None else gone.document_id,
                kind=kind,
                name=said.name,
                version=1 if gone is None else gone.version + 1,
                digest=file_digest(text),
                file=file,
                updated_at=self._at,
                meta=meta,
                evidence=() if gone is None else gone.evidence,
            )
        )

    def _write(self, row: KeptDocument) -> KeptDocument:
        self._rows[row.document_id] = row
        self._news.append(row)
        return row

    def _with_resources(self) -> dict[str, Held]:
        """The skills know what lies beside them; what lies beside none is none."""
        skills = {one.document.name for one in self._held.values() if one.document.kind is DocumentKind.SKILL}
        beside: dict[str, list[str]] = {name: [] for name in skills}
        for one in self._held.values():
            skill, _, path = one.document.name.partition("/")
            if one.document.kind is DocumentKind.RESOURCE and skill in beside:
                beside[skill].append(path)
        held: dict[str, Held] = {}
        for key, one in self._held.items():
            document = one.document
            if document.kind is DocumentKind.SKILL:
                resources = tuple(sorted(beside[document.name]))
                document = msgspec.structs.replace(document, resources=resources)
            if document.kind is not DocumentKind.RESOURCE or document.name.partition("/")[0] in skills:
                held[key] = msgspec.structs.replace(one, document=document)
        return held


def _document(text: str, row: KeptDocument) -> Document:
    """A document as its file says it, with what was kept of it."""
    was = Document(
        id=row.document_id,
        kind=row.kind,
        name=row.name,
        version=row.version,
        content="",
        meta=row.meta,
        evidence=row.evidence,
    )
    return read_document(text, was)


def _name(file: str, kind: DocumentKind) -> str:
    """What a file is called where it does not say so itself. Raises AnswerFault for a skill's folder that no skill can
    have."""
    path = PurePosixPath(file)
    match kind:
        case DocumentKind.SCENE:
            return _SPACES.sub(" ", path.stem).strip() or path.stem
        case DocumentKind.SKILL:
            return doctexts.skill_name(path.parts[1])
        case DocumentKind.RESOURCE:
            return str(path.relative_to(SKILLS))
        case _:
            return kind
