"""What holds in every framework alike: the text is in the next request, once, at its place; nothing is told twice; and
whatever happens to the daemon, the run does not notice."""

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from host.inprocess.companion import Companion
from tests.e2e.framework_drivers import AGAIN, CALL, DONE, DRIVERS, PROMPT, SYSTEM, Driver, cancelled, driven
from tests.e2e.frameworks import FAILURE, LESSON, Model, Remora, conversation, instructions, packets, remora

pytestmark = pytest.mark.client

OTHER = "The heron gateway wants code H-413 answered by rotating the upload ticket, not by splitting anything."

each = pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.host)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remora]:
    """A daemon that no test ends."""
    with remora(tmp_path_factory.mktemp("shared"), lesson="") as one:
        yield one


@pytest.fixture
def here(shared: Remora, tmp_path: Path) -> Remora:
    """A workspace of its own in which the lesson is known."""
    own = shared.at(tmp_path / "project")
    own.remember(LESSON)
    return own


def grown(earlier: list[Any], later: list[Any]) -> bool:
    """Whether a request's conversation begins with all of an earlier one's, but for what closes the last turn there."""
    return json.dumps(later)[: len(json.dumps(earlier)) - 3] == json.dumps(earlier)[:-3]


@each
async def test_a_lesson_enters_the_request_after_the_failure_once_and_stays_there(
    driver: type[Driver], here: Remora
) -> None:
    with Model([CALL, AGAIN, DONE, {"text": "You are welcome."}]) as model:
        async with driven(driver, model, companion := here.companion()) as agent:
            said = await agent.say(PROMPT)
            await agent.say("Thank you, that helps a lot.")

    assert companion.problem == ""
    assert said == DONE["text"]
    first, second, third, fourth = model.requests
    assert not packets(first)
    assert len(packets(second)) == 1 and packets(third) == packets(fourth) == packets(second)
    assert FAILURE in json.dumps(conversation(second)[-2:])
    assert LESSON in json.dumps(conversation(second)[-1]), "behind the newest entry"
    for earlier, later in [(first, second), (second, third), (third, fourth)]:
        assert grown(conversation(earlier), conversation(later))
        assert instructions(earlier) == instructions(later)
    assert SYSTEM in instructions(second) and LESSON not in instructions(second)
    assert here.settled() == ["claimed", "delivered"]


@each
async def test_everything_is_told_once_in_its_order(driver: type[Driver], here: Remora) -> None:
    with Model([CALL, AGAIN, DONE, {"text": "You are welcome."}]) as model:
        async with driven(driver, model, here.companion()) as agent:
            await agent.say(PROMPT)
            await agent.say("Thank you, that helps a lot.")

    told = here.events()
    kinds = [kind for kind, _ in told if kind not in ("step/end", "turn/end")]
    turn = ["assistant/message", "tool/call", "tool/result"]
    start = ["session/start", "session/client", "user/message"]
    assert kinds == [*start, *turn, *turn, "assistant/message", "user/message", "assistant/message"]
    said = [payload.get("text") for kind, payload in told if kind in ("user/message", "assistant/message")]
    assert said == [
        PROMPT,
        CALL["text"],
        AGAIN["text"],
        DONE["text"],
        "Thank you, that helps a lot.",
        "You are welcome.",
    ]
    results = [payload for kind, payload in told if kind == "tool/result"]
    assert [(one["tool"], one["ok"], FAILURE in one["text"]) for one in results] == [("upload", False, True)] * 2
    calls = [payload["args"] for kind, payload in told if kind == "tool/call"]
    assert calls == ["a.zip", "b.zip"]
    (client,) = [payload for kind, payload in told if kind == "session/client"]
    assert client["version"] and client["model"] in ("claude-sonnet-5", "gpt-5.5")


@each
async def test_what_is_pinned_is_in_the_first_request_and_said_once(
    driver: type[Driver], shared: Remora, tmp_path: Path
) -> None:
    here = shared.at(tmp_path / "project")
    here.remember("Archives are signed with the winter key.", pinned=True)
    with Model([CALL, DONE, {"text": "You are welcome."}]) as model:
        async with driven(driver, model, here.companion()) as agent:
            await agent.say(PROMPT)
            await agent.say("Thank you, that helps a lot.")

    assert [len(packets(body)) for body in model.requests] == [1, 1, 1]
    assert json.dumps(conversation(model.requests[-1])).count("winter key") == 1
    assert here.settled() == ["claimed", "delivered"]


