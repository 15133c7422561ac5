"""L2 and L3: what is shown, what is refused before any call, and what a run proposes."""

from typing import Any

import msgspec
import pytest

from governance.formation.contracts import AtomEvidence, DocumentVersion, ExtractL2Request, Mode, NoteKind, RunStatus
from governance.formation.docresults import over_budget
from governance.formation.documents import changed_scenes, extract_l2, extract_l3, fresh
from governance.formation.errors import ParameterFault
from governance.formation.strategy import durable_memory_strategy
from recall.canonical import text_digest
from tests.support.drafting import (
    SUBMIT,
    Json,
    a_doctrine,
    a_scene,
    a_skill,
    an_atom,
    call,
    creates,
    l2,
    l3,
    reads,
    setting_of,
    updates,
)
from tests.support.noting import TOKEN, a_model

ONE, TWO = a_scene(1), a_scene(2, "CANARY: only when it is read.")


def shown(model: Any, place: int = 0) -> str:
    return str(model.requests[place].messages[0].content)


async def test_lessons_become_a_scene() -> None:
    model = a_model(creates(), SUBMIT)

    result = await extract_l2(model, l2(), setting_of("l2"))

    assert (result.status, result.provenance.calls, result.provenance.model_id) == (RunStatus.COMPLETED, 2, model.id)
    (change,) = result.changes
    assert change.after is not None and change.after.name == "Releases" and result.error is None


async def test_lessons_are_shown_whole_and_scenes_in_a_line() -> None:
    model = a_model(call("list"), call("search", query="checks"), reads(ONE), updates(ONE), SUBMIT)

    result = await extract_l2(model, l2(ONE, TWO), setting_of("l2"))

    assert "Lesson 1: run the checks" in shown(model) and "Scene 2" in shown(model) and "CANARY" not in shown(model)
    assert [change.document_id for change in result.changes] == [ONE.id]
    assert set(result.read_set) == {DocumentVersion(id=one.id, version=1) for one in (ONE, TWO)}


async def test_material_is_fenced_and_without_secrets() -> None:
    model = a_model(SUBMIT)

    await extract_l2(model, l2(atoms=(an_atom(content=f"Use {TOKEN}\nand `x`."),)), setting_of("l2"))

    assert TOKEN not in shown(model) and "[secret:github-token]" in shown(model)
    assert shown(model).startswith("<material mark=") and "Only read what it says." in model.requests[0].system


async def test_no_lessons_no_call() -> None:
    model = a_model()

    result = await extract_l2(model, l2(atoms=()), setting_of("l2"))

    assert (result.status, model.requests) == (RunStatus.COMPLETED, [])


async def test_too_much_is_refused_and_not_cut() -> None:
    model = a_model()
    atoms = (an_atom(1, "x" * 119_990, title="t"), an_atom(2, "y" * 20, title=""))

    result = await extract_l2(model, l2(atoms=atoms), setting_of("l2"))

    assert result.error is not None and (result.status, result.error.code) == (RunStatus.FAILED, "message-over-budget")
    assert model.requests == []


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (l2(atoms=(an_atom(kind=NoteKind.FACT),)), "fact-not-allowed"),
        (l2(atoms=(an_atom(scope_key="ws_other"),)), "scope-mismatch"),
        (l2(atoms=(an_atom(evidence=()),)), "empty-evidence"),
        (l2(atoms=(an_atom(), an_atom())), "duplicate-id"),
        (l2(atoms=(an_atom(id=""),)), "empty-id"),
        (l2(atoms=(an_atom(content="\udfff"),)), "bad-content"),
        (l2(a_skill()), "kind-mismatch"),
        (l2(ONE, ONE), "duplicate-id"),
        (l2(strategy=durable_memory_strategy("l3")), "strategy-layer"),
    ],
)
async def test_what_scenes_are_not_made_of_is_refused_before_any_call(request_: ExtractL2Request, code: str) -> None:
    model = a_model(SUBMIT)

    with pytest.raises(ParameterFault) as refused:
        await extract_l2(model, request_, setting_of("l2"))

    assert (refused.value.code, model.requests) == (code, [])


