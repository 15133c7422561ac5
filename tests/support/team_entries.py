"""Entries of a repository's memory, for tests: as a promotion writes them."""

from pathlib import Path
from typing import Any

from host.namespace import REPOSITORY_FOLDER
from recall.team_entry import Entry, EntryEvidence, entry_path, render
from tests.support.builders import a_memory_id


def an_entry(content: str = "The heron gateway is ours.", number: int = 1, **fields: Any) -> Entry:
    """An approved fact; `number` is that of its id."""
    given: dict[str, Any] = {
        "id": a_memory_id(number),
        "type": "work_fact",
        "status": "approved",
        "priority": 60,
        "confidence": "high",
        "provenance_strength": "direct",
        "claim_support": "human-confirmed",
        "limitations": ("source-local-only",),
        "occurred": ("2026-01-05", "2026-01-06"),
        "evidence": EntryEvidence(),
        "body": f"{content}\n",
    }
    return Entry(**(given | fields))


def path_of(entry: Entry) -> str:
    """Where it lies, relative to the repository's top."""
    return f"{REPOSITORY_FOLDER}/memory/{entry_path(entry.content, entry.id, entry.type)}"


def write_entry(top: Path, entry: Entry, path: str = "") -> Path:
    """The entry in its file below a repository's top, as a pull or an editor would write it."""
    file = top / (path or path_of(entry))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(render(entry))
    return file
