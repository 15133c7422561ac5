"""`lint`: what is wrong, or doubtful, in the memory files of a workspace, file by file."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import click

from host.cli.link import ask
from host.cli.memory_answers import Linted, LintFinding
from host.cli.output import count_of, json_option, say, show_json, unbroken, workspace_option
from host.cli.tables import print_line
from host.cli.wording import folder

ERROR = "error"
STYLES = {ERROR: "bold red", "warning": "yellow", "info": "cyan"}


@click.command()
@workspace_option
@json_option
def lint(workspace: Path, as_json: bool) -> None:
    """Check the memory files of a workspace.

    Exit code 1 when there is an error.

    \b
    Example:
      remora-pre lint
    """
    found = ask("memory.lint", {"workspace": folder(workspace)}, Linted)
    if as_json:
        show_json(found)
    else:
        _show(found)
    if any(finding.severity == ERROR for finding in found.findings):
        raise click.exceptions.Exit(1)


def _show(found: Linted) -> None:
    by_file = sorted(found.findings, key=lambda finding: (finding.file, finding.line, finding.rule))
    for file, findings in groupby(by_file, key=lambda finding: finding.file):
        print_line((unbroken(file) or "On the whole", "bold"))
        for finding in findings:
            place = f"line {finding.line}, " if finding.line else ""
            said = f" {finding.rule}: {unbroken(finding.problem)}"
            print_line((place, ""), (finding.severity, STYLES.get(finding.severity, "")), (said, ""), indent=2)
            if finding.next:
                print_line((finding.next, ""), indent=4)
    if found.more:
        say(f"There are {found.more} more.")
    counted = ", ".join(_counted(found.findings)) or "Nothing to find fault with"
    say(f"{counted}, in {count_of(found.records, 'record')} of {count_of(found.files, 'file')}.")


def _counted(findings: Sequence[LintFinding]) -> Iterator[str]:
    times = Counter(finding.severity for finding in findings)
    for severity in dict.fromkeys((*STYLES, *times)):
        if times[severity]:
            yield f"{times[severity]} info" if severity == "info" else count_of(times[severity], severity)
