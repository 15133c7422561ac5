"""formation.md 9, item 13: scenes, persona, doctrine and skills change only as they were read, or not at all."""

import asyncio
from pathlib import Path

import pytest

from governance.formation.contracts import Layer, Mode, RunStatus
from governance.formation.documents import extract_l2, extract_l3
from governance.formation.errors import ParameterFault, StaleRead
from governance.formation.skills import extract_skills
from governance.formation.strategy import durable_memory_strategy
from governance.review import Act, State
from tests.support.drafting import (
    SUBMIT,
    SkillShelf,
    a_scene,
    call,
    creates,
    l2,
    l3,
    of_skills,
    reads,
    setting_of,
    updates,
)
from tests.support.noting import a_message, a_model
from tests.support.shelved import Shelved

RELEASES, TESTS = a_scene(name="Releases"), a_scene(name="Tests")

pytestmark = pytest.mark.promise("formation-13")


async def test_item_13_a_scene_changed_after_it_was_read_is_a_stale_read_and_nothing_is_applied(tmp_path: Path) -> None:
    shelf = Shelved(tmp_path / "data")
    for name in ("Releases", "Tests"):
        (item,) = await shelf.scenes(creates(name), SUBMIT)
        await shelf.kept(item)
    merge = {"sources": [RELEASES.id, TESTS.id], "into": RELEASES.id, "summary": "Both", "content": "Check."}
    why = {"evidence": [RELEASES.evidence[0].id], "rationale": "They are one."}
    (item,) = await shelf.scenes(reads(RELEASES), reads(TESTS), call("merge", **merge, **why), SUBMIT)
    scene = shelf.folder / "scenes" / "tests.md"
    scene.write_text(scene.read_text().replace("Run the checks", "By hand: run them"))
    before = shelf.files()

    for act, text in ((Act.KEEP, None), (Act.EDIT_AND_KEEP, "Mine.")):
        with pytest.raises(StaleRead):
            await shelf.decide(item, act, text)

    assert shelf.files() == before and (await shelf.item(item.item_id)).state is State.PENDING


async def test_item_13_cancelled_after_two_tool_writes_there_are_no_changes(tmp_path: Path) -> None:
    cancel = asyncio.Event()
    why = updates(RELEASES), updates(TESTS)
    model = a_model(reads(RELEASES), reads(TESTS), *why, {"wait": "third", "tool": "submit"})
    request = l2(RELEASES, TESTS)
    running = asyncio.ensure_future(extract_l2(model, request, setting_of("l2", cancel=cancel)))
    await model.reached("third")

    cancel.set()
    result = await running

    assert '"id"' in model.requests[4].messages[-1].content  # both writes were taken
    assert (result.status, result.changes) == (RunStatus.CANCELLED, ())


@pytest.mark.parametrize("layer", [(), (None,), ("l1",), ("skill",), ("",)])
def test_item_13_a_strategy_needs_its_layer(layer: tuple[str, ...]) -> None:
    with pytest.raises(ParameterFault):
        durable_memory_strategy(*layer)


async def test_item_13_the_strategy_of_the_other_layer_is_refused() -> None:
    model = a_model(SUBMIT)

    with pytest.raises(ParameterFault):
        await extract_l2(model, l2(strategy=durable_memory_strategy("l3")), setting_of("l2"))
    with pytest.raises(ParameterFault):
        await extract_l3(model, l3(RELEASES, strategy=durable_memory_strategy("l2")), setting_of("doctrine"))

    assert model.requests == []


@pytest.mark.parametrize("mode", [Mode.CODE, Mode.CHAT])
@pytest.mark.parametrize("answer", [call("submit", content=" \n", rationale="Nothing."), {"text": ""}])
async def test_item_13_an_empty_text_is_a_failure(mode: Mode, answer: dict[str, object]) -> None:
    setting = setting_of("doctrine" if mode is Mode.CODE else "persona")

    result = await extract_l3(a_model(answer), l3(RELEASES, mode=mode), setting)

    assert result.error is not None and (result.status, result.error.code) == (RunStatus.FAILED, "empty")
    assert result.changes == ()


async def test_item_13_of_fifty_thousand_characters_what_is_omitted_is_counted() -> None:
    messages = [a_message(number, f"{number:02}" + "x" * 998) for number in range(50)]
    model = a_model(SUBMIT)

    result = await extract_skills(model, of_skills(*messages), SkillShelf(), setting_of("skill"))

    (diagnostic,) = result.diagnostics
    assert (result.status, diagnostic.code, diagnostic.count) == (RunStatus.PARTIAL, "conversation-truncated", 10_000)
    assert diagnostic.ids == tuple(f"m{number}" for number in range(8, 18))
    assert not hasattr(result, "continuation")
    said = model.requests[0].messages[0].content
    assert "07x" in said and "08x" not in said and "17x" not in said and "18x" in said


async def test_item_13_what_was_kept_stands_in_its_files(tmp_path: Path) -> None:
    """Keep and apply, for each of the layers."""
    shelf = Shelved(tmp_path / "data")
    (scene,) = await shelf.scenes(creates(), SUBMIT)
    await shelf.kept(scene)
    skill = {"name": "seal", "description": "Seals.", "body": "1. `make seal`", "evidence": ["m1"], "rationale": "So."}
    for layer, answer, mode in (
        (Layer.L3, (call("submit", content="Checks first.", rationale="So."),), Mode.CODE),
        (Layer.L3, (call("submit", content="Likes checks.", rationale="So."),), Mode.CHAT),
        (Layer.SKILL, (call("create", **skill), SUBMIT), Mode.CODE),
    ):
        _, (put,) = await shelf.proposed(layer, *answer, mode=mode)
        await shelf.kept(await shelf.item(put.item_id))

    assert set(shelf.files()) == {"scenes/releases.md", "doctrine.md", "persona.md", "skills/seal/SKILL.md"}
