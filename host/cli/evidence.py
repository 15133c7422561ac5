"""`evidence`: how a memory came to be, and what agents did with it, or in a session; which memories are used at all."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from governance.contracts import AccessEvidence
from governance.standing import Standing
from host.cli.evidence_formed import Formed, tell
from host.cli.known import any_memory_argument
from host.cli.link import ask, paths
from host.cli.output import count_of, json_option, say, show_json, workspace_option
from host.cli.tables import print_table, when
from host.cli.wording import folder
from host.config import load
from host.errors import RemoraError
from recall.contracts import Frozen


class Share(Frozen, frozen=True, kw_only=True):
    workspace_key: str
    edges: int
    sessions: int


class OfMemory(Frozen, frozen=True, kw_only=True):
    """`freshness`: fresh, stale or unknown."""

    memory_id: str
    freshness: str
    standing: Standing
    workspaces: tuple[Share, ...] = ()
    edges: tuple[AccessEvidence, ...] = ()
    formed: Formed | None = None


class OfSession(Frozen, frozen=True, kw_only=True):
    session_ref: str
    edges: tuple[AccessEvidence, ...]


class Used(Frozen, frozen=True, kw_only=True):
    memories: tuple[OfMemory, ...]


class Remade(Frozen, frozen=True, kw_only=True):
    edges: int
    memories: int
    differed: bool


FRESHNESS = {
    "fresh": "It reads as it did then.",
    "stale": "It reads otherwise now: what was proved of it cannot be proved of its present text.",
    "unknown": "Of no act the details are kept any more.",
}


@click.command()
@any_memory_argument
@click.option("--memory", "named", metavar="MEMORY", help="The same as MEMORY.")
@click.option("--session", help="What happened in this session, by the agent product's own id.")
@click.option("--rebuild", is_flag=True, help="Make the graph again from the audit.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, help="At most so many lines.  [50]")
@workspace_option
@json_option
def evidence(memory_id: str | None, workspace: Path, as_json: bool, **given: Any) -> None:
    """Show how a memory came to be, and what agents did with it.

    Who said what, which prompt and model made it, who decided, and what it took the place of. Without MEMORY, the
    memories of the workspace that have evidence, the most used first.

    \b
    Examples:
      remora-pre evidence
      remora-pre evidence mem_0123456789abcdef0123456789abcdef
      remora-pre evidence --memory mem_0123456789abcdef0123456789abcdef
      remora-pre evidence --session SESSION
      remora-pre evidence --rebuild
    """
    session, rebuild, named = given["session"], given["rebuild"], given["named"]
    if named is not None and memory_id is not None:
        raise click.UsageError("One memory at a time.")
    memory_id = memory_id or named
    if sum((memory_id is not None, session is not None, rebuild)) > 1:
        raise click.UsageError("Give one of MEMORY, --session and --rebuild.")
    where = {"workspace": folder(workspace), "limit": given["limit"]}
    if rebuild:
        remade = ask("evidence.rebuild", {}, Remade)
        show_json(remade) if as_json else _remade(remade)
    elif memory_id is not None:
        of_memory = ask("evidence.get", where | {"memoryId": memory_id}, OfMemory)
        show_json(of_memory) if as_json else _of_memory(of_memory)
    elif session is not None:
        of_session = ask("evidence.get", where | {"sessionId": session}, OfSession)
        show_json(of_session) if as_json else _edges(of_session.edges, "Nothing was done with a memory in it.")
    else:
        used = ask("evidence.get", where, Used)
        show_json(used) if as_json else _used(used)


def _remade(done: Remade) -> None:
    found = "not what was kept; put right" if done.differed else "as they were kept"
    say(f"{count_of(done.edges, 'edge')}, {done.memories} with evidence: {found}.")


def _of_memory(found: OfMemory) -> None:
    one = found.standing
    if found.formed is not None:
        tell(found.formed)
        say()
    say(f"{found.memory_id}: {_numbers(one)}")
    if one.sessions:
        many = f"reused in {one.reuse_sessions}, with success in {one.success_sessions}"
        say(f"In {count_of(one.sessions, 'session')}; {many}. {FRESHNESS.get(found.freshness, '')}")
    for share in found.workspaces:
        say(f"  {share.workspace_key or 'elsewhere'}: {count_of(share.edges, 'edge')}")
    _edges(found.edges, "No act is kept.")


def _used(used: Used) -> None:
    if not used.memories:
        say("No agent has done anything with a memory of this workspace yet.")
        _tell_if_off()
        return
    headings = ("memory", "seen", "read", "cited", "reused", "success", "corrected", "sessions", "reads as then")
    print_table(headings, (_row(one) for one in used.memories))


def _tell_if_off() -> None:
    """Say that nothing is written down, where a person switched it off and may have forgotten it."""
    with suppress(RemoraError):
        if not load(paths()).evidence.enabled:
            say("Evidence is switched off: `evidence.enabled` in the configuration.")


def _row(found: OfMemory) -> tuple[str, ...]:
    one = found.standing
    numbers = (one.seen, one.read, one.cite, one.reuse, one.success, one.correction, one.sessions)
    return (found.memory_id, *(str(number) for number in numbers), found.freshness)


def _numbers(one: Standing) -> str:
    return (
        f"seen {one.seen}, read {one.read}, cited {one.cite}, reused {one.reuse}, success {one.success}, "
        f"corrected {one.correction}"
    )


def _edges(edges: tuple[AccessEvidence, ...], otherwise: str) -> None:
    if not edges:
        say(otherwise)
        _tell_if_off()
        return
    rows = ((f"{when(one.at)} UTC", one.kind.value, one.memory_id, _covered(one), one.call_id or "") for one in edges)
    print_table(("when", "what", "memory", "covered", "call"), rows)


def _covered(edge: AccessEvidence) -> str:
    return "" if edge.coverage is None else f"{edge.coverage / 10_000:.0f} %"
