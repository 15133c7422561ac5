"""The MCP server over the official SDK: the tools of the registry and the memories as resources, for one client.

It answers clients of the handshake protocols and of 2026-07-28 alike; the SDK tells them apart. Tools answer with text
and with the same as data. What goes wrong in a tool is an answer too, so that the model can read what to do.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError

from host.client import DaemonAbsent, DaemonSilent, Refused
from host.errors import RemoraError
from host.maintained import RULES
from host.mcp.registry import BY_NAME, TOOLS
from host.mcp.resources import MIME, TEMPLATE, page, text_of, title, uri_of
from host.mcp.roots import folder
from host.mcp.tool import Answer, Daemon, Tool
from host.mcp.wording import Memory
from host.namespace import SCRIPT, tool
from host.sanitise import one_line

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]
_Page = tuple[Sequence[Memory], str | None]
NAME_CHARS = 64  # of what a client calls itself
ROOTS_SECONDS = 2.0  # for a client that offers roots to name them
LIST_SECONDS = 0.3  # for the daemon to list resources: some clients hold up their first request for the list
# Some hosts show no more than the beginning of instructions, as what these tools are: it says that.
INSTRUCTIONS = f"Tools to find, read and keep memory of earlier sessions. {RULES}"
# A client that knows `visibility` does not offer such a tool to its model, and can call it all the same.
HIDDEN = {"ui": {"visibility": ["app"]}}
# Claude Code keeps an answer of more than 50 000 characters from its model; a tool may ask for so much more.
LONG = {"anthropic/maxResultSizeChars": 500_000}


class Serving:
    """One client's server. `cwd`: the folder that the client started us in."""

    def __init__(self, daemon: Daemon, cwd: str) -> None:
        self._daemon = daemon
        self._cwd = cwd
        self._folder: str | None = None  # once the client was asked
        self._asking = asyncio.Lock()
        self._listing: asyncio.Task[_Page] | None = None  # the first page, which was not there in time

    def server(self) -> Server[Any]:
        """The SDK's server, with every handler registered."""
        made: Server[Any] = Server(
            SCRIPT,
            version=_version(),
            instructions=INSTRUCTIONS,
            on_list_tools=self._tools,
            on_call_tool=self._call,
            on_list_resources=self._resources,
            on_list_resource_templates=self._templates,
            on_read_resource=self._resource,
        )
        changed = "notifications/roots/list_changed"
        made.add_notification_handler(changed, types.NotificationParams, self._roots_changed)
        return made

    @staticmethod
    def options(made: Server[Any]) -> InitializationOptions:
        """What that server says of itself at its greeting."""
        return made.create_initialization_options(NotificationOptions(resources_changed=True))

    async def folder(self, context: Context) -> str:
        """Where the client works: by its roots, where it has some and can be asked, else where it started us."""
        async with self._asking:
            if self._folder is None:
                self._folder = folder(await _roots(context), self._cwd)
            return self._folder

    async def _roots_changed(self, context: Context, params: types.NotificationParams) -> None:
        self._folder = None

    async def _tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(one) for one in TOOLS])

    async def _call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        called = BY_NAME.get(params.name)
        if called is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name[:64]!r}. Ask tools/list.")
        try:
            answer = await called.run(called.decode(params.arguments), _Calling(self, self._daemon, context))
        except Refused as error:
            told = {"kind": error.kind, "problem": error.problem, "next": error.next_step}
            return _failed(f"{error.kind}: {error}", told)
        except RemoraError as error:
            return _failed(str(error))
        except Exception as error:  # noqa: BLE001  (boundary: a connection; the client gets an answer)
            logging.getLogger(SCRIPT).error("%s failed: %s: %s", called.name, type(error).__name__, error)
            return _failed(f"{called.name} failed unexpectedly ({type(error).__name__}). Nothing else is affected.")
        return _result(answer)

    async def _resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor, calling = None if params is None else params.cursor, _Calling(self, self._daemon, context)
        try:
            found, following = await (page(calling, cursor) if cursor else self._first_page(calling, context))
        except RemoraError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from error
        listed = [
            types.Resource(uri=uri_of(one), name=one.memory_id, title=title(one), mime_type=MIME) for one in found
        ]
        return types.ListResourcesResult(resources=listed, next_cursor=following)

    async def _first_page(self, calling: "_Calling", context: Context) -> "_Page":
        """The first page of the list; an empty one when the daemon does not give it at once. The client is told once
        there is another. Raises RemoraError."""
        await calling.workspace()  # a client that takes its time to name its folders waits for itself
        begun = self._listing is None or self._listing.done()
        if self._listing is None or begun:
            self._listing = asyncio.create_task(page(calling, None))
        patience = LIST_SECONDS if begun and not self._daemon.hangs else 0
        if (await asyncio.wait({self._listing}, timeout=patience))[0]:
            try:
                return self._listing.result()
            except (DaemonAbsent, DaemonSilent):  # a call of a tool says what to do about it
                return [], None
        if begun:
            self._listing.add_done_callback(lambda done: self._tell(done, context))
        return [], None

    def _tell(self, listed: "asyncio.Task[_Page]", context: Context) -> None:
        """Say that the list is another one, if it is, to a client that listens to such things."""
        if not listed.cancelled() and listed.exception() is None and listed.result()[0]:
            self._telling = asyncio.create_task(_told(context))

    async def _templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        about = f"One memory, by its id; {tool('memory_search')} finds ids."
        one = types.ResourceTemplate(uri_template=TEMPLATE, name="memory", description=about, mime_type=MIME)
        return types.ListResourceTemplatesResult(resource_templates=[one])

    async def _resource(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            text = await text_of(uri, _Calling(self, self._daemon, context))
        except RemoraError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=MIME, text=text)])


