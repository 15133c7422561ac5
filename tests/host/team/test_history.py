"""What of a history can be recalled, and what of it a request matches."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from governance.team.contracts.turns import Ineligible, ResultEvidence, Seal, Selection, TerminalState
from governance.team.errors import Kind, TeamFault
from host.contracts import Rollout
from host.frame import close_line, open_line
from host.runtime import SESSION_SET
from recall.contracts import EventEnvelope, SourceKind
from tests.support.builders import an_event
from tests.support.clock import START
from tests.support.team_history import HOUR, MINUTE, Histories, a_history, a_request, git


@pytest.fixture
async def past(tmp_path: Path) -> AsyncIterator[Histories]:
    async with a_history(tmp_path) as made:
        yield made


def rejected(found: Selection) -> dict[Ineligible, int]:
    return {one.reason: one.count for one in found.rejected}


async def test_a_session_is_read_in_its_order_and_its_open_turn_is_not(past: Histories) -> None:
    await past.log(past.talk().turns(4))

    found = await past.select()

    (session,) = found.sessions
    assert [turn.place for turn in session.turns] == [0, 1, 2]
    assert {turn.seal for turn in session.turns} == {Seal.HARD_SEALED}
    assert session.session_key == past.world.parts.audit.ref("s-1") and found.matched == 3


async def test_a_turn_holds_what_was_said_and_done_in_order(past: Histories) -> None:
    talk = past.talk()
    await past.log([*talk.turns(3), talk.prompt(3, "Last?")])

    first = (await past.turns())[0]
    content = await past.history.content(first)

    assert [(event.kind, event.text) for event in content.events] == [
        ("user", "Question 0?"),
        ("tool-call", "make step-0"),
        ("tool-result", "step 0 done"),
        ("assistant", "Answer 0."),
    ]
    assert [event.state for event in content.events] == [None, TerminalState.COMPLETED, TerminalState.COMPLETED, None]
    assert first.tools == ("shell",) and first.complete


async def test_an_end_that_the_host_told_seals_the_last_turn(past: Histories) -> None:
    talk = past.talk()
    await past.log([*talk.turns(3), talk.end(2)])
    assert [turn.result_evidence for turn in await past.turns()] == [
        ResultEvidence.UNKNOWN,
        ResultEvidence.UNKNOWN,
        ResultEvidence.PROVIDER_COMPLETED,
    ]


async def test_a_turn_that_was_broken_off_is_abandoned(past: Histories) -> None:
    talk = past.talk()
    await past.log([*talk.turns(3), talk.end(2, aborted=True)])

    assert (await past.turns())[-1].result_evidence is ResultEvidence.ABANDONED


async def test_what_a_product_writes_at_an_interruption_breaks_a_turn_off(past: Histories) -> None:
    talk = past.talk()
    mark = talk.prompt(2, "[Request interrupted by user]", event_id="mark", source_kind=SourceKind.LIFECYCLE)
    await past.log([*talk.turns(3), mark])

    assert (await past.turns())[-1].result_evidence is ResultEvidence.ABANDONED


async def test_a_session_of_two_turns_is_counted_and_not_read(past: Histories) -> None:
    await past.log(past.talk().turns(3))

    found = await past.select()

    assert found.sessions == () and rejected(found) == {Ineligible.TOO_FEW_TURNS: 1}


async def test_a_window_is_half_open_and_about_the_users_message(past: Histories) -> None:
    talk = past.talk()
    await past.log(talk.turns(6))

    found = await past.turns(a_request(talk.at(1), talk.at(3)))

    assert [turn.place for turn in found] == [1, 2]


async def test_sessions_outside_of_the_window_are_not_counted(past: Histories) -> None:
    await past.log(past.talk("old", start=START - 30 * 24 * HOUR).turns(2))

    assert (await past.select()).rejected == ()


# ------------------------------------------------------------------------------------------------- whose turns they are


async def test_a_sibling_worktree_has_its_own_turns(past: Histories, tmp_path: Path) -> None:
    git(past.root, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    await past.log(past.talk("there", tmp_path / "tree").turns(4))
    await past.log(past.talk("here").turns(4))

    found = await past.select()

    assert [one.session_key for one in found.sessions] == [past.world.parts.audit.ref("here")]
    assert rejected(found) == {Ineligible.OTHER_WORKTREE: 1}


async def test_another_repository_is_not_even_counted(past: Histories) -> None:
    await past.log(past.talk("other", past.world.workspace("other")).turns(4))

    found = await past.select()

    assert found.sessions == () and found.rejected == ()


async def test_a_folder_below_is_the_same_worktree_also_when_it_is_gone(past: Histories) -> None:
    await past.log(past.talk(folder=past.root / "gone" / "below").turns(4))

    assert len(await past.turns()) == 3


async def test_a_session_that_moves_has_the_turns_that_it_began_here(past: Histories) -> None:
    here, there = past.talk(), past.talk(folder=past.world.workspace("other"))
    await past.log([*here.turns(3), *there.turn(3), *there.turn(4), *here.turn(5), *here.turn(6)])

    assert [turn.place for turn in await past.turns()] == [0, 1, 2, 5]


async def test_our_own_sessions_are_counted_as_such(past: Histories, tmp_path: Path) -> None:
    await past.log(past.talk("ours", tmp_path / "scratch" / "x").turns(4))

    assert rejected(await past.select()) == {Ineligible.OWN_RUNNER: 1}


async def test_a_subagent_says_nothing_in_its_session_and_has_none(past: Histories) -> None:
    talk, alone = past.talk(), past.talk("alone")
    aside = [talk.reply(1, "A whisper.", step=5, agent_id="sub"), talk.call(1, "rm -r x", step=6, agent_id="sub")]
    await past.log([*talk.turns(4), *aside])
    spawn = an_event("agent/spawn", {}, session_id="alone", agent_id="sub", workspace=str(past.root))
    await past.log([spawn, *(event_of("sub", event) for event in alone.turns(4)[1:])])

    found = await past.select()
    texts = [event.text for turn in found.sessions[0].turns for event in (await past.history.content(turn)).events]

    assert len(found.sessions) == 1 and "A whisper." not in texts and "rm -r x" not in texts
    assert rejected(found) == {Ineligible.SUBAGENT: 1}


def event_of(agent: str, event: EventEnvelope) -> EventEnvelope:
    return an_event(
        event.event_type,
        {"text": "x"},
        agent_id=agent,
        session_id=event.session_id,
        workspace=event.workspace,
        timestamp=event.timestamp,
        event_id=event.event_id,
    )


# ----------------------------------------------------------------------------------------------------- what is left out


async def test_turns_that_the_user_went_back_on_are_not_recalled(past: Histories) -> None:
    talk = past.talk()
    back = an_event("session/rewound", {"events": ["prompt:s-1:2"]}, session_id="s-1", workspace=str(past.root))
    await past.log([*talk.turns(3), back, *talk.turn(3), *talk.turn(4)])

    assert [turn.place for turn in await past.turns()] == [0, 1, 3]


async def test_rolling_back_takes_the_last_turns(past: Histories) -> None:
    talk = past.talk()
    back = an_event("session/rewound", {"turns": 2}, session_id="s-1", workspace=str(past.root))
    await past.log([*talk.turns(5), back, *talk.turn(5), *talk.turn(6)])

    assert [turn.place for turn in await past.turns()] == [0, 1, 2, 5]


async def test_a_turn_in_which_the_user_was_incognito_is_not_there(past: Histories) -> None:
    talk = past.talk()

    def wish(on: bool, number: int) -> EventEnvelope:
        return an_event(
            SESSION_SET, {"incognito": on}, session_id="s-1", workspace=str(past.root), timestamp=talk.at(number)
        )

    await past.log([*talk.turns(3), wish(True, 3), *talk.turn(3), wish(False, 4), *talk.turn(4), *talk.turn(5)])

    assert [turn.place for turn in await past.turns()] == [0, 1, 2, 4]


async def test_turns_of_a_time_when_memory_was_off_are_not_there_whenever_that_is_asked(past: Histories) -> None:
    talk = past.talk()
    await past.log(talk.turns(5))
    rollouts, key = past.world.parts.rollouts, past.world.parts.places.key(str(past.root))
    assert len(await past.turns()) == 4

    await rollouts.set(key, Rollout.OFF, talk.at(0))
    assert (await past.select()).rejected[0].reason is Ineligible.DENIED
    await rollouts.set(key, Rollout.ACTIVE, talk.at(1))

    assert [turn.place for turn in await past.turns()] == [1, 2, 3]


async def test_a_resumed_session_does_not_tell_again_what_it_repeats(past: Histories) -> None:
    before = past.talk("first").turns(4)
    await past.log(before)
    copied = [event_in("second", event) for event in before]
    talk = past.talk("second", start=START + 2 * MINUTE)
    await past.log([*copied, *talk.turn(4), *talk.turn(5)])

    found = {one.session_key: [turn.place for turn in one.turns] for one in (await past.select()).sessions}

    ref = past.world.parts.audit.ref
    assert found == {ref("first"): [0, 1, 2], ref("second"): [4]}


def event_in(session: str, event: EventEnvelope) -> EventEnvelope:
    payload = event.payload
    return an_event(
        event.event_type,
        payload,
        session_id=session,
        workspace=event.workspace,
        timestamp=event.timestamp,
        event_id=event.event_id,
        call_id=event.call_id,
    )


async def test_our_packets_and_our_own_tools_are_in_no_turn(past: Histories) -> None:
    talk = past.talk()
    packet = f"{open_line('0123456789abcdef')}\n| Use pnpm.\n{close_line('0123456789abcdef')}"
    ours = {"nativeTool": "mcp__remora-pre__memory_search_pre"}
    await past.log(
        [
            *talk.turns(3),
            talk.prompt(3, f"{packet}\nmine"),
            talk.call(3, "what do we know", tool="mcp:remora-pre__memory_search_pre", **ours),
            talk.result(3, "a memory", tool="mcp:remora-pre__memory_search_pre", **ours),
            talk.result(3, f"kept\n{packet}", step=4),
            *talk.turn(4),
        ]
    )

    content = await past.history.content((await past.turns())[-1])

    assert [event.text for event in content.events] == ["mine", "kept"]


async def test_asking_for_memories_to_be_formed_ends_a_turn_and_is_none(past: Histories) -> None:
    talk = past.talk()
    await past.log([*talk.turns(3), talk.prompt(3, "Run the waiting checkpoints."), talk.call(3, "ls", step=2)])

    turns = await past.turns()

    assert [turn.place for turn in turns] == [0, 1, 2]
    assert [len((await past.history.content(turn)).events) for turn in turns] == [4, 4, 4]


# ------------------------------------------------------------------------------------------------------------ selection


async def test_a_query_matches_turns_that_hold_half_of_its_terms(past: Histories) -> None:
    talk = past.talk()
    texts = ["The release failed.", "Deploy the importer.", "Why is the release late?", "x", "y"]
    await past.log([event for number, text in enumerate(texts) for event in talk.turn(number, text)])

    assert await past.said(a_request(query="release failure")) == ["The release failed.", "Why is the release late?"]
    assert await past.said(a_request(query="release failed importer deploy")) == [
        "The release failed.",
        "Deploy the importer.",
    ]
    assert await past.said(a_request(query="!!!")) == []


async def test_what_is_learned_before_is_found_without_reading_it_again(past: Histories) -> None:
    await past.log(past.talk().turns(4))
    await past.history.learn(past.bound, START - HOUR)
    known = await past.world.parts.kept.read(
        lambda c: c.execute("SELECT count(*) FROM team_turn WHERE terms != ''").fetchone()[0]
    )

    assert known == 3 and len(await past.turns(a_request(query="question"))) == 3


async def test_terms_of_results_count_and_chinese_is_read(past: Histories) -> None:
    talk = past.talk()
    await past.log([*talk.turns(3), talk.prompt(3, "发布之前必须跑测试"), talk.result(3, "ECONNREFUSED", step=3)])
    await past.log(talk.turn(4))

    assert len(await past.turns(a_request(query="econnrefused"))) == 1
    assert await past.said(a_request(query="跑测试")) == ["发布之前必须跑测试"]


async def test_filters_narrow_and_are_all_to_be_passed(past: Histories) -> None:
    talk = past.talk()
    await past.log(
        [
            *talk.turns(3),
            talk.prompt(3, "Edit it."),
            talk.call(3, "a.py\nx", tool="edit", nativeTool="Edit", path="a.py"),
            talk.result(3, "no such file", tool="edit", ok=False),
            talk.prompt(4, "Load the skill."),
            talk.call(4, '{"skill":"release"}', tool="Skill", nativeTool="Skill"),
            talk.result(4, "loaded", tool="Skill"),
            talk.end(4),
        ]
    )
    await past.providers.note(["s-1"], "claude-code")

    async def places(**filters: object) -> list[int]:
        return [turn.place for turn in await past.turns(a_request(**filters))]

    assert await places(tool_keys=("edit",)) == [3] == await places(tool_keys=("Edit",))
    assert await places(tool_keys=("edit",), terminal_states=(TerminalState.FAILED,)) == [3]
    assert await places(tool_keys=("edit", "shell"), terminal_states=(TerminalState.COMPLETED,)) == [0, 1, 2]
    assert await places(skill_keys=("release",)) == [4]
    assert await places(result_evidence=(ResultEvidence.PROVIDER_COMPLETED,)) == [4]
    assert await places(skill_keys=("release",), tool_keys=("edit",)) == []
    assert len(await places(providers=("claude",))) == 5 and await places(providers=("codex",)) == []
    assert len(await places(session_keys=(past.world.parts.audit.ref("s-1"),))) == 5
    assert await places(session_keys=("s-1",)) == []


async def test_more_turns_than_may_be_read_are_refused(past: Histories) -> None:
    await past.log(past.talk().turns(8))

    with pytest.raises(TeamFault) as fault:
        await past.select(limit=6)

    assert fault.value.kind is Kind.QUERY_TOO_BROAD and len((await past.select(limit=7)).sessions) == 1


async def test_sessions_come_by_what_ties_them_to_the_repository(past: Histories) -> None:
    full = git(past.root, "rev-parse", "HEAD")
    plain, tied = past.talk("plain"), past.talk("tied", start=START - HOUR)
    await past.log([*plain.turns(3), *plain.turn(3)])
    await past.log([*tied.turns(2), tied.prompt(2, "Commit."), tied.result(2, f"[main] {full}"), *tied.turn(3)])

    found = await past.select()

    ref = past.world.parts.audit.ref
    assert [one.session_key for one in found.sessions] == [ref("tied"), ref("plain")]
    assert [one.score for one in found.sessions] == [170, 135]


async def test_a_turn_that_grows_before_its_seal_is_still_the_first_revision(past: Histories) -> None:
    talk = past.talk()
    await past.log([*talk.turns(3), talk.prompt(3, "And?")])
    await past.turns()
    await past.log([talk.reply(3, "So."), talk.end(3)])

    assert [turn.revision for turn in await past.turns()] == [1, 1, 1, 1]


async def test_a_last_turn_that_only_rests_stays_out(past: Histories) -> None:
    await past.log(past.talk().turns(4))
    past.world.clock.set(START + 48 * HOUR)

    keys = [turn.turn_key for turn in await past.turns()]
    known = await past.world.parts.kept.read(
        lambda c: c.execute("SELECT turn_key FROM team_turn ORDER BY place").fetchall()
    )
    (last,) = await past.history.current([known[-1][0]])

    assert len(keys) == 3 and last.seal is Seal.QUIESCENT and not last.recallable


async def test_a_window_that_is_none_is_refused(past: Histories) -> None:
    request = a_request()
    broken = type(request)(format=request.format, window=type(request.window)(after="yesterday", before="today"))

    with pytest.raises(TeamFault) as fault:
        await past.select(broken)

    assert fault.value.kind is Kind.REQUEST_INVALID
