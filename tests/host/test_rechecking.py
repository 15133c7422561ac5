"""What was said for a memory and against it; a note that the user spoke against is flagged until a person decides."""

from governance.contracts import EvidenceKind
from governance.formation.contracts import NoteFlag
from governance.formation.store import notes
from governance.review import CORRECTION, QUOTE
from tests.support.asking import Asking
from tests.support.builders import AGENT, SESSION, a_prompt
from tests.support.noted import QUOTE as QUOTED
from tests.support.noted import SAID, a_note, got, said
from tests.support.remembering import a_need
from tests.support.reviewing import decide, waiting


async def flags(remora: Asking, note_id: str) -> tuple[NoteFlag, ...]:
    note = await remora.world.parts.kept.read(lambda connection: notes.note_of(connection, note_id))
    assert note is not None
    return note.flags


async def test_a_correction_flags_the_note_and_a_decision_settles_it(remora: Asking, folder: str) -> None:
    await said(remora, folder, SAID)
    item = await a_note(remora, folder)
    memory_id = (await decide(remora, folder, item, "keep"))["memoryId"]
    await remora.ask("memory.feedback", memoryId=memory_id, opinion="wrong", workspace=folder)
    assert await flags(remora, item["itemId"]) == (NoteFlag.RECHECK,)
    assert (await remora.ask("memory.search", query="releases Thursdays", workspace=folder))["hits"] == []
    (one,) = await waiting(remora, folder)
    shown = await got(remora, folder, one["item"]["itemId"])
    assert [(cited["kind"], cited["quote"]) for cited in shown["said"]] == [(QUOTE, QUOTED)]
    await decide(remora, folder, one["item"], "keep")
    assert await flags(remora, item["itemId"]) == ()
    hits = (await remora.ask("memory.search", query="releases Thursdays", workspace=folder))["hits"]
    assert [hit["memoryId"] for hit in hits] == [memory_id]


async def test_the_message_that_took_it_back_stands_beside_the_quotes(remora: Asking, folder: str) -> None:
    await said(remora, folder, SAID, session="s-one")
    text = "If pg-fixture does not answer, run make db first, and wait for port 5433."
    await said(remora, folder, text, session="s-two")
    memory_id = (await decide(remora, folder, await a_note(remora, folder, text, text, session="s-two"), "keep"))[
        "memoryId"
    ]
    await a_need(remora, folder)
    claim = await remora.claim()
    packet = claim["packet"]
    assert packet is not None and packet["items"][0]["memoryId"] == memory_id
    ids = {"packetId": packet["packetId"], "claimId": claim["claimId"]}
    await remora.ask("inbox.delivered", sessionId=SESSION, agentId=AGENT, **ids)
    wrong = "That memory is wrong, the database listens on another port by now."
    await remora.append(a_prompt(wrong, workspace=folder, event_id="take-back"))
    rows = await remora.world.parts.evidence.of_memory(memory_id)
    assert EvidenceKind.CORRECTION in [row.kind for row in rows]
    (one,) = await waiting(remora, folder)
    shown = await got(remora, folder, one["item"]["itemId"])
    assert [cited["kind"] for cited in shown["said"]] == [QUOTE, CORRECTION]
    assert shown["said"][1]["quote"] == wrong
