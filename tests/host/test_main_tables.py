"""The steps of the main database build on one another, and are its version."""

import sqlite3

from host.main_tables import main_schema


def test_each_step_can_be_taken_after_the_one_before() -> None:
    connection = sqlite3.connect(":memory:")
    tables: set[str] = set()
    for script in main_schema():
        connection.executescript(script)
        now = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert tables <= now
        tables = now

    assert {"event", "audit"} <= tables
