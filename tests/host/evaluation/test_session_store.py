"""The store of a recording becomes memory files that read back as the same records."""

from pathlib import Path

from host.demo.recording import SHIPPED
from host.evaluation.session_store import write_store
from host.evaluation.sessions import Stored, load
from recall.contracts import MemoryKind, Origin, Scope, ScopeRef, Status
from recall.files import parse
from recall.markers import FileHome

NAMES = {"shop": "ws_1", "blog": "ws_2"}


def stored(number: int, **fields: object) -> Stored:
    values = {
        "id": f"mem_{number:032x}",
        "kind": MemoryKind.SEMANTIC,
        "scope": Scope.WORKSPACE,
        "workspace": "shop",
        "created": "2025-05-16T00:34:31Z",
        "status": Status.ACTIVE,
        "text": "said",
    }
    return Stored(**(values | fields))  # type: ignore[arg-type]  # the table above has the types


def test_each_scope_has_its_folder_and_each_month_its_file(tmp_path: Path) -> None:
    memories = [
        stored(1),
        stored(2, created="2025-06-01T00:00:00Z"),
        stored(3, workspace="blog"),
        stored(4, workspace=None, scope=Scope.USER),
    ]

    count = write_store(memories, NAMES, tmp_path)

    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")}
    assert written == {
        "ws_1/records/2025-05.md",
        "ws_1/records/2025-06.md",
        "ws_2/records/2025-05.md",
        "user/records/2025-05.md",
    }
    assert count == 4


def test_kind_status_date_and_text_read_back(tmp_path: Path) -> None:
    memory = stored(1, kind=MemoryKind.PROCEDURAL, status=Status.SUPERSEDED, text="First line.\n\n第二行。")

    write_store([memory], NAMES, tmp_path)

    scope = ScopeRef(kind=Scope.WORKSPACE, key="ws_1")
    path = tmp_path / "ws_1" / "records" / "2025-05.md"
    home = FileHome(path=str(path), relative=path.name, scope=scope, origin=Origin.USER)
    (read,) = parse(path.read_bytes(), home).records
    record = read.record
    assert (record.memory_id, record.text, record.scope) == (memory.id, memory.text, scope)
    assert (record.kind, record.status, record.created_at) == (memory.kind, memory.status, 1747355671000)


def test_the_shipped_store_can_be_written_whole(tmp_path: Path) -> None:
    recording = load(SHIPPED)
    names = {memory.workspace: f"ws_{memory.workspace}" for memory in recording.memories if memory.workspace}

    write_store(recording.memories, names, tmp_path)

    text = "".join(path.read_text() for path in tmp_path.rglob("*.md"))
    assert all(f"<!-- memory:{memory.id}" in text for memory in recording.memories)
