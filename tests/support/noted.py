"""Notes of a session in a whole remora of a test: what the user says, and a note that rests on it and waits."""

from typing import Any

from recall.contracts import EventEnvelope
from tests.support.asking import Asking
from tests.support.builders import a_prompt, a_reply
from tests.support.clock import START

Json = dict[str, Any]
SAID = "We ship the releases on Thursdays, after the smoke tests."
NOTE = "Releases ship on Thursdays."
QUOTE = "We ship the releases on Thursdays"


async def said(
    remora: Asking, folder: str, *texts: str, session: str = "s-one", at: int = START, agent: bool = False
) -> None:
    """The user, or the agent, says these in a session of that folder."""
    await remora.append(*[_event(text, folder, session, at + place, agent=agent) for place, text in enumerate(texts)])


def _event(text: str, folder: str, session: str, at: int, *, agent: bool) -> EventEnvelope:
    make = a_reply if agent else a_prompt
    event_id = f"{session}-{at}-{len(text)}"
    return make(text, session_id=session, workspace=folder, timestamp=at, event_id=event_id)


async def a_note(
    remora: Asking, folder: str, text: str = NOTE, quote: str = QUOTE, session: str = "s-one", **params: Any
) -> Json:
    """The item of a note that rests on what was said; it waits."""
    given = {"text": text, "quotes": [quote], "sessionId": session, "workspace": folder, "principal": "human"}
    added = await remora.ask("review.add", **(given | params))
    assert added["added"], added
    return (await got(remora, folder, added["itemId"]))["item"]


async def got(remora: Asking, folder: str, item_id: str) -> Json:
    found: Json = await remora.ask("review.get", itemId=item_id, workspace=folder)
    return found
