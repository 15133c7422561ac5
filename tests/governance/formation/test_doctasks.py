"""The running agent makes scenes, doctrine and skills in one answer, through the same desks."""

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from governance.formation.contracts import DocumentsResult, Layer, RunStatus
from governance.formation.doctasks import (
    DocumentBatch,
    DocumentTask,
    doctrine_taken,
    doctrine_task,
    scenes_taken,
    scenes_task,
    schema_of,
    skills_taken,
    skills_task,
)
from governance.formation.errors import ParameterFault, StaleRead
from governance.formation.notes import Setting
from tests.support.drafting import (
    WHY,
    Json,
    SkillShelf,
    a_scene,
    a_skill,
    an_atom,
    creates,
    l2,
    l3,
    of_skills,
    setting_of,
    updates,
)
from tests.support.noting import FORMATS, TOKEN, a_message, a_tool

ONE, TWO = a_scene(1), a_scene(2)
AGENT = "agent:claude-code"


@dataclass(frozen=True, kw_only=True)
class By:
    setting: Setting
    agent: str = AGENT


def as_change(step: Json) -> Json:
    return {"op": step["tool"], **step["arguments"]}


def a_batch(*steps: Json, **fields: Any) -> DocumentBatch:
    return DocumentBatch(format=FORMATS.document_batch, task_id="t1", changes=tuple(map(as_change, steps)), **fields)


async def the_task(*scenes: Any) -> DocumentTask:
    task = await scenes_task(l2(*scenes), setting_of("l2"), "t1")
    assert task is not None
    return task


async def taken(*steps: Json) -> DocumentsResult:
    task = await the_task(ONE, TWO)
    return await scenes_taken(l2(ONE, TWO), a_batch(*steps), task.binding, setting_of("l2"), AGENT)


def code(result: DocumentsResult) -> str:
    assert result.error is not None and result.changes == ()
    return result.error.code


async def test_a_task_shows_everything_and_says_what_is_answered() -> None:
    task = await the_task(ONE, a_scene(3, f"Use {TOKEN}."))

    assert (task.format, task.task_id, task.binding.layer) == (FORMATS.document_task, "t1", Layer.L2)
    assert ONE.content in task.material and "Lesson 1:" in task.material and TOKEN not in task.material
    assert task.material.startswith("<material mark=") and "Only read what it says." in task.instructions
    assert msgspec.json.encode(task)


async def test_the_answer_goes_through_the_same_desk() -> None:
    result = await taken(creates(), updates(ONE))

    assert (result.status, [change.op for change in result.changes]) == (RunStatus.COMPLETED, ["create", "update"])
    assert (result.provenance.model_id, result.provenance.calls, result.provenance.usage) == (AGENT, 0, None)
    assert {seen.id for seen in result.read_set} == {ONE.id, TWO.id}
    assert (await taken()).changes == () and (await taken()).status is RunStatus.COMPLETED


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ((creates(), creates("Two")), "capacity-exceeded"),
        ((creates(), updates(ONE, content="x" * 1501)), "over-limit"),
        (({"tool": "read", "arguments": {"id": ONE.id}},), "schema"),
        (({"tool": "submit", "arguments": {}},), "schema"),
        (({"tool": "shell", "arguments": {}},), "schema"),
        ((creates(heat=5),), "schema"),
        ((updates(ONE),) * 33, "over-limit"),
    ],
)
async def test_one_change_that_is_refused_and_none_is_taken(steps: tuple[Json, ...], why: str) -> None:
    assert code(await taken(*steps)) == why


async def test_an_answer_to_what_is_no_longer_so_is_stale() -> None:
    task = await the_task(ONE, TWO)
    others = (
        l2(ONE, a_scene(2, version=2)),
        l2(ONE),
        l2(ONE, TWO, a_scene(3)),
        l2(ONE, TWO, atoms=(an_atom(), an_atom(2))),
        l2(ONE, a_scene(2, "By hand.")),
    )
    for other in others:
        with pytest.raises(StaleRead):
            await scenes_taken(other, a_batch(), task.binding, setting_of("l2"), AGENT)


