"""The documents that a run may look at, what it saw of them, and what it may be told of them. Pure.

Everything that was listed, found or read is in the read set with the version that it had: a change made of it holds
only while that version does. A document is changed only after it was read whole.
"""

from collections.abc import Iterable, Mapping

from governance.formation.contracts import Document, DocumentBefore, DocumentVersion
from governance.formation.docform import document_digest
from governance.formation.errors import AnswerFault
from recall.analyzer import terms

MOST_FOUND = 10
MOST_READ = 120_000  # characters of documents that a run reads whole
LINE = 200  # characters of a summary in a list


class Shelf:
    """Documents by id."""

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._held: dict[str, Document] = {}
        self._seen: dict[str, int] = {}
        self._read: set[str] = set()
        for document in documents:
            self.hold(document)

    def __len__(self) -> int:
        return len(self._held)

    @property
    def held(self) -> Mapping[str, Document]:
        return self._held

    @property
    def read_set(self) -> tuple[DocumentVersion, ...]:
        return tuple(DocumentVersion(id=one, version=version) for one, version in sorted(self._seen.items()))

    def hold(self, document: Document) -> None:
        """Have a document here, not seen yet."""
        self._held.setdefault(document.id, document)

    def listed(self) -> list[dict[str, object]]:
        """Every document in one line each; all of them are seen by that."""
        return [self._line(document) for document in sorted(self._held.values(), key=_by_heat)]

    def found(self, query: str) -> list[dict[str, object]]:
        """Those that share most terms with the query, at most ten; they are seen."""
        wanted = set(terms(query))
        scored = [
            (len(wanted & set(terms(f"{one.name}\n{one.meta.summary}\n{one.content}"))), one)
            for one in self._held.values()
        ]
        best = sorted(((count, one) for count, one in scored if count), key=lambda hit: (-hit[0], hit[1].id))
        return [self._line(one) for _, one in best[:MOST_FOUND]]

    def see(self, document_id: str) -> None:
        """One was shown in a line."""
        self._line(self._known(document_id))

    def read(self, document_id: str) -> Document:
        """One document, whole; it is seen and read. Raises AnswerFault `unknown-document`, and `over-budget` when the
        run has read too much already."""
        document = self._known(document_id)
        read = sum(len(self._held[one].content) for one in self._read - {document.id})
        if read and read + len(document.content) > MOST_READ:
            raise AnswerFault("over-budget", "What was read fills this run: go on with that, or submit.")
        return self.shown(document.id)

    def shown(self, document_id: str) -> Document:
        """One document that the material holds whole; it is seen and read. Raises AnswerFault `unknown-document`."""
        document = self._known(document_id)
        self._seen[document.id] = document.version
        self._read.add(document.id)
        return document

    def changing(self, document_id: str) -> Document:
        """A document that is to be changed. Raises AnswerFault `unknown-document`, or `not-read`."""
        document = self._known(document_id)
        if document.id not in self._read:
            raise AnswerFault("not-read", f"{document.id} is changed only after it was read: call `read` first.")
        return document

    def _known(self, document_id: str) -> Document:
        document = self._held.get(document_id)
        if document is None:
            raise AnswerFault("unknown-document", "There is no document of that id: `list` gives those that there are.")
        return document

    def _line(self, document: Document) -> dict[str, object]:
        self._seen[document.id] = document.version
        line: dict[str, object] = {"id": document.id, "name": document.name, "summary": document.meta.summary[:LINE]}
        return line | ({"heat": document.meta.heat} if document.meta.heat else {})


def before(document: Document) -> DocumentBefore:
    """What a change says of the document that it was made of."""
    return DocumentBefore(id=document.id, version=document.version, digest=document_digest(document))


def whole(document: Document) -> dict[str, object]:
    """A document as a run is shown it."""
    shown: dict[str, object] = {
        "id": document.id,
        "name": document.name,
        "summary": document.meta.summary,
        "content": document.content,
    }
    if document.resources:
        shown["resources"] = list(document.resources)
    return shown | ({} if document.writable else {"writable": False})


def _by_heat(document: Document) -> tuple[int, str]:
    return -document.meta.heat, document.name
