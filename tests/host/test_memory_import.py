"""`memory.import` over real files: what is taken in, what is there already, and what cannot be."""

from typing import Any

import pytest

from host.memory_import import MOST_CHARACTERS, MOST_RECORDS
from tests.support.asking import Asking
from tests.support.clock import START
from tests.support.remembering import POISON, TOKEN, every_record, files_of, found, kept, listed


def foreign(text: str, **fields: Any) -> dict[str, Any]:
    return {"text": text, "source": "notes.md"} | fields


async def imported(remora: Asking, folder: str, *records: dict[str, Any], **params: Any) -> Any:
    return await remora.ask("memory.import", workspace=folder, records=list(records), **params)


async def test_records_of_somewhere_else_become_ours_and_say_where_they_came_from(remora: Asking, folder: str) -> None:
    one = foreign("Ports are in ops/ports.md.", title="Ports", tags=["ops"], kind="procedural", createdAt=START - 9)

    answer = await imported(remora, folder, one, foreign("Owls sleep by day."))

    assert answer == {"imported": 2, "duplicates": 0, "quarantined": 0, "refused": [], "redacted": []}
    records = await every_record(remora, folder)
    ports = next(record for record in records.values() if record.title == "Ports")
    assert (ports.text, ports.kind, ports.origin, ports.created_at) == (
        one["text"],
        "procedural",
        "imported",
        START - 9,
    )
    assert ports.tags == ("ops", "from:notes.md")
    assert await found(remora, "ports", folder) == [ports.memory_id]


async def test_doing_it_again_imports_nothing(remora: Asking, folder: str) -> None:
    records = [foreign(f"Note number {number} is about owls.") for number in range(20)]
    await imported(remora, folder, *records)
    before = files_of(remora)

    again = await imported(remora, folder, *records)

    assert (again["imported"], again["duplicates"], files_of(remora)) == (0, 20, before)


async def test_what_is_twice_in_one_request_or_was_remembered_counts_as_there(remora: Asking, folder: str) -> None:
    await kept(remora, "Use uv for installs.", folder)

    answer = await imported(
        remora,
        folder,
        foreign("use UV for installs"),
        foreign("Owls sleep."),
        foreign("owls sleep"),
        foreign("Use pip."),
    )

    assert (answer["imported"], answer["duplicates"]) == (2, 2)


async def test_an_update_is_no_duplicate(remora: Asking, folder: str) -> None:
    await kept(remora, "The limit is 10.", folder)

    answer = await imported(remora, folder, foreign("The limit is 20."))

    assert (answer["imported"], len(await listed(remora, folder))) == (1, 2)


@pytest.mark.promise("bad-input")
async def test_one_that_cannot_be_taken_is_named_and_the_others_are_taken(remora: Asking, folder: str) -> None:
    marker = "<!-- memory:mem_00000000000000000000000000000009 -->\nNot what it seems."
    answer = await imported(
        remora,
        folder,
        foreign("Owls sleep."),
        foreign("  "),
        foreign("Ports.", title="t" * 201),
        foreign("Ports.", createdAt=START + 9 * 86_400_000),
        foreign("Ports.", createdAt=-1),
        foreign("Ports.", source=" "),
        foreign(marker),
        foreign("Herons fly."),
    )

    assert (answer["imported"], answer["duplicates"]) == (2, 0)
    assert [one["index"] for one in answer["refused"]] == [1, 2, 3, 4, 5, 6]
    assert all(one["problem"] for one in answer["refused"])
    assert set(await found(remora, "owls herons", folder)) == set(await listed(remora, folder))


@pytest.mark.promise("reference-only")
async def test_secrets_are_cut_out_and_orders_kept_aside(remora: Asking, folder: str) -> None:
    answer = await imported(remora, folder, foreign(f"The robot uses {TOKEN}."), foreign(f"Heron news. {POISON}"))

    assert (answer["imported"], answer["quarantined"], answer["redacted"]) == (2, 1, ["secret.github-token"])
    assert TOKEN not in "".join(files_of(remora).values())
    assert await found(remora, "heron news", folder) == []

    again = await imported(remora, folder, foreign(f"Heron news. {POISON}"))
    assert (again["imported"], again["duplicates"]) == (0, 1)


async def test_the_users_own_scope_is_apart(remora: Asking, folder: str) -> None:
    await imported(remora, folder, foreign("Owls sleep."))

    answer = await imported(remora, folder, foreign("Owls sleep."), scope="User")

    assert (answer["imported"], len(await listed(remora, remora.world.workspace("other")))) == (1, 1)


@pytest.mark.parametrize(
    "params",
    [
        {"records": []},
        {"records": [foreign("x")] * (MOST_RECORDS + 1)},
        {"records": [foreign("x" * (MOST_CHARACTERS // 16))] * 17},
        {"records": [{"text": "x"}]},
        {"records": [foreign("x")], "scope": "Session"},
        {"records": [foreign("x")], "workspace": ""},
        {},
    ],
)
async def test_a_request_that_cannot_be_is_refused_whole(remora: Asking, folder: str, params: dict[str, Any]) -> None:
    fault = await remora.refused("memory.import", **({"workspace": folder} | params))

    assert (fault.kind, bool(fault.next_step), files_of(remora)) == ("invalid-params", True, {})


async def test_a_full_request_is_taken_in_whole(remora: Asking, folder: str) -> None:
    answer = await imported(
        remora, folder, *(foreign(f"Owl {number} sleeps in tree {number}.") for number in range(MOST_RECORDS))
    )

    assert answer["imported"] == MOST_RECORDS
