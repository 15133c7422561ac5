"""Our plugin in OpenCode's settings (pure): one element of a list of addresses, known by its file name.

A plain string has no room for a mark: the entry of our server carries it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from host.namespace import name
from host.setup.json_entries import FILE, Ours, Put, below
from host.setup.json_text import Node, value_of
from host.setup.registrar import SERVER, Entry, Wanted
from host.setup.server_entry import mark_of

PLUGIN_FILE = f"{name()}.js"


@dataclass(frozen=True, kw_only=True, slots=True)
class PluginEntry:
    """The element of the list `under`. `servers`: where the entry of our server stands."""

    under: str = "plugin"
    servers: str = "mcp"
    made: tuple[str, ...] = ("entry", "list", FILE)
    carried: str = "plugin"

    def find(self, text: str, tree: Node) -> Sequence[Ours]:
        way = below(tree, (self.under,), "[")
        if not way:
            return ()
        plugins = way[0][0].items[way[0][1]].value
        values = [value_of(text, item.value) for item in plugins.items]
        return [
            Ours(what="plugin", value=value, mark=self._mark(text, tree), way=(*way, (plugins, number)))
            for number, value in enumerate(values)
            if isinstance(value, str) and value.startswith("file:") and value.endswith(f"/{PLUGIN_FILE}")
        ]

    def wanted(self, wanted: Wanted) -> Sequence[Put]:
        return [Put(what="plugin", keys=(self.under,), value=lambda mark: Path(wanted.plugin).as_uri())]

    def entry(self, ours: Ours, current: bool) -> Entry:
        path = str(ours.value).removeprefix("file://")
        return Entry(what="plugin", kind="plugin", current=current, line=str(ours.value), paths=(path,))

    def _mark(self, text: str, tree: Node) -> str:
        servers = tree.member(self.servers)
        server = servers.member(SERVER) if servers is not None else None
        words = mark_of(value_of(text, server)).split() if server is not None else []
        carried = (word.removeprefix(f"{self.carried}=") for word in words if word.startswith(f"{self.carried}="))
        return next(carried, self.made[0])
