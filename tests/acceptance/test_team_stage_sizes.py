"""Documents of all sizes that are taken (team.md 15, item 25; the wire has its own test)."""

import msgspec
import pytest

from governance.team.contracts.staging import AdjudicationTask, DraftBatch, Statement
from governance.team.decoding import DOCUMENT_BYTES, decode
from governance.team.errors import Kind, TeamFault
from tests.support.team_recall import FORMATS
from tests.support.team_stage import a_stage

SENTENCE = "Heron number {number} flies over gateway {number} before noon."


def a_big_draft(stage, task, number: int, size: int):
    """A draft of so many bytes of content, of 16 statements."""
    part = size // 16 // len(SENTENCE)
    parts = [
        " ".join(SENTENCE.format(number=number * 100_000 + place * 1_000 + n) for n in range(part))
        for place in range(16)
    ]
    cited = tuple(one.evidence_id for one in task.evidence_catalog)
    stated = tuple(Statement(statement_id=f"s{n}", text=text, evidence_ids=cited) for n, text in enumerate(parts))
    return stage.a_draft(task, "\n\n".join(parts), statements=stated)


async def sent(stage, size: int, total: int) -> DraftBatch:
    """A batch of contents of `size` bytes each, filled up with blanks to `total` bytes, as a transport decodes it."""
    task = await stage.task()
    batch = stage.batch(task, *(a_big_draft(stage, task, number, size) for number in range(8)))
    raw = msgspec.json.encode(batch)
    assert len(raw) <= total
    return decode(raw + b" " * (total - len(raw)), DraftBatch, FORMATS, "candidate-draft-batch")


@pytest.mark.promise("team-25")
@pytest.mark.parametrize(("size", "total"), [(10_000, 204_800), (30_000, DOCUMENT_BYTES)])
async def test_item_25_batches_of_200_kb_and_of_4_mib_are_staged(tmp_path, size, total):
    async with a_stage(tmp_path) as stage:
        task = await stage.staging.draft(stage.bound, stage.call(), await sent(stage, size, total))
        assert isinstance(task, AdjudicationTask)
        assert len(task.drafts) == 8
        done = await stage.adjudicate(task)
        assert [one.state for one in done.candidates] == ["staged"] * 8


@pytest.mark.promise("team-25")
async def test_item_25_one_byte_more_is_input_too_large_and_nothing_is_staged(tmp_path):
    async with a_stage(tmp_path) as stage:
        with pytest.raises(TeamFault) as fault:
            await sent(stage, 10_000, DOCUMENT_BYTES + 1)
        assert fault.value.kind is Kind.INPUT_TOO_LARGE
        assert await stage.states() == {}
