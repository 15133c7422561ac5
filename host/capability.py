"""What a host can take (C-07), at one version and model of it. Pure; a table, `ROWS`: a new host is one row.

How far a row is to be believed is part of it. A host that is not in the table takes nothing. One whose version is
outside its rows is watched only: the passes are made and audited, and nothing is handed over, until its user allows the
version (`[hosts] allow`) or a later table has it. A version that has not been told yet counts as the ordinary one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any

from host.contracts import Capability, Rollout, Surface
from recall.contracts import Frozen

Version = tuple[int, ...]

PARTS = 4  # of a version that are compared
KEPT = 256  # answers
SPOKEN = re.compile(r"(?<![\w.])v?(\d{1,9}(?:\.\d{1,9})+|\d{1,9}(?=$|[\s+-]))")
ALLOWED = r"^[a-z][a-z0-9-]* (\*|\d{1,9}(\.\d{1,9}){0,3})$"
UNNAMED = "a version without a number"

START, PROMPT, TOOL, STEP = Surface.SESSION_START, Surface.USER_PROMPT, Surface.POST_TOOL, Surface.PRE_STEP


class Evidence(StrEnum):
    """How a row is known."""

    RUN = "run"  # the real product was driven, and its next request looked at
    SOURCE = "source"  # the product's own code or schema was read
    DOCS = "docs"  # its vendor says so
    REPORT = "report"  # a user of it says so


class Client(Frozen, frozen=True, kw_only=True):
    """Who speaks in a session. `version` and `model`: as the product told them, empty until it does."""

    host: str = "socket"
    version: str = ""
    model: str = ""


class Row(Frozen, frozen=True, kw_only=True):
    """Versions of a host for which the same holds: from `since`, and before `before`; without both, all of them.

    `models`: how names of the models begin for which it holds; none: all. `lands`: where the text comes to stand.
    """

    capability: Capability
    evidence: Evidence
    lands: str
    since: Version = ()
    before: Version = ()
    models: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        return self.capability.host

    @property
    def versions(self) -> str:
        """For people: `2.1 to before 2.2`."""
        return f"{_dotted(self.since)} to before {_dotted(self.before)}" if self.before else "all"

    def covers(self, version: Version) -> bool:
        """Whether that version is one of them. A shorter one stands for its first."""
        return not self.before or _even(self.since) <= _even(version) < _even(self.before)


def _takes(host: str, surfaces: Iterable[Surface], max_chars: int = 9_500, **more: Any) -> Capability:
    fields = {"max_chars": max_chars, "acknowledges": False} | more
    return Capability(host=host, surfaces=frozenset(surfaces), **fields)


_CLAUDE = _takes("claude-code", (START, PROMPT, TOOL))

# A range reaches from the version that was run to the next step that the product itself makes rarely: Claude Code has
# made hundreds of releases within 2.1; Codex and Gemini make a minor one each week, so theirs reach over some of them.
ROWS: tuple[Row, ...] = (
    # More than 10 000 characters of hook text go into a file with a preview. Hooks get no acknowledgement: a packet is
    # delivered when the hook's answer was written.
    Row(
        capability=_CLAUDE,
        since=(2, 1),
        before=(2, 2),
        evidence=Evidence.RUN,
        lands="a message of its own behind the tool results, or behind the prompt",
    ),
    Row(
        capability=_CLAUDE,
        since=(2, 1),
        before=(2, 2),
        models=("claude-haiku-4", "claude-sonnet-4", "claude-3"),
        evidence=Evidence.RUN,
        lands="a reminder in the user message of the tool results, or of the prompt",
    ),
    # About 2 500 tokens, which it takes for bytes divided by four: above that, the text is cut in the middle.
    Row(
        capability=_takes("codex", (START, PROMPT, TOOL), max_bytes=9_500),
        since=(0, 171),
        before=(0, 180),
        evidence=Evidence.RUN,
        lands="a developer message of its own, beside the tool output or behind the prompt",
    ),
    # No cap was found. What is said at a session's start takes the first prompt with it when the session is resumed.
    Row(
        capability=_takes("gemini-cli", (PROMPT, TOOL)),
        since=(0, 61),
        before=(0, 70),
        evidence=Evidence.RUN,
        lands="behind the tool's output, or behind the prompt",
    ),
    # Our plugin puts the text into the request itself, and says so.
    Row(
        capability=_takes("opencode", (PROMPT, TOOL), acknowledges=True),
        since=(1, 18),
        before=(1, 20),
        evidence=Evidence.RUN,
        lands="a part behind the prompt, or the last tool's output",
    ),
    # Never run here. The editor drops what is said at a session's start; its command line, numbered by date, does not.
    Row(
        capability=_takes("cursor", (TOOL,), max_chars=4_096, maintained=False),
        since=(3,),
        before=(4,),
        evidence=Evidence.DOCS,
        lands="the context of the tool's result",
    ),
    Row(
        capability=_takes("cursor", (START, TOOL), max_chars=4_096, maintained=False),
        since=(2026, 7),
        before=(2027,),
        evidence=Evidence.REPORT,
        lands="the context of the session's start, or of the tool's result",
    ),
    # In process: our adapter puts the text into the request itself, and says so. An interface that has changed shows as
    # an error there, which is a silence, so these ranges are wide. The SDK runs Claude Code: its version decides.
    Row(
        capability=_takes("claude-agent-sdk", (START, PROMPT, TOOL), acknowledges=True),
        since=(2, 1),
        before=(2, 2),
        evidence=Evidence.RUN,
        lands="as in Claude Code, which it runs",
    ),
    Row(
        capability=_takes("langchain", (PROMPT, TOOL, STEP), 4_096, acknowledges=True),
        since=(1, 5),
        before=(2,),
        evidence=Evidence.RUN,
        lands="a user message behind the newest one, kept out of the stored messages and put back at its place",
    ),
    Row(
        capability=_takes("pydantic-ai", (PROMPT, TOOL, STEP), 4_096, acknowledges=True),
        since=(2, 66),
        before=(3,),
        evidence=Evidence.RUN,
        lands="a part of the newest request, which the history keeps",
    ),
    Row(
        capability=_takes("openai-agents", (PROMPT, TOOL, STEP), 4_096, acknowledges=True),
        since=(0, 24),
        before=(1,),
        evidence=Evidence.RUN,
        lands="a user item behind the newest one, put back at its place in later requests",
    ),
    # A program that speaks the wire protocol: it claims where it likes and says what became of the packet.
    Row(
        capability=_takes("socket", Surface, 4_096, acknowledges=True),
        evidence=Evidence.RUN,
        lands="where the program puts it",
    ),
)


class Capabilities:
    """A table, with what this installation's user allows beside it. `allowed`: as in `[hosts] allow`."""

    def __init__(self, allowed: Iterable[str] = (), rows: Sequence[Row] = ROWS) -> None:
        self._allowed = tuple(allowed)
        self._rows = rows
        self._answers: dict[Client, Capability] = {}  # asked several times a pass

    def of(self, client: Client) -> Capability:
        """What this client can take. A host that is not known takes nothing: its passes are silent (`no-surface`)."""
        answer = self._answers.get(client)
        if answer is None:
            if len(self._answers) >= KEPT:
                self._answers.clear()
            answer = self._answers[client] = self._of(client)
        return answer

    def met(self) -> tuple[Client, ...]:
        """Who was asked about of late."""
        return tuple(self._answers)

    def _of(self, client: Client) -> Capability:
        row = self.row(client)
        if row is not None:
            return row.capability
        rows = self._of_host(client)
        if rows:
            return _safest(client.host, rows, numbers(client.version))
        return Capability(host=client.host, surfaces=frozenset(), max_chars=4_096, acknowledges=False)

    def row(self, client: Client) -> Row | None:
        """The row that holds for this client; None when the table has none for it."""
        rows, number = self._of_host(client), numbers(client.version)
        if client.version:
            held = [row for row in rows if number is not None and row.covers(number)]
            held = held or [row for row in rows if not row.before]
            if rows and not held and any(_allows(one, client.host, number) for one in self._allowed):
                held = _nearest(rows, number or ())
            rows = held
        return _fitting(rows, client.model) if rows else None

    def _of_host(self, client: Client) -> list[Row]:
        return [row for row in self._rows if row.host == client.host]


