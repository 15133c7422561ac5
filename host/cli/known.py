"""The argument MEMORY, and its completion in a shell: the ids of the newest memories that can be seen from here."""

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from host.cli.answers import Health
from host.cli.link import ask_running
from host.cli.memory_answers import Listed
from host.cli.tables import one_line
from host.errors import RemoraError

OFFERED = 100


def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids that begin so. None without a daemon: completion starts nothing and says nothing."""
    folder = ctx.params.get("workspace") or Path()
    try:
        ask_running("health", {}, Health)  # one that hangs is not waited for at each Tab
        known = ask_running("memory.list", {"workspace": str(Path(folder).resolve()), "limit": OFFERED}, Listed)
    except (RemoraError, OSError):
        return []
    return [
        CompletionItem(record.memory_id, help=one_line(record.title or record.text, 60))
        for record in known.records
        if record.memory_id.startswith(incomplete)
    ]


memory_argument = click.argument("memory_id", metavar="MEMORY", shell_complete=complete)
any_memory_argument = click.argument("memory_id", metavar="[MEMORY]", required=False, shell_complete=complete)
