"""The demo's place: a real daemon on folders of its own, which go with it, whatever happens inside."""

import signal
import tempfile
from pathlib import Path

import msgspec
import pytest

from host.client import DaemonAbsent, call_sync
from host.demo.theatre import Theatre, theatre
from host.evaluation.sessions import Labels, Recording, Stored
from recall.contracts import MemoryKind, MemoryRecord, Scope, Status
from tests.support.builders import a_memory_id

LABELS = Labels(
    session="s", workspace="shop", topic="", gold=(), acceptable=(), duplicates=(), never_reason={}, quiet=()
)


def stored(number: int, workspace: str | None) -> Stored:
    return Stored(
        id=a_memory_id(number),
        kind=MemoryKind.SEMANTIC,
        scope=Scope.USER if workspace is None else Scope.WORKSPACE,
        workspace=workspace,
        created="2025-05-16T00:34:31Z",
        status=Status.ACTIVE,
        text=f"memory {number}",
    )


RECORDING = Recording(events=(), memories=(stored(1, "shop"), stored(2, "blog"), stored(3, None)), labels=LABELS)


class Page(msgspec.Struct):
    records: tuple[MemoryRecord, ...]


@pytest.fixture(autouse=True)
def temporary(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Temporary folders are made where the test can see them."""
    monkeypatch.setattr(tempfile, "tempdir", str(run_dir))
    return run_dir


def test_the_daemon_knows_the_store_and_shows_each_workspace_its_own() -> None:
    with theatre(RECORDING) as place:
        listed = place.ask("memory.list", {"workspace": str(place.workspace)}, Page)

        assert {record.memory_id for record in listed.records} == {a_memory_id(1), a_memory_id(3)}
        assert place.files == 3


def test_nothing_is_left_when_something_inside_fails(temporary: Path) -> None:
    seen: list[Theatre] = []

    with pytest.raises(ZeroDivisionError), theatre(RECORDING) as place:
        seen.append(place)
        assert list(temporary.iterdir())
        raise ZeroDivisionError

    assert list(temporary.iterdir()) == []
    with pytest.raises(DaemonAbsent):
        call_sync(seen[0].paths.socket, "health", {})


def test_a_signal_to_end_is_an_interrupt_and_the_old_handler_comes_back(temporary: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt), theatre(RECORDING):
        signal.raise_signal(signal.SIGTERM)

    assert signal.getsignal(signal.SIGTERM) == before
    assert list(temporary.iterdir()) == []
