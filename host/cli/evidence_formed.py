"""How a memory came to be, as `evidence` tells it: what was said, what made it, and who decided."""

from collections.abc import Iterable, Iterator

from governance.formation.contracts import MemorySource
from governance.review import Principal
from host.cli.output import say, unbroken
from host.cli.review_words import WHO, minute
from host.cli.tables import when
from recall.contracts import Frozen, Millis

LABEL = 9
DIGITS = 12  # of a digest, on a line
DAY = len("2026-01-01")
ACTORS = {Principal.POLICY: "auto", Principal.ENGINE: "auto"}


class FormedBy(Frozen, frozen=True, kw_only=True):
    """One run: see `host/formed.py`."""

    pipeline: str
    model_id: str
    prompt_id: str = ""
    prompt_version: int = 0
    prompt_sha256: str = ""
    prompt_source: str = ""
    calls: int = 0
    at: Millis = 0


class DecidedBy(Frozen, frozen=True, kw_only=True):
    """One decision."""

    actor: Principal
    kind: str
    at: Millis
    reason: str = ""


class Earlier(Frozen, frozen=True, kw_only=True):
    """A record that it took the place of."""

    memory_id: str
    version: int
    state: str


class Formed(Frozen, frozen=True, kw_only=True):
    """The daemon's answer."""

    version: int
    sources: tuple[MemorySource, ...] = ()
    formed: tuple[FormedBy, ...] = ()
    decided: tuple[DecidedBy, ...] = ()
    earlier: tuple[Earlier, ...] = ()


def tell(formed: Formed) -> None:
    """Say it, a line each; what there is nothing of is left out."""
    _lines("quotes", (_quote(one) for one in formed.sources if one.quote))
    _lines("sources", (_place(one) for one in formed.sources if not one.quote))
    _lines("formed", (_run(one) for one in formed.formed))
    if formed.decided:
        _lines("decided", [" · ".join(_decision(one) for one in formed.decided)])
    _lines("earlier", (f"{one.memory_id} version {one.version}, {one.state}" for one in formed.earlier))


def _lines(label: str, lines: Iterable[str]) -> None:
    for place, line in enumerate(lines):
        say(f"{label if place == 0 else '':<{LABEL}}{line}")


def _quote(one: MemorySource) -> str:
    said = ", ".join(part for part in (WHO.get(one.role, one.role or "somebody"), minute(one.at)) if part)
    return f'{_place(one)} "{unbroken(one.quote)}"  {said}'


def _place(one: MemorySource) -> str:
    """`s-one#17`, with the message's own id beside it where that is another."""
    place = f"{one.session_id}#{one.event_seq}" if one.session_id and one.event_seq else one.session_id
    return place if one.message_id in ("", place) else f"{place} ({one.message_id})".strip()


def _run(one: FormedBy) -> str:
    return " · ".join(_parts(one))


def _parts(one: FormedBy) -> Iterator[str]:
    yield one.pipeline
    if one.prompt_id:
        version = f"@{one.prompt_version}" if one.prompt_version else ""
        added = f" with an addition of the {one.prompt_source}" if one.prompt_source not in ("", "built-in") else ""
        yield f"prompt {one.prompt_id}{version}{added} sha256 {one.prompt_sha256[:DIGITS]}…"
    yield f"model {one.model_id}"


def _decision(one: DecidedBy) -> str:
    reason = f' "{unbroken(one.reason)}"' if one.reason else ""
    return f"{ACTORS.get(one.actor, one.actor)} {one.kind} {when(one.at)[:DAY]}{reason}"
