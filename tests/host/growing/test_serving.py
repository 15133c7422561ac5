"""Formation on the wire: ranges and sessions are formed by a model or by the running agent; what cannot be is said."""

from pathlib import Path
from typing import Any

import pytest

from governance.formation.contracts import Trigger
from host.config import FormationSettings
from tests.support.asking import Asking
from tests.support.builders import SESSION, a_prompt
from tests.support.growing import LESSON, QUOTE, SAYS, batch, ended, note, note_task, range_task, scripted, talk
from tests.support.world import a_world


async def test_a_session_is_noted_by_the_running_agent_task_by_task(remora: Asking) -> None:
    folder = await talk(remora, LESSON)
    task = await note_task(remora, folder)

    answer = batch(task, note(SAYS, QUOTE, task))
    staged = await remora.ask("formation.stage", workspace=folder, batch=answer, agent="claude-code")
    again = await remora.ask("formation.stage", workspace=folder, batch=answer, agent="claude-code")

    (item,) = (await remora.ask("review.list", workspace=folder))["items"]
    assert staged["noted"]["notes"] == [item["item"]["itemId"]]
    assert again["noted"]["idempotent"] and again["noted"]["notes"] == staged["noted"]["notes"]
    nothing = await remora.ask("extract.run", workspace=folder, sessionId=SESSION, emitTask=True)
    assert nothing["task"] is None and nothing["noted"][0]["remaining"] == 0


async def test_a_range_that_waits_is_handed_over_and_its_answer_moves_the_cursor(remora: Asking) -> None:
    folder = await talk(remora, LESSON)
    await ended(remora, folder)
    await remora.world.parts.formation.boundary(Trigger.END, SESSION)

    task = await range_task(remora, folder)
    answer = batch(task, note(SAYS, QUOTE, task))
    staged = await remora.ask("formation.stage", workspace=folder, batch=answer)

    assert len(staged["noted"]["notes"]) == 1
    after = await remora.ask("checkpoint.run", workspace=folder, sessionId=SESSION, emitTask=True)
    assert after["task"] is None and [one["status"] for one in after["results"]] == ["no-range"]


async def test_another_answer_to_a_task_that_was_answered_is_refused(remora: Asking) -> None:
    folder = await talk(remora, LESSON)
    task = await note_task(remora, folder)
    await remora.ask("formation.stage", workspace=folder, batch=batch(task))

    other = batch(task, note("Migrations first.", "Run the migrations", task))

    assert (await remora.refused("formation.stage", workspace=folder, batch=other)).kind == "operation-reused"


async def test_an_answer_of_which_nothing_can_be_taken_may_be_mended(remora: Asking) -> None:
    folder = await talk(remora, LESSON)
    task = await note_task(remora, folder)
    good = note(SAYS, QUOTE, task)
    bad = good | {"citations": [good["citations"][0] | {"quote": "Run the migration after the tests"}]}

    fault = await remora.refused("formation.stage", workspace=folder, batch=batch(task, bad))
    staged = await remora.ask("formation.stage", workspace=folder, batch=batch(task, good))

    assert fault.kind == "rejected" and "quote-not-found" in fault.problem
    assert len(staged["noted"]["notes"]) == 1


async def test_a_session_is_noted_by_a_model_that_the_call_names(remora: Asking, tmp_path: Path) -> None:
    folder = await talk(remora, LESSON)
    task = await note_task(remora, folder)
    driver = scripted(tmp_path, {"tool": "submit", "arguments": {"notes": [note(SAYS, QUOTE, task)]}})

    done = await remora.ask("extract.run", workspace=folder, sessionId=SESSION, driver=driver)

    (noted,) = done["noted"]
    assert (noted["status"], noted["calls"], len(noted["notes"])) == ("completed", 1, 1)


async def test_without_a_model_a_run_says_what_to_do(remora: Asking) -> None:
    folder = await talk(remora, LESSON)

    fault = await remora.refused("extract.run", workspace=folder, sessionId=SESSION)

    assert fault.kind == "no-driver" and "emitTask" in fault.next_step


async def test_unknown_sessions_tasks_and_letters_are_said(remora: Asking) -> None:
    folder = remora.world.workspace()

    assert (await remora.refused("extract.run", workspace=folder, sessionId="s-none")).kind == "unknown-session"
    assert (
        await remora.refused("formation.stage", workspace=folder, batch={"taskId": "task_x"})
    ).kind == "unknown-task"
    assert (await remora.refused("formation.stage", workspace=folder, batch={})).kind == "invalid-params"
    assert (await remora.refused("checkpoint.retry", id="letter_x")).kind == "unknown-letter"


