"""The audit over the wire: asked, explained, followed while it grows, and verified."""

import asyncio
import json
from typing import Any

import pytest

from governance.audit import SUBSCRIBER_QUEUE
from governance.contracts import AuditKind
from governance.pruning import DAY
from host.contracts import Reason
from tests.support.asking import Asking, Line
from tests.support.builders import AGENT, SESSION, a_call, a_prompt, a_result
from tests.support.world import FAILURE, LESSON

OWNER = {"sessionId": SESSION, "agentId": AGENT}


async def a_story(remora: Asking) -> str:
    """An acknowledgement, a failure, and its lesson handed over. Returns the memory's id."""
    folder = remora.world.workspace()
    memory_id = await remora.world.remember(LESSON)
    await remora.append(
        a_prompt("ok", workspace=folder),
        a_call("make integration-test", workspace=folder),
        a_result(FAILURE, workspace=folder),
    )
    claim = await remora.claim()
    settled = {"packetId": claim["packet"]["packetId"], "claimId": claim["claimId"]}
    await remora.ask("inbox.delivered", **OWNER, **settled)
    return memory_id


async def asked(remora: Asking, **params: Any) -> list[tuple[str, str]]:
    entries = (await remora.ask("audit.query", **params))["entries"]
    return [(entry["kind"], entry["outcome"]) for entry in entries]


# ---------------------------------------------------------------------------------------------------- query


async def test_the_newest_comes_first(remora: Asking) -> None:
    await a_story(remora)

    assert await asked(remora) == [
        ("delivery", "delivered"),
        ("claim", "claimed"),
        ("pass", "packet"),
        ("pass", "silence"),
        ("pass", "silence"),
    ]


async def test_every_condition_narrows(remora: Asking) -> None:
    memory_id = await a_story(remora)
    await remora.append(a_prompt("ok", session_id="another"))
    (packet,) = {entry.packet.packet_id for entry in await remora.world.audit() if entry.packet is not None}
    ref = remora.world.parts.audit.ref(SESSION)

    counts = {
        name: len(await asked(remora, **params))
        for name, params in {
            "all": {},
            "session": {"sessionId": SESSION},
            "ref": {"sessionRef": ref},
            "nobody": {"sessionId": "nobody"},
            "kind": {"kind": "claim"},
            "outcome": {"outcome": "silence"},
            "reason": {"reason": Reason.EMPTY_SIGNAL, "sessionId": SESSION},
            "memory": {"memoryId": memory_id},
            "step": {"sessionId": SESSION, "step": 0},
            "packet": {"packetId": packet},
            "limit": {"limit": 2},
            "at least one": {"limit": -1},
        }.items()
    }

    assert counts == {
        "all": 6,
        "session": 5,
        "ref": 5,
        "nobody": 0,
        "kind": 1,
        "outcome": 3,
        "reason": 1,
        "memory": 3,
        "step": 1,
        "packet": 3,
        "limit": 2,
        "at least one": 1,
    }


async def test_a_kind_that_does_not_exist_is_refused(remora: Asking) -> None:
    assert (await remora.refused("audit.query", kind="rumour")).kind == "invalid-params"


# ---------------------------------------------------------------------------------------------------- get and explain


@pytest.mark.promise("audit-first")
async def test_an_entry_shows_its_packet_and_what_became_of_it(remora: Asking) -> None:
    await a_story(remora)
    (entry,) = [entry for entry in await remora.world.audit(kind=AuditKind.PASS) if entry.packet is not None]

    whole = await remora.ask("audit.get", auditId=entry.audit_id)

    assert whole["entry"]["auditId"] == entry.audit_id
    assert whole["packet"]["state"] == "delivered"
    assert "pg-fixture" in whole["packet"]["rendered"]
    assert [later["outcome"] for later in whole["later"]] == ["claimed", "delivered"]


async def test_a_silence_has_no_packet_and_nothing_later(remora: Asking) -> None:
    await remora.append(a_prompt("ok"))
    (entry,) = await remora.world.audit()

    whole = await remora.ask("audit.get", auditId=entry.audit_id)

    assert (whole["entry"]["reason"], whole["packet"], whole["later"]) == (Reason.EMPTY_SIGNAL, None, [])


async def test_what_would_have_been_said_in_the_shadow_has_no_packet_to_show(remora: Asking) -> None:
    folder = remora.world.workspace()
    await remora.world.remember(LESSON)
    await remora.ask("workspace.set", workspace=folder, rollout="shadow")
    await remora.append(a_call("make integration-test", workspace=folder), a_result(FAILURE, workspace=folder))
    entry = (await remora.world.audit())[-1]

    whole = await remora.ask("audit.get", auditId=entry.audit_id)

    assert whole["entry"]["outcome"] == "would"
    assert whole["packet"] is None


