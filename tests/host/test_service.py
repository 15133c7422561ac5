"""The wire methods over a whole remora: what each answers, what each refuses, and what follows from it."""

from pathlib import Path
from typing import Any

import pytest

from governance.contracts import AuditKind
from host.connection import Reply
from host.contracts import Reason
from host.service import METHODS
from recall.contracts import EventType
from tests.support.asking import Asking, asking, on_wire
from tests.support.builders import AGENT, SESSION, a_call, a_prompt, a_result, an_event
from tests.support.world import FAILURE, LESSON

OWNER = {"sessionId": SESSION, "agentId": AGENT}


async def a_need(remora: Asking, call_id: str = "c1") -> str:
    """A remembered lesson and a failure that needs it: one packet waits. Returns the workspace."""
    folder = remora.world.workspace()
    if call_id == "c1":
        await remora.world.remember(LESSON)
    call, result = a_call("make integration-test", call_id=call_id), a_result(FAILURE, call_id=call_id)
    await remora.append(*(here(envelope, folder) for envelope in (call, result)))
    return folder


def here(envelope: Any, folder: str) -> Any:
    return an_event(**{name: getattr(envelope, name) for name in envelope.__struct_fields__} | {"workspace": folder})


async def last_pass(remora: Asking) -> tuple[str, str]:
    entry = (await remora.world.audit(kind=AuditKind.PASS))[-1]
    return entry.outcome, entry.reason


# ---------------------------------------------------------------------------------------------------- the table


async def test_every_method_that_is_named_is_answered(remora: Asking) -> None:
    assert set(remora.service.methods) == set(METHODS)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("event.append", {}, "invalid-params"),
    ("event.append", {"events": []}, "invalid-params"),
    ("event.append", {"events": [on_wire(a_prompt(session_id=""))]}, "no-owner"),
    ("event.append", {"events": [on_wire(a_prompt()) | {"schemaVersion": 2}]}, "unsupported-schema"),
    ("event.append", {"events": [on_wire(a_prompt(workspace="a\0b"))]}, "invalid-params"),
    ("event.append", {"events": [on_wire(a_prompt())], "host": ""}, "invalid-params"),
    ("step", {"events": [on_wire(a_prompt())], "host": "x" * 65}, "invalid-params"),
    ("step", {"events": [on_wire(a_prompt())], "claim": {"surface": "at-stop"}}, "invalid-params"),
    ("inbox.claim", OWNER | {"surface": "post-tool"}, "invalid-params"),
    ("inbox.claim", OWNER | {"surface": "post-tool", "requestId": "r"}, "unknown-session"),
    ("inbox.delivered", OWNER | {"packetId": "pkt_1", "claimId": "clm_1"}, "unknown-session"),
    ("inbox.release", OWNER | {"packetId": "pkt_1", "claimId": "clm_1"}, "unknown-session"),
    ("session.open", {}, "invalid-params"),
    ("session.open", {"sessionId": "../x", "workspace": "/p"}, "invalid-params"),
    ("session.status", OWNER, "unknown-session"),
    ("session.set", OWNER, "invalid-params"),
    ("session.set", OWNER | {"muted": "yes"}, "invalid-params"),
    ("session.set", OWNER | {"muted": True}, "unknown-session"),
    ("session.close", OWNER, "unknown-session"),
    ("workspace.set", {"workspace": "/p", "rollout": "half"}, "invalid-params"),
    ("workspace.set", {"workspace": "", "rollout": "off"}, "invalid-params"),
    ("hook", {"host": "no-such-agent", "payload": {}}, "unknown-host"),
    ("hook", {"host": "claude-code", "payload": {}}, "bad-payload"),
    ("memory.guess", {}, "unknown-method"),
]


@pytest.mark.promise("bad-input")
async def test_what_cannot_be_done_is_refused_by_kind_and_leaves_no_session(remora: Asking) -> None:
    faults = [await remora.refused(method, **params) for method, params, _ in REFUSED]

    assert [(method, fault.kind) for (method, _, _), fault in zip(REFUSED, faults, strict=True)] == [
        (method, kind) for method, _, kind in REFUSED
    ]
    assert all(fault.problem and fault.code < 0 for fault in faults)
    assert await remora.world.parts.eventlog.sessions() == ()


