"""What a note's window showed, out of the log as it stands now."""

from governance.formation.store import notes
from host.packets import Packets
from tests.support.asking import Asking
from tests.support.noted import SAID, a_note, said


async def test_the_packet_of_a_note_is_what_it_was_made_of(remora: Asking, folder: str) -> None:
    await said(remora, folder, "Hello.", SAID)
    item = await a_note(remora, folder)
    note = await remora.world.parts.kept.read(lambda connection: notes.note_of(connection, item["itemId"]))
    packet = await Packets(remora.world.parts).of_note(item["itemId"])
    assert note is not None and packet is not None
    assert packet.evidence_digest == note.evidence_digest
    assert [source.content for source in packet.sources] == [SAID]


async def test_what_is_no_note_has_none(remora: Asking, folder: str) -> None:
    assert await Packets(remora.world.parts).of_note("note_none") is None


async def test_of_messages_that_the_log_let_go_of_nothing_can_be_built(remora: Asking, folder: str) -> None:
    await said(remora, folder, SAID)
    item = await a_note(remora, folder)
    await remora.world.parts.main.write(lambda connection: connection.execute("DELETE FROM event"))
    assert await Packets(remora.world.parts).of_note(item["itemId"]) is None
