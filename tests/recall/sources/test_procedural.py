"""The source of procedures: those that name the command which failed or is about to be run."""

import pytest

from recall.contracts import MemoryKind, SegmentKind, SourceName
from recall.sources.procedural import procedural
from tests.support.builders import a_candidate, a_cue, a_memory_id
from tests.support.fakes import FakeIndex

HELD = [
    a_candidate("1. rm the stamp\n2. Run `make seal` again", memory_id=a_memory_id(1), kind=MemoryKind.PROCEDURAL),
    a_candidate("Before make seal --all: sign in.", memory_id=a_memory_id(2), kind=MemoryKind.PROCEDURAL),
    a_candidate("make seal is slow.", memory_id=a_memory_id(3)),
    a_candidate("Never make sealing wax. make seal-all", memory_id=a_memory_id(4), kind=MemoryKind.PROCEDURAL),
]


async def found(call: str, kind: SegmentKind | None = SegmentKind.RESULT) -> list[str]:
    hits = await procedural(a_cue(call, call=call, segment_kind=kind), FakeIndex(HELD))
    assert all(hit.source is SourceName.PROCEDURAL and 0 < hit.score == hit.confidence <= 1 for hit in hits)
    return [hit.memory_id for hit in hits]


async def test_procedures_that_name_the_command_come_and_those_that_name_more_of_it_first() -> None:
    assert await found("make seal --all") == [a_memory_id(2), a_memory_id(1)]
    assert await found("make seal", SegmentKind.CALL) == [a_memory_id(1), a_memory_id(2)]
    assert await found("先 make") == []


@pytest.mark.parametrize("call", ["make", "make ship", "seal make", "cmake seal", ""])
async def test_what_is_only_like_it_finds_nothing(call: str) -> None:
    assert await found(call) == []


@pytest.mark.parametrize("kind", [None, SegmentKind.PROMPT, SegmentKind.REPLY])
async def test_only_a_call_and_its_result_are_asked_about(kind: SegmentKind | None) -> None:
    assert await found("make seal", kind) == []
