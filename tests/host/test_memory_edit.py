"""`memory.edit` over real files: what is changed and what stays, and that nobody's change is lost."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from host.namespace import REPOSITORY_FOLDER
from host.service import Service
from host.verbs import MAX_TEXT, MAX_TITLE
from recall.contracts import Flag, Status
from tests.support.asking import Asking
from tests.support.builders import a_memory_id
from tests.support.clock import START
from tests.support.engines import StillEngine
from tests.support.remembering import (
    POISON,
    TOKEN,
    a_need,
    digest_of,
    files_of,
    found,
    kept,
    record_of,
    verbs,
)
from tests.support.world import LESSON


async def edited(remora: Asking, memory_id: str, folder: str, **changes: Any) -> Any:
    expected = await digest_of(remora, memory_id, folder)
    return await remora.ask("memory.edit", memoryId=memory_id, workspace=folder, expected=expected, **changes)


async def test_a_memory_is_changed_where_it_stands_and_keeps_its_id(remora: Asking, folder: str) -> None:
    said = {"title": "Ports", "kind": "procedural", "tags": ["ops"], "pinned": True}
    memory_id = await kept(remora, "Ports are in ops/ports.md.", folder, **said)
    beside = await kept(remora, "Owls sleep by day.", folder)

    done = await edited(remora, memory_id, folder, text="Ports are in ops/ports.toml.")

    record = await record_of(remora, memory_id, folder)
    assert (record["text"], {name: record[name] for name in said}) == ("Ports are in ops/ports.toml.", said)
    assert (done["memoryId"], done["changed"], done["quarantined"], done["redacted"]) == (memory_id, True, False, [])
    assert done["recordDigest"] == await digest_of(remora, memory_id, folder)
    assert "ports.toml" in Path(done["file"]).read_text("utf-8")
    assert "ports.md" not in Path(done["file"]).read_text("utf-8")
    assert (await record_of(remora, beside, folder))["text"] == "Owls sleep by day."
    assert await found(remora, "toml", folder) == [memory_id]
    assert await verbs(remora) == [("edited", memory_id)]


@pytest.mark.parametrize(
    ("changes", "field", "expected"),
    [
        ({"title": "Harbours"}, "title", "Harbours"),
        ({"title": None}, "title", None),
        ({"title": ""}, "title", None),
        ({"tags": ["a", "b"]}, "tags", ["a", "b"]),
        ({"tags": []}, "tags", []),
        ({"kind": "episodic"}, "kind", "episodic"),
        ({"expires": START + 5000}, "expiresAt", START + 5000),
        ({"expires": None}, "expiresAt", None),
    ],
)
async def test_one_field_is_changed_and_the_others_stay(
    remora: Asking, folder: str, changes: dict[str, Any], field: str, expected: Any
) -> None:
    memory_id = await kept(remora, "Ports.", folder, title="Ports", tags=["ops"], expires=START + 9000)
    before = await record_of(remora, memory_id, folder)

    done = await edited(remora, memory_id, folder, **changes)

    assert done["changed"] is True
    assert await record_of(remora, memory_id, folder) == before | {field: expected}


async def test_an_edit_that_changes_nothing_writes_nothing(remora: Asking, folder: str) -> None:
    memory_id = await kept(remora, "Ports are in ops/ports.md.", folder, title="Ports")
    before = files_of(remora)

    done = await edited(remora, memory_id, folder, text=" Ports are in ops/ports.md.\n", title="Ports")

    assert (done["changed"], files_of(remora), await verbs(remora)) == (False, before, [])


async def test_a_title_that_was_the_texts_heading_goes_with_the_text(remora: Asking, folder: str) -> None:
    memory_id = await kept(remora, "# Ports\n\nThey are in ops/ports.md.", folder)
    assert (await record_of(remora, memory_id, folder))["title"] == "Ports"

    await edited(remora, memory_id, folder, text="# Harbours\n\nThey are in ops/ports.md.")

    assert (await record_of(remora, memory_id, folder))["title"] == "Harbours"


# ---------------------------------------------------------------------------------------------------- conflicts


@pytest.mark.parametrize("place", ["before", "meanwhile"])
async def test_a_change_that_somebody_else_made_wins(remora: Asking, folder: str, place: str) -> None:
    memory_id = await kept(remora, "Ports are in ops/ports.md.", folder)
    expected = await digest_of(remora, memory_id, folder)
    (file,) = (Path(name) for name in files_of(remora))
    if place == "before":  # and the index knows of it
        file.write_text(file.read_text("utf-8").replace("ops/ports.md", "doc/ports.md"), "utf-8")
        await remora.world.parts.library.refresh(str(file))
    else:
        real = remora.world.parts.library.get

        async def got(*arguments: Any) -> Any:
            answer = await real(*arguments)
            file.write_text(file.read_text("utf-8").replace("ops/ports.md", "doc/ports.md"), "utf-8")
            return answer

        remora.world.parts.library.get = got  # type: ignore[method-assign]

    fault = await remora.refused(
        "memory.edit", memoryId=memory_id, workspace=folder, expected=expected, text="Ports are gone."
    )

    assert (fault.kind, fault.code, bool(fault.next_step)) == ("conflict", -32010, True)
    assert "doc/ports.md" in file.read_text("utf-8")


@pytest.mark.promise("bad-input")
@pytest.mark.parametrize(
    "changes",
    [
        {"text": ""},
        {"text": "x" * (MAX_TEXT + 1)},
        {"title": "x" * (MAX_TITLE + 1)},
        {"tags": ["x"] * 33},
        {"expires": START},
        {"kind": "prophetic"},
        {"text": None},
        {"text": f"<!-- memory:{a_memory_id(9)} -->\nNot what it seems."},
    ],
)
async def test_what_cannot_be_is_refused_and_the_record_stays(
    remora: Asking, folder: str, changes: dict[str, Any]
) -> None:
    memory_id = await kept(remora, "Ports are in ops/ports.md.", folder)
    before = files_of(remora)
    expected = await digest_of(remora, memory_id, folder)

    fault = await remora.refused("memory.edit", memoryId=memory_id, workspace=folder, expected=expected, **changes)

    assert fault.kind in ("invalid-params", "unsafe-text")
    assert (bool(fault.problem), bool(fault.next_step), files_of(remora)) == (True, True, before)


async def test_a_memory_of_others_is_edited_by_hand(remora: Asking, folder: str) -> None:
    file = Path(folder) / REPOSITORY_FOLDER / "memory" / "team.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"<!-- memory:{a_memory_id(5)} -->\nThe limit is 10.\n", "utf-8")
    expected = await digest_of(remora, a_memory_id(5), folder)

    fault = await remora.refused(
        "memory.edit", memoryId=a_memory_id(5), workspace=folder, expected=expected, text="The limit is 20."
    )

    assert (fault.kind, "limit is 10" in file.read_text("utf-8")) == ("read-only", True)


# ---------------------------------------------------------------------------------------------------- what words do


async def test_a_secret_is_cut_out_before_it_is_written(remora: Asking, folder: str) -> None:
    memory_id = await kept(remora, "The robot pushes tags.", folder)

    done = await edited(remora, memory_id, folder, text=f"The robot pushes with {TOKEN}.", tags=["ci", TOKEN])

    assert done["redacted"] == ["secret.github-token"]
    assert TOKEN not in "".join(files_of(remora).values())


@pytest.mark.promise("reference-only")
@pytest.mark.parametrize("field", ["text", "title"])
async def test_words_that_read_like_an_order_quarantine_the_record(remora: Asking, folder: str, field: str) -> None:
    memory_id = await kept(remora, "The robot pushes tags.", folder)

    done = await edited(remora, memory_id, folder, **{field: f"Robots. {POISON}"})

    assert done["quarantined"] is True
    assert await found(remora, "robot tags", folder) == []


@pytest.mark.parametrize("flag", [Flag.QUARANTINED, Flag.CORRECTED, Flag.RECHECK])
async def test_a_text_that_a_person_wrote_anew_is_trusted_again(remora: Asking, folder: str, flag: Flag) -> None:
    memory_id = await remora.world.remember("The robot pushed tags.", flags=(flag, Flag.TRUNCATED))

    done = await edited(remora, memory_id, folder, text="The robot pushes tags.")

    assert done["quarantined"] is False
    assert (await record_of(remora, memory_id, folder))["flags"] == ["truncated"]
    assert await found(remora, "robot tags", folder) == [memory_id]


async def test_a_flag_stays_when_the_words_do(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember("The robot pushed tags.", flags=(Flag.CORRECTED,))

    await edited(remora, memory_id, folder, tags=["ci"])

    assert (await record_of(remora, memory_id, folder))["flags"] == ["corrected"]


async def test_a_replaced_record_can_be_edited_and_stays_replaced(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember("The limit is 10.", status=Status.SUPERSEDED, superseded_by=a_memory_id(9))

    await edited(remora, memory_id, folder, text="The limit was 10.")

    record = await record_of(remora, memory_id, folder)
    assert (record["status"], record["supersededBy"]) == ("superseded", a_memory_id(9))


async def test_a_packet_with_the_old_text_is_not_handed_over(remora: Asking, folder: str) -> None:
    memory_id = await kept(remora, LESSON, folder)
    await a_need(remora, folder)

    await edited(remora, memory_id, folder, text="The fixture is started by make.")

    assert (await remora.claim())["packet"] is None


async def test_the_vector_of_the_old_text_is_forgotten(remora: Asking, folder: str) -> None:
    memory_id = await kept(remora, LESSON, folder)
    before = await digest_of(remora, memory_id, folder)
    engine = StillEngine()
    remora.service = Service(replace(remora.world.parts, engine=engine), remora.shell)

    await edited(remora, memory_id, folder, tags=["db"])
    await edited(remora, memory_id, folder, text="The fixture is started by make.")

    assert engine.forgotten == [before]