async def test_a_claim_for_a_session_that_nobody_knows_is_refused_though_its_events_are_kept(remora: Asking) -> None:
    wish = {"surface": "pre-step", "sessionId": "another"}

    fault = await remora.refused("step", events=[on_wire(a_prompt())], claim=wish)

    assert fault.kind == "unknown-session"
    assert (await remora.ask("session.status", **OWNER))["eventSeq"] == 1


# ---------------------------------------------------------------------------------------------------- events


async def test_an_append_says_what_was_new_and_where_the_session_stands(remora: Asking) -> None:
    prompt = a_prompt("Where do the release notes live?", event_id="p1")

    first = await remora.append(prompt)
    again = await remora.append(prompt, a_prompt("And who writes them?", event_id="p2"))

    assert (first["accepted"], first["duplicates"]) == (1, 0)
    assert (again["accepted"], again["duplicates"]) == (1, 1)
    assert again["cursor"] == {"sessionId": SESSION, "eventSeq": 2, "contextVersion": 1}


@pytest.mark.promise("bad-input")
async def test_a_known_key_with_other_content_is_a_conflict_and_nothing_of_the_call_is_kept(remora: Asking) -> None:
    await remora.append(a_prompt("One thing.", event_id="p1"))
    both = [on_wire(a_prompt("Something new.", event_id="p2")), on_wire(a_prompt("Another thing.", event_id="p1"))]

    fault = await remora.refused("event.append", events=both)

    assert (fault.kind, fault.code) == ("conflict", -32010)
    assert (await remora.ask("session.status", **OWNER))["eventSeq"] == 1


# ---------------------------------------------------------------------------------------------------- step and claim


async def test_a_step_without_a_wish_is_an_append(remora: Asking) -> None:
    answer = await remora.ask("step", events=[on_wire(a_prompt())])

    assert (answer["accepted"], answer["packet"], answer["claimId"], answer["reason"]) == (1, None, None, None)


@pytest.mark.promise("sent-is-final")
async def test_one_step_stores_the_failure_and_brings_its_lesson(remora: Asking) -> None:
    folder = remora.world.workspace()
    memory_id = await remora.world.remember(LESSON)
    events = [on_wire(here(one, folder)) for one in (a_call("make integration-test"), a_result(FAILURE))]

    answer = await remora.ask("step", events=events, claim={"surface": "post-tool", "waitMs": 2000, "requestId": "r1"})

    assert (answer["accepted"], answer["reason"]) == (2, None)
    assert [item["memoryId"] for item in answer["packet"]["items"]] == [memory_id]
    assert "pg-fixture" in answer["packet"]["rendered"]
    assert answer["packet"]["contextCursor"] == answer["cursor"]
    assert await remora.claim(request_id="r1") == {
        "packet": answer["packet"],
        "claimId": answer["claimId"],
        "reason": None,
    }


async def test_a_step_that_needs_nothing_says_why_there_is_no_packet(remora: Asking) -> None:
    answer = await remora.ask(
        "step", events=[on_wire(a_prompt("ok"))], claim={"surface": "user-prompt", "waitMs": 2000}
    )

    assert (answer["packet"], answer["claimId"], answer["reason"]) == (None, None, Reason.NONE_PENDING)


async def test_what_the_agent_runs_in_says_what_it_can_take_and_stays_whoever_asks(remora: Asking) -> None:
    folder = remora.world.workspace()
    await remora.world.remember(LESSON)
    events = [on_wire(here(one, folder)) for one in (a_call("make integration-test"), a_result(FAILURE))]
    claim = {"surface": "post-tool", "waitMs": 2000}

    answer = await remora.ask("step", events=events, host="nobody-knows", claim=claim)
    await remora.ask("session.set", **OWNER, muted=False)

    runtime = remora.world.parts.sessions.known(SESSION, AGENT)
    assert runtime is not None and runtime.host == "nobody-knows"
    assert answer["packet"] is None and await last_pass(remora) == ("silence", Reason.NO_SURFACE)


async def test_a_step_may_claim_for_another_agent_than_its_events(remora: Asking) -> None:
    folder = await a_need(remora)
    child = on_wire(a_prompt("Look at the container.", agent_id="sub-1", workspace=folder))

    wish = {"surface": "post-tool", "waitMs": 2000, "agentId": AGENT}
    answer = await remora.ask("step", events=[child], claim=wish)

    assert answer["packet"]["agentId"] == AGENT


