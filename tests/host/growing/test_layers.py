"""Scenes, doctrine and skills as they are asked for: of what was kept here, by a model or by the running agent."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.asking import Asking
from tests.support.builders import SESSION
from tests.support.growing import LESSON, QUOTE, SAYS, Json, batch, note, note_task, scripted, talk
from tests.support.reviewing import decide, waiting

SCENE = "Tests run after the migrations, or they fail."


async def a_kept_lesson(remora: Asking) -> tuple[str, str]:
    """A lesson that a person kept; its folder and its id."""
    folder = await talk(remora, LESSON)
    task = await note_task(remora, folder)
    staged = await remora.ask("formation.stage", workspace=folder, batch=batch(task, note(SAYS, QUOTE, task)))
    (item_id,) = staged["noted"]["notes"]
    item = (await remora.ask("review.get", workspace=folder, itemId=item_id))["item"]
    await decide(remora, folder, item, "keep")
    return folder, item_id


def a_scene(evidence: str = "${id}", **fields: Any) -> Json:
    return {
        "name": "Order of tests",
        "summary": "How tests are run",
        "content": SCENE,
        "evidence": [evidence],
        "rationale": "It decides when tests pass.",
    } | fields


def making(folder: Path, *calls: tuple[str, Json]) -> str:
    """A model that calls these tools one after the other, then hands in. `${id}`: the first lesson's or message's."""
    pick = {"id": '"(?:memory|message)":"([^"]+)"'}
    answers = [{"pick": pick, "tool": tool, "arguments": arguments} for tool, arguments in calls]
    return scripted(folder, *answers, {"tool": "submit"})


async def extract(remora: Asking, folder: str, layer: str, **params: Any) -> Json:
    done: Json = await remora.ask("extract.run", workspace=folder, layer=layer, **params)
    return done


async def test_a_model_makes_a_scene_of_a_kept_lesson_and_it_waits(remora: Asking, tmp_path: Path) -> None:
    folder, _ = await a_kept_lesson(remora)
    driver = making(tmp_path, ("create", a_scene()))

    layered = (await extract(remora, folder, "l2", driver=driver))["layered"]

    assert (layered["status"], len(layered["items"]), layered["calls"]) == ("completed", 1, 2), layered
    found = [one["item"] for one in await waiting(remora, folder)]
    assert [(one["kind"], one["itemId"]) for one in found] == [("scene", layered["items"][0])]
    assert SCENE in found[0]["text"]


async def test_the_running_agent_makes_it_of_a_task(remora: Asking) -> None:
    folder, note_id = await a_kept_lesson(remora)
    task = (await extract(remora, folder, "l2", emitTask=True))["documentTask"]
    assert note_id in task["material"] and task["schema"]
    answer = {
        "format": task["schema"]["properties"]["format"]["const"],
        "taskId": task["taskId"],
        "changes": [{"op": "create", **a_scene(note_id)}],
    }

    staged = await remora.ask("formation.stage", workspace=folder, batch=answer, agent="codex")
    again = await remora.ask("formation.stage", workspace=folder, batch=answer, agent="codex")

    assert len(staged["layered"]["items"]) == 1
    assert (again["layered"]["items"], again["layered"]["known"]) == ([], 1)


async def test_without_a_kept_lesson_nobody_is_asked(remora: Asking, tmp_path: Path) -> None:
    folder = await talk(remora, LESSON)

    asked = await extract(remora, folder, "l2", driver=scripted(tmp_path))
    handed = await extract(remora, folder, "l2", emitTask=True)

    assert "keep some in the review" in asked["layered"]["note"] and asked["layered"]["calls"] == 0
    assert handed["documentTask"] is None


async def test_a_run_that_proposes_nothing_is_written_down_all_the_same(remora: Asking, tmp_path: Path) -> None:
    folder, _ = await a_kept_lesson(remora)

    layered = (await extract(remora, folder, "l2", driver=scripted(tmp_path, {"tool": "submit"})))["layered"]

    assert (layered["items"], layered["calls"], layered["note"]) == ([], 1, "")
    rows = await remora.world.parts.kept.read(
        lambda connection: connection.execute("SELECT layer, status, calls FROM generation").fetchall()
    )
    assert ("l2", "completed", 1) in rows


async def test_a_model_that_fails_leaves_nothing_and_says_why(remora: Asking, tmp_path: Path) -> None:
    folder, _ = await a_kept_lesson(remora)

    layered = (await extract(remora, folder, "l2", driver=scripted(tmp_path, {"error": "timeout"})))["layered"]

    assert (layered["status"], layered["error"]["code"], layered["items"]) == ("failed", "timeout", [])
    assert await waiting(remora, folder) == []


async def test_skills_are_of_one_session(remora: Asking, tmp_path: Path) -> None:
    folder = await talk(remora, LESSON)
    skill = {
        "name": "run-the-tests",
        "description": "Runs the tests. Use it after a change.",
        "body": "1. Run the migrations.\n2. Run the tests.",
        "evidence": ["${id}"],
        "rationale": "The order matters.",
    }
    driver = making(tmp_path, ("create", skill))

    layered = (await extract(remora, folder, "skill", sessionId=SESSION, driver=driver))["layered"]

    assert len(layered["items"]) == 1, layered
    task = (await extract(remora, folder, "skill", sessionId=SESSION, emitTask=True))["documentTask"]
    assert LESSON in task["material"]


@pytest.mark.parametrize(
    "answer", [{}, {"format": "another"}, {"changes": "none"}, {"changes": [{"op": "create", "name": "x"}]}]
)
async def test_an_answer_that_does_not_fit_says_how_and_may_be_mended(remora: Asking, answer: Json) -> None:
    folder, note_id = await a_kept_lesson(remora)
    task = (await extract(remora, folder, "l2", emitTask=True))["documentTask"]
    whole = {"format": task["schema"]["properties"]["format"]["const"], "taskId": task["taskId"], "changes": []}
    bad = {"taskId": task["taskId"]} if not answer else whole | answer

    fault = await remora.refused("formation.stage", workspace=folder, batch=bad)
    good = whole | {"changes": [{"op": "create", **a_scene(note_id)}]}
    staged = await remora.ask("formation.stage", workspace=folder, batch=good)

    assert fault.next_step and fault.problem
    assert len(staged["layered"]["items"]) == 1


async def test_a_task_of_what_stood_there_before_is_stale(remora: Asking) -> None:
    folder, note_id = await a_kept_lesson(remora)
    task = (await extract(remora, folder, "l2", emitTask=True))["documentTask"]
    scenes = remora.world.folder / "memory" / remora.world.parts.places.key(folder) / "scenes"
    scenes.mkdir(parents=True)
    (scenes / "another.md").write_text("---\nname: Another\nsummary: By hand\n---\n\nWritten by hand.\n")
    answer = {
        "format": task["schema"]["properties"]["format"]["const"],
        "taskId": task["taskId"],
        "changes": [{"op": "create", **a_scene(note_id)}],
    }

    fault = await remora.refused("formation.stage", workspace=folder, batch=answer)

    assert fault.kind == "stale-read" and fault.next_step


async def test_layers_need_a_workspace(remora: Asking) -> None:
    assert (await remora.refused("extract.run", layer="l2", emitTask=True)).kind == "invalid-params"
