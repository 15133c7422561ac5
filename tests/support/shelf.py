"""An index in memory, filled without files: for tests of searching and of indexing."""

from collections.abc import Callable

from recall import lookup
from recall.analyzer import distinct
from recall.contracts import Candidate, MemoryRecord, Origin, ScopeRef
from recall.documents import Document
from recall.edits import render
from recall.entries import Place, Root, changed
from recall.indexing import KnownRoot, apply, ensure_root, known_records
from recall.lookup import Search, View
from recall.markers import FileHome
from recall.tables import SCHEMA, begin
from tests.support.builders import a_scope, a_workspace_scope
from tests.support.clock import START
from tests.support.fakes import FakeDatabase

VIEW = View(scope=a_scope(), now=START)


class Shelf:
    """An index in memory, filled without files."""

    def __init__(self) -> None:
        self.connection = FakeDatabase(SCHEMA).connection
        begin(self.connection, "test")
        self._files = 0

    def put(self, *memories: MemoryRecord, name: str = "", folder: str = "/memory") -> None:
        """A file of these records, new or in the place of the one of that name. The first says the folder's scope."""
        self._files += 1
        name = name or f"{self._files}.md"
        root = self._root(memories[0].scope if memories else a_workspace_scope(), folder)
        home = FileHome(path=f"{folder}/{name}", relative=name, scope=root.scope, origin=Origin.USER)
        data = b"\n".join(render(memory, home) for memory in memories)
        known = known_records(self.connection, root.id, name)
        apply(self.connection, root.id, [changed(Document(data=data, stamp="s"), "s", home, known)], [])

    def put_legacy(self, text: str, name: str, folder: str) -> None:
        """A file without markers, in a root of its own."""
        root = self._root(a_workspace_scope(), folder)
        home = FileHome(path=f"{folder}/{name}", relative=name, scope=root.scope, origin=Origin.IMPORTED)
        known = known_records(self.connection, root.id, name)
        apply(self.connection, root.id, [changed(Document(data=text.encode(), stamp="s"), "s", home, known)], [])

    def drop(self, name: str, folder: str = "/memory") -> None:
        """The file of that name is gone."""
        apply(self.connection, self._root(a_workspace_scope(), folder).id, [], [name])

    def _root(self, scope: ScopeRef, folder: str) -> KnownRoot:
        path = f"{folder}/{scope.kind}/{scope.key}"
        root = Root(path=path, scope=scope, origin=Origin.USER)
        return ensure_root(self.connection, root, Place(path=path, folder=path))

    def steps(self, ask: Callable[[], object]) -> int:
        """How many steps of its machine SQLite needs for a question, in tens."""
        taken = [0]

        def count() -> None:
            taken[0] += 1

        self.connection.set_progress_handler(count, 10)
        ask()
        self.connection.set_progress_handler(None, 0)
        return taken[0]

    def search(self, query: str, limit: int = 50, prefix: str = "", view: View = VIEW) -> list[Candidate]:
        asked = Search(terms=distinct(query), limit=limit, prefix=prefix)
        return lookup.search(self.connection, asked, view).candidates

    def ids(self, query: str, **more: object) -> list[str]:
        return [hit.memory_id for hit in self.search(query, **more)]  # type: ignore[arg-type]