async def _told(context: Context) -> None:
    with contextlib.suppress(Exception):  # it is gone, or its protocol has no such message
        await context.session.send_resource_list_changed()


class _Calling:
    """The `Caller` of one request: it works where its client does."""

    def __init__(self, serving: Serving, daemon: Daemon, context: Context) -> None:
        self._serving = serving
        self._context = context
        self.ask = daemon.ask
        self.pass_on = daemon.pass_on

    async def workspace(self) -> str:
        return await self._serving.folder(self._context)

    @property
    def agent(self) -> str:
        said = self._context.session.client_params
        return "" if said is None else one_line(said.client_info.name)[:NAME_CHARS]


async def _roots(context: Context) -> list[str]:
    """The client's roots; none when it has none, cannot be asked, or does not answer in time."""
    session = context.session
    offered = session.client_capabilities
    if offered is None or offered.roots is None or not session.can_send_request:
        return []
    try:
        found = await session.send_request(types.ListRootsRequest(), types.ListRootsResult, ROOTS_SECONDS)
    except (MCPError, ValueError):  # a refusal or no answer; or one that is none
        return []
    return [str(one.uri) for one in found.roots]


def _described(one: Tool[Any]) -> types.Tool:
    return types.Tool(
        name=one.name,
        title=one.title,
        description=one.description,
        input_schema=one.input_schema(),
        output_schema=one.output_schema(),
        annotations=types.ToolAnnotations(read_only_hint=one.reads, destructive_hint=False, open_world_hint=False),
        _meta={**(HIDDEN if one.hidden else {}), **(LONG if one.long else {})} or None,
    )


def _result(answer: Answer) -> types.CallToolResult:
    document = None if answer.document is None else msgspec.to_builtins(answer.document)
    return types.CallToolResult(content=[types.TextContent(text=answer.text)], structured_content=document)


def _failed(why: str, told: dict[str, str] | None = None) -> types.CallToolResult:
    """A refusal for the model to read. `told`: the same by its parts."""
    return types.CallToolResult(content=[types.TextContent(text=why)], structured_content=told, is_error=True)


def _version() -> str:
    try:
        return version(SCRIPT)
    except PackageNotFoundError:
        return "unknown"
