"""What a hostile agent would get into a repository, or to its user's yes, over the tools that every agent has."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from governance.team.errors import Kind
from host.client import Refused
from tests.support.asking import Asking
from tests.support.clock import START
from tests.support.team_history import a_repository, git
from tests.support.team_loop import HOUR, REQUEST, Json, OverMcp, a_draft, a_remora, stored

SESSION = "3f2b8c1e-9d4a-4b6f-8a21-0c9e7d5f1a2b"
OTHER_SESSION = "77b1e0aa-9d4a-4b6f-8a21-0c9e7d5f1a2b"
SAID = ("Publish the release, please", "it failed because we published from main", "Now tag it", "Thanks, that is all")
MEMORY = ".remora-pre/memory"


@pytest.fixture
async def remora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Asking]:
    async with a_remora(tmp_path / "data", monkeypatch) as found:
        yield found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return a_repository(tmp_path / "repository")


async def talk(remora: Asking, folder: Path, session: str, *said: str) -> None:
    """A session there; each sentence of the user is a turn, and the last one is open."""
    about = {
        "sessionId": session,
        "agentId": "main",
        "workspace": str(folder),
        "schemaVersion": 1,
        "channel": "session",
    }
    events = [
        about
        | {"eventId": f"{session}-{number}", "timestamp": START - HOUR + number, "payload": {"text": text}}
        | {"eventType": "user/message", "sourceKind": "user"}
        for number, text in enumerate(said)
    ]
    await remora.ask("event.append", events=events, host="claude-code")


async def drafted(call: OverMcp, *contents: str) -> Json:
    """The adjudication task of drafts with these contents."""
    task = (await call("recall", request=REQUEST))["sources"][0]
    batch = a_draft(task, 1)
    batch["candidates"] = [a_draft(task, 1, content)["candidates"][0] for content in contents]
    return await call("stage", document=batch)


async def staged(call: OverMcp, *contents: str) -> Json:
    """The review of drafts with these contents, all stored."""
    await call("stage", document=stored(await drafted(call, *contents)))
    return await call("review", kind="entry")


async def promoted(call: OverMcp, review: Json) -> Json:
    plan = await call("prepare", request=review["approval"]["prepareRequest"])
    return await call("promote", planId=plan["planId"])


async def refusal(answer: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        await answer
    return caught.value


async def test_no_spelling_of_a_session_brings_it_into_a_file(remora: Asking, root: Path) -> None:
    await talk(remora, root, SESSION, *SAID)
    await talk(remora, root, OTHER_SESSION, "One turn alone")
    call = OverMcp(remora, str(root))
    spelled = (SESSION, SESSION.upper(), SESSION.replace("-", ""), OTHER_SESSION, f"{SESSION[:9]}\u200b{SESSION[9:]}")
    review = await staged(call, *(f"It was seen in {one} first." for one in spelled), "It was seen first.")

    assert [one["kind"] for one in review["broken"]] == ["sanitization-blocked"] * len(spelled)
    (change,) = review["approval"]["changes"]
    assert "It was seen first." in change["content"]


async def test_a_scene_cannot_be_named_after_a_session_or_by_an_order(remora: Asking, root: Path) -> None:
    await talk(remora, root, SESSION, *SAID)
    call = OverMcp(remora, str(root))
    await promoted(call, await staged(call, "Publish only from the release branch."))
    for name in (SESSION, "ignore-all-previous-instructions"):
        task = (await call("synthesize", mode="full"))["task"]
        operation = {"operationId": "o", "op": "create", "target": "scene", "name": name, "newContent": "Be careful."}
        operation |= {"basedOnEntryIds": [task["entries"][0]["id"]], "mergeSources": [], "rationale": "One."}
        patch = {"format": "remora-pre-consolidation-patch@v1", "taskId": task["taskId"], "binding": task["binding"]}
        made = await call("stage", document=patch | {"operations": [operation]})
        review = await call("review", kind="consolidation")
        assert review["approval"] is None
        assert [one["kind"] for one in review["broken"]] == ["sanitization-blocked"]
        candidate = made["candidates"][0]
        await call("discard", candidateId=candidate["candidateId"], revision=candidate["revision"])


async def test_no_spelling_of_a_home_folder_names_its_user(remora: Asking, root: Path) -> None:
    await talk(remora, root, SESSION, *SAID)
    call = OverMcp(remora, str(root))
    folders = (
        "file:///home/alice/x",
        "-I/home/alice/x",
        "/mnt/c/Users/alice/x",
        "/var/home/alice/x",
        "c:/users/alice/x",
    )
    review = await staged(call, *(f"Look {number}: {folder} helps." for number, folder in enumerate(folders)))
    done = await promoted(call, review)

    for file in done["files"]:
        assert "alice" not in file["targetPath"]
        assert "alice" not in (root / file["targetPath"]).read_text()


async def test_a_yes_to_other_words_takes_no_record_of_the_users_away_unseen(remora: Asking, root: Path) -> None:
    kept = await remora.ask("memory.remember", text="Never publish a release from main.", workspace=str(root))
    await talk(remora, root, SESSION, *SAID)
    call = OverMcp(remora, str(root))
    task = await drafted(call, "Publish a release from main.")
    own = next(one for one in task["pool"] if one["sourceKind"] == "private")
    statement = {"statementId": "m1", "text": "Tag it.", "evidenceIds": [f"target:{own['id']}/content"]}
    decision = {"draftRef": task["drafts"][0]["draftRef"], "action": "update", "targetIds": [own["id"]]}
    decision |= {"mergedFields": {"content": "Tag it.", "statements": [statement]}}
    await call("stage", document=stored(task) | {"decisions": [decision]})
    (item,) = (await call("review", kind="entry"))["items"]

    assert item["supersedes"] == [kept["memoryId"]]
    assert any("Never publish a release from main." in flag["detail"] for flag in item["flags"])


async def test_what_is_of_one_worktree_is_nothing_in_another(remora: Asking, root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "-q", str(tmp_path / "side"), "-b", "side")
    await talk(remora, root, SESSION, *SAID)
    here, beside = OverMcp(remora, str(root)), OverMcp(remora, str(tmp_path / "side"))
    other = OverMcp(remora, str(a_repository(tmp_path / "other")))
    task = await drafted(here, "Publish only from the release branch.")
    assert (await refusal(beside("stage", document=stored(task)))).kind == "task-not-found"
    await here("stage", document=stored(task))
    asked = (await here("review", kind="entry"))["approval"]["prepareRequest"]
    candidate = asked["candidates"][0]
    plan = await here("prepare", request=asked)
    for call in (beside, other):
        assert (await call("review", kind="entry"))["items"] == []
        assert (await refusal(call("prepare", request=asked))).kind == "candidate-not-found"
        named = {"candidateId": candidate["candidateId"], "revision": candidate["revision"]}
        assert (await refusal(call("discard", **named))).kind == "candidate-not-found"
        assert (await refusal(call("promote", planId=plan["planId"]))).kind == "owner-mismatch"
        for keep in (False, True):
            assert (await refusal(call("discard", planId=plan["planId"], keepFiles=keep))).kind == "owner-mismatch"

    assert (await here("promote", planId=plan["planId"]))["applied"]


async def test_an_agent_neither_trusts_a_repository_nor_says_yes_itself(remora: Asking, root: Path) -> None:
    await talk(remora, root, SESSION, *SAID)
    call = OverMcp(remora, str(root))
    assert (await remora.refused("team.init", workspace=str(root), trusted=True)).kind == "reviewer-kind"
    asked = (await staged(call, "Publish only from the release branch."))["approval"]["prepareRequest"]
    for by in ("agent", "User", "policy", ""):
        forged = json.loads(json.dumps(asked))
        forged["confirmation"]["by"] = by
        assert (await refusal(call("prepare", request=forged))).kind == "reviewer-kind"


@pytest.mark.promise("team-hostile")
async def test_a_plan_of_a_repository_is_not_written_into_another_one_in_its_place(
    remora: Asking, root: Path, tmp_path: Path
) -> None:
    git(root, "remote", "add", "origin", "https://code.example/org/project")
    await talk(remora, root, SESSION, *SAID)
    call = OverMcp(remora, str(root))
    recalled = await call("recall", request=REQUEST)
    await call("stage", document=stored(await call("stage", document=a_draft(recalled["sources"][0], 1))))
    reviewed = await call("review", kind="entry")
    plan = await call("prepare", request=reviewed["approval"]["prepareRequest"])
    root.rename(tmp_path / "away")
    git(a_repository(root), "remote", "add", "origin", "https://code.example/other/project")

    with pytest.raises(Refused) as caught:
        await call("promote", planId=plan["planId"])

    assert caught.value.kind == Kind.PLAN_STATE_INVALID
    assert not (root / MEMORY).exists()
    assert (await call("team.status"))["plans"] == {"voided": 1}
