"""The poisoning, delimiter, Unicode and terminal fixtures through the whole product: what is heard of them, remembered
of them, told of them in a packet, shown of them in a terminal and written of them in a log.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from governance.screen import HIGH, is_instruction_like, screen
from host.consolidating import Consolidation
from host.contracts import Claimed
from host.sanitise import for_terminal
from recall.contracts import Attention, EventEnvelope, Flag, SourceKind
from tests.support.asking import Asking
from tests.support.builders import a_call, a_prompt, a_reply, a_result, an_event
from tests.support.world import World, a_world

DATA = Path(__file__).parents[1] / "data"
Record = dict[str, Any]
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
pytestmark = pytest.mark.promise("poison-stays-outside")


def records(path: str) -> list[Record]:
    return [json.loads(line) for line in (DATA / path).read_text(encoding="utf-8").splitlines()]


def text_of(record: Record) -> str:
    text: str = record["text"]
    if text.startswith("GEN:repeat:"):
        sign, _, times = text.removeprefix("GEN:repeat:").rpartition(":")
        return sign * int(times)
    return text


POISON = [
    record
    for record in records("screen/memory_poisoning.jsonl") + records("screen/third_party_injection.jsonl")
    if record["expect"] != "allow"
]
FORGED = records("adversarial/delimiter_forging.jsonl")
TERMINAL = records("adversarial/terminal_and_log.jsonl")
UNICODE = records("adversarial/unicode.jsonl")


def carried(record: Record, session: str, workspace: str) -> list[EventEnvelope]:
    """A session that meets the text where it came from: in a tool's output, an agent's words, a user's query."""
    place: dict[str, Any] = {"session_id": session, "workspace": workspace}
    source = record.get("source_kind", "tool")
    said = {
        "tool": a_result(record["text"], call_id=f"{session}-2", **place),
        "agent": a_reply(record["text"], **place),
        "user": a_prompt(record["text"], event_id=f"{session}-said", **place),
    }[source]
    page = an_event(
        "tool/result",
        {"tool": "WebFetch", "ok": True, "text": record["text"]},
        call_id=f"{session}-3",
        event_id=f"{session}-page",
        source_kind=SourceKind.TOOL,
        **place,
    )
    return [
        a_prompt("Please look at what the build says.", event_id=f"{session}-p", **place),
        a_call("make check", call_id=f"{session}-2", **place),
        *([a_result("make: *** [check] Error 2", call_id=f"{session}-2", **place)] if source != "tool" else []),
        said,
        page,
        a_call("make check", call_id=f"{session}-4", **place),
        a_result("done", ok=True, call_id=f"{session}-4", **place),
        an_event("session/end", {}, **place),
    ]


def pieces(text: str) -> list[str]:
    """Stretches of a text by which it is known again: six words, or twelve Chinese characters."""
    plain = " ".join(unicodedata.normalize("NFKC", text).split())
    words = plain.split(" ")
    if len(words) >= 6:
        return [" ".join(words[at : at + 6]) for at in range(len(words) - 5)]
    return [plain[at : at + 12] for at in range(max(1, len(plain) - 11))]


async def told(world: World, needs: Sequence[str]) -> list[str]:
    """All packets of new sessions that need what the texts speak of."""
    packets: list[str] = []
    for number, need in enumerate(needs):
        place: dict[str, Any] = {"session_id": f"later-{number}", "workspace": world.workspace()}
        await world.feed(
            a_prompt(need, **place),
            a_call("make check", call_id=f"n{number}", **place),
            a_result(f"make: *** [check] Error 2\n{need}", call_id=f"n{number}", **place),
        )
        claim = await world.claim(session=f"later-{number}")
        packets += [claim.packet.rendered] if isinstance(claim, Claimed) else []
    return packets


def known_again(text: str, places: Sequence[str]) -> bool:
    flat = [" ".join(unicodedata.normalize("NFKC", place).replace("\n| ", " ").split()) for place in places]
    return any(piece in place for piece in pieces(text) for place in flat)


