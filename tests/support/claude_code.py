"""A Claude Code session as a daemon meets it: its hooks call, and its transcript grows beside them."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from host.connection import Reply
from host.hooks import Hooks
from host.transcripts.records import millis
from recall.contracts import EventEnvelope, EventType
from tests.support.world import World

Json = dict[str, Any]
DATA = Path(__file__).resolve().parents[1] / "data" / "hosts" / "claude-code"
HOST = "claude-code"
BEGUN = millis("2026-11-29T19:21:45.110Z") or 0  # when the capture `basic` began: `at_s` counts from here


class ClaudeCode:
    """Tells hooks of one session. `said` is what the model would have been given."""

    def __init__(self, world: World, session: str = "cc-1", hooks: Hooks | None = None) -> None:
        self.world = world
        self.session = session
        self.hooks = hooks or Hooks(world.parts)
        self.cwd = world.workspace()
        self.transcript = world.folder / f"{session}.jsonl"
        self.said: list[str] = []

    async def hook(self, event: str, **fields: Any) -> Reply:
        """One hook call, and the passes that it starts."""
        base = {"session_id": self.session, "cwd": self.cwd, "hook_event_name": event, "prompt_id": "p1"}
        told = base | {"transcript_path": str(self.transcript)} | fields
        reply = await self.heard(json.dumps(told).encode())
        if event == "UserPromptSubmit":  # written once its hooks have answered
            said = {"role": "user", "content": told["prompt"]}
            self.writes({"type": "user", "promptId": told["prompt_id"], "message": said})
        return reply

    async def heard(self, raw: bytes) -> Reply:
        reply = await self.hooks.heard(HOST, raw)
        for runtime in self.world.parts.sessions.agents(self.session):
            await self.world.settled(runtime)
        return reply

    async def given(self, event: str, **fields: Any) -> str:
        """The text that a hook's answer puts before the model, once the answer was written; empty: silence."""
        reply = await self.hook(event, **fields)
        await reply.written()
        text = said(reply)
        self.said += [text] if text else []
        return text

    async def fails(self, error: str, command: str = "make integration-test") -> None:
        """A shell command that fails: its call and its result, told by one hook."""
        call_id = f"toolu_{len(await self.logged())}"
        call = {"tool_name": "Bash", "tool_use_id": call_id, "tool_input": {"command": command}}
        await self.hook("PostToolUseFailure", error=error, **call)

    def writes(self, *records: Json) -> None:
        """The host adds records to the session's transcript."""
        with self.transcript.open("a", encoding="utf-8") as file:
            for record in records:
                file.write(json.dumps({"sessionId": self.session} | record) + "\n")

    def replies(self, text: str, at: str = "2026-11-29T20:00:00.000Z", message_id: str = "msg_1") -> None:
        message = {"id": message_id, "role": "assistant", "content": [{"type": "text", "text": text}]}
        self.writes({"type": "assistant", "timestamp": at, "message": message, "uuid": message_id})

    def types(self, text: str, at: int, prompt_id: str) -> None:
        """A prompt is written, whatever its hook came to. `at`: epoch ms."""
        said = {"role": "user", "content": text}
        self.writes({"type": "user", "promptId": prompt_id, "timestamp": _iso(at), "message": said, "uuid": prompt_id})

    def runs(self, command: str, output: str, at: int, call_id: str) -> None:
        """A call and its result are written, whatever their hooks came to."""
        call = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": call_id, "content": output}
        asked = {"id": f"msg_{call_id}", "role": "assistant", "content": [call]}
        answered = {"role": "user", "content": [result]}
        self.writes(
            {"type": "assistant", "timestamp": _iso(at), "message": asked, "uuid": f"a_{call_id}"},
            {"type": "user", "timestamp": _iso(at + 1), "message": answered, "uuid": f"u_{call_id}"},
        )

    def puts_before_the_model(self, text: str) -> None:
        """The host writes down which hook text it has given to its model."""
        self.writes({"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [text]}})

    async def events(self) -> list[tuple[str, Json]]:
        """What the log holds of this session."""
        return [(one.event_type, json.loads(bytes(one.payload))) for one in await self.logged()]

    async def replied(self) -> list[str]:
        """The agent's own words in the log."""
        return [told["text"] for kind, told in await self.events() if kind == EventType.ASSISTANT_MESSAGE]

    async def logged(self) -> tuple[EventEnvelope, ...]:
        return await self.world.parts.eventlog.replay(self.session)


def _iso(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat()


def said(reply: Reply) -> str:
    if not reply.result:
        return ""
    assert isinstance(reply.result, bytes)
    text: str = json.loads(reply.result)["hookSpecificOutput"]["additionalContext"]
    return text


def captured(scenario: str) -> Iterator[tuple[int, Json, list[Json]]]:
    """Each hook call of a capture: its time, its payload, and the transcript's records that came before it."""
    left = [json.loads(line) for line in (DATA / scenario / "transcript.jsonl").read_text("utf-8").splitlines()]
    for line in (DATA / scenario / "hook_payloads.jsonl").read_text("utf-8").splitlines():
        told = json.loads(line)
        now = BEGUN + round(told["at_s"] * 1000)
        count = next((n for n, one in enumerate(left) if (millis(one.get("timestamp")) or 0) > now), len(left))
        yield now, told["payload"], left[:count]
        left = left[count:]
