"""`review.add`: a note that a person adds rests on what was said, word for word, and waits like every other."""

import pytest

from tests.support.asking import Asking
from tests.support.noted import NOTE, QUOTE, SAID, a_note, got, said
from tests.support.reviewing import waiting


async def test_a_note_that_was_missed_waits_with_who_said_what(remora: Asking, folder: str) -> None:
    await said(remora, folder, "Hello.", SAID)
    item = await a_note(remora, folder)
    (one,) = await waiting(remora, folder)
    assert one["item"] == item
    assert (item["kind"], item["pipeline"], item["text"], item["state"]) == ("note", "notes", NOTE, "pending")
    (cited,) = item["citations"]
    assert (cited["kind"], cited["quote"], cited["role"]) == ("quote", QUOTE, "user")
    assert (cited["session"], cited["seq"], SAID[cited.get("start", 0) : cited["end"]]) == ("s-one", 2, QUOTE)
    assert item["proposedBy"] == "human"


async def test_the_latest_session_of_the_workspace_that_holds_the_quote_is_found(remora: Asking, folder: str) -> None:
    other = remora.world.workspace("other")
    await said(remora, folder, SAID, session="s-one")
    await said(remora, folder, "Something else was said here.", session="s-two")
    await said(remora, other, SAID, session="s-three")
    item = await a_note(remora, folder, session="")
    assert item["citations"][0]["session"] == "s-one"


async def test_the_same_is_added_once(remora: Asking, folder: str) -> None:
    await said(remora, folder, SAID)
    item = await a_note(remora, folder)
    given = {"text": NOTE, "quotes": [QUOTE], "workspace": folder, "principal": "human"}
    again = await remora.ask("review.add", **given)
    assert again == {"itemId": item["itemId"], "added": False}


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({"text": " "}, "invalid-params"),
        ({"quotes": []}, "invalid-params"),
        ({"workspace": ""}, "invalid-params"),
        ({"quotes": ["We ship the releases on Fridays"]}, "quote-not-found"),
        ({"sessionId": "s-none"}, "quote-not-found"),
    ],
)
async def test_what_does_not_rest_on_what_was_said_is_not_added(
    remora: Asking, folder: str, params: dict[str, object], kind: str
) -> None:
    await said(remora, folder, SAID)
    given = {"text": NOTE, "quotes": [QUOTE], "workspace": folder, "principal": "human"}
    assert (await remora.refused("review.add", **(given | params))).kind == kind
    assert await waiting(remora, folder) == []


async def test_what_the_agent_said_is_its_report(remora: Asking, folder: str) -> None:
    await said(remora, folder, "How long does the build take?")
    await said(remora, folder, "The build takes nine minutes on this machine.", agent=True, at=9_000)
    item = await a_note(remora, folder, "The build takes nine minutes.", "The build takes nine minutes")
    assert item["citations"][0]["role"] == "assistant"
    assert (await got(remora, folder, item["itemId"]))["item"]["state"] == "pending"