async def test_a_task_is_answered_from_its_own_workspace_alone(remora: Asking) -> None:
    folder = await talk(remora, LESSON)
    task = await note_task(remora, folder)

    fault = await remora.refused("formation.stage", workspace=remora.world.workspace("other"), batch=batch(task))

    assert fault.kind == "unknown-task"


async def test_what_waits_and_how_formation_stands_can_be_asked(remora: Asking) -> None:
    folder = await talk(remora, LESSON)
    await remora.world.parts.formation.boundary(Trigger.END, SESSION)

    listed = await remora.ask("checkpoint.list", workspace=folder)
    status = await remora.ask("formation.status")

    assert [one["sessionId"] for one in (*listed["waiting"], *listed["jobs"])]
    assert (status["state"], status["driver"]) == ("ok", "agent")


async def test_what_was_said_in_one_workspace_is_not_handed_to_another(remora: Asking) -> None:
    await talk(remora, LESSON)
    other = remora.world.workspace("other")

    for method in ("extract.run", "checkpoint.run"):
        fault = await remora.refused(method, workspace=other, sessionId=SESSION, emitTask=True)
        assert (fault.kind, "another workspace" in fault.problem) == ("unknown-session", True)


async def test_a_task_is_answered_from_where_its_session_is_now(remora: Asking) -> None:
    folder = await talk(remora, LESSON)
    task = await note_task(remora, folder)
    other = remora.world.workspace("other")
    await remora.append(a_prompt("Go on here.", session_id=SESSION, workspace=other, event_id="moved"))

    staged = await remora.ask("formation.stage", workspace=other, batch=batch(task, note(SAYS, QUOTE, task)))

    assert len(staged["noted"]["notes"]) == 1


async def test_of_a_workspace_the_last_session_is_noted_or_those_since(remora: Asking, tmp_path: Path) -> None:
    driver = scripted(tmp_path, otherwise={"json": {"notes": []}})
    folder = await talk(remora, LESSON, session="s-old")
    remora.world.clock.set(remora.world.clock.now() + 1000)
    since = remora.world.clock.now()
    await talk(remora, LESSON, session="s-new")
    remora.world.clock.set(remora.world.clock.now() + 1000)
    await talk(remora, LESSON, session="s-newer")

    async def noted(**params: Any) -> list[str]:
        done = await remora.ask("extract.run", workspace=folder, driver=driver, **params)
        return [one["sessionId"] for one in done["noted"]]

    assert await noted() == ["s-newer"]
    assert await noted(since=since) == ["s-new", "s-newer"]
    fault = await remora.refused("extract.run", workspace=folder, driver=driver, since=since + 9_000)
    assert fault.kind == "unknown-session"


async def test_a_range_that_was_given_up_is_listed_and_tried_again(remora: Asking, tmp_path: Path) -> None:
    folder = await talk(remora, LESSON)
    driver = scripted(tmp_path, otherwise={"text": "BANANA"})
    for status in ("pending", "discarded"):
        ran = await remora.ask("checkpoint.run", workspace=folder, sessionId=SESSION, driver=driver)
        assert [one["status"] for one in ran["results"]][:1] == [status]

    (letter,) = (await remora.ask("checkpoint.list", workspace=folder))["letters"]
    assert (await remora.ask("checkpoint.list", workspace=remora.world.workspace("other")))["letters"] == []
    without = await remora.refused("checkpoint.retry", id=letter["letterId"])
    good = scripted(tmp_path, otherwise={"json": {"status": "complete", "items": []}})
    retried = await remora.ask("checkpoint.retry", id=letter["letterId"], driver=good)

    assert without.kind == "no-driver"
    assert retried["result"]["status"] == "skipped"
    assert (await remora.ask("checkpoint.list", workspace=folder))["letters"] == []


async def test_a_model_that_cannot_be_reached_is_said_and_the_range_waits(remora: Asking, tmp_path: Path) -> None:
    folder = await talk(remora, LESSON)
    down = scripted(tmp_path, otherwise={"error": "unavailable", "message": "Nobody answers at 127.0.0.1."})

    ran = await remora.ask("checkpoint.run", workspace=folder, sessionId=SESSION, driver=down)

    (result,) = ran["results"]
    assert (result["status"], result["reason"]) == ("unavailable", "unavailable")
    assert result["problem"] == "Nobody answers at 127.0.0.1."
    assert ran["waiting"] == 1


