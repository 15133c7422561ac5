"""Stores for prompts: the records that are asked for, and texts of other sets around them. Deterministic.

The nearest come first: notes of coding agents, then beliefs and chat, then functions, paragraphs in Chinese and
Japanese, and turns of talk. Notes of the repositories that the recorded prompts come from are left out: they may well
answer them.
"""

import gzip
import json
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

PROMPTS = Path(__file__).resolve().parents[1] / "data" / "prompts"
EVAL = PROMPTS.parent / "eval"
OWN = frozenset({"cctrace", "spotter", "todo-demo", "entire-cli", "communique"})
CLOSE = ("precisionmem", "proactivemem")
FAR = ("cosqa", "cmrc2018", "jsquad", "locomo")


def agent_notes() -> list[str]:
    """The memories of agentmem."""
    return _texts(EVAL / "agentmem.json.gz")


def session_notes(data: Path) -> list[str]:
    """The notes of the labelled sessions' stores, without those of the recorded repositories."""
    notes: dict[str, None] = {}
    for path in sorted((data / "proactive").glob("*/memories.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            if one["workspace"] not in OWN:
                notes[one["text"]] = None
    return list(notes)


def filler(data: Path) -> list[str]:
    """Everything to fill stores with, the nearest first."""
    found = dict.fromkeys([*mixed(agent_notes()), *mixed(session_notes(data))])
    found |= dict.fromkeys(mixed(_of(data, CLOSE)))
    found |= dict.fromkeys(mixed(_of(data, FAR)))
    return list(found)


def mixed(texts: Iterable[str]) -> list[str]:
    """In an order that has nothing to do with theirs, always the same."""
    return sorted(texts, key=lambda text: (zlib.crc32(text.encode("utf-8", "replace")), text))


def filled(own: Sequence[str], around: Sequence[str], size: int) -> list[str]:
    """A store of that size: our own texts first."""
    store = [*own, *around[: max(0, size - len(own))]]
    assert len(store) == size, f"{len(around)} texts are too few for a store of {size}"
    return store


def docs_of(path: Path) -> dict[str, str]:
    """Document id -> text."""
    return {str(number): text for space in _spaces(path) for number, text in space["docs"]}


def queries_of(path: Path) -> list[tuple[str, str, list[str], str]]:
    """(id, text, relevant ids, type) of each query."""
    return [tuple(one) for space in _spaces(path) for one in space["queries"]]


def _of(data: Path, names: Iterable[str]) -> list[str]:
    return [text for name in names for text in _texts(data / name / f"{name}.json.gz")]


def _texts(path: Path) -> list[str]:
    return [text for space in _spaces(path) for _, text in space["docs"]]


def _spaces(path: Path) -> list[dict]:
    with gzip.open(path) as file:
        return json.load(file)["namespaces"]
