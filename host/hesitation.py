"""How much an agent hesitates, measured from what it does and says. Pure.

Five signs, over the latest segments of a window:

    same call    made again though it failed or nothing was changed since (to run tests after an edit is work)
    same file    read again, and not changed since
    undone       an edit whose result is an earlier text of the file; a file that it edited put back with git
    varied       a command that resembles one that failed
    said         doubt in its own words
"""

import re
from collections.abc import Iterable, Sequence

from host.gate_signals import likeness
from host.gate_words import hesitates
from host.observer import GAP
from recall.contracts import Frozen, Segment, SegmentKind

LOOK_BACK = 24  # segments: some eight steps
ENOUGH = 3.0  # signs that count as full hesitation
WEIGHTS = {"same-call": 1.0, "same-file": 0.5, "undone": 1.0, "varied": 0.5, "said": 0.5}

_OLD, _NEW = "--- old\n", "\n+++ new\n"
_PUT_BACK = re.compile(
    r"\bgit (?:-\S+ (?:\S+ )?)?(?:checkout|restore|stash(?! (?:pop|list|apply|show))|reset|revert)\b"
)
_EVERYTHING = re.compile(
    r"\bgit (?:-\S+ (?:\S+ )?)?(?:(?:checkout|restore)\b.*\s\.(?:\s|$)|stash\b|reset --hard|revert\b)"
)
CHANGES = ("edit", "write")


class Edit(Frozen, frozen=True, kw_only=True):
    """What an edit took out of a file and put in, as far as its segment shows it whole."""

    path: str
    old: str
    new: str


def hesitation(recent: Sequence[Segment]) -> float:
    """0 … 1 over the latest segments, oldest first: the weighted number of signs, `ENOUGH` being all."""
    return min(1.0, sum(WEIGHTS[name] * count for name, count in signs(recent).items()) / ENOUGH)


def signs(recent: Sequence[Segment]) -> dict[str, int]:
    """How many signs of each kind there are, those that there are."""
    latest = recent[-LOOK_BACK:]
    failed = frozenset(one.call_id for one in latest if one.ok is False and one.call_id is not None)
    found: dict[str, int] = {}
    for place, one in enumerate(latest):
        name = _sign(one, latest[:place], failed)
        if name is not None:
            found[name] = found.get(name, 0) + 1
    return found


def _sign(one: Segment, before: Sequence[Segment], failed: frozenset[str]) -> str | None:
    """The sign that a segment is, given those before it."""
    if one.kind is SegmentKind.REPLY:
        return "said" if hesitates(one.text) else None
    if one.kind is not SegmentKind.CALL:
        return None
    calls = [call for call in before if call.kind is SegmentKind.CALL]
    if _undoes(one, calls):
        return "undone"
    if _again(one, calls, failed):
        return "same-call"
    if _reread(one, calls):
        return "same-file"
    return "varied" if _varies(one, calls, failed) else None


def _again(one: Segment, calls: Sequence[Segment], failed: frozenset[str]) -> bool:
    """The same call as before, which failed then, or since which nothing was changed."""
    if one.args_digest is None:
        return False
    for call in reversed(calls):
        if call.args_digest == one.args_digest:
            return True
        if call.tool in CHANGES:
            return any(call.args_digest == one.args_digest and call.call_id in failed for call in calls)
    return False


def _reread(one: Segment, calls: Sequence[Segment]) -> bool:
    """The same file read again, unless it was changed in between."""
    if one.tool != "read" or one.path is None:
        return False
    last = next((call for call in reversed(calls) if call.path == one.path), None)
    return last is not None and last.tool == "read"


def _varies(one: Segment, calls: Sequence[Segment], failed: frozenset[str]) -> bool:
    """A command that resembles one which failed."""
    if one.tool != "shell":
        return False
    return any(call.call_id in failed and likeness(one, call) > 0 for call in calls)


def _undoes(one: Segment, calls: Sequence[Segment]) -> bool:
    """An edit back to an earlier text, a file written as it was before, or an edited file put back with git."""
    edited = [call for call in calls if call.tool in CHANGES and call.path is not None]
    if one.tool == "shell":
        return bool(edited) and _puts_back(one.text, (call.path or "" for call in edited))
    same = [call for call in edited if call.path == one.path]
    if one.tool == "write":
        return any(call.args_digest == one.args_digest for call in same[:-1])
    edit = _edit(one) if one.tool == "edit" and same else None
    return edit is not None and any(_restores(edit, _edit(call)) for call in same)


def _puts_back(command: str, paths: Iterable[str]) -> bool:
    if _PUT_BACK.search(command) is None:
        return False
    return _EVERYTHING.search(command) is not None or any(path.rsplit("/", 1)[-1] in command for path in paths)


def _restores(edit: Edit, earlier: Edit | None) -> bool:
    """Whether `edit` puts in again what `earlier` took out, and takes out what it put in."""
    if earlier is None or not edit.new.strip():
        return False
    return edit.new.strip() == earlier.old.strip() and edit.old.strip() == earlier.new.strip()


def _edit(call: Segment) -> Edit | None:
    """What an edit changes, if its segment is not cut and shows one place only."""
    text = call.text
    if GAP in text or text.count(_OLD) != 1 or text.count(_NEW) != 1:
        return None
    old, new = text.split(_OLD, 1)[1].split(_NEW, 1)
    return Edit(path=call.path or "", old=old, new=new)
