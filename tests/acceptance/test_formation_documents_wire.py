"""Scenes, doctrine and skills from a conversation to their files, asked for over the wire: lessons are kept, scenes
made of them by a model or by the running agent, and what was kept is written and not recalled twice."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from governance.formation.contracts import DocumentKind
from governance.formation.docform import document_id
from host.config import FormationSettings
from tests.support.asking import Asking
from tests.support.builders import SESSION, a_prompt, a_reply
from tests.support.drafting import call
from tests.support.models import a_script
from tests.support.reviewing import Json, decide, refusal, waiting
from tests.support.world import a_world

SAID = "Always run the migrations before the tests, otherwise the tests fail."
SCENE = {"name": "Tests", "summary": "Before the tests", "content": "Zebra: migrations first, then the tests."}
WHY = {"evidence": ["${id}"], "rationale": "The lesson says so."}
PICK = {"pick": {"id": '"memory":"(note_[0-9a-f]+)"'}}

pytestmark = pytest.mark.promise("formation-13")


@pytest.fixture
async def remora(tmp_path: Path) -> AsyncIterator[Asking]:
    async with a_world(tmp_path / "data", formation=FormationSettings()) as world:
        yield Asking(world)


async def talked(remora: Asking) -> str:
    """The folder of a session in which a lesson was said."""
    folder = remora.world.workspace()
    await remora.append(
        a_prompt(SAID, workspace=folder, event_id="u1"), a_reply("I will.", workspace=folder, event_id="a1")
    )
    return folder


async def run(remora: Asking, folder: str, tmp_path: Path, layer: str, *answers: Json) -> Json:
    script = a_script(tmp_path, *answers)
    asked = {"workspace": folder, "sessionId": SESSION, "layer": layer, "driver": f"scripted:{script}"}
    found: Json = await remora.ask("extract.run", **asked)
    return found


async def a_kept_lesson(remora: Asking, tmp_path: Path) -> str:
    folder = await talked(remora)
    note = {
        "kind": "lesson",
        "title": "Order of tests",
        "content": SAID,
        "attribution": "user_statement",
        "citations": [{"messageId": "${id}", "quote": SAID}],
    }
    pick = {"pick": {"id": '"messageId":"([^"]+)"[^\\n]*"role":"user"'}}
    await run(remora, folder, tmp_path, "l1", pick | call("submit", notes=[note]))
    (item,) = [one["item"] for one in await waiting(remora, folder, kinds=["note"])]
    await decide(remora, folder, item, "keep")
    return folder


async def proposed(remora: Asking, folder: str, kind: str) -> Json:
    (item,) = [one["item"] for one in await waiting(remora, folder, kinds=[kind])]
    return item


def files(remora: Asking) -> dict[str, str]:
    """Every document in the data folder, by its path below its workspace."""
    memory = remora.world.parts.roots.data / "memory"
    every = [path for path in memory.rglob("*") if path.is_file() and "records" not in path.parts]
    return {"/".join(path.relative_to(memory).parts[1:]): path.read_text("utf-8") for path in every}


async def found(remora: Asking, folder: str, query: str) -> list[Any]:
    hits: list[Any] = (await remora.ask("memory.search", query=query, workspace=folder))["hits"]
    return hits


async def test_a_kept_lesson_becomes_a_scene_and_the_scene_a_doctrine(remora: Asking, tmp_path: Path) -> None:
    folder = await a_kept_lesson(remora, tmp_path)

    done = await run(remora, folder, tmp_path, "l2", PICK | call("create", **SCENE, **WHY), call("submit"))
    assert (done["layered"]["status"], len(done["layered"]["items"])) == ("completed", 1)
    item = await proposed(remora, folder, "scene")
    assert await refusal(remora, folder, item, principal="agent") == "reviewer-kind" and files(remora) == {}
    await decide(remora, folder, item, "keep")
    again = await run(remora, folder, tmp_path, "l2", call("submit"))
    submit = call("submit", content="Migrations come first.", rationale="The scene says so.")
    await run(remora, folder, tmp_path, "l3", submit)
    await decide(remora, folder, await proposed(remora, folder, "doctrine"), "keep")

    written = files(remora)
    assert set(written) == {"scenes/tests.md", "doctrine.md"} and SCENE["content"] in written["scenes/tests.md"]
    assert written["doctrine.md"] == "Migrations come first.\n\n<!-- scenes -->\n- Tests: Before the tests\n"
    assert again["layered"]["calls"] == 0  # no lesson that is new
    assert await found(remora, folder, "zebra") == []  # made of memories, and none
    assert len(await found(remora, folder, "migrations")) == 1


async def test_the_running_agent_makes_a_scene_without_any_connection(remora: Asking, tmp_path: Path) -> None:
    folder = await a_kept_lesson(remora, tmp_path)

    task = (await remora.ask("extract.run", workspace=folder, layer="l2", emitTask=True))["documentTask"]
    (lesson,) = [json.loads(line) for line in task["material"].splitlines() if line.startswith('{"')]
    change = {"op": "create", **SCENE, "evidence": [lesson["memory"]], "rationale": "It says so."}
    answer = {"format": task["schema"]["properties"]["format"]["const"], "taskId": task["taskId"], "changes": [change]}
    wrong = answer | {"changes": [change | {"content": "x" * 1501}]}
    refused = await remora.refused("formation.stage", batch=wrong, workspace=folder, agent="claude-code")
    await remora.ask("formation.stage", batch=answer, workspace=folder, agent="claude-code")

    item = await proposed(remora, folder, "scene")
    assert "1500" in refused.problem and item["proposedBy"] == "agent:claude-code"
    await decide(remora, folder, item, "edit-and-keep", text="Migrations first.")
    assert "Migrations first." in files(remora)["scenes/tests.md"]


async def test_what_was_changed_since_is_refused_and_still_waits(remora: Asking, tmp_path: Path) -> None:
    folder = await a_kept_lesson(remora, tmp_path)
    await run(remora, folder, tmp_path, "l2", PICK | call("create", **SCENE, **WHY), call("submit"))
    await decide(remora, folder, await proposed(remora, folder, "scene"), "keep")
    await run(remora, folder, tmp_path, "l3", call("submit", content="Migrations first.", rationale="It says so."))
    item = await proposed(remora, folder, "doctrine")
    (scene,) = remora.world.parts.roots.data.rglob("scenes/tests.md")
    scene.write_text(scene.read_text().replace("Zebra", "By hand"))

    assert await refusal(remora, folder, item) == "stale-read"

    assert "doctrine.md" not in files(remora) and (await proposed(remora, folder, "doctrine"))["state"] == "pending"


async def test_a_conversation_becomes_a_skill(remora: Asking, tmp_path: Path) -> None:
    folder = await talked(remora)
    skill = {"name": "run-the-tests", "description": "Runs them.", "body": "1. migrate\n2. test"}
    pick = {"pick": {"id": '"message":"([^"]+)","role":"user"'}}

    await run(remora, folder, tmp_path, "skill", pick | call("create", **skill, **WHY), call("submit"))
    item = await proposed(remora, folder, "skill")
    too_much = await refusal(remora, folder, item, "edit-and-keep", text="no front matter\n" + "x" * 70_000)
    await decide(remora, folder, item, "keep")

    assert too_much and set(files(remora)) == {"skills/run-the-tests/SKILL.md"}
    key = item["workspaceKey"]
    standing = await remora.world.parts.documents.standing(key)
    assert document_id(key, DocumentKind.SKILL, "run-the-tests") in standing.held


async def test_a_forgotten_lesson_takes_proposals_with_it(remora: Asking, tmp_path: Path) -> None:
    folder = await a_kept_lesson(remora, tmp_path)
    kept = SCENE | {"name": "Kept", "content": "Migrations first."}
    await run(remora, folder, tmp_path, "l2", PICK | call("create", **kept, **WHY), call("submit"))
    first = await proposed(remora, folder, "scene")
    await run(remora, folder, tmp_path, "l2", PICK | call("create", **SCENE, **WHY), call("submit"))
    await decide(remora, folder, first, "keep")
    (hit,) = await found(remora, folder, "migrations")

    gone = await remora.ask("memory.forget", memoryId=hit["memoryId"], workspace=folder)

    assert gone["documents"] == ["Kept"] and set(files(remora)) == {"scenes/kept.md"}

    assert await waiting(remora, folder, kinds=["scene"]) == []
    database = remora.world.parts.kept
    for table, column in (("queue", "text"), ("document_change", "changes")):
        statement = f"SELECT count(*) FROM {table} WHERE {column} LIKE '%Zebra%'"
        assert await database.read(lambda one, said=statement: one.execute(said).fetchone()) == (0,), table
