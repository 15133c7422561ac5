"""A new window begins with the records it is told of and the pinned ones; a search never does."""

from recall.contracts import RecordState, Status
from recall.sources.seed import seed
from tests.support.builders import a_candidate, a_cue, a_memory_id, a_workspace_scope
from tests.support.fakes import FakeIndex

ONE, TWO, THREE = a_memory_id(1), a_memory_id(2), a_memory_id(3)
INDEX = FakeIndex(
    [
        a_candidate("Pinned.", memory_id=ONE, pinned=True),
        a_candidate("Shown before.", memory_id=TWO, status=Status.SUPERSEDED),
        a_candidate("Elsewhere.", memory_id=THREE, pinned=True, scope=a_workspace_scope("ws_other")),
    ]
)


async def test_records_by_id_come_first_then_the_pinned_each_once() -> None:
    cue = a_cue("", memory_ids=(TWO, THREE, ONE))

    assert [one.memory_id for one in await seed(cue, INDEX)] == [TWO, ONE]
    assert [one.memory_id for one in await seed(a_cue(""), INDEX)] == [ONE]


async def test_a_section_of_a_file_begins_no_window_though_it_was_shown_before() -> None:
    section = a_candidate("Never push to main.", memory_id=ONE, state=RecordState.LEGACY)
    index = FakeIndex([section, a_candidate("Shown before.", memory_id=TWO)])

    assert [one.memory_id for one in await seed(a_cue("", memory_ids=(ONE, TWO)), index)] == [TWO]


async def test_the_limit_holds() -> None:
    assert [one.memory_id for one in await seed(a_cue("", memory_ids=(TWO,), limit=1), INDEX)] == [TWO]


async def test_a_cue_with_terms_is_not_for_it() -> None:
    index = FakeIndex([a_candidate(pinned=True)])

    assert list(await seed(a_cue("pnpm"), index)) == [] and index.asked == 0
