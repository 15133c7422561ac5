"""Which repositories the user trusts, and which files we wrote ourselves after a person's yes (team.md 1).

A receipt names a file by its bytes: changed by one, it is anybody's again.
"""

import sqlite3
from collections.abc import Mapping

from recall.contracts import Frozen, Millis


class Trusted(Frozen, frozen=True, kw_only=True):
    """What a person answered. `via`: chat, terminal or inspector."""

    trusted: bool
    via: str
    at: Millis


class Receipt(Frozen, frozen=True, kw_only=True):
    """A file that a promotion wrote. `digest`: SHA-256 of its bytes, hex; `memory_id`: of an entry, else its path."""

    repository_key: str
    memory_id: str
    digest: str
    plan_id: str


class Known(Frozen, frozen=True, kw_only=True):
    """All of it, as recall asks for it. `trusted`: by workspace key, of those where somebody was asked; `receipts`:
    (workspace key, digest); `directories`: (workspace key, inode in decimal) of git's directories
    as they were bound."""

    trusted: Mapping[str, bool]
    receipts: frozenset[tuple[str, str]]
    directories: frozenset[tuple[str, str]] = frozenset()


def trust_of(connection: sqlite3.Connection, repository_key: str) -> Trusted | None:
    """What a person said of a repository; None: nobody was asked."""
    row = connection.execute(
        "SELECT trusted, via, at FROM team_trust WHERE repository_key = ?", (repository_key,)
    ).fetchone()
    return None if row is None else Trusted(trusted=bool(row[0]), via=row[1], at=row[2])


def set_trust(connection: sqlite3.Connection, repository_key: str, said: Trusted) -> None:
    """Note what a person said; the last answer counts."""
    connection.execute(
        "INSERT INTO team_trust (repository_key, trusted, via, at) VALUES (?, ?, ?, ?) ON CONFLICT (repository_key)"
        " DO UPDATE SET trusted = excluded.trusted, via = excluded.via, at = excluded.at",
        (repository_key, int(said.trusted), said.via, said.at),
    )


def receipt(connection: sqlite3.Connection, written: Receipt, at: Millis) -> None:
    """Note that a promotion wrote this file. Once more changes nothing."""
    connection.execute(
        "INSERT OR IGNORE INTO team_receipt (repository_key, memory_id, digest, plan_id, at) VALUES (?, ?, ?, ?, ?)",
        (written.repository_key, written.memory_id, written.digest, written.plan_id, at),
    )


def has_receipt(connection: sqlite3.Connection, repository_key: str, digest: str, path: str | None = None) -> bool:
    """Whether a file with these bytes was written by us into this repository. `path`: and there. An entry says itself
    which one it is; a scene and a skill are named by their paths, and moved by others they bear another name."""
    row = connection.execute(
        "SELECT 1 FROM team_receipt WHERE digest = ?1 AND repository_key = ?2 AND (?3 IS NULL OR memory_id = ?3)",
        (digest, repository_key, path),
    ).fetchone()
    return row is not None


def known(connection: sqlite3.Connection) -> Known:
    """All answers and receipts of repositories that were bound on this machine. One that was moved keeps its name in
    recall and the receipts of what was read there, and is asked about anew."""
    bound = "SELECT DISTINCT repository_key, workspace_key FROM team_binding"
    inode = "CASE WHEN json_valid(document) THEN json_extract(document, '$.commonDirectoryIdentity.inode') END"
    newest = "SELECT repository_key, workspace_key, max(seen_at) FROM team_binding GROUP BY workspace_key"
    return Known(
        trusted={
            workspace: bool(trusted)
            for workspace, trusted in connection.execute(
                f"SELECT b.workspace_key, t.trusted FROM team_trust t JOIN ({newest}) b USING (repository_key)"
            )
        },
        receipts=frozenset(
            (workspace, digest)
            for workspace, digest in connection.execute(
                f"SELECT b.workspace_key, r.digest FROM team_receipt r JOIN ({bound}) b USING (repository_key)"
            )
        ),
        directories=frozenset(connection.execute(f"SELECT workspace_key, {inode} FROM team_binding").fetchall()),
    )
