"""The numbered steps of the main database: events, packets, the audit, evidence and marks."""

from importlib.resources import files

from governance.migrations import schema as governance_schema
from host.eventlog import SCHEMA as LOG_SCHEMA


def main_schema() -> tuple[str, ...]:
    """The scripts, in order. A step that was released is never changed: a new one follows it."""
    folder = files("host").joinpath("schema")
    names = ("inbox_001.sql", "marks_002.sql", "marks_003.sql", "marks_004.sql")
    inbox, *later, marks = (folder.joinpath(name).read_text("utf-8") for name in names)
    first, fourth = "\n".join((LOG_SCHEMA, governance_schema(), inbox)), "\n".join((governance_schema(4), marks))
    return (first, *later, fourth)