async def test_an_entry_that_does_not_exist_is_refused(remora: Asking) -> None:
    fault = await remora.refused("audit.get", auditId="aud_0")

    assert (fault.kind, fault.next_step) == ("unknown-audit-entry", "List them with audit.query.")


async def test_a_step_is_explained_in_sentences(remora: Asking) -> None:
    memory_id = await a_story(remora)

    told = await remora.ask("audit.explain", sessionId=SESSION, step=1)

    text = "\n".join(told["lines"])
    assert f"kept {memory_id}" in text
    assert "reached the agent" in text
    assert "acknowledgement" not in text  # that was step 0
    assert len(told["entries"]) == 4


async def test_a_memory_is_explained_and_what_is_not_recorded_is_said(remora: Asking) -> None:
    memory_id = await a_story(remora)

    told = await remora.ask("audit.explain", memoryId=memory_id, workspace=remora.world.workspace())
    nothing = await remora.ask("audit.explain", sessionRef="0" * 32)

    assert any(f"kept {memory_id}" in line for line in told["lines"])
    assert nothing == {"lines": ["Nothing is recorded about this."], "entries": []}


async def test_without_a_session_or_a_memory_there_is_nothing_to_explain(remora: Asking) -> None:
    assert (await remora.refused("audit.explain", step=3)).kind == "invalid-params"


async def test_what_came_of_a_packet_at_a_later_step_is_told_with_the_step(remora: Asking) -> None:
    memory_id = await a_story(remora)
    folder = remora.world.workspace()
    await remora.append(a_prompt("Go on.", workspace=folder))
    await remora.ask("memory.feedback", memoryId=memory_id, workspace=folder, opinion="useful")

    told = await remora.ask("audit.explain", sessionId=SESSION, step=1)

    assert "the user called" in told["lines"][-1] and "useful" in told["lines"][-1]
    ids = [entry["auditId"] for entry in told["entries"]]
    assert len(ids) == len(set(ids)) == 6


async def test_that_old_entries_are_gone_is_said(remora: Asking) -> None:
    memory_id = await a_story(remora)
    remora.world.clock.set(remora.world.clock.now() + 15 * DAY)
    await remora.world.parts.retention.round()

    told = await remora.ask("audit.explain", memoryId=memory_id)

    assert told["lines"][0].endswith("were let go: only numbers are left of them.")
    assert told["lines"][1:] == ["Nothing is recorded about this."]


# ---------------------------------------------------------------------------------------------------- export


async def every_line(remora: Asking, **params: Any) -> list[str]:
    lines: list[str] = []
    page = await remora.ask("audit.export", **params)
    while True:
        lines += page["lines"]
        if page["next"] is None:
            return lines
        page = await remora.ask("audit.export", **params, afterRow=page["next"])