@pytest.mark.promise("seen-only-delivered")
async def test_a_claim_is_settled_once_by_its_holder(remora: Asking) -> None:
    await a_need(remora)
    claim = await remora.claim()
    ids = OWNER | {"packetId": claim["packet"]["packetId"], "claimId": claim["claimId"]}

    stranger = await remora.ask("inbox.delivered", **(ids | {"claimId": "clm_other"}))
    nobody = await remora.ask("inbox.delivered", **(ids | {"packetId": "pkt_other"}))
    first = await remora.ask("inbox.delivered", **ids)
    again = await remora.ask("inbox.delivered", **ids)
    late = await remora.ask("inbox.release", **ids, reason="cancelled")

    assert stranger == {"settled": False, "reason": "stale-claim"}
    assert nobody == {"settled": False, "reason": "unknown-packet"}
    assert first == {"settled": True, "reason": None}
    assert again == {"settled": True, "reason": "already-delivered"}
    assert late == {"settled": False, "reason": "stale-claim"}
    (item,) = claim["packet"]["items"]
    assert len(await remora.world.parts.evidence.of_memory(item["memoryId"])) == 1


@pytest.mark.promise("packet-released")
async def test_a_released_packet_waits_again(remora: Asking) -> None:
    await a_need(remora)
    claim = await remora.claim(request_id="r1")
    ids = OWNER | {"packetId": claim["packet"]["packetId"], "claimId": claim["claimId"]}

    released = await remora.ask("inbox.release", **ids, reason="the step was cancelled")

    assert released == {"settled": True, "reason": None}
    assert (await remora.claim(request_id="r2"))["packet"]["packetId"] == ids["packetId"]


# ---------------------------------------------------------------------------------------------------- sessions


async def test_opening_a_session_enters_as_an_event_and_opening_it_again_changes_nothing(remora: Asking) -> None:
    folder = remora.world.workspace()

    opened = await remora.ask("session.open", sessionId=SESSION, workspace=folder)
    again = await remora.ask("session.open", sessionId=SESSION, workspace=folder)

    assert again == opened
    assert (opened["agentId"], opened["eventSeq"], opened["contextVersion"]) == (AGENT, 1, 0)
    assert opened["workspaceKey"].startswith("ws_")
    logged = await remora.world.parts.eventlog.replay(SESSION)
    assert [event.event_type for event in logged] == [EventType.SESSION_START]


async def test_a_session_tells_what_is_pending_and_how_the_gate_stands(remora: Asking) -> None:
    await a_need(remora)

    status = await remora.ask("session.status", **OWNER)

    assert status["pending"].startswith("pkt_")
    assert (status["step"], status["contextVersion"], status["queued"]) == (1, 2, 0)
    assert status["gate"].startswith("armed|")


async def test_a_closed_session_drops_what_waits_and_is_silent_until_it_is_opened_again(remora: Asking) -> None:
    folder = await a_need(remora)

    assert await remora.ask("session.close", sessionId=SESSION) == {"closed": True}

    assert (await remora.claim(request_id="r1"))["reason"] == Reason.NONE_PENDING
    await a_need(remora, "c2")
    assert await last_pass(remora) == ("silence", Reason.DISPOSED)
    await remora.ask("session.open", sessionId=SESSION, workspace=folder)
    await a_need(remora, "c3")
    assert (await remora.claim(request_id="r2"))["packet"] is not None


@pytest.mark.parametrize("wish", ["muted", "incognito"])
async def test_a_wish_for_quiet_drops_what_waits_and_is_remembered_over_a_restart(tmp_path: Path, wish: str) -> None:
    async with asking(tmp_path / "data") as remora:
        await a_need(remora)
        status = await remora.ask("session.set", **OWNER, **{wish: True})
        assert (status[wish], status["pending"]) == (True, None)
    async with asking(tmp_path / "data") as remora:
        status = await remora.ask("session.status", **OWNER)
        assert {name: status[name] for name in ("muted", "incognito")} == {"muted": False, "incognito": False} | {
            wish: True
        }
        assert (await remora.ask("session.set", **OWNER, **{wish: False}))[wish] is False


