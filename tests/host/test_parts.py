"""The parts of a running remora: the tally of what was audited, and one frozen bundle of everything."""

import dataclasses
from pathlib import Path

import pytest

from governance.contracts import AuditKind
from governance.metrics import EMPTY, as_json, fold
from host.parts import Tally
from tests.support.builders import a_call, a_prompt, a_result
from tests.support.entries import a_full_pass, an_entry
from tests.support.world import FAILURE, LESSON, a_world


def test_a_tally_is_the_fold_of_every_entry_it_heard_however_they_came() -> None:
    entries = [an_entry(), a_full_pass(), an_entry(kind=AuditKind.DROP, outcome="dropped", reason="expired")]
    together, apart = Tally(), Tally()

    together.heard(entries)
    for entry in entries:
        apart.heard([entry])

    assert together.metrics == apart.metrics == fold(EMPTY, entries)


def test_two_tallies_share_nothing() -> None:
    one, other = Tally(), Tally()

    one.heard([an_entry()])

    assert other.metrics == EMPTY


async def test_the_tally_of_a_running_remora_counts_what_its_audit_holds(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        folder = world.workspace()
        await world.remember(LESSON)
        await world.feed(a_prompt("Good morning.", workspace=folder), a_call(workspace=folder))
        await world.feed(a_result(FAILURE, workspace=folder))
        await world.deliver(await world.claim())

        counted = as_json(world.parts.tally.metrics)

        assert counted == as_json(fold(EMPTY, await world.audit()))
        assert counted != as_json(EMPTY)


async def test_no_part_can_be_exchanged_while_it_runs(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data") as world:
        with pytest.raises(dataclasses.FrozenInstanceError):
            world.parts.clock = world.clock  # type: ignore[misc]
