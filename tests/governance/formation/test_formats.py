"""The names of exchanged documents carry the program's name and a version."""

from governance.formation.formats import Formats
from host import namespace


def test_names_are_the_programs_and_versioned() -> None:
    formats = Formats(prefix=namespace.name())
    made = [formats.continuation, formats.task, formats.batch, formats.document_task, formats.document_batch]
    parts = ("continuation", "note-task", "note-batch", "document-task", "document-batch")
    assert made == [namespace.name(f"{part}@v1") for part in parts]
