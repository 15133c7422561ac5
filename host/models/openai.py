"""OpenAI-compatible endpoints (formation.md 4.2): Chat Completions, or Responses.

At the vendor's own endpoint tools are strict and the bound is `max_completion_tokens`. Others speak an older dialect of
Chat Completions: once a base URL is configured, tools are plain and the bound is `max_tokens`. No temperature is sent,
and one tool call at a time is asked for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from governance.formation.contracts import ModelRequest, ModelResponse
from host.config import FormationSettings
from host.models import key_variable, openai_chat, openai_responses
from host.models.endpoint import Endpoint, endpoint, key_of, refused
from host.models.post import post, unreadable
from host.models.wire import Unreadable

VENDOR = "https://api.openai.com/v1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Api:
    """One of the two interfaces: its route, a request into a body, a body into a response."""

    route: str
    encode: Callable[[ModelRequest, str, bool], bytes]
    decode: Callable[[bytes, ModelRequest, bool], ModelResponse]


APIS: Mapping[str, Api] = {
    "chat": Api(route=openai_chat.ROUTE, encode=openai_chat.encode, decode=openai_chat.decode),
    "responses": Api(route=openai_responses.ROUTE, encode=openai_responses.encode, decode=openai_responses.decode),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenAI:
    """A ModelDriver. `own`: it is the vendor's own endpoint."""

    endpoint: Endpoint
    model: str
    api: str
    own: bool
    environ: Mapping[str, str] = field(repr=False)  # with the key in it

    @property
    def id(self) -> str:
        return f"openai:{self.model}"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """One call. Raises ModelError."""
        key = key_of(self.endpoint, self.environ)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        api = APIS[self.api]
        body = api.encode(request, self.model, self.own)
        content = await post(self.endpoint, headers, body, request.timeout_ms)
        try:
            return api.decode(content, request, self.own)
        except Unreadable as error:
            raise unreadable(self.endpoint, str(error)) from None


def make(settings: FormationSettings, environ: Mapping[str, str]) -> OpenAI:
    """The driver of these settings. Raises ModelError (`configuration`)."""
    if not settings.model:
        raise refused("No model is named.", "Set `formation.model` to what the provider calls it.")
    own = not settings.base_url
    where = endpoint(settings.base_url or VENDOR, APIS[settings.api].route, key_variable(settings))
    return OpenAI(endpoint=where, model=settings.model, api=settings.api, own=own, environ=environ)