def capability(host: str, version: str = "", model: str = "") -> Capability:
    """What this host can take, by the table alone."""
    return Capabilities().of(Client(host=host, version=version, model=model))


def numbers(version: str) -> Version | None:
    """The first number in a text such as `2.1.332 (Claude Code)` or `codex-cli 0.171.0`; None when there is none."""
    found = SPOKEN.search(version[:200])
    return None if found is None else tuple(int(part) for part in found[1].split(".")[:PARTS])


def told(client: Client) -> str:
    """The client's name for an audit entry: its host and the version's numbers, none of the text that it sent."""
    return f"{client.host}/{version_of(client)}"


def version_of(client: Client) -> str:
    """The numbers of its version; empty while it is not told."""
    return _named(numbers(client.version)) if client.version else ""


def ranges(host: str) -> str:
    """The versions of a host that are in the table, for people; empty for one that is not."""
    return " or ".join(dict.fromkeys(row.versions for row in ROWS if row.host == host))


def _fitting(rows: list[Row], model: str) -> Row:
    """The row of this model: one that names it goes before one that names none."""
    named = (row for row in rows if row.models and model.startswith(row.models))
    return next(named, next((row for row in rows if not row.models), rows[0]))


def _nearest(rows: list[Row], number: Version) -> list[Row]:
    """The rows that begin last before this version; the first ones for a version older than all."""
    before = [row.since for row in rows if _even(row.since) <= _even(number)]
    since = max(before, default=rows[0].since)
    return [row for row in rows if row.since == since]


def _safest(host: str, rows: list[Row], number: Version | None) -> Capability:
    """What any of the host's versions takes, watched only: the places where a pass is made stay, the limits are the
    least, and nothing is kept up."""
    each = [row.capability for row in rows]
    least = min((one.max_bytes for one in each if one.max_bytes is not None), default=None)
    common = frozenset.intersection(*(one.surfaces for one in each))
    return Capability(
        host=host,
        surfaces=common or each[0].surfaces,
        max_chars=min(one.max_chars for one in each),
        max_bytes=least,
        acknowledges=False,
        maintained=False,
        most=Rollout.SHADOW,
        why=f"{_named(number)} is not in the table, which has {ranges(host)}",
    )


def _allows(entry: str, host: str, number: Version | None) -> bool:
    """Whether an entry such as `codex 0.181` names this version, or a beginning of it; `codex *` names all."""
    name, _, said = entry.partition(" ")
    if name != host or said == "*":
        return name == host
    wanted = numbers(said)
    return wanted is not None and number is not None and number[: len(wanted)] == wanted


def _named(number: Version | None) -> str:
    return UNNAMED if number is None else _dotted(number)


def _dotted(number: Version) -> str:
    return ".".join(map(str, number))


def _even(number: Version) -> Version:
    return (*number, *(0,) * PARTS)[:PARTS]


def hosts() -> Iterator[str]:
    """The names of the hosts that the table has, in its order."""
    yield from dict.fromkeys(row.host for row in ROWS)
