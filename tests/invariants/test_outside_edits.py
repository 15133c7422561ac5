"""Somebody else changes a memory file before any step of our own change of it: theirs is never lost."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall import documents, edits
from recall.contracts import Origin
from recall.documents import Documents, Edit
from recall.files import RefusalKind, Refused, parse
from recall.markers import FileHome
from tests.support.builders import a_memory, a_memory_id, a_workspace_scope

pytestmark = pytest.mark.promise("files-under-load")

KEPT, OURS, THEIRS = map(a_memory_id, (1, 2, 3))
HOME = FileHome(path="/m/a.md", relative="a.md", scope=a_workspace_scope(), origin=Origin.USER)
MOST = 80  # calls that a transaction makes of the system, at the very most


def append(data: bytes) -> bytes | Refused:
    return edits.append(data, HOME, a_memory("Ours.", memory_id=OURS))


def change(data: bytes) -> bytes | Refused:
    return edits.replace(data, HOME, a_memory("Changed by us, and longer than before.", memory_id=KEPT))


def in_place(file: Path) -> None:
    file.write_bytes(by_hand(file))


def by_rename(file: Path) -> None:
    data, other = by_hand(file), file.with_name("editor.swp")
    other.write_bytes(data)
    other.rename(file)


def by_hand(file: Path) -> bytes:
    before = file.read_bytes() if file.exists() else b""
    after = edits.append(before, HOME, a_memory("Written by hand.", memory_id=THEIRS))
    assert isinstance(after, bytes)
    return after


class Interrupted:
    """Stands in for the module `os`: before the n-th call of the system somebody else has the word."""

    def __init__(self, at: int, somebody: Callable[[], None]) -> None:
        self.calls = 0
        self._at = at
        self._somebody = somebody

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self.counted(real) if callable(real) and not isinstance(real, type) else real

    def counted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            self.calls += 1
            if self.calls == self._at:
                self._somebody()
            return real(*arguments, **named)

        return called


@pytest.mark.parametrize("expecting", [False, True], ids=["whatever-it-is", "what-we-saw"])
@pytest.mark.parametrize("their_way", [in_place, by_rename])
@pytest.mark.parametrize(("our_edit", "there"), [(append, True), (change, True), (append, False)])
async def test_a_change_by_hand_before_any_call_of_our_transaction_is_kept(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    our_edit: Edit,
    there: bool,
    their_way: Callable[[Path], None],
    expecting: bool,
) -> None:
    conflicts = 0
    for number in range(1, MOST):
        file = tmp_path / str(number) / "a.md"
        file.parent.mkdir()
        if there:
            first = edits.append(b"", HOME, a_memory("As it was.", memory_id=KEPT))
            assert isinstance(first, bytes)
            file.write_bytes(first)
        digest = documents.bytes_digest(file.read_bytes() if there else b"")
        interrupted = Interrupted(number, lambda file=file: their_way(file))  # type: ignore[misc]
        monkeypatch.setattr(documents, "os", interrupted)
        monkeypatch.setattr(documents, "exchange", interrupted.counted(documents.exchange))

        done = await Documents().transact(str(file.parent), "a.md", our_edit, digest if expecting else None)

        monkeypatch.undo()
        if interrupted.calls < number:  # the transaction was through before it came to that
            break
        records = {one.record.memory_id: one.record.text for one in parse(file.read_bytes(), HOME).records}
        assert records.get(THEIRS) == "Written by hand.", f"lost, before call {number}"
        ours = records.get(OURS) if our_edit is append else records[KEPT].startswith("Changed")
        if isinstance(done, Refused):
            conflicts += 1
            assert done.kind is RefusalKind.CONFLICT
        else:
            assert ours, f"said to be written, and is not, before call {number}"
        assert not list(file.parent.glob(".*")), "a temporary file is left"
    else:
        raise AssertionError("the transaction makes more calls than we tried")
    assert number > 10 and (conflicts > 0 or not expecting)
