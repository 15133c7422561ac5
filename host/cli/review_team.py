"""`review --kind entry`, `skill` or `consolidation`: candidates with their evidence, and the files as they would be."""

from pathlib import Path

from governance.review import QueueItem
from governance.team.contracts.promoting import BrokenItem, Change, Reference, Review, ReviewItem
from host.cli.output import say, show_json, unbroken
from host.cli.team_calls import asked, short
from host.namespace import SCRIPT

KINDS = frozenset({"entry", "skill", "consolidation"})


def review_candidates(kind: str, candidate_ids: tuple[str, ...], workspace: Path, *, as_json: bool) -> None:
    """Show what is staged. Reads only."""
    found = asked("team.review", workspace, {"kind": kind, "candidateIds": candidate_ids}, Review)
    if as_json:
        show_json(found)
        return
    for item in found.items:
        _show(item)
    for broken in found.broken:
        say(f"{broken.candidate_id}  {broken.kind}: {broken.problem} {broken.next}".rstrip())
        if broken.revision:
            say(f"  Give it up with: {_giving_up(broken)}")
    if found.approval is not None:
        for change in found.approval.changes:
            say(f"  {change.operation}  {unbroken(change.target_path)}")
            _show_diff(change)
        say(f"approval {short(found.approval.digest)}")
        part = "".join(f" --candidate {one}" for one in candidate_ids)
        say(f"Say yes with: {SCRIPT} prepare --kind {kind} --approval {found.approval.digest[:12]}{part}")
    if len(found.items) == 1:
        say(f"Give it up with: {_giving_up(found.items[0])}")
    if found.more:
        say(f"{found.more} more {'is' if found.more == 1 else 'are'} staged.")
    if found.note:
        say(found.note)
    elif not (found.items or found.broken):
        say("Nothing is staged.")


def staged(item: QueueItem) -> str:
    """How a person goes on with what is staged for the repository: nothing is decided about it item by item."""
    kind = item.kind if item.kind in KINDS else "consolidation"
    return f"{SCRIPT} review --kind {kind} --candidate {item.item_id}"


def _giving_up(one: ReviewItem | BrokenItem) -> str:
    return f"{SCRIPT} discard --candidate {one.candidate_id} --revision {one.revision}"


def _show(item: ReviewItem) -> None:
    kind = item.type or item.kind
    limits = ", ".join(item.limitations)
    say(f"{item.candidate_id}  rev {item.revision}  {kind}  {item.strength}{f' · {limits}' if limits else ''}")
    for one in item.statements:
        text = one.statement_id if item.kind == "consolidation" else one.text  # a whole file: its lines come below
        say(f"  “{unbroken(text)}”")
        for reference in one.evidence:
            say(f"    {_reference(reference)}")
    for flag in item.flags:
        say(f"  look here: {flag.code}: {unbroken(flag.detail)}")
    if item.supersedes:
        say(f"  in place of {', '.join(item.supersedes)}")


def _reference(one: Reference) -> str:
    """What a statement rests on, in a line; what it takes over of another memory names that once."""
    at = f" {one.at}" if one.at else ""
    if one.quote:
        return f"{one.evidence_id}{at} “{unbroken(one.quote)}”"
    shown = "" if one.display == one.evidence_id else f" {unbroken(one.display)}"
    return f"{one.evidence_id}{at}{shown}"


def _show_diff(change: Change) -> None:
    for line in change.diff.splitlines():
        say(f"    {line}")