@pytest.mark.parametrize("method", ["checkpoint.run", "extract.run"])
async def test_a_driver_that_there_is_not_is_said_once_with_what_to_do(remora: Asking, method: str) -> None:
    folder = await talk(remora, LESSON)

    fault = await remora.refused(method, workspace=folder, sessionId=SESSION, driver="parrot")

    assert fault.kind == "model-configuration"
    assert "parrot" in fault.problem and "Name one of" in fault.problem
    assert fault.next_step == ""


async def test_formation_that_is_off_takes_nothing(tmp_path: Path) -> None:
    async with a_world(tmp_path / "off", formation=FormationSettings(enabled=False)) as world:
        remora = Asking(world)
        folder = await talk(remora, LESSON)
        for method in ("extract.run", "checkpoint.run"):
            fault = await remora.refused(method, workspace=folder, sessionId=SESSION, emitTask=True)
            assert (fault.kind, "[formation]" in fault.next_step) == ("disabled", True)
        assert (await remora.ask("formation.status"))["state"] == "off"


async def test_a_database_that_cannot_be_used_is_said_and_everything_else_runs_on(remora: Asking) -> None:
    folder = await talk(remora, LESSON)
    (remora.world.folder / "governance.db").unlink()

    for method in ("extract.run", "checkpoint.run", "checkpoint.list"):
        params = {} if method == "checkpoint.list" else {"sessionId": SESSION}
        fault = await remora.refused(method, workspace=folder, **params)
        assert fault.kind == "state-failed" and fault.next_step
    assert (await remora.ask("formation.status"))["state"] == "state-failed"
    await talk(remora, "Still here.", first=7)


async def test_recovery_says_what_it_made_again(remora: Asking) -> None:
    done = await remora.ask("extract.recover")

    assert (done["records"], done["torn"]) == (0, [])
    assert done["note"]


@pytest.mark.parametrize("emit", [False, True])
async def test_of_several_sessions_one_that_is_closed_keeps_the_others_from_nothing(
    remora: Asking, tmp_path: Path, emit: bool
) -> None:
    folder = await talk(remora, LESSON, session="s-closed")
    await remora.ask("session.set", sessionId="s-closed", incognito=True)
    await talk(remora, LESSON, session="s-open")
    given = {"emitTask": True} if emit else {"driver": scripted(tmp_path, otherwise={"json": {"notes": []}})}

    done = await remora.ask("extract.run", workspace=folder, since=0, **given)

    closed = [one for one in done["noted"] if one["sessionId"] == "s-closed"]
    assert [one["error"]["code"] for one in closed] == ["closed"]
    if emit:
        assert done["task"]["packet"]["streamId"] == "s-open"
    else:
        assert [one["status"] for one in done["noted"]] == ["failed", "completed"]


async def test_a_range_whose_session_is_not_held_any_more_stops_no_other(remora: Asking) -> None:
    folder = await talk(remora, LESSON, session="s-gone")
    await talk(remora, LESSON, session="s-here")
    for session in ("s-gone", "s-here"):
        await remora.ask("checkpoint.run", workspace=folder, sessionId=session)
    await remora.world.parts.main.write(
        lambda connection: connection.execute(
            "DELETE FROM event WHERE session IN (SELECT id FROM log_session WHERE session_id = 's-gone')"
        )
    )

    ran = await remora.ask("checkpoint.run", workspace=folder)
    handed = await remora.ask("checkpoint.run", workspace=folder, emitTask=True)

    assert {one["sessionId"]: one["reason"] for one in ran["results"]}["s-here"] == "no-driver"
    assert handed["task"]["packet"]["streamId"] == "s-here"


async def test_a_session_of_no_workspace_is_not_noted(remora: Asking) -> None:
    await remora.append(a_prompt(LESSON, session_id="s-nowhere", workspace="", event_id="e"))
    fault = await remora.refused("extract.run", sessionId="s-nowhere", emitTask=True)
    assert fault.kind == "closed"


async def test_of_a_workspace_those_that_wait_there_are_counted(remora: Asking) -> None:
    folder = await talk(remora, LESSON)
    await remora.ask("checkpoint.run", workspace=folder, sessionId=SESSION)

    for workspace, waiting in ((folder, 1), (remora.world.workspace("other"), 0), ("", 1)):
        assert (await remora.ask("formation.status", workspace=workspace))["waiting"] == waiting
