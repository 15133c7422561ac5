"""The scripted driver: answers, errors and delays from a JSON file, for tests and demonstrations. No model, no network.

    {"id": "demo",
     "answers": [
       {"when": "Thursdays", "json": {"complete": []}},
       {"text": "BANANA"},
       {"tool": "submit", "arguments": {"notes": []}, "usage": {"inputTokens": 90, "outputTokens": 12}},
       {"error": "rate-limited", "retryAfterMs": 60000},
       {"wait": "later", "text": "after the gate `later` was opened"},
       {"text": "[{\\"content\\": \\"cu", "finish": "length"}],
     "otherwise": {"json": []}}

How a call is answered, and what each key means, is told in docs/how-to/use-a-model.md.
"""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from governance.formation.contracts import FinishReason, ModelRequest, ModelResponse, ToolCall, Usage
from governance.formation.errors import ModelError, ModelErrorKind
from host.models.endpoint import refused

LARGEST = 16 * 1024 * 1024  # bytes of a script
LOOKED_EVERY_SECONDS = 0.02  # for the file that opens a gate

Gate = Annotated[str, msgspec.Meta(pattern="^[a-z0-9][a-z0-9-]{0,63}$")]


class Step(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """One answer. `json`: a value that is given as text; `pick`: words of the request, by regular expression."""

    when: str | tuple[str, ...] = ()
    unless: str | tuple[str, ...] = ()
    pick: dict[str, str] = {}
    repeat: bool = False
    wait: Gate | None = None
    text: str | None = None
    json: object | msgspec.UnsetType = msgspec.UNSET
    tool: str | None = None
    arguments: dict[str, object] = {}
    finish: Literal["stop", "tool_calls", "length", "content_filter", "error"] | None = None
    usage: Usage | None = None
    model: str | None = None
    error: ModelErrorKind | None = None
    message: str = "The script says so."
    retry_after_ms: Annotated[int, msgspec.Meta(ge=0)] | None = None
    hang: bool = False


class Script(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole script. `log`: a file beside it to which every request is appended."""

    answers: tuple[Step, ...] = ()
    otherwise: Step | None = None
    id: str = "script"
    log: str | None = None


@dataclass(kw_only=True, slots=True)
class Scripted:
    """A ModelDriver. `requests`: what it was asked, oldest first. `folder`: where its files lie; None: it has none."""

    script: Script
    folder: Path | None = None
    requests: list[ModelRequest] = field(default_factory=list)
    _used: set[int] = field(default_factory=set)
    _open: dict[str, asyncio.Event] = field(default_factory=dict)
    _reached: dict[str, asyncio.Event] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"scripted:{self.script.id}"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The first answer that is left and fits. Raises ModelError, as the script says."""
        self.requests.append(request)
        said = "\n".join((request.system, *(message.content for message in request.messages)))
        label, step, picked = self._next(said)
        self._log(label, request)
        if step is None:
            raise refused(
                "The script has no answer left that fits this call.", 'Add one to its "answers", or an "otherwise".'
            )
        try:
            async with asyncio.timeout(request.timeout_ms / 1000):
                if step.wait is not None:
                    await self._waited(step.wait)
                if step.hang:
                    await asyncio.Event().wait()
        except TimeoutError:
            raise ModelError(ModelErrorKind.TIMEOUT, "The script did not answer in time.") from None
        if step.error is not None:
            raise ModelError(step.error, step.message, step.retry_after_ms)
        return _response(step, picked, self.id, request)

    def open(self, gate: str) -> None:
        """Let the answers that wait at this gate go on. A file `GATE.open` beside the script does the same."""
        self._gate(self._open, gate).set()

    async def reached(self, gate: str) -> None:
        """Wait until a call waits at this gate."""
        await self._gate(self._reached, gate).wait()

    def _next(self, said: str) -> tuple[str, Step | None, dict[str, str]]:
        for number, step in enumerate(self.script.answers):
            if number in self._used:
                continue
            picked = _picked(step, said)
            if picked is not None:
                if not step.repeat:
                    self._used.add(number)
                return f"answers[{number}]", step, picked
        last = self.script.otherwise
        picked = _picked(last, said) if last is not None else None
        return ("otherwise", last, picked) if picked is not None else ("none", None, {})

    async def _waited(self, gate: str) -> None:
        """Until the gate is open. Another process sees by the file `GATE.waiting` that a call waits there."""
        self._gate(self._reached, gate).set()
        opened = self._gate(self._open, gate)
        if self.folder is None:
            await opened.wait()
            return
        file = self.folder / f"{gate}.open"
        (self.folder / f"{gate}.waiting").touch()
        while not opened.is_set() and not file.exists():
            try:
                async with asyncio.timeout(LOOKED_EVERY_SECONDS):
                    await opened.wait()
            except TimeoutError:
                continue

    @staticmethod
    def _gate(gates: dict[str, asyncio.Event], gate: str) -> asyncio.Event:
        return gates.setdefault(gate, asyncio.Event())

    def _log(self, label: str, request: ModelRequest) -> None:
        if self.script.log is None or self.folder is None:
            return
        line = msgspec.json.encode({"answer": label, "request": request})
        with (self.folder / self.script.log).open("ab") as file:
            file.write(line + b"\n")


def make(path: str) -> Scripted:
    """The driver of a script. Raises ModelError (`configuration`) that says what of the file is wrong."""
    if not path:
        raise refused("No script is named.", "Set `formation.script`, or say scripted:FILE.")
    file = Path(path).expanduser().absolute()
    try:
        with file.open("rb") as opened:
            content = opened.read(LARGEST + 1)
    except OSError as error:
        raise refused(f"The script {file} cannot be read: {error.strerror}.", "Check the path.") from None
    if len(content) > LARGEST:
        raise refused(f"The script {file} is too large.", f"It may have {LARGEST // 1024 // 1024} MiB.")
    return Scripted(script=read(content, str(file)), folder=file.parent)


def read(content: bytes, name: str) -> Script:
    """A script. Raises ModelError (`configuration`)."""
    try:
        script = msgspec.json.decode(content, type=Script)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise refused(
            f"The script {name} cannot be used: {error}.", "docs/how-to/use-a-model.md tells its form."
        ) from None
    for label, step in _steps(script):
        if problem := _problem(step):
            raise refused(f"The script {name} cannot be used: {label} {problem}.", "Correct it, then try again.")
    if script.log is not None and Path(script.log).name != script.log:
        raise refused(f"The script {name} cannot be used: `log` is no plain file name.", "It lies beside the script.")
    return script


def _steps(script: Script) -> Iterator[tuple[str, Step]]:
    yield from ((f"answers[{number}]", step) for number, step in enumerate(script.answers))
    if script.otherwise is not None:
        yield "otherwise", script.otherwise


def _problem(step: Step) -> str | None:
    """What is wrong with an answer, or None."""
    given = [name for name in ("text", "tool", "error") if getattr(step, name) is not None]
    given += ["json"] if step.json is not msgspec.UNSET else []
    given += ["hang"] if step.hang else []
    if not given:
        return "gives nothing: it needs one of text, json, tool, error, hang"
    if len(given) > 1 and set(given) != {"text", "tool"}:
        return f"gives {' and '.join(given)}: one of them"
    if step.arguments and step.tool is None:
        return "has arguments and no tool"
    for name, pattern in step.pick.items():
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            return f"picks {name} with no regular expression ({error})"
        if groups != 1:
            return f"picks {name} with {groups} groups: it takes exactly one, in parentheses"
    return None


def _picked(step: Step, said: str) -> dict[str, str] | None:
    """The words that are picked from the request; None when the answer does not fit it."""
    if any(one not in said for one in _texts(step.when)) or any(one in said for one in _texts(step.unless)):
        return None
    found = {name: re.search(pattern, said) for name, pattern in step.pick.items()}
    words = {name: match[1] or "" for name, match in found.items() if match is not None}
    return words if len(words) == len(found) else None


def _texts(said: str | tuple[str, ...]) -> tuple[str, ...]:
    return (said,) if isinstance(said, str) else said


def _filled(value: object, picked: dict[str, str]) -> object:
    """The value with every `${NAME}` of its strings replaced."""
    match value:
        case str():
            for name, words in picked.items():
                value = value.replace("${" + name + "}", words)
            return value
        case list():
            return [_filled(one, picked) for one in value]
        case dict():
            return {name: _filled(one, picked) for name, one in value.items()}
        case _:
            return value


def _response(step: Step, picked: dict[str, str], model: str, request: ModelRequest) -> ModelResponse:
    text = str(_filled(step.text or "", picked))
    if step.json is not msgspec.UNSET:
        text = msgspec.json.encode(_filled(step.json, picked)).decode()
    calls: tuple[ToolCall, ...] = ()
    if step.tool is not None:
        arguments = _filled(step.arguments, picked)
        assert isinstance(arguments, dict)
        calls = (ToolCall(id="call_1", name=step.tool, arguments=arguments),)
    finish = FinishReason(step.finish or ("tool_calls" if calls else "stop"))
    if step.usage is not None and step.usage.output_tokens >= request.max_output_tokens:
        finish = FinishReason.LENGTH
    return ModelResponse(
        text=text, finish_reason=finish, tool_calls=calls, usage=step.usage, model_id=step.model or model
    )