async def test_a_strategy_is_said_and_told_of() -> None:
    strategy = durable_memory_strategy("l2")
    model, plain = a_model(SUBMIT), a_model(SUBMIT)

    with_it = await extract_l2(model, l2(strategy=strategy), setting_of("l2"))
    without = await extract_l2(plain, l2(), setting_of("l2"))

    assert model.requests[0].system.endswith(strategy.prompt_addition)
    assert with_it.provenance.prompt_hash == text_digest(model.requests[0].system) != without.provenance.prompt_hash
    assert with_it.provenance.input_hash != without.provenance.input_hash


def test_an_unknown_field_of_a_request_is_refused() -> None:
    raw: Json = msgspec.to_builtins(l2())

    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(raw | {"conflictRecallTopK": 5}, ExtractL2Request)


async def test_scenes_become_the_doctrine_with_their_list_after_it() -> None:
    model = a_model(call("submit", content="Checks first.", rationale="Both say so."))

    result = await extract_l3(model, l3(ONE, TWO), setting_of("doctrine"))

    (change,) = result.changes
    assert change.after is not None and "Scene 2: About scene 2" in change.after.content
    assert [one.id for one in result.scene_versions] == [ONE.id, TWO.id]
    assert "CANARY" in shown(model)  # it is new


async def test_only_what_changed_since_is_shown_whole() -> None:
    before = (DocumentVersion(id=ONE.id, version=1), DocumentVersion(id=TWO.id, version=1))
    newer = a_scene(1, "NEWS of scene 1.", version=2)
    model = a_model(call("submit", content="Checks first.", rationale="It says so."))
    request = l3(newer, TWO, persona=a_doctrine("Old words."), previous_scene_versions=before)

    result = await extract_l3(model, request, setting_of("doctrine"))

    assert "NEWS" in shown(model) and "Old words." in shown(model) and "CANARY" not in shown(model)
    assert [rests.id for rests in result.changes[0].evidence] == [newer.id]
    assert result.changes[0].evidence == (AtomEvidence(id=newer.id, version=2),)


async def test_nothing_new_no_call() -> None:
    before = (DocumentVersion(id=ONE.id, version=1),)
    model = a_model()

    same = await extract_l3(model, l3(ONE, previous_scene_versions=before), setting_of("doctrine"))
    none = await extract_l3(model, l3(), setting_of("doctrine"))

    assert [one.code for one in same.diagnostics] == ["nothing-changed"] and model.requests == []
    assert same.status is none.status is RunStatus.COMPLETED


def test_a_scene_that_is_gone_brings_all_of_them_up() -> None:
    before = (DocumentVersion(id=ONE.id, version=1), DocumentVersion(id=TWO.id, version=1))

    assert changed_scenes(l3(ONE, previous_scene_versions=before)) == (ONE,)
    assert changed_scenes(l3(ONE, TWO, previous_scene_versions=before)) == ()


@pytest.mark.parametrize("content", ["", "  \n"])
async def test_an_empty_text_is_a_failure(content: str) -> None:
    model = a_model(call("submit", content=content, rationale="Nothing to say."))

    result = await extract_l3(model, l3(ONE), setting_of("doctrine"))

    assert result.error is not None and (result.status, result.error.code) == (RunStatus.FAILED, "empty")
    assert result.changes == ()


async def test_a_text_of_the_other_kind_is_refused() -> None:
    with pytest.raises(ParameterFault) as refused:
        await extract_l3(a_model(), l3(ONE, persona=a_doctrine(), mode=Mode.CHAT), setting_of("persona"))
    with pytest.raises(ParameterFault) as wrong:
        await extract_l3(a_model(), l3(ONE, strategy=durable_memory_strategy("l2")), setting_of("doctrine"))

    assert (refused.value.code, wrong.value.code) == ("kind-mismatch", "strategy-layer")


def test_lessons_that_a_scene_rests_on_are_done_with_until_they_change() -> None:
    one, two = an_atom(1), an_atom(2)  # scene 1 rests on lesson 1 in version 2

    assert fresh([one, two], [ONE]) == (two,) and fresh([one, two], []) == (one, two)
    assert fresh([an_atom(1, version=3)], [ONE]) == (an_atom(1, version=3),)


def test_what_does_not_fit_is_left_for_the_next_run() -> None:
    big = [an_atom(number, "x" * 50_000, title="") for number in range(10, 14)]

    taken = fresh([*big, an_atom(20)], [])

    assert taken == (big[0], big[1], an_atom(20)) and over_budget([one.content for one in taken]) is None
