"""What came of a whole loop, as sessions get it: item 11, and that the next pass gives what was promoted."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from host.contracts import Claimed
from recall.contracts import Origin
from recall.team_entry import parse
from recall.team_front import EntryFault
from tests.support.asking import Asking
from tests.support.team_history import a_repository, git
from tests.support.team_loop import REQUEST, OverMcp, a_draft, a_remora, stored, talk
from tests.support.team_trust import hits, needed
from tests.support.world import LESSON

BETTER = f"{LESSON} Wait for its health check."
SAID = ("Why does it fail?", "Start the container, then run it again", "Again, please", "Thanks, that is all")
QUERY = "integration-test pg-fixture container"


@pytest.fixture
async def remora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Asking]:
    async with a_remora(tmp_path / "data", monkeypatch) as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return a_repository(tmp_path / "repository")


async def promoted(remora: Asking, root: Path, session: str, content: str, replaces: str = "") -> dict[str, Any]:
    """A session, a draft of it, one decision, one yes: the applied promotion, with the review it came from."""
    call = OverMcp(remora, str(root))
    await talk(remora, str(root), *(f"{one} ({session})" for one in SAID), session=session)
    (task,) = (await call("recall", request=REQUEST))["sources"]
    batch = a_draft(task, 1, content)
    answer = stored(await call("stage", document=batch))
    if replaces:
        fields = {"content": content, "statements": batch["candidates"][0]["statements"]}
        answer["decisions"][0] |= {"action": "update", "targetIds": [replaces], "mergedFields": fields}
    await call("stage", document=answer)
    reviewed = await call("review", kind="entry")
    plan = await call("prepare", request=reviewed["approval"]["prepareRequest"])
    applied = await call("promote", planId=plan["planId"])
    assert applied["applied"] and applied.get("problem") is None
    return {"review": reviewed, "promote": applied}


async def given(remora: Asking, where: Path, session: str) -> list[tuple[str, str]]:
    await needed(remora.world, where, session)
    claim = await remora.world.claim(session=session)
    return [(item.memory_id, item.level) for item in claim.packet.items] if isinstance(claim, Claimed) else []


async def found(remora: Asking, where: Path) -> list[tuple[str, str]]:
    return [(hit.payload, hit.origin) for hit in await hits(remora.world, where, QUERY)]


@pytest.mark.promise("team-injectable", "team-26")
async def test_the_next_pass_gives_what_was_promoted_as_reviewed_though_the_repository_is_not_trusted(
    remora: Asking, root: Path, tmp_path: Path
) -> None:
    git(root, "worktree", "add", "--quiet", "-b", "feature", str(tmp_path / "sibling"))
    assert await given(remora, root, "before") == []

    await promoted(remora, root, "s-1", LESSON)

    (hit,) = await hits(remora.world, root, QUERY)
    assert (hit.payload, hit.origin, hit.promoted) == (LESSON, Origin.REVIEWED, True)
    for number, where in enumerate((root, tmp_path / "sibling")):
        assert await given(remora, where, f"after-{number}") == [(hit.memory_id, "excerpt")]
    assert (await remora.ask("health"))["memory"]["unasked"] != []  # the user was not asked about the rest


@pytest.mark.promise("team-11")
async def test_item_11_after_the_promotion_of_an_update_recall_gives_only_the_new_one(
    remora: Asking, root: Path
) -> None:
    await promoted(remora, root, "s-1", LESSON)
    (old,) = await hits(remora.world, root, QUERY)
    await needed(remora.world, root, "waits")

    done = await promoted(remora, root, "s-2", BETTER, replaces=old.memory_id)

    changes = done["review"]["approval"]["changes"]
    assert [change["operation"] for change in changes] == ["write", "write"]
    assert await found(remora, root) == [(BETTER, Origin.REVIEWED)]
    (new,) = await hits(remora.world, root, QUERY)
    assert await given(remora, root, "after") == [(new.memory_id, "excerpt")]
    assert not isinstance(await remora.world.claim(session="waits"), Claimed)  # its packet held the old one
    entries = [parse(path.read_bytes()) for path in sorted((root / ".remora-pre" / "memory" / "entries").iterdir())]
    states = {one.id: (one.status, one.superseded_by) for one in entries if not isinstance(one, EntryFault)}
    assert states == {old.memory_id: ("deprecated", new.memory_id), new.memory_id: ("approved", None)}
