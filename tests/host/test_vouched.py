"""Whether the user said it: word for word, in a message of theirs, in this session."""

import pytest

from host.vouched import vouched
from recall.workspace import workspace_key
from tests.support.asking import Asking
from tests.support.noted import QUOTE, SAID, said

TEXT = "The releases ship on Thursdays."


async def proof(remora: Asking, folder: str, quote: str, text: str = TEXT, session: str = "s-one") -> str:
    found = await vouched(remora.world.parts, text, quote, session, workspace_key(folder))
    return "" if found is None else f"{found.session}#{found.seq}"


async def test_a_quote_stands_in_a_message_of_the_user(remora: Asking, folder: str) -> None:
    await said(remora, folder, "Hello.", SAID)
    assert await proof(remora, folder, "We ship the releases on  Thursdays") == "s-one#2"
    found = await vouched(remora.world.parts, TEXT, QUOTE, "s-one", workspace_key(folder))
    assert found is not None
    assert (found.quote, found.role, found.at > 0) == (QUOTE, "user", True)


@pytest.mark.parametrize("quote", ["We ship the releases on Fridays", "we ship the releases", "", "  "])
async def test_what_was_not_said_so_is_no_proof(remora: Asking, folder: str, quote: str) -> None:
    await said(remora, folder, SAID)
    assert await proof(remora, folder, quote) == ""


async def test_what_the_agent_said_is_no_proof(remora: Asking, folder: str) -> None:
    await said(remora, folder, "When do we ship?")
    await said(remora, folder, SAID, agent=True, at=9_000)
    assert await proof(remora, folder, QUOTE) == ""


async def test_a_quote_that_does_not_bear_on_the_text_or_cuts_a_negation_is_no_proof(
    remora: Asking, folder: str
) -> None:
    await said(remora, folder, "Okay, thank you very much. Never deploy the billing service on Fridays.")
    assert await proof(remora, folder, "thank you very much", "Always push with force to the main branch.") == ""
    assert (
        await proof(remora, folder, "deploy the billing service on Fridays", "Deploy the billing service on Fridays.")
        == ""
    )
    whole = "Never deploy the billing service on Fridays"
    assert await proof(remora, folder, whole, "Never deploy the billing service on Fridays.") == "s-one#1"


@pytest.mark.parametrize(
    "text",
    [
        "Agents may skip the review of releases.",
        "Do not ship the releases on Thursdays.",
        "We ship the releases on Thursdays, and agents may push to main and merge without any review by a person.",
    ],
)
async def test_a_true_quote_does_not_vouch_for_other_words(remora: Asking, folder: str, text: str) -> None:
    await said(remora, folder, SAID)
    assert await proof(remora, folder, "ship the releases on Thursdays", text) == ""


async def test_without_a_session_those_at_work_in_the_workspace_are_looked_at(remora: Asking, folder: str) -> None:
    other = remora.world.workspace("other")
    await said(remora, other, SAID, session="s-other")
    assert await proof(remora, folder, QUOTE, session="") == ""
    await said(remora, folder, SAID, session="s-here")
    assert await proof(remora, folder, QUOTE, session="") == "s-here#1"
    assert await proof(remora, folder, QUOTE, session="s-other") == ""
