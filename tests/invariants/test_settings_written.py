"""The page about the settings that `init` writes is what `init` writes: files, events, time-outs, and entries whole."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from host.setup import REGISTRARS
from host.setup.hook_groups import shell
from host.setup.registrar import LEVELS, Wanted
from host.transport import Tools
from tests.support.settings import places

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "settings-written.md").read_text(encoding="utf-8")
WANTED = Wanted(
    tools=Tools(
        python="/apps/remora/bin/python",
        hook="/apps/remora/lib/host/hook.py",
        folder="/run/user/1000/remora-pre",
        uid=1000,
        curl="/usr/bin/curl",
    ),
    script="/apps/remora/bin/remora-pre",
    plugin="/apps/remora/lib/host/setup/data/remora-pre.js",
    port=47113,
    token="TOKEN",
)
LINE = "LINE"  # stands for the shell line of a hook


def written(host: str, holds: str) -> Any:
    """What a new file of a product says."""
    (file,) = (file for file in REGISTRARS[host].files("project", places()) if holds in file.holds)
    text = file.plan(None, WANTED) or ""
    return tomllib.loads(text) if file.path.suffix == ".toml" else json.loads(text)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def groups(host: str) -> list[tuple[str, dict[str, Any]]]:
    """Events and their groups, or the hooks themselves where there are no groups."""
    return [(event, each) for event, entries in written(host, "hooks")["hooks"].items() for each in entries]


def hooks(host: str) -> dict[str, dict[str, Any]]:
    """Event -> the first of them."""
    return dict(reversed(groups(host)))


def test_every_server_is_shown_as_it_is_written() -> None:
    shown = [json.loads(block) for block in blocks("json")]
    assert written("claude-code", "mcp") in shown and written("cursor", "mcp") in shown
    assert written("opencode", "mcp") in shown
    assert {"mcpServers": written("gemini-cli", "mcp")["mcpServers"]} in shown
    assert [tomllib.loads(block) for block in blocks("toml")] == [written("codex", "mcp")]


def test_a_hook_of_each_kind_is_shown_as_it_is_written() -> None:
    shown = [json.loads(block) for block in blocks("json")]
    assert hooks("claude-code")["Stop"] in shown
    start = hooks("codex")["SessionStart"]
    (line,) = (block.strip() for block in blocks("sh"))
    assert line == shell("codex", WANTED, "file", starts=True) == start["hooks"][0]["command"]
    start["hooks"][0]["command"] = LINE
    assert start in shown
    (event, again), *more = [each for each in groups("claude-code") if each[1]["hooks"][0].get("async")]
    assert (event, more) == ("UserPromptSubmit", [])
    again["hooks"][0]["command"] = LINE
    assert again in shown


def test_every_event_is_told_with_its_kind_and_its_time_out() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| (`.*`) \| (\w+) \| ([\d.]+) (m?s) \|$", PAGE, re.MULTILINE)
    told = [(host, event, *row) for host, events, *row in rows for event in re.findall(r"`(\w+)`", events)]
    found = []
    for host, registrar in REGISTRARS.items():
        for event, group in groups(host) if registrar.EVENTS else ():
            (hook,) = group.get("hooks", [group])
            kind = "background" if hook.get("async") else hook.get("type", "command")
            found.append((host, event, kind, f"{hook['timeout']:g}", "ms" if host == "gemini-cli" else "s"))
    assert sorted(told) == sorted(found)


def test_every_file_is_told_at_both_levels() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (`[^|]*\.[a-z]+` \| `~[^|]*`) \|$", PAGE, re.MULTILINE))
    where = places(Path("/x"))
    for host, registrar in REGISTRARS.items():
        cells = [re.findall(r"`([^`]+)`", cell) for cell in rows[host].split("|")]
        for level, cell in zip(LEVELS, cells, strict=True):
            base, prefix = (where.home, "~/") if level == "user" else (where.repository, "")
            files = [f for f in registrar.files(level, where) if f.holds != "trust"]
            assert cell == [f"{prefix}{file.path.relative_to(base).as_posix()}" for file in files]


def test_every_mark_is_explained() -> None:
    marks = {
        mark for registrar in REGISTRARS.values() for file in registrar.files("user", places()) for mark in _made(file)
    }
    assert {mark for mark in marks if f"`{mark}`" not in PAGE} <= {"entry"}
    assert marks >= {"group", "event", "hooks", "servers", "file", "list"}


def _made(file: Any) -> set[str]:
    kinds = getattr(getattr(file.plan, "__self__", None), "kinds", ())
    return {mark for kind in kinds for mark in kind.made}
