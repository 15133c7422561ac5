"""Issue 7, point 2: on real transcripts windows cover each message that a user wrote once, and nothing that a machine
wrote, no injected block and no tool's body reaches a model, in notes or in checkpoints.
"""

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from governance.formation.contracts import (
    ExtractL1Request,
    ExtractL1Result,
    FinishReason,
    Message,
    ModelRequest,
    ModelResponse,
    RangeStatus,
    RunStatus,
    ToolCall,
)
from governance.formation.formats import Formats
from governance.formation.notes import Setting, extract_l1
from governance.formation.prompts import load
from host.errors import ProtocolFault
from host.formation.ports import Ask
from host.namespace import name
from host.transcripts import READERS, read, recognise
from recall.contracts import EventEnvelope
from tests.support.canaries import CANARY, MARK, Planter, planted
from tests.support.clock import START
from tests.support.formed import ON
from tests.support.world import World, a_world

DATA = Path(__file__).resolve().parents[1] / "data" / "transcripts"
FILES = sorted([*DATA.glob("claude/**/*.jsonl"), *DATA.glob("codex/*.jsonl"), *DATA.glob("quirks/*.jsonl")])
TRIMMED = ("cc-2.1.x-all-record-types", "codex-all-record-types")  # one text stands for many: what is one is not told
AHEAD = 5  # new messages of a window: small, so that there are many


class Silent:
    """A model that reads and finds nothing. `shown`: all that it was sent, a text a call."""

    id = "scripted:silent"

    def __init__(self) -> None:
        self.shown: list[str] = []

    async def complete(self, request: ModelRequest) -> ModelResponse:
        self.shown.append("\n".join([request.system, *(message.content for message in request.messages)]))
        nothing: dict[str, object] = {"notes": [], "status": "complete", "items": []}
        wanted = next((tool for tool in request.tools if tool.name == request.tool_choice), None)
        known = {} if wanted is None else wanted.schema.get("properties", {})
        assert isinstance(known, dict)
        arguments = {key: value for key, value in nothing.items() if key in known}
        call = ToolCall(id="c", name=request.tool_choice, arguments=arguments)
        return ModelResponse(text="", finish_reason=FinishReason.TOOL_CALLS, tool_calls=(call,))


def events_of(path: Path) -> tuple[list[EventEnvelope], Planter]:
    """The events of a transcript with marks, and what was put into it."""
    lines = path.read_bytes().splitlines(keepends=True)
    host = recognise(lines)
    if host is None:
        return [], Planter()
    marked, planter = planted(lines, host)
    events = [replace(one, workspace=one.workspace or "/w") for one in read(READERS[host](path.stem), marked)]
    return events, planter


async def taken(world: World, path: Path) -> tuple[list[str], Planter]:
    """The sessions of a transcript, in the log; and what was put into it."""
    events, planter = events_of(path)
    assert planter.canaries or not planter.marks
    for event in events:
        with suppress(ProtocolFault):  # one that cannot be stored, as an import passes over it
            await world.parts.eventlog.append([event], START, past=True)
    return [one.session_id for one in await world.parts.eventlog.sessions()], planter


def expected(path: Path, planter: Planter) -> Counter[str]:
    """Each mark once; of a file that holds a subagent alone none, for its prompts are an agent's words."""
    return Counter({} if "subagent" in str(path.relative_to(DATA)) else dict.fromkeys(planter.marks, 1))


async def windows(world: World, session: str, model: Silent) -> tuple[list[ExtractL1Result], tuple[Message, ...]]:
    """Every window of a session, one after the other."""
    messages = await world.parts.formation.material.messages(session, -1, 2**40)
    setting = Setting(prompt=load("notes@1"), formats=Formats(prefix=name()), now=world.clock.now)
    request = ExtractL1Request(
        run_id="run", scope_key="ws", stream_id=session, messages=messages, max_new_messages=AHEAD
    )
    found: list[ExtractL1Result] = []
    continuation = None
    while True:
        found.append(await extract_l1(model, replace(request, continuation=continuation), setting))
        assert found[-1].status in (RunStatus.COMPLETED, RunStatus.PARTIAL), found[-1].error
        continuation = found[-1].continuation
        if continuation is None:
            return found, messages


@pytest.mark.promise("formation-covers")
@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(DATA).with_suffix("")) for path in FILES])
async def test_windows_of_notes_cover_each_message_of_the_user_once_and_show_nothing_else(
    tmp_path: Path, path: Path
) -> None:
    async with a_world(tmp_path / "data", formation=ON) as world:
        sessions, planter = await taken(world, path)
        seen: Counter[str] = Counter()
        for session in sessions:
            model = Silent()
            found, messages = await windows(world, session, model)
            new = Counter(one for result in found for one in result.coverage.new_ids)
            sendable = [one.id for one in messages if one.content.strip()]
            assert new == Counter(sendable), "each window goes on where the last one ended"
            assert CANARY not in "\n".join(model.shown)
            texts = [one.content for one in messages if one.role == "user"]
            seen.update(mark for text in texts for mark in MARK.findall(text))

        if path.stem not in TRIMMED:
            assert seen == expected(path, planter)


@pytest.mark.promise("formation-covers")
@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(DATA).with_suffix("")) for path in FILES])
async def test_checkpoints_show_each_message_of_the_user_once_and_nothing_else(tmp_path: Path, path: Path) -> None:
    async with a_world(tmp_path / "data", formation=ON) as world:
        sessions, planter = await taken(world, path)
        model = world.parts.formation.driver = Silent()
        for session in sessions:
            for _ in range(50):
                results = await world.parts.formation.run(Ask(session_id=session))
                if results[-1].status is RangeStatus.NO_RANGE or not results[-1].through_seq:
                    break
                assert {one.status for one in results} <= {RangeStatus.SKIPPED, RangeStatus.NO_RANGE}, results
                if any(one.idempotent for one in results):
                    break

        shown = "\n".join(model.shown)
        assert CANARY not in shown
        evidence = [json.loads(row) for row in shown.splitlines() if row.startswith("{") and '"sourceRef"' in row]
        seen = Counter(mark for row in evidence for mark in MARK.findall(json.dumps(row, ensure_ascii=False)))
        if path.stem not in TRIMMED:
            said = Counter({mark: count for mark, count in seen.items() if mark not in planter.commands})
            assert said == expected(path, planter) - Counter(planter.commands)
            assert all(count == 1 for count in seen.values())
