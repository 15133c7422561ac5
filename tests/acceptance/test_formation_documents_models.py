"""The tool loop of scenes over the real drivers, against an endpoint on loopback: what a tool answered reaches the
model in each provider's own form, and the run ends as it should."""

import json
from pathlib import Path
from typing import Any

import pytest

from governance.formation.contracts import RunStatus
from governance.formation.documents import extract_l2, extract_l3
from tests.support.drafting import WHY, Json, a_scene, l2, l3, setting_of
from tests.support.models import HTTP, FakeModel, Http
from tests.support.noting import TOKEN

SCENE = a_scene(1, f"Zebra: the checks come first. {TOKEN}")
NEW: Json = {"name": "Releases", "summary": "How releases go", "content": "Checks first.", **WHY}


def calls(tool: str, **given: Any) -> Json:
    return {"tool_calls": [{"name": tool, "input": given}]}


@pytest.mark.parametrize("kind", HTTP)
async def test_a_run_of_several_calls_goes_through_each_driver(kind: str, tmp_path: Path) -> None:
    http: Http = HTTP[kind]
    steps = (calls("read", id=SCENE.id), calls("create", **(NEW | {"summary": "x" * 41})), calls("create", **NEW))
    with FakeModel(*steps, calls("submit")) as model:
        result = await extract_l2(http.made(model, tmp_path), l2(SCENE), setting_of("l2"))
        sent = model.requests

    assert (result.status, result.error, result.provenance.calls) == (RunStatus.COMPLETED, None, 4)
    assert [change.after.name for change in result.changes if change.after] == ["Releases"]
    assert result.provenance.usage is not None and len(sent) == 4
    second, third = json.dumps(sent[1]["body"]), json.dumps(sent[2]["body"])
    assert "Zebra" in second and TOKEN not in second  # what `read` answered, without the secret
    assert "over-limit" in third


@pytest.mark.parametrize("kind", HTTP)
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ({"text": "I am done."}, "no-submit"),
        (calls("shell", command="ls"), "unknown-tool"),
        ({"status": 429}, "rate-limited"),
        ({"status": 500}, "unavailable"),
        ({"status": 401}, "configuration"),
    ],
)
async def test_a_run_that_does_not_submit_proposes_nothing(kind: str, reply: Json, code: str, tmp_path: Path) -> None:
    with FakeModel(calls("create", **NEW), reply, reply) as model:
        result = await extract_l2(HTTP[kind].made(model, tmp_path), l2(), setting_of("l2"))

    assert result.error is not None and (result.status, result.error.code) == (RunStatus.FAILED, code)
    assert result.changes == ()


@pytest.mark.parametrize("kind", HTTP)
async def test_a_doctrine_is_submitted_through_each_driver(kind: str, tmp_path: Path) -> None:
    with FakeModel(calls("submit", content="Checks first.", rationale="It says so.")) as model:
        result = await extract_l3(HTTP[kind].made(model, tmp_path), l3(a_scene(1)), setting_of("doctrine"))

    (change,) = result.changes
    assert change.after is not None and change.after.content.startswith("Checks first.\n\n<!-- scenes -->")
