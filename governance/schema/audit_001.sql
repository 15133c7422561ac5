-- G-02: the injection audit. One row an entry, chained by digest; never updated, never deleted one by one.
-- `entry` is the canonical JSON whose SHA-256 is `digest`; the other columns repeat parts of it for queries.
-- AUTOINCREMENT remembers the highest row, so that rows cut off at the end are missed as well.
CREATE TABLE audit (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    audit_id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    session_ref TEXT NOT NULL,
    kind TEXT NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    step INTEGER,
    packet_id TEXT,
    digest TEXT NOT NULL,
    entry BLOB NOT NULL
) STRICT;

CREATE INDEX audit_session ON audit (session_ref, row);

CREATE INDEX audit_packet ON audit (packet_id, row) WHERE packet_id IS NOT NULL;

CREATE INDEX audit_feedback ON audit (row) WHERE kind = 'feedback';
