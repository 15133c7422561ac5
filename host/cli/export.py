"""`audit export`: the audit for other programs, a line an entry, oldest first."""

import sys
from collections.abc import Iterator

import click

from governance.contracts import AuditKind
from host.cli.answers import Exported
from host.cli.link import ask
from host.cli.output import only_one
from host.cli.stats import since_of
from recall.contracts import Millis


@click.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(["ndjson", "csv"]),
    default="ndjson",
    show_default=True,
    help="JSON lines, which can be checked, or a table.",
)
@click.option("--session", help="Only this session.")
@click.option(
    "--kind",
    type=click.Choice([str(kind) for kind in AuditKind]),
    multiple=True,
    callback=only_one,
    help="Only entries of this kind.",
)
@click.option("--since", callback=since_of, help="Only what came since: 12h, 7d, or a day like 2026-11-30 (UTC).")
def export(form: str, session: str | None, kind: str | None, since: Millis | None) -> None:
    """Write every entry to standard output, oldest first: ids, numbers and reasons, no text.

    \b
    Examples:
      remora-pre audit export > audit.ndjson
      remora-pre audit export --format csv --since 7d > audit.csv
    """
    given: dict[str, object] = {"format": form, "sessionId": session, "kind": kind, "since": since}
    params = {name: value for name, value in given.items() if value is not None}
    for line in _lines(params):
        sys.stdout.write(line + "\n")


def _lines(params: dict[str, object]) -> Iterator[str]:
    """Page after page, so that neither side holds all of it."""
    page = ask("audit.export", params, Exported)
    yield from page.lines
    while page.next is not None:
        page = ask("audit.export", {**params, "afterRow": page.next}, Exported)
        yield from page.lines
