"""Governance's part of the main database's schema."""

import sqlite3

import pytest

from governance.migrations import schema


def test_the_script_makes_the_tables_of_audit_and_evidence() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema())
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    connection.close()
    assert {"audit", "evidence"} <= names


def test_an_unknown_version_has_no_script() -> None:
    with pytest.raises(FileNotFoundError):
        schema(99)
