"""A process of its own reads files as a thread would, ends with its input, and is known when it is of no use."""

import io
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.entries import Guard, Root
from recall.intake import place_of, take
from recall.reader import MOST_BYTES, Reader, ReaderFault, ReaderSetup, answer
from tests.support.builders import a_memory, a_memory_id
from tests.support.library import a_root, write_records

GUARD = "from recall.entries import Guard; from recall.reader import answer; import sys;"
SERVES = f"{GUARD} answer(sys.stdin.buffer, sys.stdout.buffer, Guard('test', lambda text: 'poison' in text))"


def started(program: str) -> Reader:
    return Reader(ReaderSetup(command=(sys.executable, "-P", "-c", program), environment=os.environ))


@pytest.fixture
def reader() -> Iterator[Reader]:
    reader = started(SERVES)
    yield reader
    reader.close()


@pytest.fixture
def root(tmp_path: Path) -> Root:
    write_records(
        tmp_path / "a.md",
        [a_memory("Lantern.", memory_id=a_memory_id(1)), a_memory("poison", memory_id=a_memory_id(2))],
    )
    (tmp_path / "b.md").write_bytes(b"caf\xe9")
    return a_root(tmp_path)


def test_the_process_answers_as_the_function_does(reader: Reader, root: Root) -> None:
    place, guard = place_of(root.path), Guard("test", lambda text: "poison" in text)
    names, nothing = ["a.md", "b.md", "gone.md"], {name: (None, {}) for name in ("a.md", "b.md", "gone.md")}

    for _ in range(2):
        assert reader.take(place, root, names, nothing) == take(place, root, names, nothing, guard)


def test_it_ends_with_its_input(reader: Reader) -> None:
    reader.close()

    assert reader._process.returncode == 0


@pytest.mark.parametrize(
    "program",
    [
        "",
        "print('no frame at all', flush=True); input()",
        "import sys; sys.stdout.buffer.write(b'\\0\\0\\0\\1x'); sys.stdout.flush()",
    ],
    ids=["ends", "talks", "not-msgpack"],
)
def test_a_process_that_makes_no_sense_is_a_fault(program: str, root: Root) -> None:
    reader = started(program)

    with pytest.raises(ReaderFault):
        reader.take(place_of(root.path), root, ["a.md"], {"a.md": (None, {})})

    reader.kill()
    reader.close()


def test_a_process_that_is_killed_is_a_fault_and_closed_all_the_same(reader: Reader, root: Root) -> None:
    reader.kill()
    reader._process.wait()

    with pytest.raises(ReaderFault):
        reader.take(place_of(root.path), root, ["a.md"], {"a.md": (None, {})})


def test_a_process_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall.reader.END_SECONDS", 0.01)
    reader = started("import signal; signal.pause()")

    reader.close()

    assert reader._process.returncode not in (None, 0)


def test_the_other_end_stops_at_half_a_task_and_refuses_a_huge_one() -> None:
    sink = io.BytesIO()
    for data in (b"", b"\0\0", struct.pack(">I", 10) + b"half"):
        answer(io.BytesIO(data), sink, Guard())
    assert sink.getvalue() == b""

    with pytest.raises(ValueError, match="bytes"):
        answer(io.BytesIO(struct.pack(">I", MOST_BYTES + 1)), sink, Guard())
