"""The review queue over the wire: what comes into it, who sees it, who decides, and what a decision does."""

from pathlib import Path
from typing import Any

import pytest

from governance.formation.contracts import Layer, Mode
from governance.formation.docitems import Run
from governance.formation.documents import extract_l2
from governance.review import ItemFlag, State
from host.connection import Peer
from host.namespace import REPOSITORY_FOLDER
from recall.contracts import Flag, Scope
from recall.workspace import workspace_key
from tests.support.asking import Asking, Line
from tests.support.builders import a_memory_id
from tests.support.drafting import SUBMIT, an_atom, creates, setting_of
from tests.support.noting import a_model
from tests.support.reviewing import (
    POISON,
    decide,
    record,
    refusal,
    waiting,
)

# ------------------------------------------------------------------------------------------------------ who sees what


async def test_what_the_screen_kept_back_waits_with_its_memory(remora: Asking, folder: str) -> None:
    kept = await remora.ask("memory.remember", text=POISON, workspace=folder)
    await remora.ask("memory.remember", text="Use pnpm, never npm.", workspace=folder)
    (found,) = await waiting(remora, folder)
    assert found["item"]["flags"] == [ItemFlag.QUARANTINED]
    assert found["item"]["text"] == ""
    assert (found["record"]["memoryId"], found["record"]["text"]) == (kept["memoryId"], POISON)
    assert await waiting(remora, folder) == [found]
    assert (await remora.world.parts.queue.depths()) == {"pending": 1}


async def test_a_poisoned_file_of_the_repository_waits_too(remora: Asking, folder: str) -> None:
    shared = Path(folder) / REPOSITORY_FOLDER / "memory"
    shared.mkdir(parents=True)
    (shared / "notes.md").write_text(f"<!-- memory:{a_memory_id(7)} -->\n{POISON}\n")
    (found,) = await waiting(remora, folder)
    assert (found["item"]["recordId"], found["record"]["flags"]) == (a_memory_id(7), [])


@pytest.mark.promise("no-leak")
async def test_an_item_is_seen_and_decided_from_its_workspace_alone(remora: Asking, folder: str) -> None:
    await remora.ask("memory.remember", text=POISON, workspace=folder)
    (mine,) = await waiting(remora, folder)
    other = remora.world.workspace("other")
    assert await waiting(remora, other) == await waiting(remora, "") == []
    for method in ("review.get", "review.decide"):
        params = {"itemId": mine["item"]["itemId"], "workspace": other}
        more = {"decision": "keep", "expectedRevision": 1, "principal": "human"} if method == "review.decide" else {}
        assert (await remora.refused(method, **params, **more)).kind == "unknown-item"


async def test_a_users_own_waits_everywhere(remora: Asking, folder: str) -> None:
    await remora.ask("memory.remember", text=POISON, scope=Scope.USER)
    assert len(await waiting(remora, folder)) == len(await waiting(remora, "")) == 1


async def test_what_was_decided_is_listed_when_it_is_asked_for(remora: Asking, folder: str) -> None:
    await remora.ask("memory.remember", text=POISON, workspace=folder)
    (one,) = await waiting(remora, folder)
    await decide(remora, folder, one["item"], "archive")
    assert await waiting(remora, folder) == []
    (archived,) = await waiting(remora, folder, states=[State.ARCHIVED])
    assert archived["item"]["itemId"] == one["item"]["itemId"]
    told = await remora.ask("review.get", itemId=one["item"]["itemId"], workspace=folder)
    assert [(d["kind"], d["actor"], d["reason"]) for d in told["item"]["decisions"]] == [
        ("archive", "human", "not true")
    ]


# -------------------------------------------------------------------------------------------------------- who decides


@pytest.mark.promise("only-a-person-decides")
async def test_an_agent_decides_nothing(remora: Asking, folder: str) -> None:
    kept = await remora.ask("memory.remember", text=POISON, workspace=folder)
    (one,) = await waiting(remora, folder)
    for principal in ("agent", "policy", "pipeline"):
        assert await refusal(remora, folder, one["item"], principal=principal) == "reviewer-kind"
    line = Line()
    line.peer = Peer(2, None, 1, line._send)  # a process without a terminal, whatever it says of itself
    given = {"itemId": one["item"]["itemId"], "expectedRevision": 1, "workspace": folder, "decision": "keep"}
    if Path("/proc/self").exists():
        with pytest.raises(Exception, match="is for a person to decide"):
            await remora.ask("review.decide", line, principal="human", **given)
    assert await waiting(remora, folder) == [one]
    assert Flag.QUARANTINED in (await record(remora, kept["memoryId"], folder))["flags"]


