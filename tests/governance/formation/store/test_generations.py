"""What was formed of what: written once, found by what was formed."""

import msgspec
import pytest

from governance.formation.contracts import Generation, Layer, Mode, PromptUse, Usage
from governance.formation.errors import StateFault
from governance.formation.store import generations
from governance.migrations import queue_steps
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.fakes import FakeDatabase

ONE = a_memory_id(1)
RUN = Generation(
    generation_id="gen_1",
    layer=Layer.L1,
    status="extracted",
    isolation='{"agent":"any","team":"ws_1","user":"u1"}',
    prompt=PromptUse(id="batch-extract", version=1, source="user", sha256="ab" * 32),
    input_refs=("m-1", "m-2"),
    output_refs=(ONE,),
    model_id="scripted:demo",
    calls=2,
    started_at=START,
    finished_at=START + 700,
    mode=Mode.CHAT,
    usage=Usage(input_tokens=900, output_tokens=40),
    decisions=("store mem_1",),
)


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase(queue_steps())


async def test_a_run_is_read_as_it_was_written(database: FakeDatabase) -> None:
    generations.put(database.connection, RUN, [ONE])
    reads = generations.Generations(database)
    assert await reads.of("gen_1") == RUN
    assert await reads.of_memory(ONE) == (RUN,)
    assert (await reads.of("gen_2"), await reads.of_memory(a_memory_id(2))) == (None, ())


def test_usage_that_nobody_reported_stays_unknown(database: FakeDatabase) -> None:
    generations.put(database.connection, msgspec.structs.replace(RUN, usage=None))
    found = generations.of(database.connection, "gen_1")
    assert found is not None and found.usage is None


def test_a_record_names_one_run_a_layer_the_last_one(database: FakeDatabase) -> None:
    later = msgspec.structs.replace(RUN, generation_id="gen_2")
    scene = msgspec.structs.replace(RUN, generation_id="gen_3", layer=Layer.L2)
    for run in (scene, RUN, later, later):
        generations.put(database.connection, run, [ONE])
    assert generations.of_memory(database.connection, ONE) == (later, scene)
    refs = database.connection.execute("SELECT generation_ref_id FROM generation_ref ORDER BY 1").fetchall()
    assert refs == [(f"l1:{ONE}",), (f"l2:{ONE}",)]


@pytest.mark.parametrize("change", ["layer = 'l9'", "prompt = '{'", "calls = calls, usage = 'x'", "input_refs = '7'"])
def test_a_run_that_cannot_be_read_is_no_absent_one(database: FakeDatabase, change: str) -> None:
    connection = database.connection
    generations.put(connection, RUN)
    connection.execute(f"UPDATE generation SET {change}")
    with pytest.raises(StateFault) as fault:
        generations.of(connection, "gen_1")
    assert fault.value.code == "state-corrupt"