@pytest.mark.parametrize("page", [1, 2, 250])
async def test_everything_is_exported_oldest_first_page_by_page(
    remora: Asking, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.audits.EXPORTED", page)
    await a_story(remora)
    entries = await remora.world.audit()

    lines = [json.loads(line) for line in await every_line(remora)]
    table = await every_line(remora, format="csv")

    assert [line["auditId"] for line in lines] == [entry.audit_id for entry in entries]
    assert [line["digest"] for line in lines] == [entry.digest for entry in entries]
    assert table[0].startswith("auditId,at,") and len(table) == len(entries) + 1


async def test_an_export_is_narrowed_by_session_kind_and_time(remora: Asking) -> None:
    await a_story(remora)
    await remora.append(a_prompt("ok", session_id="another"))
    now = remora.world.clock.now()

    assert len(await every_line(remora, sessionId=SESSION)) == 5
    assert len(await every_line(remora, sessionRef=remora.world.parts.audit.ref("another"))) == 1
    assert len(await every_line(remora, kind="delivery")) == 1
    assert (len(await every_line(remora, since=now)), await every_line(remora, since=now + 1)) == (6, [])


async def test_what_was_let_go_comes_first_in_an_export(remora: Asking) -> None:
    await a_story(remora)
    remora.world.clock.set(remora.world.clock.now() + 15 * DAY)
    await remora.world.parts.retention.round()

    lines = [json.loads(line) for line in await every_line(remora)]
    table = await every_line(remora, format="csv")

    assert lines[0]["entries"] == 5 and lines[0]["through"]["row"] == 5
    assert [line["outcome"] for line in lines[1:]] == ["checkpoint"]
    assert len(table) == 2


# ---------------------------------------------------------------------------------------------------- stats


async def test_the_audit_is_told_in_numbers(remora: Asking) -> None:
    await a_story(remora)
    folder = remora.world.workspace()

    whole = await remora.ask("audit.stats", since=0, workspace=folder)
    later = await remora.ask("audit.stats", since=remora.world.clock.now() + 1)
    elsewhere = await remora.ask("audit.stats", workspace=remora.world.workspace("elsewhere"))

    assert (whole["entries"], whole["sessions"], whole["since"]) == (5, 1, 0)
    assert whole["passes"] == {"silence": 2, "packet": 1}
    assert whole["packets"] == {"built": 1, "claimed": 1, "delivered": 1}
    assert (whole["measured"]["share"], whole["measured"]["given"]) == (0.0, 0)  # nothing is drawn without a share
    assert [one["outcome"] for one in whole["measured"]["outcomes"]] == [
        *("file-opened", "command-used", "failure-repeated", "corrected")
    ]
    assert (later["entries"], elsewhere["entries"]) == (0, 0)


async def test_numbers_since_no_time_are_refused(remora: Asking) -> None:
    assert (await remora.refused("audit.stats", since="yesterday")).kind == "invalid-params"


# ---------------------------------------------------------------------------------------------------- verify


async def test_the_chain_holds_and_a_changed_row_is_found(remora: Asking) -> None:
    await a_story(remora)
    whole = await remora.ask("audit.verify")

    await remora.world.parts.inbox._database.write(
        lambda connection: connection.execute("UPDATE audit SET outcome = 'packet' WHERE row = 1")
    )
    broken = await remora.ask("audit.verify")

    assert (whole["ok"], whole["entries"], whole["problem"]) == (True, 5, None)
    assert (broken["ok"], broken["row"]) == (False, 1)
    assert broken["problem"]


# ---------------------------------------------------------------------------------------------------- changes of policy


async def test_a_change_of_rollout_is_recorded_under_the_workspaces_keyed_name(remora: Asking) -> None:
    folder = remora.world.workspace()

    key = (await remora.ask("workspace.set", workspace=folder, rollout="shadow"))["workspaceKey"]

    (entry,) = (await remora.ask("audit.query", kind="policy"))["entries"]
    assert (entry["outcome"], entry["reason"], entry["sessionRef"]) == ("rollout shadow", "shadow", "")
    assert entry["note"] == remora.world.parts.audit.ref(key)
    assert key not in str(entry) and folder not in str(entry)


# ---------------------------------------------------------------------------------------------------- subscribe


async def test_a_subscriber_hears_of_each_entry_after_it_was_written(remora: Asking) -> None:
    line = Line()
    assert await remora.ask("audit.subscribe", line) == {"subscribed": True}

    await a_story(remora)
    await until_sent(line, 5)

    assert {message["method"] for message in line.sent} == {"audit.entry"}
    told = [message["params"]["entry"] for message in line.sent]
    assert told == (await remora.ask("audit.query"))["entries"][::-1]


async def test_who_subscribes_twice_hears_of_each_entry_once(remora: Asking) -> None:
    line = Line()
    await remora.ask("audit.subscribe", line)
    assert await remora.ask("audit.subscribe", line) == {"subscribed": True}

    await a_story(remora)

    await until_sent(line, 5)


async def test_a_subscriber_who_hung_up_is_not_followed_any_more(remora: Asking) -> None:
    line = Line()
    await remora.ask("audit.subscribe", line)

    line.close()
    async with asyncio.timeout(5):
        await remora.world.parts.tasks.settled()
    await a_story(remora)

    assert line.sent == []


async def test_a_subscriber_who_takes_nothing_loses_the_subscription_and_holds_up_nobody(remora: Asking) -> None:
    stuck, other = Line(), Line()
    await remora.ask("audit.subscribe", stuck)
    await remora.ask("audit.subscribe", other)
    stuck.takes = False

    await a_story(remora)
    await until_sent(other, 5)
    stuck.takes = True
    await remora.append(a_prompt("ok"))
    await until_sent(other, 6)

    assert stuck.sent == []


async def test_a_subscriber_too_far_behind_gets_what_was_kept_for_it_and_no_more(remora: Asking) -> None:
    await remora.append(a_prompt("ok"))
    (entry,) = await remora.world.audit()
    line = Line()
    await remora.ask("audit.subscribe", line)

    remora.world.parts.audit.publish([entry] * (SUBSCRIBER_QUEUE + 10))  # at once: nobody can read in between
    async with asyncio.timeout(5):
        await remora.world.parts.tasks.settled()

    assert len(line.sent) == SUBSCRIBER_QUEUE


async def until_sent(line: Line, count: int) -> None:
    """Wait until so many messages came; what comes beyond shows at the end."""
    await line.came(count)
    assert len(line.sent) == count
