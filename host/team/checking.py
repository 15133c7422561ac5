"""What is wrong with the memory that a repository keeps, for `lint`: as findings like those of other memory files."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from governance.team.contracts.results import Finding
from governance.team.errors import TeamFault
from governance.team.formats import Formats
from governance.team.linting import report
from governance.team.tree import read_tree
from recall.lint import Flaw, Severity

LINK = "link-outside"  # of a folder or file that is one: the index says it already
AGAIN = frozenset({"malformed-entry", "identity-mismatch"})  # what the index says of a file, in fewer words


def repository_flaws(top: Path, formats: Formats) -> list[Flaw]:
    """The findings in a repository's memory folder; none where there is no such folder. Blocks on the disk."""
    if not os.path.isdir(top):
        return []
    try:
        found = report(read_tree(str(top), formats.memory_root), formats).findings
    except TeamFault as fault:
        whole = {"level": "block", "rule": fault.kind, "problem": fault.problem, "next": fault.next_step}
        return [_flaw(msgspec.convert(whole | {"path": formats.memory_root, "line": 0}, Finding), top)]
    return [_flaw(one, top) for one in found]


def once(flaws: Sequence[Flaw], repository: Sequence[Flaw]) -> list[Flaw]:
    """All of them, each file's fault in the words of whoever knows it best."""
    known = {one.file for one in repository}
    links = {one.file for one in flaws if one.rule == LINK}
    index = [one for one in flaws if one.rule not in AGAIN or one.file not in known]
    return [*index, *(one for one in repository if one.file not in links)]


def _flaw(one: Finding, top: Path) -> Flaw:
    return Flaw(
        rule=one.rule,
        severity=Severity.ERROR if one.level == "block" else Severity.WARNING,
        file=str(top / one.path),
        line=one.line,
        problem=one.problem,
        next=one.next,
    )
