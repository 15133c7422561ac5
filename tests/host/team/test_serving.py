"""The team workflow on the wire: documents by their format, faults as answers, and nothing outside of a repository."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from governance.team.contracts.results import Initialised
from governance.team.errors import Kind
from tests.support.asking import Asking
from tests.support.team_history import a_repository
from tests.support.team_loop import REQUEST, SECRET, OverMcp, a_draft, a_remora, entry_loop, stored, talk

SAID = ("Publish the release, please", "it failed because we published from main", "Now tag it", "Thanks, that is all")


@pytest.fixture
async def remora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Asking]:
    async with a_remora(tmp_path / "data", monkeypatch) as made:
        yield made


@pytest.fixture
async def root(tmp_path: Path, remora: Asking) -> str:
    """A repository in which there was a session."""
    made = str(a_repository(tmp_path / "repository"))
    await talk(remora, made, *SAID)
    return made


async def test_the_loop_ends_with_an_entry_that_recall_finds(remora: Asking, root: str) -> None:
    done = await entry_loop(OverMcp(remora, root))
    found = await remora.ask("memory.search", workspace=root, query="which branch publishes")

    assert done["promote"]["state"] == "applied"
    assert [(hit["text"], hit["origin"]) for hit in found["hits"]] == [
        ("Publish only from the release branch.", "reviewed")
    ]


async def test_a_note_that_was_shared_ends_in_its_own_file_with_the_promotion(remora: Asking, root: str) -> None:
    call, said = OverMcp(remora, root), {"text": "Publish from the release branch.", "quotes": [SAID[1]]}
    added = await remora.ask("review.add", workspace=root, principal="human", **said)
    item = await remora.ask("review.get", workspace=root, itemId=added["itemId"])
    decision = {"decision": "keep", "expectedRevision": item["item"]["revision"], "principal": "human"}
    kept = await remora.ask("review.decide", workspace=root, itemId=added["itemId"], **decision)
    share = {"format": "remora-pre-share@v1", "itemIds": [added["itemId"]]}
    await call("stage", document=stored(await call("stage", document=share)))
    review = await call("review", kind="entry")
    plan = await call("prepare", request=review["approval"]["prepareRequest"])

    await call("promote", planId=plan["planId"])

    own = await remora.ask("memory.get", workspace=root, memoryId=kept["item"]["recordId"])
    assert own["record"]["status"] == "superseded"


async def test_outside_of_a_repository_it_says_so(remora: Asking, tmp_path: Path) -> None:
    for method, more in (("team.status", {}), ("team.recall", {"request": REQUEST}), ("team.init", {})):
        fault = await remora.refused(method, workspace=str(tmp_path), **more)
        assert (fault.kind, bool(fault.next_step)) == (Kind.NOT_A_REPOSITORY, True)


@pytest.mark.parametrize(
    ("method", "given", "kind"),
    [
        ("team.stage", {"document": {"format": "remora-pre-letter@v1"}}, Kind.SCHEMA_INVALID),
        ("team.stage", {"document": {}}, Kind.SCHEMA_INVALID),
        ("team.stage", {"document": []}, Kind.SCHEMA_INVALID),
        (
            "team.stage",
            {"document": {"format": "remora-pre-share@v1", "itemIds": [], "owner": {}}},
            Kind.SCHEMA_INVALID,
        ),
        ("team.recall", {"request": REQUEST | {"owner": {}}}, Kind.REQUEST_INVALID),
        ("team.recall", {"request": REQUEST | {"format": "remora-pre-share@v1"}}, Kind.REQUEST_INVALID),
        ("team.recall", {"request": REQUEST | {"query": "q" * 65_537}}, Kind.INPUT_TOO_LARGE),
        ("team.prepare", {"document": {"format": "remora-pre-prepare-request@v1"}}, Kind.REQUEST_INVALID),
        ("team.promote", {"planId": "plan-0"}, Kind.PLAN_NOT_FOUND),
        ("team.discard", {"taskId": "extract-0"}, Kind.TASK_NOT_FOUND),
        ("team.discard", {}, Kind.REQUEST_INVALID),
        ("team.run", {"request": REQUEST}, Kind.REQUEST_INVALID),
    ],
)
async def test_what_cannot_be_done_is_a_refusal_of_its_kind(
    remora: Asking, root: str, method: str, given: dict[str, Any], kind: Kind
) -> None:
    fault = await remora.refused(method, workspace=root, **given)

    assert (fault.kind, bool(fault.problem), bool(fault.next_step)) == (kind, True, True)


async def test_init_makes_the_folder_and_only_a_person_trusts_it(remora: Asking, root: str) -> None:
    made = await remora.ask("team.init", workspace=root)
    again = await remora.ask("team.init", workspace=root)
    fault = await remora.refused("team.init", workspace=root, trusted=True)

    assert set(made) == {"format", "created", "trusted", "entries"} and Initialised.__struct_fields__
    assert ".remora-pre/memory/index.json" in made["created"] and again["created"] == []
    assert (made["trusted"], made["entries"]) == (None, 0)
    assert fault.kind == Kind.REVIEWER_KIND


async def test_a_row_that_cannot_be_read_is_said_and_never_passed_over(remora: Asking, root: str) -> None:
    call = OverMcp(remora, root)
    recalled = await call("recall", request=REQUEST)
    await call("stage", document=stored(await call("stage", document=a_draft(recalled["sources"][0], 1))))
    await remora.world.parts.kept.write(lambda connection: connection.execute("UPDATE team_candidate SET flags = '{'"))

    fault = await remora.refused("team.review", workspace=root, kind="entry")

    assert fault.kind == "state-corrupt"


async def test_what_is_never_asked_for_costs_nothing(remora: Asking) -> None:
    await remora.service.team.close()

    assert "_team" not in vars(remora.service.team)
    assert len(SECRET) == 32
