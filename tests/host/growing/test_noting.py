"""Notes of a session: where noting goes on, what is too long, what was denied, and who may answer a task."""

from pathlib import Path
from typing import Any

import pytest

from governance.formation.contracts import Trigger
from host.growing.noting import AGENT_CHARS
from recall.contracts import EventType
from tests.support.asking import Asking
from tests.support.builders import SESSION, an_event
from tests.support.growing import (
    LESSON,
    QUOTE,
    SAYS,
    Json,
    batch,
    ended,
    lines_of,
    note,
    note_task,
    range_task,
    scripted,
    talk,
)
from tests.support.remembering import TOKEN
from tests.support.reviewing import decide

LATER = "Deploy with make ship."


async def staged(remora: Asking, folder: str, answer: Json) -> Json:
    noted: Json = (await remora.ask("formation.stage", workspace=folder, batch=answer, agent="claude-code"))["noted"]
    return noted


async def keep(remora: Asking, folder: str, item_id: str) -> str:
    """A person keeps an item; in what state it is then."""
    one = (await remora.ask("review.get", workspace=folder, itemId=item_id))["item"]
    state: str = (await decide(remora, folder, one, "keep"))["item"]["state"]
    return state


async def test_noting_goes_on_after_the_last_message_that_was_taken(remora: Asking) -> None:
    folder = await talk(remora, LESSON)
    await staged(remora, folder, batch(await note_task(remora, folder)))
    await talk(remora, LATER, first=1)

    task = await note_task(remora, folder)

    new = [line["content"] for line in lines_of(task) if line.get("use") == "new"]
    assert new == [LATER, "I will."]


async def test_nothing_is_passed_over_when_the_log_lets_go_of_what_was_noted(remora: Asking) -> None:
    folder = await talk(remora, *(f"Hello number {number} to you." for number in range(5)))
    await staged(remora, folder, batch(await note_task(remora, folder)))
    await talk(remora, LESSON, first=5)
    await remora.world.parts.main.write(lambda connection: connection.execute("DELETE FROM event WHERE event_seq < 6"))

    task = await note_task(remora, folder)
    assert QUOTE in task["packet"]["material"]
    noted = await staged(remora, folder, batch(task, note(SAYS, QUOTE, task)))
    assert len(noted["notes"]) == 1
    after = await remora.ask("extract.run", workspace=folder, sessionId=SESSION, emitTask=True)
    assert after["task"] is None


async def test_a_model_notes_window_after_window_until_nothing_is_left(remora: Asking, tmp_path: Path) -> None:
    folder = await talk(remora, *(f"Say {number}: {LESSON}" for number in range(23)))
    driver = scripted(tmp_path, otherwise={"tool": "submit", "arguments": {"notes": []}})

    (first,) = (await remora.ask("extract.run", workspace=folder, sessionId=SESSION, driver=driver))["noted"]
    (again,) = (await remora.ask("extract.run", workspace=folder, sessionId=SESSION, driver=driver))["noted"]

    assert (first["status"], first["windows"], first["calls"], first["remaining"]) == ("completed", 3, 3, 0)
    assert (again["status"], again["windows"], again["calls"]) == ("completed", 0, 0)


async def test_a_window_that_fails_leaves_the_rest_where_it_was(remora: Asking, tmp_path: Path) -> None:
    folder = await talk(remora, *(f"Say {number}: {LESSON}" for number in range(23)))
    nothing = {"tool": "submit", "arguments": {"notes": []}}
    failing = scripted(tmp_path, nothing, {"error": "unavailable"})

    (noted,) = (await remora.ask("extract.run", workspace=folder, sessionId=SESSION, driver=failing))["noted"]
    assert (noted["status"], noted["windows"], noted["error"]["code"]) == ("failed", 1, "unavailable")
    assert noted["remaining"] == 26

    (rest,) = (
        await remora.ask(
            "extract.run", workspace=folder, sessionId=SESSION, driver=scripted(tmp_path, otherwise=nothing)
        )
    )["noted"]
    assert (rest["status"], rest["calls"]) == ("completed", 2)


@pytest.mark.parametrize("by", ["agent", "model"])
async def test_a_message_that_is_too_long_is_shown_without_its_middle_and_its_note_can_be_kept(
    remora: Asking, tmp_path: Path, by: str
) -> None:
    pasted = f"{LESSON}\n" + "log line\n" * 15_000
    folder = await talk(remora, pasted, LATER)

    task = await note_task(remora, folder)
    assert len(pasted) > 120_000
    assert len(task["packet"]["material"]) < 2 * AGENT_CHARS
    assert "characters omitted" in task["packet"]["material"]
    one = note(SAYS, QUOTE, task)
    if by == "agent":
        noted = await staged(remora, folder, batch(task, one))
        assert noted["remaining"] == 3
        after = await note_task(remora, folder)  # the rest is the next window
        assert LATER in after["packet"]["material"]
    else:
        driver = scripted(
            tmp_path, {"tool": "submit", "arguments": {"notes": [one]}}, otherwise={"json": {"notes": []}}
        )
        (noted,) = (await remora.ask("extract.run", workspace=folder, sessionId=SESSION, driver=driver))["noted"]
        assert (noted["status"], noted["remaining"]) == ("completed", 0)
    assert noted["shortened"] == [one["citations"][0]["messageId"]]

    (item_id,) = noted["notes"]
    assert await keep(remora, folder, item_id) == "kept"


