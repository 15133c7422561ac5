"""Scripts come apart at the ends of statements, not at every semicolon."""

import pytest

from recall.sql import statements


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        ("\n;\n", []),
        ("SELECT 1;\nSELECT 2;\n", ["SELECT 1;", "SELECT 2;"]),
        ("SELECT 1;\nSELECT 2", ["SELECT 1;", "SELECT 2"]),
        ("SELECT ';\n';\n", ["SELECT ';\n';"]),
        (
            "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n  DELETE FROM b;\nEND;\n",
            ["CREATE TRIGGER t AFTER INSERT ON a BEGIN\n  DELETE FROM b;\nEND;"],
        ),
    ],
)
def test_a_script_is_its_statements_in_order(script: str, expected: list[str]) -> None:
    assert statements(script) == expected
