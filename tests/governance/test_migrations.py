"""Governance's part of the main database's schema."""

import sqlite3
from pathlib import Path

import pytest

from governance.migrations import queue_steps, schema
from recall.sql import statements


def test_the_script_makes_the_tables_of_audit_and_evidence() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema())
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    connection.close()
    assert {"audit", "evidence"} <= names


def test_an_unknown_version_has_no_script() -> None:
    with pytest.raises(FileNotFoundError):
        schema(99)


RELEASED = Path(__file__).parents[1] / "data" / "schema"


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_step_of_the_governance_database_stays_what_was_released(step: int) -> None:
    released = (RELEASED / f"governance_{step:03}.sql").read_text("utf-8")
    assert statements("\n".join(released.splitlines()[1:])) == statements(queue_steps()[step - 1])
