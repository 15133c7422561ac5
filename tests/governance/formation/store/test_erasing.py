"""What is forgotten leaves no word in the tables of formation, and a line in the journal."""

import pytest

from governance.formation.contracts import FormedMemory, Life, MemorySource, Pipeline
from governance.formation.store import memories
from governance.formation.store.erasing import Forgotten, erase, without_quotes
from governance.migrations import queue_steps
from governance.review import QUOTE, REASON, Citation
from tests.support.builders import WORKSPACE, a_memory_id
from tests.support.clock import START
from tests.support.fakes import FakeDatabase

SECRET = "the harbour password of the third floor"
ONE = a_memory_id(1)


@pytest.mark.promise("forgotten-everywhere")
def test_no_table_keeps_a_word_and_the_journal_is_told() -> None:
    database = FakeDatabase(queue_steps())
    life = FormedMemory(
        memory_id=ONE,
        pipeline=Pipeline.BATCH,
        claim="c" * 64,
        created_at=START,
        updated_at=START,
        team=WORKSPACE,
        user="u",
        agent="any",
        scene_name=SECRET,
        metadata={"owner": SECRET},
    )
    memories.put(database.connection, life)
    source = MemorySource(session_id="s", message_id="m1", event_seq=4, at=START, quote=SECRET)
    memories.add_sources(database.connection, ONE, [source])
    erase(database.connection, Forgotten(memory_id=ONE, items=(ONE, "note_1"), digest="d", at=START + 1))
    assert SECRET not in "\n".join(database.connection.iterdump())
    after = memories.of(database.connection, ONE)
    assert after is not None
    assert (after.state, after.claim) == (Life.FORGOTTEN, "")
    told = database.connection.execute("SELECT kind, version, line FROM outbox").fetchall()
    assert [(kind, version) for kind, version, _ in told] == [("tombstone", 1)]
    assert '"why":"forgotten"' in told[0][2]


def test_a_citation_keeps_its_name_alone() -> None:
    cited = (Citation(kind=QUOTE, ref="m1", quote=SECRET, start=1, end=9), Citation(kind=REASON, ref=SECRET))
    assert without_quotes(cited) == (Citation(kind=QUOTE, ref="m1"), Citation(kind=REASON, ref=""))
