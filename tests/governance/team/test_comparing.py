"""Drafts compared with all that is there."""

import msgspec
import pytest

from governance.team.comparing import EACH, KEPT, SUMMARY, Asked, compare, result_set_digest, summary
from governance.team.contracts.ports import Private
from governance.team.contracts.staging import PoolItem
from tests.support.clock import START
from tests.support.team_stage import a_stage

HERON = "The heron gateway is ours."


def a_private(number: int = 1, text: str = HERON) -> Private:
    return Private(memory_id=f"mem_p{number}", text=text, revision=f"r{number}")


async def compared(stage, *asked: Asked):
    await stage.syncing.synced(stage.bound, START)
    return await stage.database.read(lambda connection: compare(connection, stage.bound.owner, asked))


async def test_the_three_sources_take_turns_and_ties_go_by_their_order(tmp_path):
    async with a_stage(tmp_path) as stage:
        approved = [stage.approve(f"Heron {n} gateway.", n) for n in (1, 2, 3)]
        (one,) = await stage.staged("The heron is a bird.")
        asked = Asked(draft_ref="d", content=HERON, near=(a_private(1), a_private(2)))
        found = await compared(stage, asked)
        kinds = [(hit.source_kind, hit.rank) for hit in found.recall_sets[0].ordered]
        assert kinds == [("approved", 1), ("candidate", 2), ("private", 3), ("approved", 4), ("private", 5)]
        assert len(kinds) == KEPT
        assert found.recall_sets[0].ordered[0].id == approved[0]
        assert found.recall_sets[0].ordered[1].id == one.candidate_id
        assert [item.source_kind for item in found.pool] == ["approved"] * 2 + ["candidate"] + ["private"] * 2


async def test_a_draft_is_not_compared_with_itself_but_with_the_others(tmp_path):
    async with a_stage(tmp_path) as stage:
        task = await stage.draft(HERON, "The heron is a bird.")
        one, two = task.recall_sets
        assert [hit.id for hit in one.ordered] == [two.draft_ref]
        assert [hit.id for hit in two.ordered] == [one.draft_ref]
        assert {item.state for item in task.pool} == {"draft"}


async def test_the_digest_follows_ranks_revisions_and_states_and_nothing_else(tmp_path):
    async with a_stage(tmp_path) as stage:
        stage.approve("Heron number one.", 1)
        asked = Asked(draft_ref="d", content=HERON)
        first = await compared(stage, asked)
        stage.approve("Something about penguins alone.", 2)
        assert (await compared(stage, asked)).result_set_digest == first.result_set_digest
        assert (await compared(stage, asked)).approved.generation == first.approved.generation + 1
        stage.approve("Heron number two.", 3)
        assert (await compared(stage, asked)).result_set_digest != first.result_set_digest


@pytest.mark.parametrize("field", ["revision", "content_digest", "state", "id", "source_kind"])
def test_any_other_field_of_a_pool_item_is_another_digest(field):
    item = PoolItem(source_kind="approved", id="a", revision="1", content_digest="c", state="approved", summary="s")
    other = msgspec.structs.replace(item, **{field: "private"})
    assert result_set_digest({"d": [item]}) != result_set_digest({"d": [other]})
    assert result_set_digest({"d": [item]}) == result_set_digest({"d": [msgspec.structs.replace(item, summary="t")]})
    assert result_set_digest({"d": [item, other]}) != result_set_digest({"d": [other, item]})


async def test_a_private_record_of_the_same_id_as_an_entry_is_the_entry(tmp_path):
    async with a_stage(tmp_path) as stage:
        approved = stage.approve(HERON)
        same = Private(memory_id=approved, text=HERON, revision="r")
        found = await compared(stage, Asked(draft_ref="d", content=HERON, near=(same, a_private())))
        assert [(item.source_kind, item.id) for item in found.pool] == [("approved", approved), ("private", "mem_p1")]


async def test_entries_tell_the_statements_that_can_be_inherited(tmp_path):
    async with a_stage(tmp_path) as stage:
        stage.approve(HERON)
        (one,) = await stage.staged("The heron is a bird.")
        found = await compared(stage, Asked(draft_ref="d", content=HERON, near=(a_private(),)))
        said = {item.id: item.statement_ids for item in found.pool}
        assert said == {f"mem_{1:032x}": ("content",), one.candidate_id: ("s1",), "mem_p1": ("content",)}


async def test_of_each_source_fifteen_are_looked_at(tmp_path):
    async with a_stage(tmp_path) as stage:
        near = tuple(a_private(n) for n in range(40))
        found = await compared(stage, Asked(draft_ref="d", content="penguin", near=near))
        assert [hit.id for hit in found.recall_sets[0].ordered] == [f"mem_p{n}" for n in range(5)]
        assert EACH == 15


def test_a_summary_is_one_short_line():
    assert summary("a\n  b") == "a b"
    assert summary("See /home/alice/x") == "See ~/x"
    assert len(summary("x" * 1000)) == SUMMARY
    assert summary("x" * SUMMARY) == "x" * SUMMARY
