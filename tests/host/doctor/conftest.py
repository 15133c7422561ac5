"""A scratch installation for each test, and one with a daemon that all share and leave as it was."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.patients import Patient


@pytest.fixture
def patient(run_dir: Path) -> Patient:
    return Patient(run_dir)


@pytest.fixture(scope="session")
def running() -> Iterator[Patient]:
    """Its daemon runs, and is well."""
    with tempfile.TemporaryDirectory(prefix="r") as folder:
        patient = Patient(Path(folder))
        with patient.daemon:
            yield patient