async def test_a_status_waits_for_what_was_sent_but_not_for_ever(
    remora: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    await remora.append(a_prompt("Good morning."))
    runtime = await remora.world.parts.sessions.find(SESSION, AGENT)
    monkeypatch.setattr("host.service.PATIENCE_SECONDS", 0)
    async with runtime.lock:
        await remora.ask("event.append", events=[on_wire(a_prompt("Where were we?"))])

        status = await remora.ask("session.status", **OWNER)

    assert (status["eventSeq"], status["queued"]) == (1, 1)
    await remora.world.settled(runtime)


# ---------------------------------------------------------------------------------------------------- workspaces


@pytest.mark.parametrize(
    ("rollout", "reason"),
    [("off", Reason.ROLLOUT_OFF), ("shadow", Reason.SHADOW), ("canary", Reason.SHADOW), ("active", None)],
)
async def test_a_level_that_hands_nothing_over_drops_what_waits(
    remora: Asking, rollout: str, reason: Reason | None
) -> None:
    folder = await a_need(remora)  # the session is not in the canary's share

    answer = await remora.ask("workspace.set", workspace=folder, rollout=rollout)

    assert answer["rollout"] == rollout
    assert ((await remora.claim())["packet"] is None) is (reason is not None)
    assert [entry.reason for entry in await remora.world.audit(kind=AuditKind.DROP)] == ([reason] if reason else [])


# ---------------------------------------------------------------------------------------------------- the daemon


async def test_metrics_count_what_happened_since_the_start(remora: Asking) -> None:
    await a_need(remora)
    claim = await remora.claim()
    await remora.ask("inbox.delivered", **OWNER, packetId=claim["packet"]["packetId"], claimId=claim["claimId"])

    numbers = await remora.ask("metrics")

    assert numbers["events"]["accepted"] == 2
    assert (numbers["now"]["sessions"], numbers["daemon"]) == ({"": 1}, {})
    assert numbers["now"]["queued"]["passes"] == 0
    assert numbers["packets"] == {"built": 1, "claimed": 1, "delivered": 1}
    assert numbers["injected"]["items"] == 1


async def test_metrics_are_told_in_prometheus_text_format(remora: Asking) -> None:
    await a_need(remora)

    lines = (await remora.ask("metrics", format="prometheus"))["text"].splitlines()

    assert 'remora_pre_packets_total{state="built"} 1' in lines
    assert 'remora_pre_leaks_total{why="forgotten"} 0' in lines
    assert "remora_pre_sessions 1" in lines
    assert 'remora_pre_events{of="accepted"} 2' in lines
    assert any(line.startswith('remora_pre_database_bytes{of="log"} ') for line in lines)
    assert 'remora_pre_breaker{arm="lexical",state="closed"} 1' in lines
    assert all(line.startswith(("# TYPE remora_pre_", "remora_pre_")) for line in lines)


async def test_a_hook_is_heard_over_the_socket_and_over_http_alike(remora: Asking) -> None:
    folder = remora.world.workspace()
    told = {"session_id": "cc-1", "cwd": folder, "hook_event_name": "SessionStart", "source": "startup"}

    over_socket = await remora.ask("hook", host="claude-code", payload=told)
    over_http = await remora.service.hook("claude-code", b'{"session_id":"cc-2","cwd":"/p","hook_event_name":"Stop"}')

    assert over_socket == {"output": None}
    assert isinstance(over_http, Reply)
    assert over_http.result == b""
    assert (await remora.ask("session.status", sessionId="cc-1"))["eventSeq"] == 1
    assert (await remora.ask("session.status", sessionId="cc-2"))["eventSeq"] == 1


async def test_without_governance_db_all_that_needs_it_says_so_and_all_else_is_answered(
    remora: Asking, folder: str
) -> None:
    remora.world.parts.kept.path.unlink()

    fault = await remora.refused("checkpoint.list", workspace=folder)
    assert (fault.kind, "taken away" in fault.problem) == ("state-failed", True)

    health = await remora.ask("health")
    assert health["ready"] and health["parts"]["formation"].startswith("state-failed")
    kept = await remora.ask("memory.remember", text="Releases go out on Thursdays.", workspace=folder)
    found = await remora.ask("memory.search", query="release day thursdays", workspace=folder)
    assert [hit["memoryId"] for hit in found["hits"]] == [kept["memoryId"]]
    assert await remora.ask("metrics")
