"""What is wrong with memory files and records, and what to do about it. Pure: what was read is given.

One rule, one heading in docs/reference/lint.md. `error`: something is not used, or must not be there. `warning`: it is
used, and probably not as meant. `info`: worth knowing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from recall.canonical import text_digest
from recall.code_anchors import AnchorState, Found
from recall.compare import folded, updates
from recall.contracts import CodeAnchor, Frozen, MemoryRecord, Millis, RecordState, ScopeRef, Status
from recall.providers import MEMORY_BYTES, MEMORY_LINES

LONGEST = 4_096  # UTF-8 bytes of a text: no packet holds more
TOLD = 120  # characters of another record that are told


class Severity(StrEnum):
    """How bad it is."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Rule(Frozen, frozen=True, kw_only=True):
    """How bad what it finds is, and what to do."""

    severity: Severity
    next: str


class Spot(Frozen, frozen=True, kw_only=True):
    """A place in a memory file (line 0: all of it), and the record that stands there."""

    file: str
    line: int = 0
    memory_id: str | None = None


class Flaw(Frozen, frozen=True, kw_only=True, omit_defaults=True):
    """One finding: what, where, and what to do."""

    rule: str
    severity: Severity
    file: str
    line: int
    problem: str
    next: str
    memory_id: str | None = None


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "malformed-anchor": Rule(
            severity=Severity.ERROR,
            next="Write the marker as <!-- memory:mem_… -->; an attribute is key=value, and its value JSON.",
        ),
        "duplicate-anchor": Rule(
            severity=Severity.ERROR, next="Take one of the two out, or give it a marker with another id."
        ),
        "orphan-anchor": Rule(severity=Severity.WARNING, next="Write the text under the marker, or take it out."),
        "orphan-content": Rule(
            severity=Severity.WARNING, next="Put a marker line above the text, or move it below one."
        ),
        "malformed-entry": Rule(
            severity=Severity.ERROR,
            next="Take the file back from git, or mend it: 13 fields in their order, then the marker, then the text.",
        ),
        "identity-mismatch": Rule(
            severity=Severity.ERROR, next="Take the file back from git: the front matter and the marker name one id."
        ),
        "unusable-file": Rule(severity=Severity.ERROR, next="Mend the file, or take it out of the memory folder."),
        "link-outside": Rule(
            severity=Severity.ERROR, next="Put the file itself there: links that leave the folder are not followed."
        ),
        "missing-folder": Rule(
            severity=Severity.WARNING, next="Bring the folder back. Its records are kept until then."
        ),
        "secret": Rule(
            severity=Severity.ERROR, next="Take it out of the text, and renew the secret: the file was readable."
        ),
        "personal-data": Rule(severity=Severity.WARNING, next="Take it out of the text."),
        "instruction-like": Rule(
            severity=Severity.WARNING, next="Say it as a fact. As it stands it is kept and never handed over."
        ),
        "hidden-text": Rule(
            severity=Severity.WARNING, next="Take the invisible or encoded part out; it is never handed over so."
        ),
        "dangling-successor": Rule(
            severity=Severity.WARNING, next="Name the record that took its place, or take supersededBy and status out."
        ),
        "expired": Rule(severity=Severity.INFO, next="Forget it, or give it a later end."),
        "says-the-same": Rule(severity=Severity.WARNING, next="Forget one of the two."),
        "says-otherwise": Rule(
            severity=Severity.WARNING, next="Keep the one that holds: edit or forget the other, or supersede it."
        ),
        "too-long": Rule(severity=Severity.INFO, next="Split it into memories that each say one thing."),
        "host-cap": Rule(
            severity=Severity.WARNING, next="Shorten the index, or move entries into files that it names."
        ),
        "code-moved": Rule(severity=Severity.INFO, next="Set the line in the record's `about`."),
        "code-gone": Rule(
            severity=Severity.WARNING, next="See whether the memory still holds; set its `about` anew, or forget it."
        ),
        "code-ambiguous": Rule(severity=Severity.INFO, next="Take a longer snippet into the record's `about`."),
        "not-everything": Rule(severity=Severity.INFO, next="Split the store, or look at the oldest records by hand."),
    }
)
_REFUSALS = {  # why a file is not used -> in words
    "not-utf-8": "The file is not UTF-8, so nothing of it is used.",
    "binary": "The file holds NUL bytes, so nothing of it is used.",
    "too-large": "The file has more than 5 MiB, so nothing of it is used.",
    "conflict-markers": "Git left a conflict in the file, so nothing of it is used.",
    "too-many-records": "The file has more sections than any that a person keeps, so nothing of it is used.",
    "no-access": "The file cannot be read with our rights.",
    "not-a-file": "It is no plain file.",
    "link": "It is a link, and those are not followed.",
    "hard-link": "The file has a second name (a hard link), so what it holds may be from elsewhere.",
    "too-many-files": "There are more files than are looked at here; the rest is not used.",
}
_OF_FAMILY = {"secret": "secret", "pii": "personal-data", "injection": "instruction-like", "hidden": "hidden-text"}
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def flaw(rule: str, spot: Spot, problem: str) -> Flaw:
    """What a rule found there."""
    return Flaw(
        rule=rule,
        severity=RULES[rule].severity,
        file=spot.file,
        line=spot.line,
        problem=problem,
        next=RULES[rule].next,
        memory_id=spot.memory_id,
    )


