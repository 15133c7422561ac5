"""The evidence that a task names: its turns, and the commits and paths that they are tied to (team.md 4). Pure.

How firmly each is tied is ours alone: it stands in the rows that are kept, never in what an agent is shown.
"""

from collections.abc import Mapping, Sequence

import msgspec

from governance.team.chunking import Shown
from governance.team.contracts.recalling import CatalogueEntry, TurnEvidence
from governance.team.contracts.rows import EvidenceRow
from governance.team.contracts.turns import Edge, Strength, Turn
from governance.team.times import day
from recall.canonical import canonical, digest

SOURCE_LOCAL = "source-local-only"  # of a turn: nobody else can look it up
SHORT = 12  # hex digits of a pointer in an evidence id
QUOTE_CHARACTERS = 120  # of what the user said
PATH_CHARACTERS = 240


def rows(chunk: Sequence[Shown], edges: Mapping[str, Sequence[Edge]]) -> tuple[EvidenceRow, ...]:
    """The catalogue of a chunk: its turns in order, then what each is tied to. `edges`: by turn key."""
    found = [_of_turn(shown) for shown in chunk]
    found += [_of_edge(shown.turn, edge) for shown in chunk for edge in edges.get(shown.turn.turn_key, ())]
    return tuple(
        msgspec.structs.replace(row, evidence_id=f"ev-{number}-{row.pointer_digest[:SHORT]}")
        for number, row in enumerate(found, 1)
    )


def entries(found: Sequence[EvidenceRow]) -> tuple[CatalogueEntry, ...]:
    """The same as an agent sees it."""
    return tuple(
        CatalogueEntry(
            evidence_id=row.evidence_id,
            kind="turn" if row.kind == "turn" else "commit" if row.kind == "commit" else "path",
            pointer_digest=row.pointer_digest,
            display=row.display,
        )
        for row in found
    )


def by_turn(found: Sequence[EvidenceRow]) -> dict[str, str]:
    """The evidence id of each turn, by turn key."""
    return {row.turn_key: row.evidence_id for row in found if row.kind == "turn"}


def turn_evidence(chunk: Sequence[Shown], found: Sequence[EvidenceRow]) -> tuple[TurnEvidence, ...]:
    """Which evidence each turn of the transcript is, in its order."""
    ids = by_turn(found)
    return tuple(TurnEvidence(turn_index=one.turn.place, evidence_id=ids[one.turn.turn_key]) for one in chunk)


def _of_turn(shown: Shown) -> EvidenceRow:
    turn = shown.turn
    pointer = {
        "sessionKey": turn.session_key,
        "turnKey": turn.turn_key,
        "revision": turn.revision,
        "payloadDigest": turn.payload_digest,
        "at": turn.at,
    }
    said = next((part.text for part in shown.parts if part.kind == "user"), "")
    return EvidenceRow(
        evidence_id="",
        kind="turn",
        pointer_digest=digest({"kind": "turn", **pointer}),
        display=f"turn {turn.place}, {day(turn.at)}: “{_line(said, QUOTE_CHARACTERS)}”",
        pointer=canonical(pointer).decode(),
        strength=Strength.DIRECT,
        limitations=(SOURCE_LOCAL,),
        turn_key=turn.turn_key,
        turn_revision=turn.revision,
    )


def _of_edge(turn: Turn, edge: Edge) -> EvidenceRow:
    named = {"hash": edge.target} if edge.kind == "commit" else {"path": edge.target}
    what = f"commit {edge.target}" if edge.kind == "commit" else _line(edge.target, PATH_CHARACTERS)
    return EvidenceRow(
        evidence_id="",
        kind=edge.kind,
        pointer_digest=digest({"kind": edge.kind, **named}),
        display=f"{what}, of turn {turn.place}",
        pointer=canonical(named).decode(),
        strength=edge.strength,
        limitations=(),
        turn_key=turn.turn_key,
        turn_revision=turn.revision,
    )


def _line(text: str, most: int) -> str:
    """The beginning of a text, in one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
