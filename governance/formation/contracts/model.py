"""Access to a model (formation.md 4.1): one call is one network attempt, and the pipeline decides what follows."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from recall.contracts import Frozen, Millis


class FinishReason(StrEnum):
    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    ERROR = "error"


class ToolCall(Frozen, frozen=True, kw_only=True):
    id: str
    name: str
    arguments: dict[str, object]


class ChatMessage(Frozen, frozen=True, kw_only=True):
    """One message of a request. `role`: user, assistant or tool."""

    role: str
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


class ToolSpec(Frozen, frozen=True, kw_only=True):
    """A tool that the model may call. `schema`: JSON Schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, object]


class ModelRequest(Frozen, frozen=True, kw_only=True):
    """`tool_choice`: `auto`, `none`, or the name of the tool that must be called."""

    system: str
    messages: tuple[ChatMessage, ...]
    max_output_tokens: int
    timeout_ms: int
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str = "auto"


class Usage(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens, as the provider reported them."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int | None = None
    reasoning_tokens: int | None = None


class ModelResponse(Frozen, frozen=True, kw_only=True):
    """`usage`: None when the provider reported none. `model_id`: as it reported itself."""

    text: str
    finish_reason: FinishReason
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    model_id: str = ""


class ModelDriver(Protocol):
    """Whoever answers. Raises ModelError; a cancelled task closes its connection."""

    @property
    def id(self) -> str:
        """`provider:model`."""
        ...

    async def complete(self, request: ModelRequest) -> ModelResponse: ...


class PromptUse(Frozen, frozen=True, kw_only=True):
    """Which prompt was used. `source`: built-in, or the first of agent, workspace, user that appended to it."""

    id: str
    version: int
    source: str
    sha256: str


class Provenance(Frozen, frozen=True, kw_only=True):
    """How something was formed. `usage`: None when nobody reported any. Times: epoch ms. No texts."""

    algorithm_version: str
    model_id: str
    prompt_id: str
    prompt_hash: str
    input_hash: str
    calls: int
    usage: Usage | None = None
    started_at: Millis = 0
    finished_at: Millis = 0
    prompt: PromptUse | None = None
