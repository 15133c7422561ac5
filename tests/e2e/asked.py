"""A scripted model for clients that speak other protocols than Claude Code: each request as it was sent, and what of
it is conversation.

    with Asked(replies) as model:
        ...
        assert model.requests[1].mentions("…") == 1
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from tests.fake_model.fake_model import FakeModelServer, Log, Script

Json = dict[str, Any]
ENDINGS = ("/chat/completions", ":generateContent", ":streamGenerateContent")
SYSTEM = ("system", "developer")


def strings(value: object) -> Iterator[str]:
    """Every string of a JSON value, keys left out."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from strings(item)
        case dict():
            for item in value.values():
                yield from strings(item)


@dataclass(frozen=True)
class Asking:
    """One request as the model got it. `reply`: the label of the script's answer, "side" for one without tools."""

    reply: str
    at: float  # epoch seconds on arrival
    body: Json

    @property
    def turns(self) -> list[Json]:
        """The conversation: messages or contents, without the system prompt."""
        turns: list[Json] = self.body.get("messages") or self.body.get("contents") or []
        return [turn for turn in turns if turn.get("role") not in SYSTEM]

    def mentions(self, text: str) -> int:
        """How often the conversation holds `text`."""
        return sum(part.count(text) for part in strings(self.turns))

    def in_system(self, text: str) -> bool:
        """Whether the system prompt or the tool list holds `text`."""
        system = [turn for turn in self.body.get("messages", []) if turn.get("role") in SYSTEM]
        return any(
            text in part for part in strings([system, self.body.get("systemInstruction"), self.body.get("tools")])
        )

    def whole(self) -> str:
        return "\n".join(strings(self.body))


class _Watched(Log):
    """A request log in memory that calls back before the model answers."""

    def __init__(self, heard: Callable[[Asking], None]) -> None:
        super().__init__(None)
        self._heard = heard

    def write(self, entry: Json) -> None:
        if entry["method"] == "POST" and entry["path"].split("?")[0].endswith(ENDINGS):
            self._heard(Asking(entry["reply"], entry["time"], entry["body"] or {}))


class Asked:
    """The scripted model, listening while its block runs. `requests`: the conversation's; `sides`: those without tools.

    `at` maps the number of a request (from 0) to an act that is carried out before its answer is sent.
    """

    def __init__(self, replies: list[Json], at: Mapping[int, Callable[[], None]] | None = None) -> None:
        self.requests: list[Asking] = []
        self.sides: list[Asking] = []
        self._at = dict(at or {})
        self._server = FakeModelServer(Script({"replies": replies}, {}), _Watched(self._hear))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def _hear(self, request: Asking) -> None:
        if not request.body.get("tools"):
            self.sides.append(request)
            return
        self.requests.append(request)
        act = self._at.pop(len(self.requests) - 1, None)
        if act is not None:
            act()

    @property
    def url(self) -> str:
        return self._server.url

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def reply(text: str, *calls: Json, tokens: int = 20_000) -> Json:
    """A scripted answer: `text`, tool calls if any, and the input tokens that it reports."""
    return {"text": text, "tool_calls": list(calls), "usage": {"input_tokens": tokens}}
