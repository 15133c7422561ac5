-- Episodes (M-02): which record tells which session, as it was written, and up to where a session was told. No texts.
CREATE TABLE episode (
    memory_id TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    session_ref TEXT NOT NULL,
    record_digest TEXT NOT NULL,        -- as we wrote it: what reads otherwise was changed by a person
    outcome TEXT NOT NULL,
    at INTEGER NOT NULL,
    gone INTEGER NOT NULL DEFAULT 0     -- 1: forgotten; it is never written again
) STRICT, WITHOUT ROWID;

CREATE TABLE told (
    session_ref TEXT PRIMARY KEY,
    event_seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
