"""Model drivers under test: requests, a scripted endpoint on loopback, and one patient for each driver."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

from governance.formation.contracts import ChatMessage, ModelDriver, ModelRequest, ToolSpec
from host.config import FormationSettings
from host.models import make
from tests.fake_model.fake_model import FakeModelServer, Log, Script

Json = dict[str, Any]
KEY = "sk-" + "planted0key" * 4
VARIABLE = "MODEL_KEY"

SUBMIT = ToolSpec(
    name="submit",
    description="Hand in the notes.",
    schema={
        "type": "object",
        "properties": {"notes": {"type": "array", "items": {"type": "string"}}, "why": {"type": "string"}},
        "required": ["notes"],
        "additionalProperties": False,
    },
)


def a_request(said: str = "We ship on Thursdays.", **other: Any) -> ModelRequest:
    """A request for one call of `submit`."""
    given: Json = {
        "system": "You take notes.",
        "messages": (ChatMessage(role="user", content=said),),
        "tools": (SUBMIT,),
        "tool_choice": "submit",
        "max_output_tokens": 1_000,
        "timeout_ms": 30_000,
    }
    return ModelRequest(**{**given, **other})


class _Kept(Log):
    """A request log in memory."""

    def __init__(self) -> None:
        super().__init__(None)
        self.entries: list[Json] = []
        self.changed = threading.Condition()

    def write(self, entry: Json) -> None:
        with self.changed:
            self.entries.append(entry)
            self.changed.notify_all()


class FakeModel:
    """The scripted endpoint, listening while its block runs. `requests`: those it got, whole."""

    def __init__(self, *replies: Json) -> None:
        self._log = _Kept()
        self._server = FakeModelServer(Script({"replies": list(replies)}, {}), self._log)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"{self._server.url}/v1"

    @property
    def requests(self) -> list[Json]:
        return [one for one in self._log.entries if "method" in one]

    def wait_for(self, key: str, seconds: float = 30) -> Json:
        """The first entry of the log with this key. Blocks: run it on a thread."""

        def found() -> list[Json]:
            return [one for one in self._log.entries if key in one]

        with self._log.changed:
            assert self._log.changed.wait_for(lambda: bool(found()), seconds), f"nothing with {key!r} in the log"
            return found()[0]

    def wait_for_requests(self, count: int, seconds: float = 30) -> None:
        """Until so many requests came. Blocks."""
        with self._log.changed:
            came = self._log.changed.wait_for(lambda: len(self.requests) >= count, seconds)
            assert came, f"{len(self.requests)} requests instead of {count}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@dataclass(frozen=True, kw_only=True)
class Http:
    """An HTTP driver. `finishes`: what makes the endpoint end in each way, in the provider's own words."""

    driver: Literal["openai", "anthropic"]
    api: Literal["chat", "responses"] = "chat"
    finishes: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)

    def settings(self, model: FakeModel, **other: Any) -> FormationSettings:
        given: Json = {"driver": self.driver, "model": "m-1", "base_url": model.url, "api_key_env": VARIABLE}
        return FormationSettings(**{**given, "api": self.api, **other})

    def made(self, model: FakeModel, scratch: Path, environ: Mapping[str, str] | None = None) -> ModelDriver:
        return make(self.driver, self.settings(model), {VARIABLE: KEY} if environ is None else environ, scratch)


def _choice(reason: str | None) -> Json:
    return {"merge": {"choices": [{"finish_reason": reason}]}}


CHAT = Http(
    driver="openai",
    finishes={
        "stop": (_choice("stop"),),
        "tool_calls": (_choice("tool_calls"), _choice("function_call")),
        "length": (_choice("length"),),
        "content_filter": (
            _choice("content_filter"),
            _choice("refusal"),
            {"merge": {"choices": [{"message": {"refusal": "No."}}]}},
        ),
        "error": (_choice(None), _choice("eos"), _choice("")),
    },
)
RESPONSES = Http(
    driver="openai",
    api="responses",
    finishes={
        "stop": ({},),
        "tool_calls": ({"tool_calls": [{"name": "submit", "input": {"notes": []}}]},),
        "length": ({"merge": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}},),
        "content_filter": (
            {"merge": {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}},
            {"merge": {"output": [{"content": [{"type": "refusal", "refusal": "No."}]}]}},
        ),
        "error": (
            {"merge": {"status": "failed"}},
            {"merge": {"status": "in_progress"}},
            {"merge": {"status": "incomplete", "incomplete_details": {"reason": "other"}}},
            {"merge": {"status": "incomplete"}},
        ),
    },
)
MESSAGES = Http(
    driver="anthropic",
    finishes={
        "stop": ({"stop_reason": "end_turn"}, {"stop_reason": "stop_sequence"}),
        "tool_calls": ({"stop_reason": "tool_use"},),
        "length": ({"stop_reason": "max_tokens"}, {"stop_reason": "model_context_window_exceeded"}),
        "content_filter": ({"stop_reason": "refusal"},),
        "error": ({"stop_reason": "pause_turn"}, {"stop_reason": "later"}, {"stop_reason": None}),
    },
)
HTTP = {"chat": CHAT, "responses": RESPONSES, "messages": MESSAGES}


def a_script(folder: Path, *answers: Json, **other: Any) -> str:
    """The path of a new script in the folder."""
    file = folder / "script.json"
    file.write_text(json.dumps({"answers": list(answers), **other}), "utf-8")
    return str(file)


def a_command(program: str) -> tuple[str, ...]:
    """A command that is a Python program. The helper has `said`, the prompt, for it."""
    return (sys.executable, "-I", "-c", f"import os, sys, time\nsaid = sys.stdin.read()\n{program}")


def running(mark: str) -> list[int]:
    """The processes, but for this one, in whose command line the mark stands."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    found = list[int]()
    for line in listed.splitlines():
        number, state, *arguments = line.split(None, 2)
        if arguments and mark in arguments[0] and not state.startswith("Z") and int(number) != os.getpid():
            found.append(int(number))
    return found
