"""Which fact an item is, and what is known that says the same or otherwise (formation.md 5.2, 11 and 12). Pure."""

from collections.abc import Collection, Iterable, Sequence

from governance.formation.claims import claim_of, contrary, near, shared_terms, tied
from governance.formation.contracts import Gap, KnownRecord
from recall.canonical import digest

_PREFIX = "gap_"
_DIGITS = 24
LIKE = 0.3  # share of terms: with fewer in common two facts are about two things, and that is told soon


def gap_id_of(workspace_key: str, content: str) -> str:
    """The gap of a fact in a workspace: the same words, however they are set, are the same one."""
    return f"{_PREFIX}{digest([workspace_key, claim_of(content)])[:_DIGITS]}"


def gap_of(content: str, named: str | None, shown: Collection[str], opened: Sequence[Gap]) -> Gap | None:
    """The open gap that this fact is; None: it is a new one. `named`: which one the model says it is. That counts only
    when the gap was shown to it as open, still is, and the content is tied to it."""
    by_id = {one.gap_id: one for one in opened}
    if named is not None and named in shown and named in by_id and tied(content, by_id[named].content):
        return by_id[named]
    return next((one for one in opened if near(content, one.content)), None)


def said_by(content: str, known: Iterable[KnownRecord]) -> KnownRecord | None:
    """The record that says this already."""
    return next((one for one in known if near(content, one.text)), None)


def otherwise(content: str, known: Iterable[KnownRecord]) -> KnownRecord | None:
    """The record that speaks of the same and says something else."""
    return next((one for one in known if one.otherwise or denied_by(content, one.text)), None)


def denied_by(content: str, other: str) -> bool:
    """Whether two facts are about one thing and cannot both hold."""
    return shared_terms(content, other) >= LIKE and contrary(content, other)
