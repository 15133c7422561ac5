"""The scope scenarios of the adversarial fixtures, bound to the wire: what every session is told is written down.

An `event` is the session's own, and unless another session of the same project asks for it later, a memory of that
project says it too: so that there is something to leak. A `claim` asks every door there is: a prompt and a failing call
with those words, their packets, the search, the list, the audit and what it explains.
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from governance.contracts import AuditKind
from host.errors import ProtocolFault
from host.protocol import Malformed, read_line
from tests.support.asking import Asking
from tests.support.builders import a_call, a_prompt, a_reply, a_result

Step = dict[str, Any]
NEED = "the kiwi-gateway answers with UPGRADE FAILED: timed out waiting for the condition"


class Scoped:
    """One scenario. `told`: session -> every reply that it got, as text; `refused`: the faults among them."""

    def __init__(self, remora: Asking, steps: list[Step]) -> None:
        self.remora = remora
        self.steps = steps
        self.told: defaultdict[str, list[str]] = defaultdict(list)
        self.refused: list[ProtocolFault] = []
        self.memories: dict[str, str] = {}  # session -> the memory that says what its event said
        self._calls = 0

    def folder(self, project: str) -> str:
        """The project's folder, spelled as the scenario spells it."""
        base = self.remora.world.folder / "work"
        path = f"{base}{project}" if project.startswith("/") else f"{base}/{project}"
        Path(path.rstrip("/")).resolve().mkdir(parents=True, exist_ok=True)
        Path(path.split("/../")[0].rstrip("/")).mkdir(parents=True, exist_ok=True)
        return path

    async def play(self) -> None:
        for step in self.steps:
            await getattr(self, f"_{step['op']}")(step)

    async def say(self, session: str, method: str, **params: Any) -> Any:
        """Ask, and write the answer down, a fault as well."""
        try:
            answer = await self.remora.ask(method, **params)
        except ProtocolFault as fault:
            self.refused.append(fault)
            answer = {"kind": fault.kind, "problem": fault.problem, "next": fault.next_step}
        self.told[session].append(json.dumps(answer, ensure_ascii=False))
        return answer

    async def packet(self, session: str, project: str, agent: str) -> Any:
        """A need of that session, and what it is handed over then."""
        await self._need(session, project, agent, NEED)
        self._calls += 1
        return await self.say(
            session,
            "inbox.claim",
            sessionId=session,
            agentId=agent,
            surface="post-tool",
            requestId=f"need-{self._calls}",
            waitMs=2000,
        )

    def shared(self, step: Step) -> bool:
        """Whether another session, or another agent, of the same project asks later."""
        asks = [one for one in self.steps if one["op"] == "claim"]
        return any(
            one.get("project") == step["project"]
            and (one["session"], one.get("agent")) != (step["session"], step.get("agent"))
            for one in asks
        )

    async def _event(self, step: Step) -> None:
        folder, session, agent = self.folder(step["project"]), step["session"], step["agent"]
        known = {"session_id": session, "agent_id": agent, "workspace": folder}
        if step["sourceKind"] == "agent":
            events = [a_reply(step["text"], **known)]
        else:
            call = step.get("callId", f"c{step['seq']}")
            events = [a_call("run it", call_id=call, **known), a_result(step["text"], call_id=call, **known)]
        try:
            await self.remora.append(*events)
        except ProtocolFault as fault:
            self.refused.append(fault)
            return
        if not self.shared(step):
            text = f"When {NEED}: {step['text']}"
            self.memories[session] = await self.remora.world.remember(text, folder)

    async def _need(self, session: str, project: str, agent: str, words: str) -> None:
        self._calls += 1
        call, known = f"n{self._calls}", {"session_id": session, "agent_id": agent, "workspace": self.folder(project)}
        for event in (
            a_prompt(words, **known),
            a_call(words, call_id=call, **known),
            a_result(f"error: {words}\n{NEED}", call_id=call, **known),
        ):
            try:
                await self.remora.append(event)
            except ProtocolFault as fault:
                self.refused.append(fault)

    async def _claim(self, step: Step) -> None:
        session, project, agent, query = step["session"], step["project"], step["agent"], step["query"]
        folder = self.folder(project)
        await self._need(session, project, agent, query)
        for surface in ("user-prompt", "post-tool"):
            self._calls += 1
            owner = {"sessionId": session, "agentId": agent, "requestId": f"ask-{self._calls}"}
            claim = await self.say(session, "inbox.claim", surface=surface, waitMs=2000, **owner)
            packet = claim.get("packet")
            if packet:
                ids = {"packetId": packet["packetId"], "claimId": claim["claimId"]}
                await self.say(session, "inbox.delivered", sessionId=session, agentId=agent, **ids)
        await self.say(session, "memory.search", query=query, workspace=folder, explain=True)
        await self.say(session, "memory.list", workspace=folder)
        await self.say(session, "review.list", workspace=folder)
        for memory_id in self.memories.values():
            await self.say(session, "memory.get", memoryId=memory_id, workspace=folder) if (
                memory_id not in self._own(project)
            ) else None
        await self.say(session, "audit.query", sessionId=session)
        await self.say(session, "session.status", sessionId=session, agentId=agent)

    def _own(self, project: str) -> set[str]:
        """The memories of that project."""
        sessions = {one["session"] for one in self.steps if one["op"] == "event" and one["project"] == project}
        return {memory for session, memory in self.memories.items() if session in sessions}

    async def _claim_by_id(self, step: Step) -> None:
        packet, claim = await self._waiting(step["packet_of"])
        owner = {"sessionId": step["session"], "agentId": step["agent"]}
        await self._need(step["session"], step["project"], step["agent"], "anything")
        for method in ("inbox.delivered", "inbox.release"):
            await self.say(step["session"], method, packetId=packet, claimId=claim, **owner)

    async def _ack(self, step: Step) -> None:
        await self._claim_by_id(step)

    async def _waiting(self, session: str) -> tuple[str, str]:
        """A packet of that session that was claimed and not settled."""
        (event,) = (one for one in self.steps if one["op"] == "event" and one["session"] == session)
        claim = await self.packet(session, event["project"], event["agent"])
        return claim["packet"]["packetId"], claim["claimId"]

    async def _raw(self, step: Step) -> None:
        read = read_line(step["text"].encode())
        assert isinstance(read, Malformed)
        self.told[step["session"]].append(repr(read))

    async def _stats(self, step: Step) -> None:
        folder = self.folder(step["project"])
        for method, params in (
            ("metrics", {}),
            ("metrics", {"format": "prometheus"}),
            ("audit.stats", {}),
            ("audit.query", {"limit": 100}),
            ("workspace.get", {"workspace": folder}),
        ):
            await self.say(step["session"], method, **params)

    async def _end(self, step: Step) -> None:
        await self.say(step["session"], "session.close", sessionId=step["session"], agentId="ag1")

    async def _start(self, step: Step) -> None:
        folder = self.folder(step["project"])
        await self.say(step["session"], "session.open", sessionId=step["session"], workspace=folder)

    async def state_of(self, packet_id: str) -> str:
        slot = await self.remora.world.parts.inbox.find(packet_id)
        assert slot is not None
        return str(slot.state)

    async def delivered(self, session: str) -> list[str]:
        """The memories that the audit says were handed over in that session."""
        ref = self.remora.world.parts.audit.ref(session)
        entries = await self.remora.world.audit(kind=AuditKind.DELIVERY, session_ref=ref)
        return [one for entry in entries if entry.packet is not None for one in entry.packet.items]