def ours(line: str) -> bool:
    """Whether a packet's line is one of the template, or stands behind its gutter."""
    return re.match(r"\||</?remora-pre-memory |Memory: |More: |\d+\. mem_|   whole: ", line) is not None


async def test_no_text_of_a_poisoning_scenario_is_in_a_packet_or_a_memory_file(tmp_path: Path) -> None:
    async with a_world(tmp_path / "data", attention=Attention.EAGER) as world:
        consolidation = Consolidation(world.parts)
        for number, record in enumerate(POISON):
            await world.feed(*carried(record, f"s{number}", world.workspace()))
            await consolidation.session(await world.parts.sessions.endings.next())
        packets = await told(world, [record["text"] for record in POISON])
        files = [path.read_text(encoding="utf-8") for path in (tmp_path / "data").rglob("*.md")]

        assert files  # the sessions were told, as episodes
        assert [record["id"] for record in POISON if known_again(record["text"], packets)] == []
        assert [record["id"] for record in POISON if known_again(record["text"], files)] == []


async def test_what_somebody_writes_down_of_it_waits_for_a_person_or_is_told_as_reference(tmp_path: Path) -> None:
    """Kept by a person's own word: what reads like an order is kept back, the rest stands behind the gutter."""
    async with a_world(tmp_path / "data", attention=Attention.EAGER) as world:
        asking = Asking(world)
        for record in POISON:
            given = await asking.ask("memory.remember", text=record["text"], workspace=world.workspace())
            assert given["quarantined"] == is_instruction_like(record["text"])
        packets = await told(world, [record["text"] for record in POISON])
        kept_back = [record for record in POISON if is_instruction_like(record["text"])]

        assert len(kept_back) >= 20
        assert [record["id"] for record in kept_back if known_again(record["text"], packets)] == []
        assert len(packets) >= 10
        assert all(ours(line) for packet in packets for line in packet.split("\n"))


@pytest.mark.parametrize("record", FORGED + UNICODE + TERMINAL, ids=lambda record: record["id"])
async def test_a_text_that_forges_or_hides_is_kept_back_or_told_harmlessly(record: Record, tmp_path: Path) -> None:
    text = f"The heron gateway fails with ECONNREFUSED 5433 until it is warm. {text_of(record)[:4000]}"
    async with a_world(tmp_path / "data", attention=Attention.EAGER) as world:
        asking = Asking(world)
        if "\0" in text:
            refused = await asking.refused("memory.remember", text=text, workspace=world.workspace())
            assert refused.kind == "unsafe-text" and "\0" not in str(refused)
            return
        given = await asking.ask("memory.remember", text=text, workspace=world.workspace())
        packets = await told(world, ["The heron gateway fails with ECONNREFUSED 5433 until it is warm."])
        found = {finding.family for finding in screen(text) if finding.severity == HIGH}

        assert given["quarantined"] == bool({one for one in found if not one.startswith(("secret.", "pii."))})
        assert len(packets) == (0 if given["quarantined"] else 1)
        if record["expect"] == "keep":
            assert packets
        for packet in packets:
            assert packet.count("<") == unicodedata.normalize("NFKC", packet).count("<") == 2
            assert CONTROLS.search(packet) is None
            assert all(map(ours, packet.split("\n")))
        shown = await asking.ask("memory.get", memoryId=given["memoryId"], workspace=world.workspace())
        assert CONTROLS.search(for_terminal(shown["record"]["text"]).replace("\n", "")) is None
        assert (Flag.QUARANTINED in shown["record"]["flags"]) == given["quarantined"]
        logged = [json.dumps(call.kwargs, default=str) for call in world.logged.calls]
        assert not [line for line in logged if "heron gateway" in line]  # a log tells of ids and numbers


def test_a_hundred_and_twenty_legitimate_orders_pass() -> None:
    for language in ("en", "zh"):
        notes = (DATA / "screen" / f"orders_{language}.txt").read_text(encoding="utf-8").splitlines()
        assert len(set(notes)) >= 60
        assert [note for note in notes if any(one.severity == HIGH for one in screen(note))] == []
