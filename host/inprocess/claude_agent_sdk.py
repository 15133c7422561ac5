"""Claude Agent SDK: hook callbacks.

    memory = Memory(Companion(start=True))
    options = ClaudeAgentOptions(hooks=memory.hooks())

The SDK runs Claude Code and hands its hook calls to us. They go to the daemon as they are, and what it says goes back
as the call's additional context: behind the prompt, or behind the results of a batch of tools. A callback always
answers in the companion's own time, because one that Claude Code has to give up blocks what it was called for.
Subagents get nothing. No callback is called when a session starts, only when one goes on after a compaction: a start is
told with the first prompt.
"""

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from claude_agent_sdk import HookMatcher

from host.inprocess.companion import Companion
from host.inprocess.talk import Call
from host.namespace import name
from host.protocol import FRAME_BYTES, LARGE_FRAME_BYTES, LARGE_FRAMES
from recall.contracts import Frozen

HOST = "claude-agent-sdk"
START, PROMPT, BATCH = "SessionStart", "UserPromptSubmit", "PostToolBatch"
EVENTS = (
    START,
    PROMPT,
    "PostToolUse",
    "PostToolUseFailure",
    BATCH,
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
)
SPEAKING = frozenset({START, PROMPT, BATCH})
COMPACTING = frozenset({"PreCompact", "PostCompact", "SubagentStop"})  # the summary is written by a subagent
ANSWERED = frozenset({"PostToolUse", "PostToolUseFailure", BATCH, "Stop"})  # before these the model has answered
PATIENCE_SECONDS = 10  # that Claude Code gives a callback: far more than one takes
SESSIONS_KEPT = 1_024
ROOM_BYTES = 4_096  # of a frame, for what stands around a payload

Payload = Mapping[str, Any]


class _Claim(Frozen, frozen=True, kw_only=True):
    """What `inbox.delivered` and `inbox.release` want to know."""

    session_id: str
    agent_id: str
    packet_id: str
    claim_id: str

    def call(self, method: str, **more: str) -> Call:
        return Call(method=method, params=msgspec.to_builtins(self) | more)


class _Answer(Frozen, frozen=True, kw_only=True):
    output: dict[str, Any] | None = None
    claim: _Claim | None = None


class _Session:
    """One session: whether its start was told, whether it was compacted since, and what was said and not settled."""

    def __init__(self) -> None:
        self.begun = self.compacted = False
        self.said: list[_Claim] = []


class Memory:
    """What was learned, at the step where it matters. One for any number of clients and sessions."""

    def __init__(self, companion: Companion | None = None) -> None:
        self._companion = companion or Companion()
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    def hooks(self, own: Mapping[Any, Sequence[HookMatcher]] | None = None) -> dict[Any, list[HookMatcher]]:
        """For `ClaudeAgentOptions(hooks=…)`: our callbacks, behind those of `own`."""
        hooks = {event: list(matchers) for event, matchers in (own or {}).items()}
        for event in EVENTS:
            hooks.setdefault(event, []).append(HookMatcher(hooks=[self.called], timeout=PATIENCE_SECONDS))
        return hooks

    async def called(self, payload: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        """The callback of every event."""
        claims: list[_Claim] = []
        try:
            text = await self._heard(payload, claims)
        except Exception as error:  # noqa: BLE001  (boundary: a connection; the agent must not notice)
            self._companion.problem = f"The adapter {HOST} failed: {type(error).__name__}: {error}"
            self._companion.give_back(_released(claims))
            return {}
        except BaseException:  # Claude Code does not wait any more
            self._companion.give_back(_released(claims))
            raise
        if not text:
            return {}
        output = {"hookEventName": payload["hook_event_name"], "additionalContext": text}
        return {"hookSpecificOutput": output}

    async def _heard(self, payload: Payload, claims: list[_Claim]) -> str:
        """Tell the call, and what no callback is called for. Returns what may be said, and adds to `claims` whose it
        is."""
        event, speaks = payload["hook_event_name"], payload["hook_event_name"] in SPEAKING
        if payload.get("agent_id") or event in COMPACTING:
            if event == "PreCompact":
                self._session(payload).compacted = True
            await self._companion.exchange(_calls(payload))
            return ""
        session, texts = self._session(payload), []
        if event in ANSWERED:
            settled, session.said = session.said, []
            await self._companion.exchange([claim.call("inbox.delivered") for claim in settled])
        if event == START:
            session.begun, session.compacted = True, False
        elif session.compacted or (event == PROMPT and not session.begun):
            start = await self._start(payload, session)
            texts.append(await self._said(start, claims))
        texts.append(await self._said(payload, claims))
        if not speaks:
            await self._companion.exchange(_released(claims))
            return ""
        session.said.extend(claims)
        return "\n\n".join(text for text in texts if text)

    async def _start(self, payload: Payload, session: _Session) -> Payload:
        """The call that Claude Code makes at a start, and no callback hears."""
        source = "compact"
        if not session.compacted:
            known = await self._companion.exchange(
                [Call(method="session.status", params={"sessionId": payload["session_id"]})]
            )
            source = "startup" if known is None else "resume"
        session.begun, session.compacted = True, False
        shared = {key: payload[key] for key in ("session_id", "transcript_path", "cwd") if key in payload}
        return {**shared, "hook_event_name": "SessionStart", "source": source}

    async def _said(self, payload: Payload, claims: list[_Claim]) -> str:
        """Tell one call. Returns the text that the daemon answers."""
        answer = await self._companion.exchange(_calls(payload))
        said = _Answer() if answer is None else msgspec.json.decode(answer, type=_Answer)
        if said.claim is not None:
            claims.append(said.claim)
        text = ((said.output or {}).get("hookSpecificOutput") or {}).get("additionalContext")
        return text if isinstance(text, str) else ""

    def _session(self, payload: Payload) -> _Session:
        session = self._sessions.setdefault(payload["session_id"], _Session())
        self._sessions.move_to_end(payload["session_id"])
        while len(self._sessions) > SESSIONS_KEPT:
            self._sessions.popitem(last=False)
        return session


def _released(claims: Sequence[_Claim]) -> list[Call]:
    """What was claimed is not said after all."""
    return [claim.call("inbox.release", reason="the hook call was not answered") for claim in claims]


def _calls(payload: Payload) -> list[Call]:
    """The daemon's `hook` with this payload; nothing for one that no frame takes."""
    raw = json.dumps(payload).encode("ascii")
    hook = Call(method="hook", params={"host": HOST, "payload": msgspec.Raw(raw), "acknowledge": True})
    if len(raw) < FRAME_BYTES - ROOM_BYTES:
        return [hook]
    hello = Call(method="hello", params={"client": name(), "capabilities": [LARGE_FRAMES]})
    return [hello, hook] if len(raw) < LARGE_FRAME_BYTES - ROOM_BYTES else []
