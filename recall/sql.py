"""SQL scripts taken apart: `executescript` commits what is open, so a transaction runs a script by its statements."""

import sqlite3


def statements(script: str) -> list[str]:
    """The statements of a script, in order; a last one may lack its semicolon."""
    found: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending.strip())
            pending = ""
    return [text for text in (*found, pending.strip()) if text.strip(" \n;")]
