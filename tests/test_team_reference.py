"""The reference pages of the team workflow are made of its types, and say all of them."""

import pytest

from governance.team.registry import OPERATIONS
from tests.support.team_reference import (
    DOCUMENTS_PAGE,
    FORMATS,
    OPERATIONS_PAGE,
    documents_page,
    method,
    operations_page,
    parts,
)

HOW = "write it again: python -m tests.support.team_reference"


@pytest.mark.parametrize(
    ("page", "made"),
    [(OPERATIONS_PAGE, operations_page), (DOCUMENTS_PAGE, documents_page)],
    ids=["operations", "documents"],
)
def test_a_page_says_what_the_code_has(page, made) -> None:  # type: ignore[no-untyped-def]  # two of a table
    assert page.read_text(encoding="utf-8") == made(), HOW


def test_every_document_of_an_operation_is_described() -> None:
    named = {part for one in OPERATIONS for part in (*one.takes, *one.gives)} - {"discard"}

    assert named <= set(parts())
    for one in OPERATIONS:
        for part, kind in (one.takes | one.gives).items():
            assert part == "discard" or parts()[part] is kind


def test_a_page_names_every_format_and_every_method() -> None:
    documents, operations = documents_page(), operations_page()

    assert all(f"## {FORMATS.document(part)}\n" in documents for part in parts())
    assert all(f"`{method(one)}`" in operations for one in OPERATIONS)
    assert "| `promptSha` |" not in documents
    assert "| `approvalDigest` | text \\| null | optional |" in documents