def in_order(flaws: Iterable[Flaw]) -> list[Flaw]:
    """The worst first, then by file and line."""
    return sorted(flaws, key=lambda one: (_ORDER[one.severity], one.file, one.line, one.rule, one.memory_id or ""))


def of_report(state: str, spot: Spot, problem: str) -> Flaw:
    """What the index reports: how a marker stands, or why a file is not used."""
    if state in (RecordState.MALFORMED_ENTRY, RecordState.IDENTITY_MISMATCH):
        return flaw(state, spot, f"{problem.rstrip('.')}. Nothing of the file is used, and it stays as it is.")
    if state in (RecordState.MALFORMED_ANCHOR, RecordState.DUPLICATE_ANCHOR):
        return flaw(state, spot, f"{problem.rstrip('.')}. The record is not used.")
    if state in (RecordState.ORPHAN_ANCHOR, RecordState.ORPHAN_CONTENT):
        return flaw(state, spot, f"{problem} It is no memory.")
    if state == "link-outside-root":
        return flaw("link-outside", spot, "It is a link that leaves the memory folder.")
    return flaw("unusable-file", spot, _REFUSALS.get(state, f"The file is not used: {state}."))


def of_record(record: MemoryRecord, spot: Spot, families: Sequence[str], now: Millis) -> Iterator[Flaw]:
    """What is wrong with one record by itself. `families`: what the screen found in it."""
    for rule in dict.fromkeys(_OF_FAMILY[family.partition(".")[0]] for family in families):
        named = ", ".join(family for family in families if _OF_FAMILY[family.partition(".")[0]] == rule)
        yield flaw(rule, spot, f"The record holds {named}.")
    if record.expires_at is not None and record.expires_at <= now:
        yield flaw("expired", spot, "The record's time has passed; it is not found any more.")
    size = len(record.text.encode("utf-8", "replace"))
    if size > LONGEST and record.state is RecordState.ANCHORED:
        yield flaw("too-long", spot, f"The record has {size} bytes; only its beginning is ever shown.")


def of_successor(record: MemoryRecord, spot: Spot, known: frozenset[str]) -> Iterator[Flaw]:
    """Whether what took the record's place is there. `known`: the ids that are."""
    if record.superseded_by is not None and record.superseded_by not in known:
        yield flaw("dangling-successor", spot, f"It was replaced by {record.superseded_by}, which is not there.")


class Twins:
    """Finds records of one scope that say the same, over a walk of any length: only digests are held."""

    def __init__(self) -> None:
        self._seen: dict[tuple[ScopeRef, str], Spot] = {}

    def see(self, record: MemoryRecord, spot: Spot, now: Millis) -> Iterator[Flaw]:
        """What an active record says that another one said before."""
        if not stands(record, now):
            return
        first = self._seen.setdefault((record.scope, text_digest(folded(record.text))[:32]), spot)
        if first != spot:
            yield flaw("says-the-same", spot, f"{first.memory_id} in {first.file}, line {first.line}, says the same.")


def of_update(text: str, spot: Spot, newer: MemoryRecord) -> Iterator[Flaw]:
    """Whether a newer record of the scope says otherwise than the text that stands there."""
    if updates(newer.text, text):
        yield flaw("says-otherwise", spot, f"The newer {newer.memory_id} says otherwise: {_short(newer.text)}")


def stands(record: MemoryRecord, now: Millis) -> bool:
    """Whether a record is one of ours to compare: active, with a marker of its own, its time not passed."""
    timely = record.expires_at is None or record.expires_at > now
    return record.status is Status.ACTIVE and record.state is RecordState.ANCHORED and timely


def of_index_file(spot: Spot, data: bytes) -> Iterator[Flaw]:
    """Claude Code loads only the beginning of its MEMORY.md: which lines of the file it never sees."""
    lines = data.splitlines(keepends=True)
    size, within = 0, 0
    for line in lines:
        size += len(line)
        if within == MEMORY_LINES or size > MEMORY_BYTES:
            break
        within += 1
    lost = [number for number in range(within + 1, len(lines) + 1) if lines[number - 1].strip()]
    if lost:
        problem = (
            f"Claude Code loads {MEMORY_LINES} lines or {MEMORY_BYTES // 1024} KB of this file, and it has {len(lines)}"
            f" lines and {len(data)} bytes: lines {lost[0]} to {lost[-1]} are never seen."
        )
        yield flaw("host-cap", Spot(file=spot.file, line=lost[0]), problem)


def of_anchor(about: CodeAnchor, spot: Spot, found: Found) -> Iterator[Flaw]:
    """How the place in the code stands that a record is about."""
    place = f"{about.path}, line {about.line}"
    if found.state is AnchorState.GONE:
        yield flaw("code-gone", spot, f"What the record is about is not in {place} any more.")
    elif found.state is AnchorState.MOVED:
        yield flaw("code-moved", spot, f"What the record is about moved from {place} to line {found.lines[0]}.")
    elif found.state is AnchorState.AMBIGUOUS:
        lines = ", ".join(str(line) for line in found.lines[:5])
        yield flaw("code-ambiguous", spot, f"What the record is about is not at {place}, and is at lines {lines}.")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TOLD else f"{line[:TOLD]}…"
