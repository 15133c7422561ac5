"""`stage`: the answer to a task comes back, and what is good of it waits for review."""

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from host.cli.extract import Layered, Noted, tell_layered, tell_noted
from host.cli.link import ask
from host.cli.output import json_option, say, show_json, workspace_option
from host.cli.wording import folder
from host.errors import RemoraError
from host.namespace import SCRIPT
from recall.contracts import Frozen


class Staged(Frozen, frozen=True, kw_only=True):
    noted: Noted | None = None
    layered: Layered | None = None
    waiting: int = 0


@click.command()
@click.option("--request", required=True, metavar="FILE", help="The answer, a JSON file; - is standard input.")
@click.option("--agent", default="", metavar="NAME", help="Who made it, as claude-code.")
@workspace_option
@json_option
def stage(request: str, agent: str, workspace: Path, as_json: bool) -> None:
    """Hand over the answer to a task.

    The task is one of `checkpoint --emit-task` or `extract --emit-task`. The answer is judged as a model's answer is:
    what has no quote of the conversation is not taken. The rest waits for you in `review`. The same answer twice is one
    answer.

    \b
    Examples:
      remora-pre stage --request answer.json
      remora-pre stage --request - < answer.json
    """
    where = folder(workspace)
    done = ask("formation.stage", {"workspace": where, "batch": _batch(request), "agent": agent}, Staged)
    if as_json:
        show_json(done)
        return
    if done.noted is not None:
        tell_noted(done.noted, where)
    if done.layered is not None:
        tell_layered(done.layered, where)
    if done.waiting:
        wait = "1 range still waits" if done.waiting == 1 else f"{done.waiting} ranges still wait"
        say(f"{wait}: {SCRIPT} checkpoint --emit-task")


def _batch(request: str) -> dict[str, Any]:
    name = "standard input" if request == "-" else request
    try:
        raw = sys.stdin.buffer.read() if request == "-" else Path(request).read_bytes()
        found = msgspec.json.decode(raw)
    except OSError as error:
        raise RemoraError(f"{name} cannot be read: {error.strerror}.", "Name the file of the answer.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RemoraError(f"{name} is no JSON: {error}.", "Give the answer as one JSON object.") from error
    if not isinstance(found, dict):
        raise RemoraError(f"{name} is no JSON object.", "Give the answer as one JSON object.")
    return found
