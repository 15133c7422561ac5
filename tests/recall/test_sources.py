"""What every source keeps to, whichever it is: one suite over the table."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.facts import stated
from recall.contracts import Candidate, Cue, Flag, Index, Source, Status, visible
from recall.sources import SOURCES
from recall.sources.episodic import episodic_source
from recall.sources.semantic import semantic_source
from tests.support.builders import a_cue, a_memory, a_memory_id, a_scope, a_user_scope, a_workspace_scope
from tests.support.clock import START
from tests.support.library import a_library, a_root, write_records

IDS = tuple(a_memory_id(number) for number in range(1, 9))
CUES = (a_cue("deploy checklist"), a_cue("", memory_ids=IDS), a_cue(""), a_cue("备份", limit=1), a_cue("𝔘 👍 \x00"))


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[Index]:
    """A small store with everything that must not come out of it."""
    here = [
        a_memory("Deploy checklist: run smoke tests.", memory_id=IDS[0], pinned=True),
        a_memory("部署前必须先备份数据库。deploy", memory_id=IDS[1], pinned=True),
        a_memory("Old deploy checklist.", memory_id=IDS[2], status=Status.SUPERSEDED, pinned=True),
        a_memory("Poisoned deploy checklist.", memory_id=IDS[3], flags=(Flag.QUARANTINED,), pinned=True),
        a_memory("Expired deploy checklist.", memory_id=IDS[4], expires_at=START, pinned=True),
    ]
    other = a_workspace_scope("ws_other")
    write_records(tmp_path / "here" / "a.md", here)
    users = a_memory("Deploy slowly.", memory_id=IDS[5], scope=a_user_scope())
    theirs = a_memory("Their deploy.", memory_id=IDS[6], scope=other, pinned=True)
    write_records(tmp_path / "user" / "a.md", [users], a_user_scope())
    write_records(tmp_path / "other" / "a.md", [theirs], other)
    async with a_library(tmp_path / "data") as library:
        for name, scope in (("here", a_workspace_scope()), ("user", a_user_scope()), ("other", other)):
            await library.adopt(a_root(tmp_path / name, scope))
        yield library.snapshot(START)


ALL = (*SOURCES, ("episodic", episodic_source(str)), ("semantic", semantic_source(stated)))
sources = pytest.mark.parametrize("source", [source for _, source in ALL], ids=[name for name, _ in ALL])
cues = pytest.mark.parametrize("cue", CUES, ids=range(len(CUES)))


@sources
@cues
async def test_a_source_answers_within_scope_limit_and_form(source: Source, cue: Cue, index: Index) -> None:
    hits = await source(cue, index)

    assert all(isinstance(hit, Candidate) for hit in hits) and len(hits) <= cue.limit
    assert all(visible(hit.scope, a_scope()) for hit in hits)
    assert all(hit.score > 0 and 0 <= hit.confidence <= 1 for hit in hits)
    assert len({hit.memory_id for hit in hits}) == len({hit.id for hit in hits}) == len(hits)
    assert all(hit.record_digest and hit.source_version >= 1 and hit.payload for hit in hits)


@sources
@cues
async def test_a_source_gives_the_same_answer_to_the_same_question(source: Source, cue: Cue, index: Index) -> None:
    assert await source(cue, index) == await source(cue, index)


@sources
async def test_nothing_is_searched_out_that_may_not_be_shown(source: Source, index: Index) -> None:
    for cue in CUES:
        hits = await source(cue, index)
        unfit = [hit for hit in hits if hit.status is not Status.ACTIVE or hit.flags or hit.expires_at]
        assert all(hit.memory_id in cue.memory_ids for hit in unfit)  # asked for by id: ranking judges these


def test_names_are_distinct() -> None:
    assert len({name for name, _ in SOURCES}) == len(SOURCES)
