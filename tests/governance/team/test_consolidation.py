"""The task of a consolidation: what it offers, and that the same material is the same task."""

import msgspec
import pytest

from governance.team import consolidation
from governance.team.consolidation import Source
from governance.team.contracts.consolidating import ConsolidationPatch, Replay
from governance.team.contracts.turns import Strength, Support
from governance.team.store.projections import EntryFacts, EntryRow
from governance.team.trees import Tree
from tests.support.consolidating import FORMATS, OWNER

EMPTY = Tree(folder=".remora-pre/memory")
SOURCE = Source(owner=OWNER, database_uuid="db-1", prompt="Consolidate.", versions={"prompt": "p@1"})
INCREMENTAL = Replay(mode="incremental", after_successful_run_id=None)


def a_row(number: int, content: str = "Something holds.", **fields: object) -> EntryRow:
    facts = EntryFacts(
        content=content,
        type="work_fact",
        scene=None,
        strength=Strength.DIRECT,
        support=Support.HUMAN_CONFIRMED,
        limitations=(),
        occurred=(),
        commits=(),
        paths=(),
        priority=50,
        flagged=bool(fields.pop("flagged", False)),
    )
    given = {"memory_id": f"mem_{number}", "path": f"entries/{number}.md", "digest": f"{number:064x}"}
    return EntryRow(**(given | {"status": "approved", "entry": facts} | fields))  # type: ignore[arg-type]  # of a row


def test_only_what_is_approved_and_not_held_back_is_offered() -> None:
    rows = [a_row(1), a_row(2, status="deprecated"), a_row(3, flagged=True)]
    assert [row.memory_id for row in consolidation.offered(rows)] == ["mem_1"]


def test_what_was_seen_as_it_is_now_is_no_material() -> None:
    rows = [a_row(2), a_row(1)]
    seen = {consolidation.revision(a_row(1))}
    assert [one.id for one in consolidation.material(rows, EMPTY, ()).entries] == ["mem_1", "mem_2"]
    assert [one.id for one in consolidation.material(rows, EMPTY, seen).entries] == ["mem_2"]
    changed = [a_row(2), a_row(1, digest="f" * 64)]
    assert len(consolidation.material(changed, EMPTY, seen).entries) == 2


def test_the_same_material_is_the_same_task_whatever_its_order() -> None:
    tasks = [
        consolidation.task_of(consolidation.material(rows, EMPTY, ()), SOURCE, INCREMENTAL, FORMATS)
        for rows in ([a_row(1), a_row(2)], [a_row(2), a_row(1)])
    ]
    assert tasks[0] == tasks[1]
    assert tasks[0].task_id.startswith("consolidate-") and len(tasks[0].task_id) == len("consolidate-") + 64


@pytest.mark.parametrize(
    "replay",
    [
        Replay(mode="full", after_successful_run_id=None),
        Replay(mode="incremental", after_successful_run_id="run-1"),
        Replay(mode="incremental", after_successful_run_id=None, attempt=1),
    ],
)
def test_another_replay_is_another_task(replay: Replay) -> None:
    found = consolidation.material([a_row(1)], EMPTY, ())
    first, other = (consolidation.task_of(found, SOURCE, one, FORMATS) for one in (INCREMENTAL, replay))
    assert first.task_id != other.task_id


def test_an_attempt_is_not_part_of_what_the_material_is() -> None:
    found = consolidation.material([a_row(1)], EMPTY, ())
    again = msgspec.structs.replace(INCREMENTAL, attempt=7)
    assert consolidation.source_digest(found, SOURCE, INCREMENTAL) == consolidation.source_digest(found, SOURCE, again)


def test_a_task_fits_into_a_document_whatever_the_entries_say() -> None:
    rows = [a_row(number, "长" * 20_000) for number in range(120)]
    task = consolidation.task_of(consolidation.material(rows, EMPTY, ()), SOURCE, INCREMENTAL, FORMATS)
    assert len(msgspec.json.encode(task)) < 4_194_304
    assert len(task.entries) == len(task.binding.entry_revisions) == 120
    assert "more characters: entries/0.md]" in task.entries[0].content


def test_what_drifted_is_named() -> None:
    found = consolidation.material([a_row(1)], EMPTY, ())
    binding = consolidation.task_of(found, SOURCE, INCREMENTAL, FORMATS).binding
    assert consolidation.drifted(binding, found) == ""
    assert "entries" in consolidation.drifted(binding, consolidation.material([a_row(2)], EMPTY, ()))
    other = msgspec.structs.replace(found, doctrine_digest="d" * 64)
    assert "doctrine" in consolidation.drifted(binding, other)


def test_the_contract_holds_a_schema_that_a_patch_can_be_written_by() -> None:
    found = consolidation.material([a_row(1)], EMPTY, ())
    schema = msgspec.json.decode(consolidation.task_of(found, SOURCE, INCREMENTAL, FORMATS).contract.patch_schema)
    fields = schema["$defs"]["ConsolidationPatch"]["properties"]
    assert set(fields) == {field.encode_name for field in msgspec.structs.fields(ConsolidationPatch)}
