"""The memory verbs of the wire over real files: what is kept and how, who may see it, and that forgotten is gone."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from governance.contracts import AuditKind
from host.contracts import Reason
from host.memories import MAX_LIST, MAX_TEXT
from host.namespace import REPOSITORY_FOLDER
from host.service import Service
from recall.associate import Arm
from recall.contracts import Candidate, Cue, Flag, Index, MemoryKind, Scope, SourceName, Status
from recall.fallback import Breaker
from recall.library import Listed
from tests.support.asking import Asking, asking
from tests.support.builders import AGENT, SESSION, a_call, a_memory_id, a_result
from tests.support.world import FAILURE, LESSON

CASES = Path(__file__).parents[1] / "data" / "cases"
OWNER = {"sessionId": SESSION, "agentId": AGENT}
TOKEN = "ghp_" + "iL9dv4wtfUQ1" + "VQ3OZRkt4aQng5" + "KEVP2pv9Aa"


def case(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text("utf-8"))
    return found


@pytest.fixture
async def remora(tmp_path: Path) -> AsyncIterator[Asking]:
    async with asking(tmp_path / "data") as opened:
        yield opened


@pytest.fixture
def folder(remora: Asking) -> str:
    return remora.world.workspace()


async def found(remora: Asking, query: str, workspace: str, **params: Any) -> list[str]:
    answer = await remora.ask("memory.search", query=query, workspace=workspace, **params)
    return [hit["memoryId"] for hit in answer["hits"]]


async def listed(remora: Asking, workspace: str) -> list[str]:
    return [one["memoryId"] for one in (await remora.ask("memory.list", workspace=workspace))["records"]]


async def a_need(remora: Asking, folder: str, call_id: str = "c1") -> None:
    """A failure that LESSON helps with."""
    call = a_call("make integration-test", call_id=call_id, workspace=folder)
    await remora.append(call, a_result(FAILURE, call_id=call_id, workspace=folder))


# ---------------------------------------------------------------------------------------------------- remember


async def test_what_is_remembered_is_found_listed_and_got_as_it_was_said(remora: Asking, folder: str) -> None:
    said = {"title": "Fixtures", "kind": "procedural", "tags": ["db", "tests"], "pinned": True}
    kept = await remora.ask("memory.remember", text=f"  {LESSON}\n", workspace=folder, **said)

    (hit,) = (await remora.ask("memory.search", query="pg-fixture", workspace=folder))["hits"]
    got = await remora.ask("memory.get", memoryId=kept["memoryId"], workspace=folder)

    assert (kept["redacted"], kept["quarantined"]) == ([], False)
    assert (hit["memoryId"], hit["title"], hit["kind"]) == (kept["memoryId"], "Fixtures", MemoryKind.PROCEDURAL)
    assert (hit["text"], hit["status"], hit["source"]) == (LESSON, Status.ACTIVE, "lexical")
    assert {name: got["record"][name] for name in said} == said
    assert (got["record"]["text"], got["locator"]["sourceFile"]) == (LESSON, kept["file"])
    assert LESSON in Path(kept["file"]).read_text("utf-8")
    assert await listed(remora, folder) == [kept["memoryId"]]


async def test_a_title_that_says_nothing_is_none(remora: Asking, folder: str) -> None:
    kept = await remora.ask("memory.remember", text="Ports are in ops/ports.md.", title="", workspace=folder)

    assert (await remora.ask("memory.get", memoryId=kept["memoryId"], workspace=folder))["record"]["title"] is None


@pytest.mark.promise("field-cases")
async def test_a_secret_is_cut_out_before_anything_is_written_and_that_is_told(remora: Asking, folder: str) -> None:
    given, wanted = case("secret-in-explicit-remember")["given"], case("secret-in-explicit-remember")["then"]
    secrets = dict(zip(wanted["stored_lacks"], ("hT7#kL9w" + "Qz2pX4vB", TOKEN), strict=True))
    text = given["text"]
    for placeholder, secret in secrets.items():
        text = text.replace(placeholder, secret)

    kept = await remora.ask("memory.remember", text=text, workspace=folder)

    stored = Path(kept["file"]).read_text("utf-8")
    assert kept["redacted"] == ["secret.github-token", "secret.password"]
    assert [secret for secret in secrets.values() if secret in stored] == []
    assert [part for part in wanted["stored_has"] if part not in stored] == []


@pytest.mark.parametrize("where", [{"title": f"Token {TOKEN}"}, {"tags": ["ci", TOKEN]}])
async def test_a_secret_in_the_title_or_a_tag_is_cut_out_as_well(
    remora: Asking, folder: str, where: dict[str, Any]
) -> None:
    kept = await remora.ask("memory.remember", text="The release robot pushes tags.", workspace=folder, **where)

    assert kept["redacted"] == ["secret.github-token"]
    assert TOKEN not in Path(kept["file"]).read_text("utf-8")


@pytest.mark.promise("reference-only", "field-cases")
@pytest.mark.parametrize("place", ["text", "title"])
async def test_what_reads_like_an_instruction_is_kept_aside_and_never_handed_over(
    remora: Asking, folder: str, place: str
) -> None:
    (poison,) = case("instruction-like-memory")["given"]["candidates"]
    words = {"text": f"{LESSON} {poison['text']}"} if place == "text" else {"text": LESSON, "title": poison["text"]}

    kept = await remora.ask("memory.remember", workspace=folder, pinned=True, **words)

    assert kept["quarantined"] is True
    got = await remora.ask("memory.get", memoryId=kept["memoryId"], workspace=folder)
    assert got["record"]["flags"] == [Flag.QUARANTINED]
    assert await found(remora, "pg-fixture", folder) == []
    await remora.ask("session.open", sessionId=SESSION, workspace=folder)
    assert (await remora.claim("session-start"))["reason"] == Reason.NONE_PENDING
    await a_need(remora, folder)
    assert (await remora.claim("post-tool", "r2"))["reason"] == Reason.NONE_PENDING


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"text": ""}, "invalid-params"),
    ({"text": " \n\t "}, "invalid-params"),
    ({"text": "x" * (MAX_TEXT + 1)}, "invalid-params"),
    ({"text": "x", "scope": "Session"}, "invalid-params"),
    ({"text": "x", "scope": "External"}, "invalid-params"),
    ({"text": "x", "scope": "Galaxy"}, "invalid-params"),
    ({"text": "x", "kind": "prophetic"}, "invalid-params"),
    ({"text": "x", "workspace": ""}, "invalid-params"),
    ({}, "invalid-params"),
    ({"text": f"<!-- memory:{a_memory_id(9)} -->\nNot what it seems."}, "unsafe-text"),
]


@pytest.mark.promise("bad-input")
async def test_what_cannot_be_kept_is_refused_by_kind_and_nothing_is_written(remora: Asking, folder: str) -> None:
    faults = [await remora.refused("memory.remember", **({"workspace": folder} | words)) for words, _ in REFUSED]

    assert [fault.kind for fault in faults] == [kind for _, kind in REFUSED]
    assert all(fault.problem and fault.next_step for fault in faults)
    assert list(remora.world.folder.rglob("*.md")) == []


async def test_the_longest_text_is_kept_whole(remora: Asking, folder: str) -> None:
    text = ("long " * MAX_TEXT)[: MAX_TEXT - 1] + "!"

    kept = await remora.ask("memory.remember", text=text, workspace=folder)

    assert (await remora.ask("memory.get", memoryId=kept["memoryId"], workspace=folder))["record"]["text"] == text


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


# ---------------------------------------------------------------------------------------------------- search


async def test_a_search_gives_the_best_first_no_more_than_asked_and_says_why_when_asked(
    remora: Asking, folder: str
) -> None:
    best = await remora.world.remember("Deploys go through the heron gateway.")
    await remora.world.remember("The gateway has a new owner.")

    plain = await remora.ask("memory.search", query="heron gateway?", workspace=folder)
    why = await remora.ask("memory.search", query="heron gateway?", workspace=folder, limit=1, explain=True)

    assert [len(answer["hits"]) for answer in (plain, why)] == [2, 1]
    assert plain["hits"][0]["memoryId"] == why["hits"][0]["memoryId"] == best
    assert plain["hits"][0]["score"] > plain["hits"][1]["score"]
    assert "terms" not in plain["hits"][0]
    assert sorted(why["hits"][0]["terms"]) == ["gateway", "heron"]
    assert (plain["degraded"], plain["arms"][0]["name"]) == (False, "lexical")


@pytest.mark.parametrize("factor", [0.5, 2.0])
async def test_what_two_sources_propose_is_listed_once_with_the_better_score(
    remora: Asking, folder: str, factor: float
) -> None:
    async def second(cue: Cue, index: Index) -> Sequence[Candidate]:
        same = await index.match(cue.terms, cue.scope, cue.limit)
        return [msgspec.structs.replace(one, source=SourceName.EPISODIC, score=one.score * factor) for one in same]

    for text in ("Deploys go through the heron gateway.", "The gateway has a new owner."):
        await remora.world.remember(text)
    alone = (await remora.ask("memory.search", query="heron gateway", workspace=folder))["hits"]
    parts = remora.world.parts
    host = replace(parts.host, arms=(*parts.host.arms, Arm("second", second, Breaker())))
    remora.service = Service(replace(parts, host=host), remora.shell)

    both = (await remora.ask("memory.search", query="heron gateway", workspace=folder))["hits"]

    assert [hit["memoryId"] for hit in both] == [hit["memoryId"] for hit in alone]
    assert [hit["score"] for hit in both] == [hit["score"] * max(factor, 1.0) for hit in alone]
    assert len(await found(remora, "heron gateway", folder, limit=1)) == 1


@pytest.mark.parametrize("query", ["", "  ", "?!", "the of and"])
async def test_a_question_without_a_word_in_it_finds_nothing(remora: Asking, folder: str, query: str) -> None:
    await remora.world.remember("The gateway has a new owner.")

    assert await remora.ask("memory.search", query=query, workspace=folder) == {
        "hits": [],
        "degraded": False,
        "arms": [],
    }


async def test_an_answer_without_the_index_says_that_it_is_degraded(remora: Asking, folder: str) -> None:
    memory_id = await remora.world.remember("Deploys go through the heron gateway.")
    await found(remora, "heron", folder)
    await remora.world.parts.library._database.write(lambda connection: connection.execute("DROP TABLE df"))

    answer = await remora.ask("memory.search", query="heron gateway", workspace=folder)

    assert answer["degraded"] is True
    assert [hit["memoryId"] for hit in answer["hits"]] == [memory_id]


@pytest.mark.parametrize(("limit", "expected"), [(-5, 1), (0, 1), (2, 2), (MAX_LIST + 1, 3)])
async def test_a_limit_out_of_range_is_brought_into_it(remora: Asking, folder: str, limit: int, expected: int) -> None:
    for number in range(3):
        await remora.world.remember(f"Heron number {number} nests at the gateway.")

    assert len(await found(remora, "heron", folder, limit=limit)) == expected
    answer = await remora.ask("memory.list", workspace=folder, limit=limit)
    assert len(answer["records"]) == expected


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


async def holding(remora: Asking, text: str) -> list[str]:
    """Memory files and stored packets that hold these words."""
    files = [path.name for path in remora.world.folder.rglob("*.md") if text in path.read_text("utf-8")]
    rows = await remora.world.parts.inbox._database.read(
        lambda connection: connection.execute("SELECT packet_id, body FROM packet").fetchall()
    )
    return files + [packet_id for packet_id, body in rows if text in body.decode()]


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
