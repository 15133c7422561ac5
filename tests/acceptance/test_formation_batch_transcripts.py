"""Real session files, read in batches: each message of the user is new in one window, and nothing of machines is shown.

A canary is planted in everything that the user did not write and the agent did not say: results and arguments of tools,
reasoning, records that a harness wrote, summaries, and blocks beside the user's words.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from governance.formation.contracts import Pipeline, RangeStatus
from governance.formation.quality import judged
from host.formation.ports import Ask
from host.models.scripted import Script, Scripted, Step
from host.past_sessions import events, opened, ordered
from recall.contracts import EventEnvelope, SourceKind
from tests.support.asking import Asking
from tests.support.batching import ids_in
from tests.support.formed import ON
from tests.support.world import World, a_world

TRANSCRIPTS = Path("tests/data/transcripts")
FILES = [*sorted(TRANSCRIPTS.glob("claude/*.jsonl")), *sorted(TRANSCRIPTS.glob("codex/*.jsonl"))]
FILES += sorted(TRANSCRIPTS.glob("quirks/q0[78]*.jsonl"))
CANARY = "canary-quokka"
AT_ONCE = 200  # events in a call
BESIDE = f"\n<system-reminder>\n{CANARY} beside\n</system-reminder>"
Json = dict[str, Any]


def planted(line: str) -> str:
    """A line of a session file with canaries in what is no message of user or agent."""
    try:
        record = json.loads(line)
    except ValueError:
        return line
    if not isinstance(record, dict):
        return line
    if isinstance(record.get("payload"), dict):
        _plant_codex(record)
    elif isinstance(record.get("message"), dict):
        _plant_claude(record)
    elif "summary" in record:
        record["summary"] = f"{CANARY} {record['summary']}"
    return json.dumps(record)


def _plant_claude(record: Json) -> None:
    message = record["message"]
    machine = bool(record.get("isMeta") or record.get("isCompactSummary"))
    content = message.get("content")
    if isinstance(content, str):
        if record.get("type") == "user" and content.strip():
            message["content"] = f"{content}\n{CANARY}" if machine or content.startswith("<") else content + BESIDE
        return
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, dict):
            continue
        match block.get("type"):
            case "tool_result":
                block["content"] = f"{CANARY} {json.dumps(block.get('content'))}"
            case "tool_use":
                block["input"] = {**(block.get("input") or {}), "command": f"echo {CANARY}"}
            case "thinking":
                block["thinking"] = f"{CANARY} {block.get('thinking')}"
            case "text" if machine:
                block["text"] = f"{block['text']}\n{CANARY}"


def _plant_codex(record: Json) -> None:
    payload = record["payload"]
    match payload.get("type"):
        case "function_call_output" | "custom_tool_call_output":
            payload["output"] = f"{CANARY} {payload.get('output')}"
        case "function_call":
            payload["arguments"] = json.dumps({"command": ["echo", CANARY]})
        case "reasoning":
            payload["summary"] = [{"type": "summary_text", "text": CANARY}]
        case "message" if payload.get("role") == "user":
            for block in payload.get("content") or ():
                text = block.get("text", "") if isinstance(block, dict) else ""
                if text.startswith("<environment_context>"):
                    block["text"] = text.replace("</environment_context>", f"{CANARY}</environment_context>")


def read(path: Path) -> Iterator[EventEnvelope]:
    for past in ordered([path]):
        if past.host:
            with opened(past.path) as file:
                yield from events(past, file)


async def imported(world: World, path: Path) -> list[str]:
    """Take a session file in as history; its sessions."""
    remora = Asking(world)
    by_session: dict[str, list[EventEnvelope]] = {}
    for event in read(path):
        by_session.setdefault(event.session_id, []).append(event)
    for number, told in enumerate(by_session.values()):
        sent = [json.loads(msgspec.json.encode(one)) for one in told]
        for start in range(0, len(sent), AT_ONCE):
            part, through = sent[start : start + AT_ONCE], min(len(sent), start + AT_ONCE)
            given = {"file": f"{path}{number}", "through": through, "events": part, "last": through == len(sent)}
            await remora.ask("history.append", **given)
    await world.parts.tasks.settled()
    return [one for one in by_session if await world.parts.eventlog.last(one) is not None]


async def said_by_the_user(world: World, session: str) -> Counter[str]:
    """The texts of the log that the user wrote and that qualify, cleaned as they are shown."""
    found: Counter[str] = Counter()
    for event in await world.parts.formation.material.read(session, -1, 2**31):
        shown = judged(event.text, event.role)
        if event.role == "user" and shown.noise is None:
            found[event.message_id] += 1
    return found


@pytest.mark.promise("formation-22", "formation-21")
@pytest.mark.parametrize("source", FILES, ids=lambda path: path.stem)
async def test_each_message_of_the_user_is_new_in_one_window_and_no_canary_is_shown(
    tmp_path: Path, source: Path
) -> None:
    path = tmp_path / source.name
    raw = source.read_text("utf-8", "surrogateescape")
    path.write_text("\n".join(map(planted, raw.split("\n"))), "utf-8", "surrogateescape")
    async with a_world(tmp_path / "data", formation=ON) as world:
        for session in await imported(world, path):
            model = world.parts.formation.driver = Scripted(script=Script(otherwise=Step(json=[])))
            wanted = await said_by_the_user(world, session)

            results = await world.parts.formation.run(Ask(session_id=session, pipeline=Pipeline.BATCH))

            if results[0].reason == "scope-unset":  # the file names no folder: there is nobody whose memories they are
                assert model.requests == []
                continue
            assert {one.status for one in results} <= {RangeStatus.SKIPPED, RangeStatus.NO_RANGE}
            shown = [request.messages[0].content for request in model.requests]
            new = [line for text in shown for line in text.splitlines() if '"use":"new"' in line]
            users = Counter(ids_in(line)[0] for line in new if '"role":"user"' in line)
            assert users == wanted
            assert CANARY not in "\n".join(shown)
            assert sum(users.values()) <= await typed(world, session)


async def typed(world: World, session: str) -> int:
    """How many messages of the user the log holds."""
    stored = await world.parts.eventlog.of_types(session, ("user/message",))
    return sum(one.source_kind is SourceKind.USER for one in stored)


def test_the_files_hold_what_the_test_is_about() -> None:
    assert len(FILES) >= 18
    text = "\n".join(planted(line) for path in FILES for line in path.read_text("utf-8", "replace").split("\n"))
    assert text.count(CANARY) > 500