async def test_a_decision_needs_what_it_was_made_to(remora: Asking, folder: str) -> None:
    kept = await remora.ask("memory.remember", text=POISON, workspace=folder)
    (one,) = await waiting(remora, folder)
    item = one["item"]
    assert await refusal(remora, folder, item, expectedRevision=2) == "conflict"
    assert await refusal(remora, folder, item, "archive") == "invalid-params"
    assert await refusal(remora, folder, item, "edit-and-keep") == "invalid-params"
    assert await refusal(remora, folder, item, "apply") == "invalid-params"
    assert await refusal(remora, folder, item | {"itemId": "rev_none"}) == "unknown-item"
    got = await remora.ask("memory.get", memoryId=kept["memoryId"], workspace=folder)
    await remora.ask(
        "memory.edit",
        memoryId=kept["memoryId"],
        workspace=folder,
        expected=got["locator"]["recordDigest"],
        text=f"{POISON} Now.",
    )
    assert await refusal(remora, folder, item) == "conflict"  # it says something else now
    (newer,) = await waiting(remora, folder)
    assert newer["item"]["itemId"] != item["itemId"]
    assert await refusal(remora, folder, item) == "conflict"


async def test_a_mark_that_nothing_tells_of_waits_all_the_same(remora: Asking, folder: str) -> None:
    """As after a crash between the mark and the item; and of a memory that was rewritten since."""
    memory_id = await remora.world.remember("The harbour port is 7070.", folder)
    await remora.world.parts.marks.correct(memory_id, remora.world.clock.now())
    (one,) = await waiting(remora, folder)
    assert (one["item"]["flags"], one["record"]["flags"]) == ([ItemFlag.CORRECTED], [Flag.CORRECTED])
    assert await waiting(remora, folder) == [one]
    got = await remora.ask("memory.get", memoryId=memory_id, workspace=folder)
    await remora.ask(
        "memory.edit",
        memoryId=memory_id,
        workspace=folder,
        expected=got["locator"]["recordDigest"],
        text="The harbour port is 7071.",
    )
    (newer,) = await waiting(remora, folder)
    assert newer["item"]["itemId"] != one["item"]["itemId"]
    await decide(remora, folder, newer["item"], "keep")
    assert await waiting(remora, folder) == []
    assert remora.world.parts.marks.corrected == frozenset()


# ---------------------------------------------------------------------------------------------------------- documents


async def a_scene_waits(remora: Asking, folder: str) -> dict[str, Any]:
    """A scene that a model made of a kept lesson."""
    parts, key = remora.world.parts, workspace_key(folder)
    atoms = (an_atom(scope_key=key),)
    request = await parts.documents.l2(key, "run-1", atoms, Mode.CODE)
    result = await extract_l2(a_model(creates("Releases"), SUBMIT), request, setting_of("l2"))
    run = Run(workspace_key=key, run_id="run-1", layer=Layer.L2, at=remora.world.clock.now())
    await parts.documents.propose(run, result, Mode.CODE)
    (one,) = await waiting(remora, folder)
    item: dict[str, Any] = one["item"]
    return item


async def test_a_document_that_is_kept_is_written_and_one_that_is_not_changes_nothing(
    remora: Asking, folder: str
) -> None:
    item = await a_scene_waits(remora, folder)
    assert (item["kind"], item["target"]) == ("scene", "create")
    scenes = remora.world.folder / "memory" / workspace_key(folder) / "scenes"
    gone = await decide(remora, folder, item, "archive")
    assert (gone["item"]["state"], list(scenes.glob("*.md"))) == (State.ARCHIVED, [])
    await decide(remora, folder, gone["item"], "keep")
    (file,) = scenes.glob("*.md")
    assert item["text"] in file.read_text()


async def test_a_document_that_breaks_its_limit_or_was_changed_since_is_not_written(
    remora: Asking, folder: str
) -> None:
    item = await a_scene_waits(remora, folder)
    assert await refusal(remora, folder, item, "edit-and-keep", text="x" * 5_000) == "invalid-params"
    scenes = remora.world.folder / "memory" / workspace_key(folder) / "scenes"
    scenes.mkdir(parents=True, exist_ok=True)
    (scenes / "releases.md").write_text("A scene of that name, by hand.\n")
    assert await refusal(remora, folder, item) == "stale-read"
    assert (await waiting(remora, folder))[0]["item"] == item
