"""Our MCP server in a product's JSON settings (pure): one member of an object of servers, marked in its environment."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from host.setup.hook_groups import absolute
from host.setup.json_entries import FILE, Ours, Put, below
from host.setup.json_text import Node, value_of
from host.setup.registrar import ENTRY_MARK, SERVER, Entry, Wanted

Server = dict[str, object]


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerEntry:
    """The entry under `under`.NAME. `server`: (wanted, mark) -> the entry as the product takes it."""

    under: str
    server: Callable[[Wanted, str], Server]
    made: tuple[str, ...] = ("entry", "servers", FILE)
    carried: str = ""

    def find(self, text: str, tree: Node) -> Sequence[Ours]:
        way = below(tree, (self.under,), "{")
        if not way:
            return ()
        servers = way[0][0].items[way[0][1]].value
        number = servers.at(SERVER)
        if number is None:
            return ()
        value = value_of(text, servers.items[number].value)
        return [Ours(what="mcp", value=value, mark=mark_of(value), way=(*way, (servers, number)))]

    def wanted(self, wanted: Wanted) -> Sequence[Put]:
        return [Put(what="mcp", keys=(self.under,), value=lambda mark: self.server(wanted, mark), key=SERVER)]

    def entry(self, ours: Ours, current: bool) -> Entry:
        words, disabled = list[str](), False
        match ours.value:
            case {"command": [*command]}:
                words = [str(word) for word in command]
            case {"command": str(command), "args": [*arguments]}:
                words = [command, *(str(argument) for argument in arguments)]
        match ours.value:
            case {"enabled": False} | {"disabled": True}:
                disabled = True
        return Entry(
            what="mcp", kind="mcp", current=current, line=" ".join(words), paths=absolute(words), disabled=disabled
        )


def stdio(wanted: Wanted, mark: str) -> Server:
    """The entry as most products take it."""
    return {"command": wanted.script, "args": ["mcp"], "env": {ENTRY_MARK: mark}}


def mark_of(server: object) -> str:
    """The mark of an entry; empty when somebody else wrote it under our name."""
    match server:
        case {"env": {**environment}} | {"environment": {**environment}}:
            return str(environment.get(ENTRY_MARK, ""))
    return ""
