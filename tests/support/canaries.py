"""Transcripts with marks: one in each text that a person wrote, and a canary in everything else that they hold.

What a person wrote is told here by rules of its own, simpler than the readers' are, so that these can be wrong.
"""

import json
import re
from typing import Any

from host.frame import close_line, open_line

CANARY = "CANARY7f3a"
MARK = re.compile(r"MARK-\d+-KRAM")
PACKET = f"{open_line('0123456789abcdef')}\n| {CANARY}: use npm.\n{close_line('0123456789abcdef')}"
_MACHINE = (
    "<",
    "[Request interrupted",
    "Caveat: The messages below",
    "This session is being continued",
    "# AGENTS.md instructions",
    "Another language model started",
    "PreToolUse:",
    "PostToolUse:",
    "Stop hook feedback",
)
_STRUCTURE = frozenset({"type", "subtype", "role", "name", "id", "uuid", "status", "level", "cwd", "timestamp"})
_ASKED = "## My request for Codex:"  # editors put the open files in front of it
_NAMES = ("id", "uuid", "path")
Json = dict[str, Any]


class Planter:
    """`marks`: those that were put into a person's words, each once. `commands`: those of them that stand in slash
    commands."""

    def __init__(self) -> None:
        self.marks: list[str] = []
        self.commands: set[str] = set()
        self.canaries = 0
        self._of: dict[str, str] = {}  # a text that a product writes down twice has one mark

    def line(self, raw: bytes, host: str) -> bytes:
        """The line with its marks. One that is no JSON object stays as it is."""
        try:
            record = json.loads(raw)
        except ValueError:
            return raw
        if not isinstance(record, dict):
            return raw
        (self._claude if host == "claude-code" else self._codex)(record)
        return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"

    # ------------------------------------------------------------------ products

    def _claude(self, record: Json) -> None:
        kind, message = record.get("type"), record.get("message")
        if kind == "user" and isinstance(message, dict):
            record.pop("toolUseResult", None) if isinstance(record.get("toolUseResult"), str) else None
            machine = any(record.get(key) is True for key in ("isMeta", "isSidechain", "isCompactSummary"))
            machine = machine or isinstance(record.get("origin"), dict) or record.get("promptSource") == "system"
            self._content(message, machine=machine)
        elif kind == "assistant" and isinstance(message, dict):
            for block in _blocks(message):
                match block.get("type"):
                    case "thinking":
                        block["thinking"] = self._canary(str(block.get("thinking", "")))
                    case "tool_use":
                        self._deep(block.get("input"))
                    case "text" if record.get("isSidechain") is True:
                        block["text"] = self._canary(str(block.get("text", "")))
        elif kind in ("system", "attachment", "progress", "summary"):
            self._deep(record)

    def _codex(self, record: Json) -> None:
        kind, payload = record.get("type"), record.get("payload")
        if not isinstance(payload, dict):
            return
        inner = payload.get("type")
        if kind == "response_item" and inner == "message":
            if payload.get("role") == "user":
                self._content(payload, machine=False, same=True)
            elif payload.get("role") != "assistant":
                self._content(payload, machine=True)
        elif kind == "response_item" and isinstance(payload.get("arguments"), str):
            payload["arguments"] = self._arguments(payload["arguments"])
        elif kind == "response_item" and inner in ("function_call_output", "custom_tool_call_output"):
            if isinstance(payload.get("output"), str):
                payload["output"] = self._canary(payload["output"])
        elif kind == "response_item" and inner == "reasoning":
            self._deep(payload.get("summary"))
        elif kind == "event_msg" and inner == "user_message" and isinstance(payload.get("message"), str):
            payload["message"] = self._text(payload["message"], machine=False, same=True)
        elif kind == "event_msg" and inner in ("agent_reasoning", "exec_command_end"):
            self._deep(payload)
        elif kind == "compacted" and isinstance(payload.get("message"), str):
            payload["message"] = self._canary(payload["message"])

    # ------------------------------------------------------------------ texts

    def _content(self, message: Json, *, machine: bool, same: bool = False) -> None:
        if isinstance(message.get("content"), str):
            message["content"] = self._text(message["content"], machine=machine, same=same)
        results = any(block.get("type") == "tool_result" for block in _blocks(message))
        for block in _blocks(message):
            if block.get("type") == "tool_result":
                self._result(block)
            elif isinstance(block.get("text"), str):
                block["text"] = self._text(block["text"], machine=machine or results, same=same)

    def _text(self, text: str, *, machine: bool, same: bool = False) -> str:
        if text.lstrip().startswith("<command-") and not machine:
            return self._command(text)
        if machine or text.lstrip().startswith(_MACHINE):
            return self._canary(text)
        if not text.strip() or re.fullmatch(r"\s*/[\w:.-]+\s*", text):
            return text
        if same and text in self._of:
            return self._of[text]
        mark = f"MARK-{len(self.marks)}-KRAM"
        self.marks.append(mark)
        self.canaries += 1
        if text.lstrip().startswith("/"):
            self.commands.add(mark)
        before, asked, own = text.rpartition(_ASKED)
        body = f"{text} {mark}" if text.lstrip().startswith("/") else f"{before}{asked}{mark} {own}"
        self._of[text] = f"{body}\n{PACKET}"
        return self._of[text]

    def _command(self, text: str) -> str:
        """A slash command as the product writes it down: what stands after its name is the user's."""
        text = re.sub(r"(<command-message>)(.*?)(</command-message>)", rf"\1\2 {CANARY}\3", text, flags=re.DOTALL)
        self.canaries += 1
        words = re.search(r"<command-args>(.*?)</command-args>", text, re.DOTALL)
        if words is None or not words[1].strip():
            return text
        mark = f"MARK-{len(self.marks)}-KRAM"
        self.marks.append(mark)
        self.commands.add(mark)
        return text.replace("</command-args>", f" {mark}</command-args>")

    def _result(self, block: Json) -> None:
        if isinstance(block.get("content"), str):
            block["content"] = self._canary(block["content"])
        for inner in block["content"] if isinstance(block.get("content"), list) else ():
            if isinstance(inner, dict) and isinstance(inner.get("text"), str):
                inner["text"] = self._canary(inner["text"])

    def _canary(self, text: str) -> str:
        """Within the last block, where the text is one."""
        self.canaries += 1
        head, tag, tail = text.rpartition("</")
        return f"{head} {CANARY} {tag}{tail}" if tag else f"{text} {CANARY}"

    def _arguments(self, text: str) -> str:
        try:
            given = json.loads(text)
        except ValueError:
            return text
        self._deep(given)
        return json.dumps(given)

    def _deep(self, value: object) -> None:
        """Every text below a value but those that say what it is."""
        if isinstance(value, dict):
            for key, inner in value.items():
                if (
                    isinstance(inner, str)
                    and key not in _STRUCTURE
                    and not key.lower().endswith(("id", "uuid", "path"))
                ):
                    value[key] = self._canary(inner)
                elif not isinstance(inner, str):
                    self._deep(inner)
        elif isinstance(value, list):
            for place, inner in enumerate(value):
                if isinstance(inner, str):
                    value[place] = self._canary(inner)
                else:
                    self._deep(inner)


def planted(lines: list[bytes], host: str) -> tuple[list[bytes], Planter]:
    """The lines of a transcript with marks and canaries."""
    planter = Planter()
    return [planter.line(raw, host) for raw in lines], planter


def _blocks(message: Json) -> list[Json]:
    content = message.get("content")
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
