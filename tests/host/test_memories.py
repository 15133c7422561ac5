"""The memory verbs of the wire over real files: who may see what, and what a person decides about one memory."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from governance.contracts import AuditKind
from host.contracts import Reason
from host.namespace import REPOSITORY_FOLDER
from host.service import Service
from recall.contracts import Flag, Scope, Status
from recall.library import Listed
from tests.support.asking import Asking
from tests.support.builders import AGENT, SESSION, a_memory_id
from tests.support.clock import START
from tests.support.engines import StillEngine
from tests.support.remembering import (
    OWNER,
    a_need,
    case,
    digest_of,
    found,
    holding,
    kept,
    listed,
    record_of,
    verbs,
)
from tests.support.world import LESSON

# ---------------------------------------------------------------------------------------------------- who sees what


async def test_a_users_own_memory_is_seen_from_everywhere_and_a_workspaces_from_there_alone(
    remora: Asking, folder: str
) -> None:
    other = remora.world.workspace("other")
    mine = await remora.ask("memory.remember", text="I prefer tabs over spaces.", scope="User")
    here = await remora.ask("memory.remember", text="This repository wants spaces.", workspace=folder)

    assert set(await found(remora, "spaces", folder)) == {mine["memoryId"], here["memoryId"]}
    assert await found(remora, "spaces", other) == await found(remora, "spaces", "") == [mine["memoryId"]]
    assert await listed(remora, other) == [mine["memoryId"]]
    assert (await remora.refused("memory.get", memoryId=here["memoryId"], workspace=other)).kind == "unknown-memory"
    got = await remora.ask("memory.get", memoryId=mine["memoryId"], workspace=other)
    assert got["record"]["scope"] == {"kind": Scope.USER, "key": "user"}


async def as_given(remora: Asking, given: dict[str, Any], number: int) -> str:
    workspace = remora.world.workspace(given["project"])
    status = Status.REVOKED if given.get("status") == "rejected" else Status.ACTIVE
    return await remora.world.remember(given["text"], workspace, status=status, memory_id=a_memory_id(number))


@pytest.mark.promise("no-leak", "field-cases")
async def test_every_way_of_reading_filters_by_project_and_what_was_rejected_is_not_recalled(remora: Asking) -> None:
    told = case("every-read-path-filters")
    ids = {
        one["id"]: await as_given(remora, one, number) for number, one in enumerate(told["given"]["memories"], start=1)
    }
    beta, query = remora.world.workspace(told["when"]["project"]), told["when"]["query"]

    assert await found(remora, query, beta) == [ids[name] for name in told["then"]["every_route_ids"]]
    assert ids["a1"] not in await listed(remora, beta)
    for method in ("memory.get", "memory.forget"):
        assert (await remora.refused(method, memoryId=ids["a1"], workspace=beta)).kind == "unknown-memory"
    rejected = await remora.ask("memory.get", memoryId=ids["r1"], workspace=beta)
    assert rejected["record"]["status"] == Status.REVOKED  # a person may look it up by its id
    assert await found(remora, query, remora.world.workspace("alpha")) == [ids["a1"]]  # still there


@pytest.mark.parametrize(
    "fields",
    [
        {"status": Status.SUPERSEDED},
        {"status": Status.DEPRECATED},
        {"status": Status.ARCHIVED},
        {"flags": (Flag.QUARANTINED,)},
        {"expires_at": 1},
    ],
)
async def test_what_no_longer_holds_is_not_found(remora: Asking, folder: str, fields: dict[str, Any]) -> None:
    await remora.world.remember("The staging host is quokka-1.", **fields)

    assert await found(remora, "quokka staging host", folder) == []


# ---------------------------------------------------------------------------------------------------- list


async def test_a_list_is_newest_first_and_goes_on_where_it_stopped(remora: Asking, folder: str) -> None:
    made = [await remora.world.remember(f"Note {number}.", created_at=1000 + number) for number in range(5)]
    pages: list[list[str]] = []
    after: str | None = None
    while not pages or after:
        page = await remora.ask("memory.list", workspace=folder, limit=2, after=after)
        pages.append([record["memoryId"] for record in page["records"]])
        after = page["next"]

    assert [memory_id for page in pages for memory_id in page] == made[::-1]
    assert [len(page) for page in pages] == [2, 2, 1]
    assert isinstance(await remora.reply("memory.list", workspace=folder), Listed)


# ---------------------------------------------------------------------------------------------------- forget


@pytest.mark.promise("packet-stale-index")
@pytest.mark.parametrize("state", ["pending", "claimed"])
async def test_forgetting_takes_the_record_its_packet_and_the_packets_text(
    remora: Asking, folder: str, state: str
) -> None:
    memory_id = await remora.world.remember(LESSON)
    await a_need(remora, folder)
    claim = await remora.claim(request_id="r1") if state == "claimed" else None
    assert len(await holding(remora, "pg-fixture container is not running")) == 2

    forgotten = await remora.ask("memory.forget", memoryId=memory_id, workspace=folder)

    assert forgotten == {"forgotten": True, "packetsPurged": 1}
    assert await found(remora, "pg-fixture", folder) == await listed(remora, folder) == []
    assert (await remora.refused("memory.get", memoryId=memory_id, workspace=folder)).kind == "unknown-memory"
    assert [drop.reason for drop in await remora.world.audit(kind=AuditKind.DROP)] == [Reason.FORGOTTEN]
    again = await remora.claim(request_id="r1")
    assert (again["packet"], again["reason"]) == (None, Reason.FORGOTTEN if claim else Reason.NONE_PENDING)
    assert await holding(remora, "pg-fixture container is not running") == []


async def test_a_packet_that_was_delivered_keeps_its_audit_and_loses_its_text(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON)
    await a_need(remora, folder)
    claim = await remora.claim()
    ids = {"packetId": claim["packet"]["packetId"], "claimId": claim["claimId"]}
    await remora.ask("inbox.delivered", **OWNER, **ids)

    forgotten = await remora.ask("memory.forget", memoryId=memory_id, workspace=folder)

    assert forgotten["packetsPurged"] == 0
    (entry,) = await remora.world.audit(kind=AuditKind.DELIVERY)
    whole = await remora.ask("audit.get", auditId=entry.audit_id)
    assert whole["packet"] == {"rendered": "", "state": "delivered"}
    assert whole["entry"]["packet"]["items"] == [memory_id]


async def test_a_boundary_whose_packet_was_forgotten_is_free_again(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON)
    await a_need(remora, folder)
    await remora.claim(request_id="r1")

    await remora.ask("memory.forget", memoryId=memory_id, workspace=folder)

    assert (await remora.claim(request_id="r2"))["reason"] == Reason.NONE_PENDING  # not `boundary-used`
    runtime = await remora.world.parts.sessions.find(SESSION, AGENT)
    assert (runtime.boundary_used, runtime.in_hand) == (False, {})


async def test_what_is_not_there_cannot_be_forgotten(remora: Asking, folder: str) -> None:
    fault = await remora.refused("memory.forget", memoryId=a_memory_id(77), workspace=folder)

    assert (fault.kind, a_memory_id(77) in fault.problem) == ("unknown-memory", True)


async def test_a_memory_of_the_repository_is_found_and_left_to_its_owner(remora: Asking, folder: str) -> None:
    shared = Path(folder) / REPOSITORY_FOLDER / "memory" / "team.md"
    shared.parent.mkdir(parents=True)
    shared.write_text(f"<!-- memory:{a_memory_id(5)} -->\nThe heron gateway is deployed on Tuesdays.\n", "utf-8")

    assert await found(remora, "heron gateway", folder) == [a_memory_id(5)]
    fault = await remora.refused("memory.forget", memoryId=a_memory_id(5), workspace=folder)

    assert fault.kind == "read-only"
    assert "heron" in shared.read_text("utf-8")


async def test_forgetting_takes_the_marks_and_the_vector_and_is_noted_without_a_word(
    remora: Asking, folder: str
) -> None:
    memory_id = await kept(remora, LESSON, folder)
    await kept(remora, LESSON, folder)
    await remora.ask("memory.mute", memoryId=memory_id, workspace=folder)
    digest = await digest_of(remora, memory_id, folder)
    engine = StillEngine()
    remora.service = Service(replace(remora.world.parts, engine=engine), remora.shell)

    await remora.ask("memory.forget", memoryId=memory_id, workspace=folder)

    marks = remora.world.parts.marks
    assert (marks.muted(START), await marks.sightings(memory_id)) == (frozenset(), 1)
    assert engine.forgotten == [digest]
    assert await verbs(remora) == [("muted", memory_id), ("forgotten", memory_id)]
    entry = (await remora.world.audit(kind=AuditKind.FEEDBACK))[-1]
    assert (entry.session_ref, entry.note, entry.cursor) == ("", None, None)
    assert (await remora.world.parts.audit.verify()).ok
    told = await remora.ask("audit.explain", memoryId=memory_id, workspace=folder)
    assert told["lines"][-1].endswith(f"the user forgot {memory_id}. [{entry.audit_id}]")


# ---------------------------------------------------------------------------------------------------- list


FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, {"fact", "way", "mine", "old", "muted"}),
    ({"kinds": ["procedural"]}, {"way"}),
    ({"scopes": ["User"]}, {"mine"}),
    ({"scopes": ["Workspace", "User"], "kinds": ["semantic"]}, {"fact", "mine", "old", "muted"}),
    ({"statuses": ["superseded"]}, {"old"}),
    ({"pinned": True}, {"way"}),
    ({"muted": True}, {"muted"}),
    ({"muted": False, "pinned": False, "statuses": ["active"]}, {"fact", "mine"}),
    ({"kinds": ["episodic"]}, set()),
]


@pytest.mark.parametrize(("params", "expected"), FILTERS)
async def test_a_list_may_be_of_some_memories_only(
    remora: Asking, folder: str, params: dict[str, Any], expected: set[str]
) -> None:
    ids = {
        "fact": await kept(remora, "Ports are in ops/ports.md.", folder),
        "way": await kept(remora, "Run make check.", folder, kind="procedural", pinned=True),
        "mine": await kept(remora, "I prefer tabs.", folder, scope="User"),
        "old": await remora.world.remember("The gate is closed.", status=Status.SUPERSEDED),
        "muted": await kept(remora, "The owl sleeps.", folder),
    }
    await remora.ask("memory.mute", memoryId=ids["muted"], workspace=folder)

    assert set(await listed(remora, folder, **params)) == {ids[name] for name in expected}


async def test_a_filtered_list_goes_on_where_it_stopped(remora: Asking, folder: str) -> None:
    wanted = [await remora.world.remember(f"Note {n}.", pinned=n % 3 == 0, created_at=1000 + n) for n in range(12)]
    pages: list[list[str]] = []
    after: str | None = None
    while not pages or after:
        page = await remora.ask("memory.list", workspace=folder, limit=3, after=after, pinned=True)
        pages.append([record["memoryId"] for record in page["records"]])
        after = page["next"]

    assert [one for page in pages for one in page] == [wanted[9], wanted[6], wanted[3], wanted[0]]
    assert max(len(page) for page in pages) <= 3


# ---------------------------------------------------------------------------------------------------- pin


async def test_a_pinned_memory_says_so_in_its_file_and_again_changes_nothing(remora: Asking, folder: str) -> None:
    memory_id = await kept(remora, LESSON, folder)

    first = await remora.ask("memory.pin", memoryId=memory_id, workspace=folder)
    second = await remora.ask("memory.pin", memoryId=memory_id, workspace=folder, pinned=True)

    assert first == {"memoryId": memory_id, "pinned": True, "changed": True}
    assert second["changed"] is False
    assert (await record_of(remora, memory_id, folder))["pinned"] is True
    await remora.ask("session.open", sessionId=SESSION, workspace=folder)
    assert (await remora.claim("session-start"))["packet"]["items"][0]["memoryId"] == memory_id

    await remora.ask("memory.pin", memoryId=memory_id, workspace=folder, pinned=False)
    record = await record_of(remora, memory_id, folder)
    assert (record["pinned"], record["text"]) == (False, LESSON)
    assert await verbs(remora) == [("pinned", memory_id), ("unpinned", memory_id)]


async def test_a_memory_that_is_not_ours_is_not_pinned(remora: Asking, folder: str) -> None:
    shared(folder)

    fault = await remora.refused("memory.pin", memoryId=a_memory_id(5), workspace=folder)

    assert (fault.kind, "by hand" in fault.next_step) == ("read-only", True)


def shared(folder: str, text: str = "The heron gateway is deployed on Tuesdays.") -> Path:
    """A memory in the repository, under the id 5."""
    file = Path(folder) / REPOSITORY_FOLDER / "memory" / "team.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"<!-- memory:{a_memory_id(5)} -->\n{text}\n", "utf-8")
    return file


# ---------------------------------------------------------------------------------------------------- mute


async def test_a_muted_memory_is_found_by_its_person_and_never_handed_over(remora: Asking, folder: str) -> None:
    memory_id = await kept(remora, LESSON, folder, pinned=True)

    muted = await remora.ask("memory.mute", memoryId=memory_id, workspace=folder)

    assert muted == {"memoryId": memory_id, "muted": True, "changed": True, "packetsPurged": 0, "until": None}
    (hit,) = (await remora.ask("memory.search", query="pg-fixture", workspace=folder))["hits"]
    got = await remora.ask("memory.get", memoryId=memory_id, workspace=folder)
    assert (hit["muted"], hit["flags"], got["muted"], got["record"]["flags"]) == (True, ["muted"], True, ["muted"])
    assert got["mutedAt"] == remora.world.clock.now()
    assert "muted" not in Path(got["locator"]["sourceFile"]).read_text("utf-8")
    await remora.ask("session.open", sessionId=SESSION, workspace=folder)
    assert (await remora.claim("session-start"))["reason"] == Reason.NONE_PENDING
    await a_need(remora, folder)
    assert (await remora.claim("post-tool", "r2"))["reason"] == Reason.NONE_PENDING
    entry = (await remora.world.audit(kind=AuditKind.PASS))[-1]
    assert [(one.memory_id, one.drop_reason) for one in entry.candidates] == [(memory_id, "muted")]


@pytest.mark.parametrize("state", ["pending", "claimed"])
async def test_muting_takes_back_what_waits(remora: Asking, folder: str, state: str) -> None:
    memory_id = await remora.world.remember(LESSON)
    await a_need(remora, folder)
    if state == "claimed":
        await remora.claim(request_id="r1")

    muted = await remora.ask("memory.mute", memoryId=memory_id, workspace=folder)

    assert muted["packetsPurged"] == 1
    assert [drop.reason for drop in await remora.world.audit(kind=AuditKind.DROP)] == [Reason.MUTED]
    assert (await remora.claim(request_id="r2"))["packet"] is None
    assert await listed(remora, folder) == [memory_id]


async def test_a_packet_that_a_pass_made_while_its_memory_was_muted_is_not_claimed(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON)
    await a_need(remora, folder)
    await remora.world.parts.marks.mute(memory_id, 1)  # as if the pass had ranked just before

    claim = await remora.claim()

    assert (claim["packet"], claim["reason"]) == (None, Reason.MUTED)


async def test_a_memory_that_is_not_muted_any_more_helps_again(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON)
    await remora.ask("memory.mute", memoryId=memory_id, workspace=folder)

    spoken = await remora.ask("memory.mute", memoryId=memory_id, workspace=folder, muted=False)
    again = await remora.ask("memory.mute", memoryId=memory_id, workspace=folder, muted=False)

    assert (spoken["muted"], spoken["changed"], again["changed"]) == (False, True, False)
    await a_need(remora, folder)
    assert (await remora.claim())["packet"]["items"][0]["memoryId"] == memory_id
    assert await verbs(remora) == [("muted", memory_id), ("unmuted", memory_id)]


async def test_a_memory_in_a_file_of_others_can_be_muted(remora: Asking, folder: str) -> None:
    file = shared(folder)
    before = file.read_bytes()

    muted = await remora.ask("memory.mute", memoryId=a_memory_id(5), workspace=folder)

    assert (muted["muted"], muted["changed"]) == (True, True)
    assert (await record_of(remora, a_memory_id(5), folder))["flags"] == ["muted"]
    assert file.read_bytes() == before


async def test_a_mute_that_stands_in_our_file_is_taken_out_of_it(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember(LESSON, flags=(Flag.MUTED,))
    assert (await remora.ask("memory.get", memoryId=memory_id, workspace=folder))["muted"] is True

    spoken = await remora.ask("memory.mute", memoryId=memory_id, workspace=folder, muted=False)

    assert spoken["changed"] is True
    assert (await record_of(remora, memory_id, folder))["flags"] == []


@pytest.mark.promise("no-leak")
@pytest.mark.parametrize("method", ["memory.get", "memory.pin", "memory.mute", "memory.forget", "memory.edit"])
async def test_a_memory_of_another_workspace_is_unknown(remora: Asking, folder: str, method: str) -> None:
    memory_id = await kept(remora, LESSON, folder)
    other = remora.world.workspace("other")
    more = {"expected": await digest_of(remora, memory_id, folder), "text": "Mine."}

    fault = await remora.refused(method, memoryId=memory_id, workspace=other, **more)

    assert (fault.kind, bool(fault.next_step)) == ("unknown-memory", True)
    assert remora.world.parts.marks.muted(START) == frozenset()
    assert (await record_of(remora, memory_id, folder))["text"] == LESSON


async def test_an_audit_that_cannot_be_written_undoes_nothing(remora: Asking, folder: str) -> None:
    memory_id = await kept(remora, LESSON, folder)
    await remora.world.parts.audit._database.write(lambda connection: connection.execute("DROP TABLE audit"))

    muted = await remora.ask("memory.mute", memoryId=memory_id, workspace=folder)

    assert (muted["muted"], remora.world.parts.marks.muted(START)) == (True, {memory_id})
    assert (await remora.ask("health"))["parts"]["audit"] != "ok"
