"""What an event says about memories that its session knows, through the whole product."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from governance.contracts import AccessEvidence, AuditKind, EvidenceKind
from host.contracts import Claimed, Reason, Silence
from host.frame import close_line, open_line
from host.namespace import name
from host.runtime import SESSION_SET
from recall.contracts import EventEnvelope, EventType
from tests.support.builders import AGENT, SESSION, a_call, a_prompt, a_reply, a_result, a_start, an_event
from tests.support.world import FAILURE, World

RECORD = (
    "When `make integration-test` fails with ECONNREFUSED on port 5433, the pg-fixture container is not running: "
    "start it with `docker compose up -d pg-fixture --wait`, or set PG_FIXTURE_URL_2 in config/test.env. "
    "The integration-test target is slow."
)
CURE = "docker compose up -d pg-fixture --wait"


async def shown(world: World, text: str = RECORD, **fields: Any) -> str:
    """A record that a packet showed to the agent."""
    memory_id = await world.remember(text, **fields)
    folder = world.workspace()
    await world.feed(
        a_prompt("please get the integration tests to pass", workspace=folder),
        a_call("make integration-test", call_id="f1", workspace=folder),
        a_result(FAILURE, call_id="f1", workspace=folder),
    )
    assert (await world.deliver(await world.claim())).settled
    return memory_id


async def rows(world: World, memory_id: str) -> list[AccessEvidence]:
    return list(await world.parts.evidence.of_memory(memory_id))


async def kinds(world: World, memory_id: str) -> list[str]:
    """What came after the delivery."""
    found = sorted(await rows(world, memory_id), key=lambda row: row.event_seq)
    assert found[0].kind is EvidenceKind.SEEN
    return [row.kind.value for row in found[1:]]


def says(world: World, text: str) -> EventEnvelope:
    return a_prompt(text, workspace=world.workspace())


def replies(world: World, text: str) -> EventEnvelope:
    return a_reply(text, workspace=world.workspace())


def runs(world: World, command: str, call_id: str = "c1", **fields: Any) -> EventEnvelope:
    return a_call(command, call_id=call_id, workspace=world.workspace(), **fields)


def works(world: World, call_id: str = "c1", text: str = "ok", **fields: Any) -> EventEnvelope:
    return a_result(text, ok=True, call_id=call_id, workspace=world.workspace(), **fields)


# ------------------------------------------------------------------------------------------------- reuse, success


@pytest.mark.promise("evidence-rules")
async def test_running_what_a_record_advises_is_a_reuse_and_its_good_result_a_success(world: World) -> None:
    memory_id = await shown(world)

    await world.feed(runs(world, f"cd /srv && {CURE}"))
    await world.feed(works(world))

    assert await kinds(world, memory_id) == ["reuse", "success"]
    reuse, success = sorted(await rows(world, memory_id), key=lambda row: row.event_seq)[1:]
    assert (reuse.call_id, success.call_id) == ("c1", "c1")
    standing = world.parts.standings.of(memory_id)
    assert (standing.seen, standing.reuse, standing.success, standing.reuse_sessions) == (1, 1, 1, 1)
    entries = {one.kind.value for entry in await world.audit(kind=AuditKind.PASS) for one in entry.evidence}
    assert entries == {"reuse", "success"}


async def test_a_result_without_a_word_is_a_success_too(world: World) -> None:
    memory_id = await shown(world)
    await world.feed(runs(world, CURE), works(world, text=""))
    assert await kinds(world, memory_id) == ["reuse", "success"]


async def test_another_calls_result_and_a_failed_one_are_no_success(world: World) -> None:
    memory_id = await shown(world)
    await world.feed(runs(world, CURE), works(world, "other"), a_result("no such service", call_id="c1", ok=False))
    await world.feed(says(world, "that fixed it"))
    assert await kinds(world, memory_id) == ["reuse"]


@pytest.mark.parametrize("word", ["that fixed it, thanks!", "问题解决了，谢谢"])
async def test_the_user_confirms_what_was_used_just_before(world: World, word: str) -> None:
    memory_id = await shown(world)
    await world.feed(runs(world, CURE))
    await world.feed(says(world, word))
    assert await kinds(world, memory_id) == ["reuse", "success"]


async def test_a_confirmation_of_something_later_confirms_nothing(world: World) -> None:
    memory_id = await shown(world)
    await world.feed(runs(world, CURE))
    await world.feed(says(world, "now have a look at the login page"))
    await world.feed(says(world, "that fixed it, thanks!"))
    assert await kinds(world, memory_id) == ["reuse"]


@pytest.mark.parametrize(
    "call",
    [
        "cat config/test.env",
        "export PG_FIXTURE_URL_2=postgres://localhost",
        "docker compose -f dev.yml up -d --wait pg-fixture",
    ],
)
async def test_its_file_and_its_identifier_are_uses_too(world: World, call: str) -> None:
    memory_id = await shown(world)
    await world.feed(runs(world, call))
    assert await kinds(world, memory_id) == ["reuse"]


@pytest.mark.promise("evidence-rules")
async def test_work_that_goes_on_at_its_file_is_one_success_and_its_command_is_another(world: World) -> None:
    memory_id = await shown(world)
    for number in range(3):
        await world.feed(runs(world, "vim config/test.env", f"v{number}"), works(world, f"v{number}"))
    await world.feed(runs(world, CURE), works(world))
    assert await kinds(world, memory_id) == ["reuse", "success"] * 2


@pytest.mark.promise("evidence-rules")
async def test_what_a_tool_told_meanwhile_and_what_is_only_planned_are_no_uses(world: World) -> None:
    memory_id = await shown(world)
    plan = {"tool": "ExitPlanMode", "args": f"plan: run {CURE}"}
    await world.feed(
        an_event(EventType.TOOL_CALL, plan, call_id="p1", workspace=world.workspace()),
        works(world, "p1", "approved"),
        runs(world, "env | sort", "e1"),
        works(world, "e1", "PATH=/bin\nPG_FIXTURE_URL_2=postgres://localhost"),
        runs(world, "echo $PG_FIXTURE_URL_2", "e2"),
    )
    assert await kinds(world, memory_id) == []


async def test_its_id_and_its_digest_in_a_call_are_uses(world: World) -> None:
    memory_id = await shown(world)
    digest = (await rows(world, memory_id))[0].record_digest
    await world.feed(runs(world, f"notes show {memory_id}"))
    await world.feed(runs(world, f"notes check {digest[:16]}", "c2"))
    await world.feed(runs(world, f"notes check {digest[:15]}", "c3"))
    assert await kinds(world, memory_id) == ["reuse", "reuse"]


@pytest.mark.promise("evidence-rules")
@pytest.mark.parametrize(
    "call",
    [
        "make integration-test",  # the trouble that it is about
        "git status",
        "docker compose ps",
        "docker compose logs pg-fixture",
        "echo 'run docker compose up -d pg-fixture --wait; then retry'",
        "git commit -m 'docs: docker compose up -d pg-fixture --wait' && git push",
        f"cat >> notes.md <<'EOF'\n{CURE}\nEOF",
        f"{name()} get {{memory_id}}",
        f"{name()} feedback {{memory_id}} useful",
        "cat other/test.env.example",
    ],
)
async def test_what_is_no_use_of_it(world: World, call: str) -> None:
    memory_id = await shown(world)
    await world.feed(runs(world, call.replace("{memory_id}", memory_id)))
    assert await kinds(world, memory_id) == []


@pytest.mark.promise("evidence-rules")
async def test_writing_a_record_down_again_is_no_use_of_it(world: World) -> None:
    memory_id = await shown(world)
    told = {"tool": "write", "path": "NOTES.md", "args": f"NOTES.md\n{RECORD}"}
    await world.feed(an_event(EventType.TOOL_CALL, told, call_id="c1", workspace=world.workspace()))
    assert await kinds(world, memory_id) == []


@pytest.mark.promise("evidence-rules")
async def test_our_own_packet_that_comes_back_is_no_evidence(world: World) -> None:
    memory_id = await shown(world)
    packet = f"{open_line('0123abcd')}\n{RECORD} memory:{memory_id}\n{close_line('0123abcd')}"
    await world.feed(
        replies(world, f"Here it is: {packet}"),
        says(world, f"you sent me {packet}"),
        runs(world, f"curl -d '{packet}' localhost"),
        works(world, text=packet),
    )
    assert await kinds(world, memory_id) == []


async def test_what_the_session_did_before_or_its_user_said_proves_nothing(world: World) -> None:
    memory_id = await world.remember(RECORD)
    folder = world.workspace()
    await world.feed(
        says(world, "look at config/test.env first"),
        runs(world, CURE, "c0"),
        a_call("make integration-test", call_id="f1", workspace=folder),
        a_result(FAILURE, call_id="f1", workspace=folder),
    )
    assert (await world.deliver(await world.claim())).settled
    await world.feed(runs(world, "cat config/test.env"), runs(world, CURE, "c2"))
    await world.feed(says(world, "set PG_FIXTURE_URL_2 please"), runs(world, "export PG_FIXTURE_URL_2=x", "c3"))
    assert await kinds(world, memory_id) == []


async def test_a_call_before_anything_was_shown_uses_nothing(world: World) -> None:
    memory_id = await world.remember(RECORD)
    await world.feed(runs(world, CURE), works(world))
    assert await rows(world, memory_id) == []


async def test_of_a_record_that_has_changed_since_nothing_can_be_proved_but_its_name(world: World) -> None:
    memory_id = await shown(world)
    scope = (await world.parts.sessions.find(SESSION, AGENT)).scope
    found = await world.parts.library.get(memory_id, scope)
    assert found is not None
    changed = msgspec.structs.replace(found[0], text=RECORD + " Since May it listens elsewhere.")
    await world.parts.library.edit(changed, found[1].record_digest, scope)
    await world.feed(runs(world, CURE), runs(world, f"notes show {memory_id}", "c2"))
    assert await kinds(world, memory_id) == ["reuse"]


async def test_a_subagent_and_an_incognito_session_leave_no_evidence(world: World) -> None:
    memory_id = await shown(world)
    await world.feed(runs(world, CURE, "s1", agent_id="sub-1"))
    await world.feed(an_event(SESSION_SET, {"incognito": True}, workspace=world.workspace()))
    await world.feed(runs(world, CURE), works(world), says(world, f"{memory_id} is wrong"))
    assert await kinds(world, memory_id) == []


# ------------------------------------------------------------------------------------------------------------ cite


@pytest.mark.promise("evidence-rules")
async def test_naming_a_memory_or_quoting_it_cites_it(world: World) -> None:
    memory_id = await shown(world)
    await world.feed(replies(world, f"As memory:{memory_id} says, I start the container."))
    await world.feed(replies(world, "It says: the pg-fixture container is not running: start it with docker compose"))
    await world.feed(says(world, f"do what {memory_id} says"))
    assert await kinds(world, memory_id) == ["cite", "cite", "cite"]


async def test_a_quotation_in_the_middle_of_a_long_reply_is_found(world: World) -> None:
    memory_id = await shown(world)
    filling = "I have looked at the logs and at the ports. " * 40
    quoted = "the pg-fixture container is not running: start it with `docker compose up -d pg-fixture"
    await world.feed(replies(world, f"{filling} {quoted} {filling}"))
    assert await kinds(world, memory_id) == ["cite"]


async def test_a_tools_output_and_a_machines_prompt_cite_nothing(world: World) -> None:
    memory_id = await shown(world)
    await world.feed(
        works(world, text=f"{memory_id}: {RECORD}"),
        says(world, f"<task-notification>{memory_id}</task-notification>"),
        replies(world, "the pg-fixture container is not here"),
    )
    assert await kinds(world, memory_id) == []


async def test_a_memory_of_another_workspace_that_is_named_is_not_cited(world: World) -> None:
    memory_id = await world.remember("A secret of the others.", world.workspace("theirs"))
    await world.feed(says(world, f"what does {memory_id} say?"))
    assert await rows(world, memory_id) == []


async def test_a_memory_that_may_be_seen_is_cited_by_its_name_alone(world: World) -> None:
    memory_id = await world.remember("Never shown to this session.")
    await world.feed(a_start(workspace=world.workspace()), replies(world, f"see {memory_id}"))
    assert [row.kind for row in await rows(world, memory_id)] == [EvidenceKind.CITE]


def a_block(*entries: str) -> str:
    inside = "\n".join(entries)
    return (
        f"Done.\n<oai-mem-citation>\n<citation_entries>\n{inside}\n</citation_entries>\n"
        "<rollout_ids>\n</rollout_ids>\n</oai-mem-citation>"
    )


async def test_codexs_own_citations_cite_the_records_that_their_lines_overlap(world: World) -> None:
    folder = world.workspace()
    notes = Path(folder) / f".{name()}" / "memory"
    notes.mkdir(parents=True)
    one, two = f"mem_{1:032x}", f"mem_{2:032x}"
    lines = [f"<!-- memory:{one} -->", "The first note.", "", f"<!-- memory:{two} -->", "The second note.", ""]
    (notes / "a.md").write_text("\n".join(lines), "utf-8")
    await world.feed(a_start(workspace=folder))

    await world.feed(replies(world, a_block(f".{name()}/memory/a.md:5-5|note=[the second]", "gone.md:1-9|note=[x]")))
    await world.feed(replies(world, a_block("../a.md:1-9|note=[x]", f"/etc/passwd:1|note=[{one}]")))

    assert await rows(world, one) == []
    assert [row.kind for row in await rows(world, two)] == [EvidenceKind.CITE]
    assert "oai-mem" not in world.parts.sessions.agents(SESSION)[0].segments[-1][0].text


# ------------------------------------------------------------------------------------------------------ correction


@pytest.mark.promise("evidence-rules")
@pytest.mark.parametrize(
    "word",
    [
        "No, the pg-fixture container listens on port 6544, not on port 5433.",
        "that note is outdated, we have no fixture any more",
        "{memory_id} is wrong",
        "不对，pg-fixture 容器监听的端口不是 5433，而是 6544。",
        "这条记忆已经过时了",
    ],
)
async def test_a_correction_takes_the_record_out_at_once(world: World, word: str) -> None:
    memory_id = await shown(world)

    await world.feed(says(world, word.replace("{memory_id}", memory_id)))

    assert "correction" in await kinds(world, memory_id)
    assert memory_id in world.parts.marks.corrected
    assert world.parts.standings.of(memory_id).correction == 1
    await world.feed(a_start("clear", workspace=world.workspace()))
    await world.feed(runs(world, "make integration-test", "f2"), a_result(FAILURE, call_id="f2", ok=False))
    assert not isinstance(await world.claim(), Claimed)


async def test_a_packet_that_waits_with_it_in_another_session_is_purged(world: World) -> None:
    memory_id = await shown(world)
    folder, other = world.workspace(), "session-2"
    await world.feed(
        a_call("make integration-test", call_id="o1", workspace=folder, session_id=other),
        a_result(FAILURE, call_id="o1", workspace=folder, session_id=other),
    )

    await world.feed(says(world, "that note is outdated"))

    assert await world.claim(session=other) == Silence(reason=Reason.NONE_PENDING)
    drops = await world.audit(kind=AuditKind.DROP)
    assert Reason.CORRECTED in [entry.reason for entry in drops]
    assert memory_id in world.parts.marks.corrected


@pytest.mark.promise("evidence-rules")
@pytest.mark.parametrize(
    "word",
    [
        "No, use port 5433 instead of 6544.",
        "that's wrong, the integration tests still fail",
        "no, run the unit tests instead of the integration tests",
        "the note says port 5433, so use it rather than 6544",
        "不对，应该用 5433，不是 6544",
        "isn't that note outdated?",
    ],
)
async def test_a_word_to_the_agent_corrects_no_record(world: World, word: str) -> None:
    memory_id = await shown(world)
    await world.feed(says(world, word))
    assert "correction" not in await kinds(world, memory_id)
    assert world.parts.marks.corrected == frozenset()


async def test_what_an_agent_says_corrects_nothing(world: World) -> None:
    memory_id = await shown(world)
    await world.feed(replies(world, "That note is outdated: the port is 6544, not 5433."))
    assert "correction" not in await kinds(world, memory_id)
