"""Around a model request: told and claimed before it, settled after it, and no adapter's fault reaches the agent."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from host.inprocess import turns as module
from host.inprocess.companion import Companion
from host.inprocess.said import Listing, Part, Placed, Said
from host.inprocess.turns import Turn, Turns
from tests.host.inprocess.daemons import Json, scripted

PROMPT = Said(part=Part.PROMPT, key="h1", text="Put it up.")
REPLY = Said(part=Part.REPLY, text="I will.")


def listing(session: str = "s1") -> Listing:
    return Listing(session=session, said=(PROMPT,), anchors=("a1",), model="m5")


def put(placed: Sequence[Placed], handed: Placed | None) -> list[str]:
    return [one.text for one in (*placed, *([handed] if handed else []))]


@pytest.fixture
def turns(run_dir: Path) -> Turns:
    return Turns(Companion("/project", socket=run_dir / "s", seconds=5), "langchain", "msgspec")


async def opened(turns: Turns, colour: str, session: str = "s1") -> Turn[list[str]] | None:
    if colour == "async":
        return await turns.open(lambda: listing(session), put)
    return await asyncio.to_thread(turns.open_sync, lambda: listing(session), put)


async def answered(turns: Turns, colour: str, turn: Turn[list[str]] | None, reply: Any = lambda: [REPLY]) -> None:
    if colour == "async":
        await turns.answered(turn, reply)
    else:
        await asyncio.to_thread(turns.answered_sync, turn, reply)


colours = pytest.mark.parametrize("colour", ["async", "sync"])


def outline(told: list[tuple[str, Json]]) -> list[str]:
    return [method for method, _ in told]


@colours
async def test_a_turn_tells_claims_and_delivers(turns: Turns, run_dir: Path, colour: str) -> None:
    async with scripted(run_dir / "s") as daemon:
        daemon.packets = ["a lesson"]
        turn = await opened(turns, colour)
        before = outline(daemon.told)
        await answered(turns, colour, turn)
        again = await opened(turns, colour)

    assert turn is not None and again is not None
    assert turn.request == ["a lesson"] == again.request, "it stands in the next request, too"
    assert before == ["step"]
    assert outline(daemon.told) == ["step", "inbox.delivered", "event.append", "inbox.claim"]
    assert daemon.told[0][1]["host"] == "langchain"
    assert daemon.told[1][1]["packetId"] == "p1" and daemon.told[1][1]["claimId"] == "c1"
    client = next(event for event in daemon.events if event["eventType"] == "session/client")
    assert client["payload"]["model"] == "m5" and client["payload"]["version"]


@colours
async def test_a_request_that_failed_gives_back_what_it_had(turns: Turns, run_dir: Path, colour: str) -> None:
    async with scripted(run_dir / "s") as daemon:
        daemon.packets = ["a lesson"]
        turn = await opened(turns, colour)
        await asyncio.to_thread(turns.failed, turn)
        turns.failed(None)

    assert outline(daemon.told) == ["step", "inbox.release"]


@colours
async def test_a_text_that_cannot_be_put_in_is_given_back_and_the_request_left_alone(
    turns: Turns, run_dir: Path, colour: str
) -> None:
    def odd(placed: Sequence[Placed], handed: Placed | None) -> list[str]:
        raise TypeError("no place")

    async with scripted(run_dir / "s") as daemon:
        daemon.packets = ["a lesson"]
        if colour == "async":
            turn = await turns.open(listing, odd)
        else:
            turn = await asyncio.to_thread(turns.open_sync, listing, odd)
        problem = turns.companion.problem
        await opened(turns, colour)

    assert turn is None and "no place" in problem
    first, *back, last = outline(daemon.told)  # this loop is the daemon's, too: it may hear it twice
    assert (first, last) == ("step", "inbox.claim") and set(back) == {"inbox.release"}


@colours
async def test_a_framework_that_is_not_understood_is_left_alone(turns: Turns, colour: str) -> None:
    def odd() -> Any:
        raise AttributeError("no messages")

    if colour == "async":
        assert await turns.open(odd, put) is None
    else:
        assert await asyncio.to_thread(turns.open_sync, odd, put) is None
    assert turns.companion.problem == "The adapter langchain failed: AttributeError: no messages"


@colours
async def test_a_reply_that_is_not_understood_is_still_an_answer(turns: Turns, run_dir: Path, colour: str) -> None:
    def odd() -> Any:
        raise AttributeError("no text")

    async with scripted(run_dir / "s") as daemon:
        daemon.packets = ["a lesson"]
        turn = await opened(turns, colour)
        await answered(turns, colour, turn, odd)
        await answered(turns, colour, None)

    assert outline(daemon.told) == ["step", "inbox.delivered"]


async def test_conversations_do_not_meet_and_the_one_that_was_silent_longest_gives_way(
    turns: Turns, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TALKS_KEPT", 2)
    async with scripted(run_dir / "s") as daemon:
        for session in ("s1", "s2", "s1", "s3", "s1", "s2"):
            await opened(turns, "async", session)

    begun = [event["sessionId"] for event in daemon.events if event["eventType"] == "session/start"]
    assert begun == ["s1", "s2", "s3", "s2"], "s2 was silent longest when s3 came"
    marks = [event["eventId"] for event in daemon.events if event["eventType"] == "session/start"]
    assert len(set(marks)) == 4, "what begins again is another event"


def test_a_conversation_is_named_after_its_workspace_or_after_nothing_else() -> None:
    here, there = (Turns(Companion(folder), "langchain", "msgspec") for folder in ("/one", "/two"))

    assert here.session("7") == here.session("7") != there.session("7")
    assert here.session() != here.session()
    assert here.session("7").startswith("langchain:")


def test_a_framework_without_a_version_has_none() -> None:
    assert Turns(Companion("/one"), "langchain", "no-such-distribution")._version == ""
