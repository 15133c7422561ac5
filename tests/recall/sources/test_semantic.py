"""The source of facts: what a question names gets its values, all of them."""

from governance.facts import stated
from recall.contracts import MemoryKind, SegmentKind, SourceName
from recall.sources.semantic import semantic_source
from tests.support.builders import a_candidate, a_cue, a_memory_id
from tests.support.fakes import FakeIndex

HELD = [
    a_candidate("The staging port is 8443", memory_id=a_memory_id(1)),
    a_candidate("The staging port is 9443", memory_id=a_memory_id(2)),
    a_candidate("The prod port is 443", memory_id=a_memory_id(3)),
    a_candidate("The staging port is hard to remember, so write it down.", memory_id=a_memory_id(4)),
    a_candidate("The staging port is 7443", memory_id=a_memory_id(5), kind=MemoryKind.PROCEDURAL),
    a_candidate("测试数据库端口是 5433", memory_id=a_memory_id(6)),
]


async def found(text: str, **fields: object) -> list[str]:
    cue = a_cue(text, **({"question": True} | fields))
    hits = await semantic_source(stated)(cue, FakeIndex(HELD))
    assert all(hit.source is SourceName.SEMANTIC and 0 < hit.score == hit.confidence <= 1 for hit in hits)
    return [hit.memory_id for hit in hits]


async def test_a_question_finds_every_value_of_what_it_names() -> None:
    assert await found("What is the staging port?") == [a_memory_id(1), a_memory_id(2)]
    assert await found("测试数据库端口是多少？") == [a_memory_id(6)]


async def test_half_of_a_name_finds_nothing() -> None:
    assert await found("Which port do we use?") == []
    assert await found("What is staging?") == []


async def test_a_person_who_searches_asks_and_an_order_or_a_result_does_not() -> None:
    assert await found("staging port", segment_kind=None, question=False) == [a_memory_id(1), a_memory_id(2)]
    assert await found("Open the staging port.", question=False) == []
    assert await found("staging port", segment_kind=SegmentKind.RESULT) == []
    assert await found("") == []