@each
async def test_a_request_that_fails_gives_the_text_back_for_the_next(driver: type[Driver], here: Remora) -> None:
    refused = {"status": 500, "text": "overloaded", "error_type": "api_error"}
    with Model([CALL, refused, CALL, DONE]) as model:
        async with driven(driver, model, here.companion()) as agent:
            with pytest.raises(Exception, match=r"overloaded|500"):
                await asyncio.create_task(agent.say(PROMPT))
            await asyncio.sleep(0)  # whoever watches the task is told a moment later
            failed = here.settled()
            await agent.say(PROMPT)

    assert failed == ["claimed", "released"]
    assert [len(packets(body)) for body in model.requests][-1] == 1
    assert here.settled() == ["claimed", "released", "claimed", "delivered"]


@each
async def test_a_turn_that_is_cancelled_gives_the_text_back(driver: type[Driver], here: Remora) -> None:
    with Model([CALL, DONE]) as model:
        model.at(1, model.held)
        async with driven(driver, model, here.companion()) as agent:
            await cancelled(agent.say(PROMPT), model.there)

    assert [len(packets(body)) for body in model.requests] == [0, 1]
    assert here.settled() == ["claimed", "released"]


@each
async def test_two_agents_at_once_get_their_own(driver: type[Driver], shared: Remora, tmp_path: Path) -> None:
    one, other = shared.at(tmp_path / "one"), shared.at(tmp_path / "other")
    one.remember(LESSON)
    other.remember(OTHER)
    with Model([CALL, DONE]) as first, Model([CALL, DONE]) as second:
        meeting = asyncio.Barrier(2)

        async def turn(model: Model, place: Remora) -> None:
            async with driven(driver, model, place.companion()) as agent:
                await meeting.wait()
                await agent.say(PROMPT)

        await asyncio.gather(turn(first, one), turn(second, other))

    assert LESSON in json.dumps(first.requests[1]) and OTHER not in json.dumps(first.requests)
    assert OTHER in json.dumps(second.requests[1]) and LESSON not in json.dumps(second.requests)
    assert one.settled() == other.settled() == ["claimed", "delivered"]


@each
async def test_two_conversations_of_one_companion_are_two_sessions(driver: type[Driver], here: Remora) -> None:
    companion = here.companion()
    with Model([CALL, DONE]) as first, Model([CALL, DONE]) as second:
        for model in (first, second):
            async with driven(driver, model, companion) as agent:
                await agent.say(PROMPT)

    assert len(here.sessions()) == 2
    assert [len(packets(body)) for body in (*first.requests, *second.requests)] == [0, 1, 0, 1]


# --------------------------------------------------------------------------------------- whatever happens to the daemon


@each
async def test_without_a_daemon_the_run_is_what_it_would_be(driver: type[Driver], tmp_path: Path) -> None:
    companion = Companion(tmp_path, socket=tmp_path / "none" / "s")
    with Model([CALL, DONE]) as model:
        async with driven(driver, model, companion) as agent:
            said = await agent.say(PROMPT)

    assert said == DONE["text"] and not any(packets(body) for body in model.requests)
    assert "start" in companion.problem


@each
async def test_a_daemon_that_is_killed_and_started_again_is_found_and_told_what_it_missed(
    driver: type[Driver], tmp_path: Path
) -> None:
    with remora(tmp_path) as here, Model([CALL, AGAIN, DONE]) as model:
        model.at(0, here.daemon.kill)
        model.at(1, lambda: (here.daemon.start(), None)[1])
        async with driven(driver, model, here.companion()) as agent:
            said = await agent.say(PROMPT)
        told = [kind for kind, _ in here.events()]

    assert said == DONE["text"]
    assert [len(packets(body)) for body in model.requests] == [0, 0, 1]
    turn = ["assistant/message", "tool/call", "tool/result", "step/end"]
    assert told == ["session/start", "session/client", "user/message", *turn, *turn, "assistant/message", "turn/end"]


@each
async def test_a_daemon_that_hangs_costs_one_time_out_and_the_run_goes_on(driver: type[Driver], tmp_path: Path) -> None:
    with remora(tmp_path) as here, Model([CALL, AGAIN, DONE]) as model:
        assert here.daemon.process is not None
        hung = here.daemon.process
        model.at(0, lambda: hung.send_signal(signal.SIGSTOP))
        companion = here.companion(seconds=0.3)
        async with driven(driver, model, companion) as agent:
            said = await agent.say(PROMPT)
        asked = companion.problem
        hung.send_signal(signal.SIGCONT)

    assert said == DONE["text"] and not any(packets(body) for body in model.requests)
    assert "in time" in asked