async def test_a_doctrine_is_answered_as_one_text() -> None:
    task = await doctrine_task(l3(ONE), setting_of("doctrine"), "t1")
    assert task is not None
    batch = a_batch(content="Checks first.", rationale="It says so.")

    result = await doctrine_taken(l3(ONE), batch, task.binding, setting_of("doctrine"), AGENT)
    empty = await doctrine_taken(l3(ONE), a_batch(), task.binding, setting_of("doctrine"), AGENT)

    assert len(result.changes) == 1 and result.scene_versions and code(empty) == "empty"
    with pytest.raises(StaleRead):
        await doctrine_taken(l3(ONE, TWO), batch, task.binding, setting_of("doctrine"), AGENT)


async def test_a_skill_is_answered_with_what_lies_beside_it() -> None:
    foreign, own = a_skill(writable=False), a_skill("our-own", "1. Look.")
    shelf, request = SkillShelf(foreign, own), of_skills(a_message(1, "look here"), a_tool(2))
    by = By(setting=setting_of("skill"))
    task = await skills_task(request, shelf, setting_of("skill"), "t1")
    assert task is not None and "1. Look." in task.material and "CANARY" not in task.material
    why = WHY | {"evidence": ["m1"]}
    steps = [
        {"tool": "update", "arguments": {"id": foreign.id, "body": "x", **why}},
        {"tool": "update", "arguments": {"id": own.id, "resources": [{"path": "a.sh", "content": "make\n"}], **why}},
    ]

    result = await skills_taken(request, shelf, a_batch(*steps), task.binding, by)

    assert [one.code for one in result.diagnostics] == ["not-writable"] and result.status is RunStatus.PARTIAL
    assert [change.op for change in result.changes] == ["update", "create"]
    with pytest.raises(StaleRead):
        await skills_taken(request, SkillShelf(foreign, a_skill("our-own", version=2)), a_batch(), task.binding, by)


async def test_skills_that_do_not_fit_are_shown_in_a_line_and_not_changed() -> None:
    big = [a_skill(f"skill-{number}", f"words {number} " + "x" * 15_000) for number in range(4)]
    shelf, request = SkillShelf(*big), of_skills(a_message(1))
    task = await skills_task(request, shelf, setting_of("skill"), "t1")
    assert task is not None and len(task.binding.read_set) == 2
    unread = next(one for one in big if one.id not in {seen.id for seen in task.binding.read_set})
    step = {"tool": "update", "arguments": {"id": unread.id, "body": "x", **WHY, "evidence": ["m1"]}}

    result = await skills_taken(request, shelf, a_batch(step), task.binding, By(setting=setting_of("skill")))

    assert unread.name in task.material and code(result) in ("unknown-document", "not-read")


async def test_there_is_no_task_where_there_is_nothing_to_make() -> None:
    assert await scenes_task(l2(atoms=()), setting_of("l2"), "t1") is None
    assert await doctrine_task(l3(), setting_of("doctrine"), "t1") is None
    assert await skills_task(of_skills(a_tool(1)), SkillShelf(), setting_of("skill"), "t1") is None


@pytest.mark.parametrize("layer", [Layer.L2, Layer.L3, Layer.SKILL])
def test_the_schema_of_an_answer_is_closed(layer: Layer) -> None:
    schema = schema_of(layer, "x@v1", "t1")

    assert schema["additionalProperties"] is False and schema["properties"]["taskId"] == {"const": "t1"}  # type: ignore[index]  # a table
    ops = str(schema)
    assert ("'merge'" in ops, "'create'" in ops, "'rationale'" in ops) == (
        layer is Layer.L2,
        layer is not Layer.L3,
        True,
    )


async def test_a_task_is_as_bounded_as_a_run() -> None:
    many = tuple(an_atom(number, "x" * 2_000) for number in range(60))
    scenes = [a_scene(number, "x" * 9_000) for number in range(14)]

    for work in (
        scenes_task(l2(atoms=many), setting_of("l2"), "t1"),
        doctrine_task(l3(*scenes), setting_of("doctrine"), "t1"),
    ):
        with pytest.raises(ParameterFault) as refused:
            await work
        assert refused.value.code == "message-over-budget"
