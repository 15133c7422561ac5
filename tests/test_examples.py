"""The examples that are no commands, made to do what their page says: lines of the wire, files, settings, a source.

Commands and programs are run by `tests/test_docs.py`.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from host.config import Config
from host.mcp.hosts import FORWARDED, hook_input
from host.namespace import PROTOCOL, SCRIPT, tool
from host.protocol import CODES
from recall.contracts import MemoryRecord, Origin
from recall.files import parse
from recall.markers import FileHome
from recall.workspace import workspace_key
from tests.support.asking import Asking, asking
from tests.support.builders import a_cue, a_scope, a_workspace_scope
from tests.support.clock import START

DOCS = Path(__file__).resolve().parents[1] / "docs"
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
HOME = FileHome(path="/m/a.md", relative="a.md", scope=a_workspace_scope(), origin=Origin.USER)


def _blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return [match[2] for match in FENCE.finditer(text) if match[1] == language]


@pytest.fixture
async def remora(tmp_path: Path) -> AsyncIterator[Asking]:
    async with asking(tmp_path / "data") as opened:
        yield opened


async def test_the_lines_to_type_into_nc_are_answered_as_the_page_says(remora: Asking) -> None:
    lines = [json.loads(line) for block in _blocks("how-to/try-it-with-nc.md", "json") for line in block.splitlines()]
    workspace = remora.world.workspace()

    async def sent(line: Any) -> Any:
        assert line["jsonrpc"] == "2.0"
        params = json.loads(json.dumps(line["params"]).replace("/home/me/shop", workspace))
        return await remora.ask(line["method"], **params)

    hello, remember, search, step, delivered, audit = lines
    assert hello["method"] == "hello" and hello["params"]["protocol"] == PROTOCOL
    kept = await sent(remember)
    assert [hit["memoryId"] for hit in (await sent(search))["hits"]] == [kept["memoryId"]]
    answer = await sent(step)
    assert kept["memoryId"] in answer["packet"]["rendered"]
    delivered["params"] |= {"packetId": answer["packet"]["packetId"], "claimId": answer["claimId"]}
    assert (await sent(delivered))["settled"]
    again = await sent(step)
    assert again["packet"] is None and again["reason"]
    (entry,) = (await sent(audit))["entries"]
    assert (entry["kind"], entry["reason"]) == ("pass", "already-visible")


def test_a_refusal_has_the_shape_that_is_shown() -> None:
    (shown,) = [json.loads(block) for block in _blocks("reference/protocol.md", "json")]
    assert shown["error"]["code"] == CODES.get(shown["error"]["data"]["kind"], CODES["invalid-params"])
    assert shown["error"]["data"].keys() == {"kind", "problem", "next"}


async def test_the_source_to_write_oneself_does_what_it_says(remora: Asking) -> None:
    (program,) = _blocks("how-to/add-a-source.md", "python")
    made: dict[str, Any] = {}
    exec(program, made)
    world = remora.world
    old = await world.remember("The heron gateway, as it was.", created_at=START - 2000)
    new = await world.remember("The heron gateway, as it is.", created_at=START - 1000)
    cue = a_cue("heron gateway", scope=a_scope(workspace=workspace_key(world.workspace())))

    found = await made["recency"](cue, world.parts.library.snapshot(START))

    assert [(one.memory_id, one.score, one.reasons) for one in found] == [
        (new, 1.0, ("learned lately",)),
        (old, 0.5, ("learned lately",)),
    ]


@pytest.mark.parametrize("page", [page for page in DOCS.rglob("*.md") if "```toml" in page.read_text("utf-8")], ids=str)
def test_settings_that_are_shown_are_taken(page: Path) -> None:
    for block in _blocks(str(page.relative_to(DOCS)), "toml"):
        if block.startswith("[mcp_servers."):  # Codex's own settings
            continue
        assert msgspec.toml.decode(block.encode(), type=Config) != Config()


def test_the_memory_file_that_is_shown_has_two_records() -> None:
    (block,) = _blocks("reference/memory-files.md", "markdown")
    parsed = parse(block.encode(), HOME)
    records: list[MemoryRecord] = [one.record for one in parsed.records]
    assert not parsed.findings
    assert [(record.kind, record.tags) for record in records] == [("procedural", ("tests",)), ("semantic", ())]


def _flawed() -> Iterator[tuple[str, str]]:
    text = (DOCS / "reference" / "lint.md").read_text(encoding="utf-8")
    for section in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        yield from ((section.split("\n")[0], match[2]) for match in FENCE.finditer(section))


@pytest.mark.parametrize(("rule", "example"), [pytest.param(*one, id=one[0]) for one in _flawed()])
async def test_what_lint_shows_as_a_flaw_is_one(remora: Asking, rule: str, example: str) -> None:
    """Lines of a block are records of their own, the later one newer, where a rule compares two."""
    workspace = remora.world.workspace()
    if rule == "says-otherwise":
        for number, line in enumerate(example.splitlines()):
            await remora.world.remember(line, workspace, created_at=START - 1000 + number)
    else:
        file = Path(remora.world.parts.roots.user().path) / "example.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(example + "A text below it.\n" * (rule == "dangling-successor"), encoding="utf-8")

    findings = (await remora.ask("memory.lint", workspace=workspace))["findings"]

    assert rule in [one["rule"] for one in findings]


def test_the_packet_of_the_levels_page_is_the_one_that_the_tutorial_gets() -> None:
    """Which `tests/test_docs.py` makes anew."""
    (packet,) = _blocks("explanation/levels.md", "text")
    (printed,) = _blocks("tutorial/first-injection.md", "text")
    assert packet in printed


# ----------------------------------------------------------------------------------------------------------------- MCP


def test_the_settings_for_the_mcp_server_are_what_the_products_read() -> None:
    server, hooks = (json.loads(block) for block in _blocks("how-to/ask-memory-over-mcp.md", "json"))
    (codex,) = (msgspec.toml.decode(block) for block in _blocks("how-to/ask-memory-over-mcp.md", "toml"))
    command = {"command": SCRIPT, "args": ["mcp"]}

    assert server == {"mcpServers": {SCRIPT: {"type": "stdio", **command}}}
    assert codex == {"mcp_servers": {SCRIPT: {**command, "env_vars": list(FORWARDED)}}}
    ((event, groups),) = hooks["hooks"].items()
    (hook,) = groups[0]["hooks"]
    assert hook["input"] == hook_input("claude-code", event)
    assert (hook["type"], hook["server"], hook["tool"]) == ("mcp_tool", SCRIPT, tool("hook"))
