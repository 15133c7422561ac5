"""A memory that is being written to is read again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from governance.team import tree
from governance.team.contracts.base import Bound
from host.team.reading import PAUSES, read_still
from tests.support.team_stage import a_stage


def writer(folder: Path, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who makes a file in the folder at the first looks of so many readings."""
    looked, count = tree._Reader._texts, iter(range(1000))

    def also(*given: Any) -> Any:
        found = list(looked(*given))
        if (number := next(count)) < times:
            (folder / f"stranger-{number}.md").write_bytes(b"x")
        return iter(found)

    monkeypatch.setattr(tree._Reader, "_texts", also)


def slept(pauses: list[float]) -> Callable[[float], None]:
    return pauses.append


@pytest.fixture
async def bound(tmp_path: Path) -> Bound:
    async with a_stage(tmp_path) as stage:
        stage.approve("The heron gateway is ours.")
        return stage.bound


async def test_a_folder_that_changed_while_it_was_read_is_read_again(
    bound: Bound, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer(Path(bound.root) / bound.binding.memory_root / "entries", 1, monkeypatch)
    pauses: list[float] = []
    found = read_still(bound, sleep=slept(pauses))
    assert found.complete and len(found.entries) == 1
    assert pauses == [PAUSES[0]]


async def test_one_that_never_holds_still_is_not_complete(bound: Bound, monkeypatch: pytest.MonkeyPatch) -> None:
    writer(Path(bound.root) / bound.binding.memory_root / "entries", 999, monkeypatch)
    pauses: list[float] = []
    found = read_still(bound, sleep=slept(pauses))
    assert not found.complete and found.problem
    assert pauses == list(PAUSES)


async def test_what_will_not_pass_is_not_waited_for(bound: Bound) -> None:
    entries = Path(bound.root) / bound.binding.memory_root / "entries"
    entries.rename(entries.with_name("elsewhere"))
    entries.symlink_to(entries.with_name("elsewhere"))
    pauses: list[float] = []
    assert not read_still(bound, sleep=slept(pauses)).complete
    assert pauses == []
    assert not read_still(bound, entries=False, sleep=slept(pauses)).entries