async def test_a_note_of_a_range_with_a_long_message_and_a_secret_can_be_kept(remora: Asking) -> None:
    folder = await talk(remora, f"{LESSON} " + "More words to it. " * 400, f"The token is {TOKEN}.")
    await ended(remora, folder)
    task = await range_task(remora, folder)
    assert TOKEN not in str(task)

    noted = await staged(remora, folder, batch(task, note(SAYS, QUOTE, task)))

    (item_id,) = noted["notes"]
    shown = (await remora.ask("review.get", workspace=folder, itemId=item_id))["item"]
    assert "truncated-evidence" in shown["flags"]
    assert await keep(remora, folder, item_id) == "kept"


async def test_a_session_that_is_incognito_is_not_noted(remora: Asking, tmp_path: Path) -> None:
    folder = await talk(remora, LESSON)
    await remora.ask("session.set", sessionId=SESSION, incognito=True)

    for params in ({"emitTask": True}, {"driver": scripted(tmp_path, otherwise={"json": {"notes": []}})}):
        fault = await remora.refused("extract.run", workspace=folder, sessionId=SESSION, **params)
        assert (fault.kind, "incognito" in fault.problem) == ("closed", True)
        assert fault.next_step


async def test_a_task_that_is_not_open_any_more_is_said(remora: Asking) -> None:
    folder = await talk(remora, LESSON)
    await ended(remora, folder)
    first, second = await range_task(remora, folder), await note_task(remora, folder)
    assert first["taskId"] != second["taskId"]
    await staged(remora, folder, batch(first))

    await talk(remora, LATER, first=1)
    await ended_again(remora, folder)
    other = await range_task(remora, folder)
    await staged(remora, folder, batch(other))
    late = await remora.refused(
        "formation.stage", workspace=folder, batch=batch(first, note(SAYS, QUOTE, first)), agent="claude-code"
    )
    assert late.kind == "operation-reused"


async def ended_again(remora: Asking, folder: str) -> None:
    await remora.append(an_event(EventType.SESSION_END, session_id=SESSION, workspace=folder, event_id="ended:again"))


async def test_an_answer_with_another_binding_is_refused(remora: Asking) -> None:
    folder = await talk(remora, LESSON)
    task = await note_task(remora, folder)

    fault = await remora.refused("formation.stage", workspace=folder, batch=batch(task, binding="0" * 64))

    assert fault.kind == "task-stale" and fault.next_step


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"format": "another@v1"}, "schema"),
        ({"notes": "none"}, "schema"),
        ({"notes": [{"kind": "lesson"}]}, "rejected"),
    ],
)
async def test_an_answer_that_does_not_fit_says_how_and_nothing_is_written(
    remora: Asking, answer: dict[str, Any], code: str
) -> None:
    folder = await talk(remora, LESSON)
    task = await note_task(remora, folder)

    fault = await remora.refused("formation.stage", workspace=folder, batch=batch(task) | answer)

    assert fault.kind == code and fault.next_step
    assert (await staged(remora, folder, batch(task, note(SAYS, QUOTE, task))))["notes"]


async def test_what_waits_is_counted_anew_once_a_range_is_answered(remora: Asking) -> None:
    folder = await talk(remora, LESSON)
    formation = remora.world.parts.formation
    await remora.ask("checkpoint.run", workspace=folder, sessionId=SESSION)
    key = remora.world.parts.places.key(folder)
    assert formation.waits(key) == 1

    task = await range_task(remora, folder)
    done = await remora.ask("formation.stage", workspace=folder, batch=batch(task))

    assert (done["waiting"], formation.waits(key)) == (0, 0)


async def test_a_range_in_which_the_user_said_nothing_is_done_with_by_looking(remora: Asking) -> None:
    folder = remora.world.workspace()
    await ended(remora, folder)
    await remora.world.parts.formation.boundary(Trigger.END, SESSION)

    ran = await remora.ask("checkpoint.run", workspace=folder, sessionId=SESSION, emitTask=True)

    assert ran["task"] is None
    assert [one["status"] for one in ran["results"]] == ["no-range"]
    assert ran["waiting"] == 0
