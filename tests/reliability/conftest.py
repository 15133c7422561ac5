"""A shelf for a test: a real daemon over an index that may be broken."""

from collections.abc import Iterator

import pytest

from tests.reliability.breaking import Shelf, Shelves


@pytest.fixture(scope="module")
def shelves(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelves]:
    made = Shelves(tmp_path_factory.mktemp("projects"))
    yield made
    made.close()


@pytest.fixture
def shelf(shelves: Shelves) -> Shelf:
    return shelves.take()
