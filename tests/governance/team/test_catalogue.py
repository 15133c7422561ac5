"""The evidence of a chunk: its turns, their commits and paths, and no strength of any."""

import json

from governance.team.catalogue import by_turn, entries, rows, turn_evidence
from governance.team.chunking import Shown, chunked
from governance.team.contracts.turns import Edge, Strength
from tests.support.team_recall import a_turn, an_event

HASH = "1a2b3c4d5e6f" + "0" * 28


def a_chunk() -> tuple[Shown, ...]:
    contents = [a_turn(3), a_turn(7, an_event("user", "Say\n  it   again, " + "x" * 300, 70))]
    (chunk,) = chunked(contents).chunks
    return chunk


EDGES = {
    "turn-session-a-3": (
        Edge(kind="commit", target=HASH, strength=Strength.DIRECT),
        Edge(kind="path", target="src/a.py", strength=Strength.OBSERVED),
    ),
    "turn-session-a-7": (Edge(kind="commit", target=HASH, strength=Strength.OBSERVED),),
}


def test_turns_come_first_then_what_they_are_tied_to() -> None:
    found = rows(a_chunk(), EDGES)
    assert [row.kind for row in found] == ["turn", "turn", "commit", "path", "commit"]
    assert [row.evidence_id.split("-")[1] for row in found] == ["1", "2", "3", "4", "5"]
    assert [row.turn_key[-1] for row in found] == ["3", "7", "3", "3", "7"]
    assert [row.strength for row in found] == ["direct", "direct", "direct", "observed", "observed"]
    assert [row.limitations for row in found] == [("source-local-only",)] * 2 + [()] * 3
    for row in found:
        assert row.evidence_id == f"ev-{row.evidence_id.split('-')[1]}-{row.pointer_digest[:12]}"
        assert len(row.pointer_digest) == 64


def test_pointers_say_what_they_point_at() -> None:
    found = rows(a_chunk(), EDGES)
    assert json.loads(found[0].pointer) == {
        "sessionKey": "session-a",
        "turnKey": "turn-session-a-3",
        "revision": 1,
        "payloadDigest": a_turn(3).turn.payload_digest,
        "at": a_turn(3).turn.at,
    }
    assert [json.loads(row.pointer) for row in found[2:4]] == [{"hash": HASH}, {"path": "src/a.py"}]
    assert found[2].pointer_digest == found[4].pointer_digest  # the same commit
    assert found[2].evidence_id != found[4].evidence_id


def test_what_an_agent_sees_has_a_short_line_and_no_strength() -> None:
    shown = entries(rows(a_chunk(), EDGES))
    assert [one.display for one in shown] == [
        "turn 3, 2026-05-28: “How is number 3 done?”",
        f"turn 7, 2026-05-28: “Say it again, {'x' * 105}…”",
        f"commit {HASH}, of turn 3",
        "src/a.py, of turn 3",
        f"commit {HASH}, of turn 7",
    ]
    assert not any(word in str(shown) for word in ("direct", "observed", "strength", "turn-session"))


def test_a_path_is_one_line() -> None:
    edges = {"turn-session-a-3": (Edge(kind="path", target="a\n## b\t" + "c" * 400, strength=Strength.OBSERVED),)}
    display = entries(rows(a_chunk(), edges))[2].display
    assert "\n" not in display and len(display) < 260


def test_a_map_leads_from_turns_to_evidence() -> None:
    chunk = a_chunk()
    found = rows(chunk, EDGES)
    assert by_turn(found) == {"turn-session-a-3": found[0].evidence_id, "turn-session-a-7": found[1].evidence_id}
    assert [(one.turn_index, one.evidence_id) for one in turn_evidence(chunk, found)] == [
        (3, found[0].evidence_id),
        (7, found[1].evidence_id),
    ]
